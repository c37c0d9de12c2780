"""Calls of gpt-oss, in whose names a host left tokens of the model."""

import json

import pytest

from canonicall import BlockEnded, BlockStarted, StreamDecoder, ToolCall, decode_response, fold
from canonicall.codec.streams import StreamEncoder
from canonicall.folding import events_of
from canonicall.reply import Reply
from canonicall.wire.formats import FORMATS
from canonicall.wire.leaked_tokens import without_tokens

LEAKED = "get<|channel|>commentary"
CHAT = {"id": "call_1", "type": "function", "function": {"name": LEAKED, "arguments": "{}"}}
CONVERSE = {"toolUse": {"toolUseId": "t1", "name": LEAKED, "input": {}}}
BODIES = {
    "openai-chat": {"choices": [{"message": {"tool_calls": [CHAT]}}]},
    "openai-responses": {
        "output": [{"type": "function_call", "call_id": "c", "name": LEAKED, "arguments": "{}"}]
    },
    "anthropic": {"content": [{"type": "tool_use", "id": "t", "name": LEAKED, "input": {}}]},
    "bedrock": {"output": {"message": {"role": "assistant", "content": [CONVERSE]}}},
    "ollama": {"message": {"tool_calls": [{"function": {"name": LEAKED, "arguments": {}}}]}},
}


@pytest.mark.parametrize(
    ("name", "own"),
    [
        (LEAKED, "get"),
        ("get <|constrain|>json", "get"),
        ("get", "get"),
        ("<|channel|>commentary", "<|channel|>commentary"),
        ("get<b>", "get<b>"),
    ],
)
def test_what_stands_behind_a_token_is_not_the_name(name, own):
    assert without_tokens(ToolCall(name=name)).name == own


@pytest.mark.parametrize("format", BODIES)
def test_a_reply_calls_the_tool_by_its_name(format):
    reply = decode_response(BODIES[format], format)
    assert [call.name for call in reply.calls] == ["get"]
    assert [one.code for one in reply.findings if one.code == "name_cleaned"] == ["name_cleaned"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_stream_calls_the_tool_by_its_name_from_the_start(format):
    leaked = decode_response(BODIES["anthropic"], "anthropic")
    call = ToolCall(id="call_1", name=LEAKED, args={"a": 1})
    message = type(leaked.message)("assistant", (call,), finish="tool_calls")
    encoder = StreamEncoder(format)
    data = encoder.feed_all(events_of(Reply(message))) + encoder.close()
    decoder = StreamDecoder(format)
    events = decoder.feed(data) + decoder.close()
    told = [event.block for event in events if isinstance(event, (BlockStarted, BlockEnded))]
    assert [block.name for block in told] == ["get", "get"]
    reply = fold(events)
    assert [(one.name, one.truncated) for one in reply.calls] == [("get", False)]
    assert "name_cleaned" in [one.code for one in reply.findings]


def test_a_call_that_was_cut_is_found_under_its_own_name():
    piece = {"index": 0, "id": "call_1", "function": {"name": LEAKED, "arguments": '{"a'}}
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]}
    decoder = StreamDecoder("openai-chat")
    reply = fold(decoder.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n") + decoder.close())
    assert [(one.name, one.truncated) for one in reply.calls] == [("get", True)]
