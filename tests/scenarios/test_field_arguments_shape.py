"""The form of arguments and results on the wire: F13 to F16 of the field catalogue."""

import json

import pytest

from canonicall.codec import decode_response, encode_response, translate
from canonicall.facts.registry import get_target
from canonicall.verify import verify

USER = {"role": "user", "content": "Go."}
TRICKY = {"path": 'C:\\new\\table "x"', "regex": "\\d+\\\\", "lines": "a\nb\tc", "unit": "\u00b5"}


def sent(body, source, target, **options):
    """The body for `target`, which the judge has to accept."""
    goal = get_target(target)
    encoded = translate(body, source, goal, **options)
    assert [str(one) for one in verify(encoded.body, goal)] == []
    return encoded.body


def chat(arguments, content="done"):
    call = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": arguments}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "call_1", "content": content}
    return {"model": "m", "messages": [USER, asked, answer]}


def arguments_in(turn):
    """The arguments of the call in a message or an item, as an object."""
    match turn:
        case {"tool_calls": [{"function": {"arguments": held}}]} | {"arguments": held}:
            return json.loads(held) if isinstance(held, str) else held
        case {"content": [{"input": held}] | [{"toolUse": {"input": held}}]}:
            return held


@pytest.mark.parametrize("target", ["openai/openai-responses", "vllm/openai-responses"])
@pytest.mark.parametrize("output", ["words", [{"type": "input_text", "text": "words"}]])
def test_f13_one_text_is_sent_as_a_string(target, output):
    """Strict servers of the Responses API refuse a list where a string says it."""
    call = {"type": "function_call", "call_id": "call_1", "name": "run", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "call_1", "output": output}
    assert sent({"input": [USER, call, answer]}, "openai-responses", target)["input"][2] == {
        **answer,
        "output": "words",
    }


@pytest.mark.parametrize("target", ["gemini", "vertex"])
def test_f14_a_reference_inside_a_result_is_only_text(target):
    """Google reads `$ref` in a response object as the name of a part; here it is in a string."""
    schema = json.dumps({"$ref": "#/definitions/Pet", "items": [{"$ref": "x"}]})
    (part,) = sent(chat("{}", schema), "openai-chat", target)["contents"][2]["parts"]
    assert part["functionResponse"]["response"] == {"output": schema}


@pytest.mark.parametrize(
    "target", ["openai", "openai/openai-responses", "anthropic", "bedrock", "ollama"]
)
def test_f15_backslashes_and_quotes_of_gemini_arguments_survive(target):
    """Objects become text and text becomes objects, and every character is still there."""
    contents = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run", "args": TRICKY}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "run", "response": {"output": "x"}}}],
        },
    ]
    body = json.loads(json.dumps(sent({"contents": contents}, "gemini", target)))
    assert arguments_in((body.get("messages") or body["input"])[1]) == TRICKY


@pytest.mark.parametrize("front", ["openai-chat", "openai-responses"])
def test_f16_arguments_are_encoded_once(front):
    """An object of Claude is one JSON text for a chat client, not the text of a text."""
    content = [{"type": "tool_use", "id": "toolu_1", "name": "run", "input": TRICKY}]
    reply = decode_response({"content": content, "stop_reason": "tool_use"}, "anthropic")
    body = encode_response(reply, front)
    held = body["choices"][0]["message"] if front == "openai-chat" else body["output"][0]
    assert arguments_in(held) == TRICKY


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai"])
def test_f16_arguments_that_came_encoded_twice_are_read(target):
    """A host wrote the text of the text of an object: the object is meant."""
    body = sent(chat(json.dumps(json.dumps({"a": 1}))), "openai-chat", target)
    assert "_raw" not in str(body)
