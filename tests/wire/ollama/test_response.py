"""Whole Ollama responses."""

import pytest

from canonicall.blocks import Message, Native, Origin, Text, Thinking, ToolCall
from canonicall.errors import MalformedBody
from canonicall.reply import Reply, Usage
from canonicall.wire.ollama.response import decode_response, encode_response

BODY = {
    "model": "m",
    "created_at": "1970-01-01T00:00:00Z",
    "message": {
        "role": "assistant",
        "content": "",
        "thinking": "hm",
        "tool_calls": [{"id": "c", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}],
    },
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 5,
    "eval_count": 2,
    "total_duration": 12,
}


def test_a_response_comes_back_key_for_key():
    body = encode_response(decode_response(BODY))
    assert body == BODY
    assert list(body) == list(BODY)


def test_what_a_response_means():
    reply = decode_response(BODY)
    assert reply.message.blocks == (
        Thinking(text="hm"),
        Text(text=""),
        ToolCall(id="c", name="f", args={"a": 1}),
    )
    assert reply.finish == "tool_calls"
    assert reply.message.origin == Origin("ollama", "ollama", model="m")
    assert reply.usage == Usage(5, 2, native={"prompt_eval_count": 5, "eval_count": 2})
    assert reply.native == Native("ollama", {"total_duration": 12})


def test_the_time_does_not_count():
    later = BODY | {"created_at": "2026-01-02T03:04:05.6Z"}
    assert decode_response(later) == decode_response(BODY)


def test_the_caller_knows_where_it_comes_from():
    origin = Origin("elsewhere")
    assert decode_response(BODY, origin=origin).message.origin == origin


def test_a_reply_that_is_not_done_is_partial():
    reply = decode_response(BODY | {"done": False})
    assert reply.message.partial
    assert encode_response(reply)["done"] is False


@pytest.mark.parametrize("word", ["load", "unload", ""])
def test_a_word_that_ours_cannot_tell_apart_is_kept(word):
    body = BODY | {"done_reason": word, "message": {"role": "assistant", "content": ""}}
    reply = decode_response(body)
    assert reply.finish == ""
    assert [f.code for f in reply.findings] == (["unknown_finish"] if word else [])
    assert encode_response(reply)["done_reason"] == word
    assert decode_response(encode_response(reply)) == reply


def test_a_reply_of_another_format_becomes_a_whole_response():
    message = Message(
        "assistant",
        (Text(text="a"), Text(text="b"), ToolCall(id="call_1", name="f", raw='{"a": 1}')),
        finish="tool_calls",
    )
    assert encode_response(Reply(message, usage=Usage(3, 2, 1))) == {
        "model": "",
        "created_at": "1970-01-01T00:00:00Z",
        "message": {
            "role": "assistant",
            "content": "a\nb",
            "tool_calls": [
                {"id": "call_1", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}
            ],
        },
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 3,
        "eval_count": 2,
    }


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ([], "$"),
        ({"model": "m"}, "$.message"),
        ({"message": {"content": {}}}, "$.message.content"),
        ({"message": {}, "done_reason": 1}, "$.done_reason"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(body, where):
    with pytest.raises(MalformedBody) as caught:
        decode_response(body)
    assert caught.value.where == where
