"""Requests that are odd in one place: for every target, what is sent is accepted, and sending it
again changes nothing.

Each was once answered by an error that no page describes, by a body that the judge objects to, or
by other bytes on the second round.
"""

from typing import Any

import pytest

from canonicall import CanonicallError, decode_request, encode_request, verify
from canonicall.errors import MalformedBody

from bodies import DISTINCT, DISTINCT_MODELS

HELLO = [{"role": "user", "content": "Hi"}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "x"}
NULLABLE = {"type": ["object", "null"], "properties": {"a": {"type": "string"}}}


def chat(*messages: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "openai-chat", {"model": "m", "messages": [*HELLO, *messages], **more}


def function(**fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", **fields}}


def gemini(**config: Any) -> tuple[str, dict[str, Any]]:
    contents = [{"role": "user", "parts": [{"text": "Hi"}]}]
    config["responseMimeType"] = "application/json"
    return "gemini", {"contents": contents, "generationConfig": config}


def responses(*items: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "openai-responses", {"model": "gpt-5", "input": list(items), **more}


def claude(*messages: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "anthropic", {"model": "m", "max_tokens": 9, "messages": [*HELLO, *messages], **more}


def cohere(*messages: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "cohere", {"model": "c", "messages": [*HELLO, *messages, *HELLO], **more}


def called(arguments: str) -> tuple[dict[str, Any], dict[str, Any]]:
    call = {**CALL, "function": {"name": "f", "arguments": arguments}}
    return {"role": "assistant", "tool_calls": [call]}, RESULT


SEARCHED = {"type": "web_search_tool_result", "tool_use_id": "toolu_1", "content": []}
ODD = {
    "a temperature that is a list": cohere(temperature=[]),
    "properties that are a list": chat(tools=[function(parameters={"properties": []})]),
    "properties that are null": chat(
        tools=[function(parameters={"type": "object", "properties": None})]
    ),
    "properties that are a list, in Messages": claude(
        tools=[{"name": "f", "input_schema": {"properties": []}}]
    ),
    "an empty schema of the reply": gemini(responseSchema={}),
    "an empty schema of the reply, in plain JSON Schema": gemini(responseJsonSchema={}),
    "an empty format": ("ollama", {"model": "m", "messages": HELLO, "format": {}}),
    "a schema of the reply that may be null": chat(
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": NULLABLE}}
    ),
    "a schema of the reply that may be null, in Gemini's words": gemini(
        responseSchema={
            "type": "OBJECT",
            "nullable": True,
            "properties": {"a": {"type": "STRING"}},
        }
    ),
    "parameters that may be null": chat(tools=[function(parameters=NULLABLE)]),
    "a field of a message that is not known": cohere(
        {"role": "assistant", "content": "So.", "reasoning_content": "Hm."}
    ),
    "a field of a message without words": cohere({"role": "assistant", "reasoning_content": "Hm."}),
    "half a character in arguments": chat(*called('{"a":"\\ud800"}'), tools=[function()]),
    "half a character in words": chat({"role": "user", "content": "a\ud800b"}),
    "half a character in parameters": chat(user="a\ud800", metadata={"k\ud800": "v"}),
    "half a character in a tool": chat(
        tools=[
            function(
                description="\ud800",
                parameters={
                    "type": "object",
                    "properties": {"a": {"type": "string", "description": "\udc00"}},
                },
            )
        ]
    ),
    "the output of a stored call with an id of nobody's": responses(
        {"type": "function_call_output", "call_id": "c" * 80, "output": "x"},
        {"role": "user", "content": "Hi"},
        previous_response_id="resp_1",
    ),
    "two outputs of a stored call": responses(
        {"type": "function_call_output", "call_id": "call_1", "output": "x"},
        {"type": "function_call_output", "call_id": "call_1", "output": "y"},
        previous_response_id="resp_1",
    ),
    "a user who reasons": (
        "bedrock",
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}
                    ],
                }
            ]
        },
    ),
    "an output of another kind than its call": responses(
        {"type": "function_call"}, {"type": "custom_tool_call_output"}
    ),
    "the result of a search for a call of the client's": claude(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "web_search", "input": {}}],
        },
        {"role": "assistant", "content": [SEARCHED]},
        *HELLO,
    ),
}
TARGETS = DISTINCT | DISTINCT_MODELS


@pytest.mark.parametrize("name", ODD)
def test_what_is_sent_is_accepted_and_stays_as_it_is(name):
    format, body = ODD[name]
    request = decode_request(body, format)
    for target in TARGETS.values():
        made = encode_request(request, target)
        assert not verify(made.body, made.target), target.name
        back = decode_request(made.data, target.format, provider=target.provider)
        assert encode_request(back, target).data == made.data, target.name


SILENT = (
    # Half a character in a conversation is told when it is read; nothing else is to be said of the
    # others: they mean what they say.
    *("half a character in words", "an empty schema of the reply", "an empty format"),
    *("an empty schema of the reply, in plain JSON Schema", "a field of a message that is not"),
)


@pytest.mark.parametrize("name", [name for name in ODD if not name.startswith(SILENT)])
def test_what_had_to_change_is_told(name):
    """For the provider of the same format at least."""
    format, body = ODD[name]
    own = {"gemini": "openai", "openai-chat": "openai-chat"}.get(format, format)
    assert encode_request(decode_request(body, format), own).report


@pytest.mark.parametrize("item", [{}, {"content": "Hi"}, {"id": ""}, {"id": "msg_1", "text": "a"}])
def test_an_item_that_is_nothing_is_refused(item):
    with pytest.raises(MalformedBody, match="neither a type nor a role"):
        decode_request(responses(item)[1], "openai-responses")


def test_what_json_has_no_form_for_is_a_documented_error():
    request = decode_request(chat(metadata={"a": object()})[1], "openai-chat")
    with pytest.raises(CanonicallError):
        encode_request(request, "openai")
