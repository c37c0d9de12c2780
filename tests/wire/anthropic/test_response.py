"""Whole responses."""

import pytest

from canonicall import Message, Opaque, Origin, Text, Thinking, ToolCall, ToolResult
from canonicall.blocks import Native, Unknown
from canonicall.errors import MalformedBody
from canonicall.reply import Reply, Usage
from canonicall.wire.anthropic.response import RESPONSE_ID, decode_response, encode_response

NO_FIGURES = {
    "cache_creation": None,
    "inference_geo": None,
    "iterations": None,
    "output_tokens_details": None,
    "server_tool_use": None,
    "service_tier": None,
    "speed": None,
}
BODY = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "text", "text": "Let me see.", "citations": None},
        {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "f",
            "input": {"a": 1},
            "caller": {"type": "direct"},
        },
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "stop_details": None,
    "context_management": None,
    "diagnostics": None,
    "usage": {
        **NO_FIGURES,
        "input_tokens": 3,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": 1,
        "output_tokens": 7,
        "service_tier": "standard",
    },
    "container": {"id": "container_1"},
}


def test_a_whole_response_survives():
    reply = decode_response(BODY)
    assert encode_response(reply) == BODY
    assert decode_response(encode_response(reply)) == reply


def test_fields_that_say_nothing_are_not_kept():
    """They are written because the schema requires them."""
    reply = decode_response(BODY)
    assert [block.native for block in reply.message.blocks] == [None] * 3
    assert reply.native == Native("anthropic", {"container": {"id": "container_1"}})


def test_what_a_response_says_is_canonical():
    reply = decode_response(BODY)
    assert reply.finish == "tool_calls"
    assert reply.message.text == "Let me see."
    assert [(call.id, call.name, call.args) for call in reply.calls] == [("toolu_1", "f", {"a": 1})]
    assert reply.message.origin == Origin(
        provider="anthropic", format="anthropic", model="claude-x", response_id="msg_01"
    )
    assert (reply.usage.input_tokens, reply.usage.cache_read_tokens) == (6, 1)
    assert reply.findings == ()


def test_origin_and_domain_can_be_given():
    origin = Origin(provider="vertex", format="anthropic", endpoint="e", model="m")
    reply = decode_response(BODY, origin=origin, domain="elsewhere")
    assert reply.message.origin == Origin("vertex", "anthropic", "e", "claude-x", "msg_01")
    assert reply.message.blocks[0].opaque[0].domain == "elsewhere"
    assert encode_response(reply) == BODY


@pytest.mark.parametrize(
    ("word", "codes"), [("of_tomorrow", ["unknown_finish"]), ("compaction", [])]
)
def test_a_stop_reason_without_a_word_of_its_own_is_kept(word, codes):
    body = BODY | {"content": [], "stop_reason": word}
    reply = decode_response(body)
    assert reply.native.fields["stop_reason"] == word
    assert [one.code for one in reply.findings] == codes
    assert encode_response(reply)["stop_reason"] == word


def test_calls_count_more_than_the_stop_reason():
    reply = decode_response(BODY | {"stop_reason": "end_turn"})
    assert reply.finish == "tool_calls"
    assert encode_response(reply)["stop_reason"] == "tool_use"


def test_calls_of_server_tools_are_not_for_the_caller():
    call = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    reply = decode_response(BODY | {"content": [call], "stop_reason": "pause_turn"})
    assert reply.finish == "paused"
    reply = decode_response(BODY | {"content": [call], "stop_reason": "end_turn"})
    assert reply.finish == "stop"


def test_the_stop_sequence_is_kept():
    body = BODY | {"content": [], "stop_reason": "stop_sequence", "stop_sequence": "END"}
    reply = decode_response(body)
    assert reply.finish == "stop_sequence"
    assert encode_response(reply) == body


def test_a_refusal_keeps_its_details():
    details = {"type": "refusal", "category": "cyber"}
    body = BODY | {"content": [], "stop_reason": "refusal", "stop_details": details}
    assert decode_response(body).finish == "refusal"
    assert encode_response(decode_response(body)) == body


def test_a_reply_without_origin_or_usage_is_a_valid_body():
    reply = Reply(Message("assistant", (ToolCall(id="c", name="f", args={}),)))
    assert encode_response(reply) == {
        "id": RESPONSE_ID,
        "type": "message",
        "role": "assistant",
        "model": "",
        "content": [
            {
                "type": "tool_use",
                "id": "c",
                "name": "f",
                "input": {},
                "caller": {"type": "direct"},
            }
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "stop_details": None,
        "container": None,
        "context_management": None,
        "diagnostics": None,
        "usage": {
            **NO_FIGURES,
            "input_tokens": 0,
            "output_tokens": 0,
            "cache_creation_input_tokens": None,
            "cache_read_input_tokens": None,
        },
    }


def test_what_only_another_provider_can_read_is_left_out():
    """A client would send it back as Claude's own and be refused."""
    foreign = (Opaque("gemini-api", "signature", "sig"),)
    block = (Opaque("gemini-api", "server_block", {"executableCode": {}}),)
    reply = Reply(
        Message(
            "assistant",
            (
                Thinking(text="hm", opaque=foreign),
                Thinking(opaque=foreign),
                ToolCall(id="s", name="code", kind="server", opaque=block),
                ToolResult(call_id="s", content=(), opaque=block),
                Unknown(native=Native("gemini", {"x": 1})),
                Text(text="Done.", opaque=foreign),
            ),
            origin=Origin(provider="gemini", format="gemini", model="g"),
            finish="stop",
        ),
        usage=Usage(input_tokens=4, native={"promptTokenCount": 4}),
    )
    body = encode_response(reply)
    assert body["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "text", "text": "Done.", "citations": None},
    ]
    assert body["usage"]["input_tokens"] == 4
    assert "promptTokenCount" not in body["usage"]


def test_state_of_the_same_domain_passes_between_formats():
    """Bedrock and the Messages API verify each other's signatures."""
    signed = Thinking(text="hm", opaque=(Opaque("anthropic", "signature", "sig"),))
    origin = Origin(provider="bedrock", format="bedrock")
    body = encode_response(Reply(Message("assistant", (signed,), origin=origin, finish="stop")))
    assert body["content"][0]["signature"] == "sig"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"type": "error", "error": {"type": "api_error", "message": "down"}}, "$"),
        (BODY | {"content": {}}, "$.content"),
        (BODY | {"content": [1]}, "$.content[0]"),
        (BODY | {"stop_reason": 1}, "$.stop_reason"),
        (BODY | {"usage": []}, "$.usage"),
        (BODY | {"id": 1}, "$.id"),
    ],
)
def test_wrong_kinds_are_refused_with_their_path(body, where):
    with pytest.raises(MalformedBody) as error:
        decode_response(body)
    assert error.value.where == where


def test_an_error_is_named_in_the_refusal():
    with pytest.raises(MalformedBody, match="down"):
        decode_response({"type": "error", "error": {"message": "down"}})
