"""A model that thinks only when told to: what the history carries depends on the request."""

import msgspec
import pytest

from canonicall import Conversation, Params, Request, ToolCall, encode_request, verify
from canonicall.client.encoder import Renderings
from canonicall.facts.registry import get_target
from canonicall.request import Reasoning

TARGET = get_target("deepseek:deepseek-chat")
ON, OFF = Reasoning(enabled=True), Reasoning(enabled=False)


@pytest.fixture
def conversation():
    told = Conversation()
    told.user("What is the weather?")
    told.assistant(ToolCall(id="call_1", name="look", args={}, raw="{}"))
    told.result("call_1", "Sunny.")
    return told


def asked(conversation, reasoning):
    return Request(conversation, params=Params(reasoning=reasoning))


def thoughts(body):
    return [one["reasoning_content"] for one in body["messages"] if "reasoning_content" in one]


@pytest.mark.parametrize(
    ("reasoning", "carried"), [(None, []), (OFF, []), (Reasoning(effort="low"), []), (ON, [" "])]
)
def test_reasoning_stands_beside_calls_only_while_it_thinks(conversation, reasoning, carried):
    body = encode_request(asked(conversation, reasoning), TARGET).body
    assert thoughts(body) == carried
    assert not verify(body, "deepseek")


def test_what_was_rendered_before_does_not_count(conversation):
    kept = Renderings()
    for reasoning in (None, ON, OFF, ON, None):
        request = asked(conversation, reasoning)
        alone = encode_request(request, TARGET)
        body = kept.rendered(request, TARGET).encoded.body
        assert msgspec.json.encode(body["messages"]) == msgspec.json.encode(alone.body["messages"])
