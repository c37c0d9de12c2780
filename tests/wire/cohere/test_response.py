"""Whole Cohere responses."""

import pytest

from canonicall.blocks import Message, Native, Origin, Text, Thinking, ToolCall
from canonicall.errors import MalformedBody
from canonicall.reply import Reply, Usage
from canonicall.wire.cohere.response import decode_response, encode_response

BODY = {
    "id": "r1",
    "message": {
        "role": "assistant",
        "tool_plan": "I look.",
        "tool_calls": [
            {"id": "f_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
        ],
        "content": [{"type": "thinking", "thinking": "hm"}],
        "citations": [{"start": 0}],
    },
    "finish_reason": "TOOL_CALL",
    "usage": {
        "billed_units": {"input_tokens": 1},
        "tokens": {"input_tokens": 5, "output_tokens": 2},
    },
    "logprobs": [],
}


def test_a_response_comes_back_key_for_key():
    body = encode_response(decode_response(BODY))
    assert body == BODY
    assert list(body) == list(BODY)


def test_what_a_response_means():
    reply = decode_response(BODY)
    assert reply.message.blocks == (
        Thinking(text="hm"),
        Text(text="I look.", native=Native("cohere", {"tool_plan": True})),
        ToolCall(id="f_1", name="f", raw='{"a": 1}'),
    )
    assert reply.finish == "tool_calls"
    assert reply.message.origin == Origin("cohere", "cohere", response_id="r1")


def test_the_callers_origin_gets_the_id():
    origin = Origin("cohere", "cohere", model="m")
    assert decode_response(BODY, origin=origin).message.origin == Origin(
        "cohere", "cohere", model="m", response_id="r1"
    )


WORDS = {"role": "assistant", "content": [{"type": "text", "text": "Hm."}]}


@pytest.mark.parametrize("word", ["TIMEOUT", "USER_CANCEL", ""])
def test_a_word_that_ours_cannot_tell_apart_is_kept(word):
    body = BODY | {"message": WORDS, "finish_reason": word}
    reply = decode_response(body)
    assert encode_response(reply)["finish_reason"] == word
    assert decode_response(encode_response(reply)) == reply


@pytest.mark.parametrize(
    ("word", "written"),
    [("TIMEOUT", "TIMEOUT"), ("USER_CANCEL", "TOOL_CALL"), ("", "TOOL_CALL")],
)
def test_beside_calls_only_a_word_that_outranks_them_is_kept(word, written):
    reply = decode_response(BODY | {"finish_reason": word})
    assert encode_response(reply)["finish_reason"] == written


def test_a_reply_of_another_format_becomes_a_whole_response():
    message = Message(
        "assistant",
        (Text(text="Soon."), ToolCall(id="call_1", name="f", args={"a": 1})),
        finish="tool_calls",
    )
    assert encode_response(Reply(message, usage=Usage(3, 2, 1, reasoning_tokens=1))) == {
        "id": "00000000-0000-0000-0000-000000000000",
        "message": {
            "role": "assistant",
            "tool_plan": "Soon.",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"a":1}'},
                }
            ],
        },
        "finish_reason": "TOOL_CALL",
        "usage": {
            "billed_units": {"input_tokens": 3, "output_tokens": 2},
            "tokens": {"input_tokens": 3, "output_tokens": 2, "reasoning_tokens": 1},
            "cached_tokens": 1,
        },
    }


def test_a_reply_without_id_and_figures_stays_without():
    origin = Origin("cohere", "cohere")
    reply = Reply(Message("assistant", (Text(text="a"),), origin=origin, finish="stop"))
    assert decode_response(encode_response(reply)) == reply


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ([], "$"),
        ({"id": "r"}, "$.message"),
        ({"message": {"content": 1}}, "$.message.content"),
        ({"message": {}, "finish_reason": {}}, "$.finish_reason"),
        ({"message": {}, "usage": []}, "$.usage"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(body, where):
    with pytest.raises(MalformedBody) as caught:
        decode_response(body)
    assert caught.value.where == where


def test_an_unknown_finish_is_reported():
    reply = decode_response({"message": {"content": "a"}, "finish_reason": "USER_CANCEL"})
    assert reply.finish == ""
    assert [(f.code, f.where) for f in reply.findings] == [("unknown_finish", "$.finish_reason")]
