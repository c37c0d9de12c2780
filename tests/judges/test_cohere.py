"""The Cohere SDK's types judge the bodies made for Cohere.

The SDK has no type for a whole body: the parameters of its `chat` method are the body's fields.
Its models let unknown fields pass; the judge does not.
"""

from typing import NotRequired, get_type_hints

import pytest
from hypothesis import given, settings
from typing_extensions import TypedDict

from canonicall.codec.encode import encode_request
from corpus.support import needs_corpus
from judges.sources import MISSING, damaged_requests, recorded_refusals, refusals, switched_requests
from judges.typed import TypedJudge

client = pytest.importorskip("cohere.v2.raw_client", reason=MISSING)

TARGET = "cohere"


def body_type():
    """The fields of a body. `stream` tells the SDK's two methods apart."""
    hints = get_type_hints(client.RawV2Client.chat, include_extras=True)
    fields = {name: hints[name] for name in hints if name not in ("request_options", "return")}
    needed = {name: fields.pop(name) for name in ("model", "messages")}
    rest = {name: NotRequired[hint] for name, hint in fields.items()}
    return TypedDict("ChatBody", {**needed, **rest, "stream": NotRequired[bool]})


judge = TypedJudge(body_type(), models=True)


def test_after_every_switch_of_provider():
    assert refusals(judge, switched_requests(), TARGET) == []


@settings(max_examples=60)
@given(damaged_requests)
def test_any_damaged_conversation(asked):
    assert refusals(judge, [("damaged", asked)], TARGET) == []


@needs_corpus
def test_every_recorded_tool_conversation():
    assert recorded_refusals(judge, TARGET) == []


def made_body():
    return encode_request(switched_requests()[0][1], TARGET).body


def test_the_judge_refuses_a_field_that_is_not_there():
    body = made_body()
    result = next(one for one in body["messages"] if one["role"] == "tool")
    result["name"] = "search"
    assert "name: Extra inputs are not permitted" in judge(body)[0]


def test_the_judge_refuses_a_result_without_its_call():
    body = made_body()
    result = next(one for one in body["messages"] if one["role"] == "tool")
    del result["tool_call_id"]
    assert "tool_call_id: Field required" in judge(body)[0]


def test_the_judge_refuses_arguments_that_are_no_text():
    body = made_body()
    reply = next(one for one in body["messages"] if one.get("tool_calls"))
    reply["tool_calls"][0]["function"]["arguments"] = {"q": "1"}
    assert "arguments" in judge(body)[0]
