"""Whom a body is for, where only a provider is named."""

import pytest
from msgspec.structs import replace

from canonicall import Conversation, Media, Request, Text, Tool, ToolCall, encode_request
from canonicall.providers.bodies import target_for
from canonicall.providers.registry import get_profile, get_target, provider_names
from canonicall.verify import verify

ASKED = {"role": "user", "content": "Hi"}
CHAT = {"model": "gpt-5.2", "messages": [ASKED], "max_completion_tokens": 5}
RESPONSES = {"model": "gpt-5.2", "input": "Hi"}
PLACES = [f"{name}/{format}" for name in provider_names() for format in get_profile(name).formats]


def talk():
    chat = Conversation()
    chat.user([Text("What is this?"), Media(media_type="image/png", data="aGk=")])
    chat.assistant(ToolCall(id="call_1", name="look", args={"at": "it"}))
    chat.result("call_1", "A dot.")
    return Request(chat, (Tool("look"),))


@pytest.mark.parametrize(
    ("named", "body", "expected"),
    [
        ("openai", CHAT, "openai/openai-chat:gpt-5.2"),
        ("openai", RESPONSES, "openai/openai-responses:gpt-5.2"),
        ("openai:gpt-4.1", RESPONSES, "openai/openai-responses:gpt-4.1"),
        ("openai/openai-chat", RESPONSES, "openai/openai-chat:gpt-5.2"),
        ("openai/openai-chat:o3", RESPONSES, "openai/openai-chat:o3"),
        ("vertex", {"model": "x", "messages": [ASKED], "max_tokens": 9}, "vertex/anthropic:x"),
        ("gemini", {"model": "models/gemini-2.5-pro", "contents": []}, "gemini:gemini-2.5-pro"),
        ("bedrock", {"modelId": "amazon.nova-pro-v1:0"}, "bedrock:amazon.nova-pro-v1:0"),
        ("openai", {"model": 7, "messages": "?"}, "openai"),
        ("openai", {}, "openai"),
        ("openai", None, "openai"),
        ("openai", "no body", "openai"),
    ],
)
def test_what_a_body_shows_counts_where_nothing_else_is_named(named, body, expected):
    assert target_for(body, named) == get_target(expected)


@pytest.mark.parametrize("place", PLACES)
def test_what_is_rendered_for_a_provider_is_taken_as_meant_for_it(place):
    """Where a body could be in several of its formats, none of their rules is broken by it."""
    provider = place.partition("/")[0]
    body = encode_request(talk(), place).body
    assert target_for(body, place).format == get_target(place).format
    assert not verify(body, provider)
    if place == f"{provider}/{get_profile(provider).format}":
        assert target_for(body, provider).format == get_profile(provider).format


def test_the_text_of_a_body_is_read_for_it():
    assert not verify(b'{"model": "gpt-5.2", "input": "Hi"}', "openai")
    assert verify(b'{"model": "gpt-5.2", "inp', "openai").counts == {"malformed_body": 1}


def test_the_model_that_a_request_names_counts_where_it_is_sent():
    """The body names it, so its rules are those that are kept: here, ids as Mistral wants them."""
    encoded = encode_request(replace(talk(), model="mistral-small"), "vllm")
    assert encoded.target == get_target("vllm:mistral-small")
    (call,) = encoded.body["messages"][1]["tool_calls"]
    assert len(call["id"]) == 9
    assert encode_request(replace(talk(), model="x"), "vllm:y").target == get_target("vllm:y")
    assert encode_request(talk(), "vllm").target == get_target("vllm")
