"""Whom a body is for, where only a provider is named."""

import pytest
from msgspec.structs import replace

from batches import each
from canonicall import Conversation, Media, Request, Text, Tool, ToolCall, encode_request
from canonicall.errors import MalformedBody, UnknownName
from canonicall.facts.bodies import Source, source_of, target_for
from canonicall.facts.registry import get_profile, get_target, provider_names
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
        ("openai-responses", RESPONSES, "openai/openai-responses:gpt-5.2"),
        ("openai-chat", RESPONSES, "openai/openai-chat:gpt-5.2"),
        ("openai-responses:o3", CHAT, "openai/openai-responses:o3"),
        ("openai", {"model": 7, "messages": "?"}, "openai"),
        ("openai", {}, "openai"),
        ("openai", None, "openai"),
        ("openai", "no body", "openai"),
    ],
)
def test_what_a_body_shows_counts_where_nothing_else_is_named(named, body, expected):
    assert target_for(body, named) == get_target(expected)


@each("place", PLACES)
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


@pytest.mark.parametrize(
    ("named", "body", "expected"),
    [
        ("openai-chat", RESPONSES, Source("openai-chat")),
        ("anthropic", CHAT, Source("anthropic")),
        ("openai", CHAT, Source("openai-chat", "openai")),
        ("openai", RESPONSES, Source("openai-responses", "openai")),
        ("openai:gpt-5.2", RESPONSES, Source("openai-responses", "openai")),
        ("openai/openai-chat", CHAT, Source("openai-chat", "openai")),
        ("moonshot", CHAT, Source("openai-chat", "kimi")),
        ("groq", {}, Source("openai-chat", "groq")),
        ("vertex", {"contents": []}, Source("gemini", "vertex")),
    ],
)
def test_the_source_of_a_body_is_a_format_or_a_provider_that_speaks_it(named, body, expected):
    assert source_of(body, named) == expected


@pytest.mark.parametrize(
    ("named", "body", "what"),
    [
        ("openai", {"contents": []}, "looks like gemini, and openai speaks openai-chat, openai-r"),
        ("groq", {"contents": []}, "looks like gemini, and groq speaks openai-chat"),
        (
            "openai/openai-chat",
            RESPONSES,
            "looks like openai-responses, and openai speaks openai-c",
        ),
        ("openai", {}, "its format is not recognised, and openai speaks"),
    ],
)
def test_a_body_in_no_format_of_its_provider_is_refused(named, body, what):
    with pytest.raises(MalformedBody, match=what):
        source_of(body, named)


def test_an_unknown_source_is_an_error_that_names_the_nearest_one():
    with pytest.raises(
        UnknownName, match=r"no wire format is called 'opnai'\. Did you mean 'openai'"
    ):
        source_of(CHAT, "opnai")


CLAUDE = {
    "anthropic_version": "bedrock-2023-05-31",
    "max_tokens": 9,
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f"}]},
    ],
}


def test_another_api_of_the_provider_is_judged_and_not_spoken_to():
    """InvokeModel at Bedrock takes Messages bodies; a target for it is not made by name."""
    target = target_for(CLAUDE, "bedrock")
    assert (target.provider, target.format) == ("bedrock", "anthropic")
    assert verify(CLAUDE, "bedrock").counts == {"arguments_not_object": 1, "missing_result": 1}
    with pytest.raises(UnknownName, match="format of the provider 'bedrock'"):
        get_target("bedrock/anthropic")


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "OpenAI-Responses"])
def test_the_name_of_a_format_is_its_owner_in_that_format(name):
    assert get_target(name) == get_target(f"openai/{name.lower()}")
    assert get_target(f"{name}:gpt-5") == get_target(f"openai/{name.lower()}:gpt-5")
    assert target_for(CHAT, name) == get_target(f"openai/{name.lower()}:gpt-5.2")
