"""Whole Converse responses."""

import pytest

from canonicall.blocks import Message, Native, Opaque, Origin, Text, Thinking, ToolCall
from canonicall.errors import MalformedBody
from canonicall.reply import Reply, Usage
from canonicall.wire.bedrock.response import decode_response, encode_response

BODY = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
                {"text": "I look it up."},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "f", "input": {"a": 1}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7, "serverToolUsage": {}},
    "metrics": {"latencyMs": 12},
    "additionalModelResponseFields": {"a": 1},
}


def with_stop(word, *content):
    message = {"role": "assistant", "content": list(content)}
    return BODY | {"output": {"message": message}, "stopReason": word}


def test_a_response_comes_back_key_for_key():
    body = encode_response(decode_response(BODY))
    assert body == BODY
    assert list(body) == list(BODY)


def test_what_a_response_means():
    reply = decode_response(BODY)
    assert reply.message.blocks == (
        Thinking(text="hm", opaque=(Opaque("anthropic", "signature", "s"),)),
        Text(text="I look it up."),
        ToolCall(id="tooluse_1", name="f", args={"a": 1}),
    )
    assert reply.finish == "tool_calls"
    assert reply.message.origin == Origin("bedrock", "bedrock")
    assert reply.usage.input_tokens == 5


def test_the_caller_knows_where_it_comes_from():
    origin = Origin("bedrock", "bedrock", model="m", response_id="r")
    assert decode_response(BODY, origin=origin).message.origin == origin
    assert decode_response(BODY, domain="nova").message.blocks[0].opaque[0].domain == "nova"


@pytest.mark.parametrize("word", ["guardrail_intervened", "refusal", "something_new", ""])
def test_a_word_that_ours_cannot_tell_apart_is_kept(word):
    body = with_stop(word, {"text": "a"})
    reply = decode_response(body)
    assert encode_response(reply)["stopReason"] == word
    assert decode_response(encode_response(reply)) == reply
    codes = [f.code for f in reply.findings]
    assert codes == (["unknown_finish"] if word == "something_new" else [])


def test_calls_count_for_more_than_the_word():
    call = {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}
    body = with_stop("end_turn", call)
    reply = decode_response(body)
    assert reply.finish == "tool_calls"
    assert decode_response(encode_response(reply)) == reply
    assert decode_response(with_stop("max_tokens", call)).finish == "length"


def test_a_call_the_provider_runs_is_no_call_for_us():
    call = {"toolUse": {"toolUseId": "t", "name": "f", "input": {}, "type": "server_tool_use"}}
    assert decode_response(with_stop("end_turn", call)).finish == "stop"


def test_a_reply_of_another_format_becomes_a_whole_response():
    message = Message(
        "assistant", (ToolCall(id="call_1", name="f", raw='{"a": 1}'),), finish="tool_calls"
    )
    reply = Reply(message, native=Native("cohere", {"finish_reason": "X"}))
    assert encode_response(reply) == {
        "output": {
            "message": {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "call_1", "name": "f", "input": {"a": 1}}}],
            }
        },
        "stopReason": "tool_use",
        "usage": {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0},
        "metrics": {"latencyMs": 0},
    }


def test_a_reply_without_figures_stays_without():
    reply = Reply(
        Message("assistant", (Text(text="a"),), origin=Origin("bedrock", "bedrock"), finish="stop")
    )
    assert decode_response(encode_response(reply)) == reply


def test_figures_of_another_format_are_put_in_our_words():
    usage = Usage(
        input_tokens=10, output_tokens=2, cache_read_tokens=4, native={"prompt_tokens": 10}
    )
    assert encode_response(Reply(Message("assistant"), usage=usage))["usage"] == {
        "inputTokens": 6,
        "outputTokens": 2,
        "totalTokens": 12,
        "cacheReadInputTokens": 4,
        "cacheWriteInputTokens": 0,
    }


def test_a_response_without_a_message_is_reported():
    reply = decode_response({"stopReason": "end_turn"})
    assert reply.message.blocks == ()
    assert [f.code for f in reply.findings] == ["reply_missing"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("hello", "$"),
        ({"output": [1]}, "$.output"),
        ({"output": {"message": {"content": {}}}}, "$.output.message.content"),
        ({"output": {"message": {}}, "stopReason": 1}, "$.stopReason"),
        ({"output": {"message": {}}, "usage": 3}, "$.usage"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(body, where):
    with pytest.raises(MalformedBody) as caught:
        decode_response(body)
    assert caught.value.where == where


def test_seals_of_other_providers_are_left_out():
    """A client would send them back, and Bedrock would refuse them."""
    seal = Opaque("gemini-api", "signature", "s")
    blocks = (Thinking(text="hm", opaque=(seal,)), Thinking(opaque=(seal,)), Text(text="a"))
    message = Message("assistant", blocks, origin=Origin("gemini", "gemini"), finish="stop")
    content = encode_response(Reply(message))["output"]["message"]["content"]
    assert content == [{"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": "a"}]


def test_calls_are_never_said_to_be_a_plain_end():
    message = Message("assistant", (ToolCall(id="t1", name="f", args={}),), finish="stop")
    assert encode_response(Reply(message))["stopReason"] == "tool_use"
