"""Whole response bodies, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import Media, Message, Native, Opaque, Origin, Text, Thinking, ToolCall
from canonicall.errors import MalformedBody
from canonicall.reply import Reply, Usage
from canonicall.testing.strategies import json_values
from canonicall.wire.openai_chat import FORMAT
from canonicall.wire.openai_chat.response import decode_response, encode_response

ORIGIN = Origin("openai", FORMAT, model="m", response_id="chatcmpl-1")
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def body(message: dict | None = None, finish="stop", **fields) -> dict:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None, "refusal": None, **(message or {})},
        "logprobs": None,
        "finish_reason": finish,
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 7,
        "model": "m",
        "choices": [choice],
        **fields,
    }


def codes(reply: Reply) -> list[str]:
    return [finding.code for finding in reply.findings]


def test_a_reply_is_read():
    usage = {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
    reply = decode_response(body({"content": "Hi"}, usage=usage))
    assert reply.message == Message("assistant", (Text(text="Hi"),), origin=ORIGIN, finish="stop")
    assert reply.usage == Usage(2, 3, native=usage)
    assert reply.findings == ()


def test_the_given_origin_is_completed():
    given_origin = Origin("groq", FORMAT, endpoint="e", model="asked")
    reply = decode_response(body({"content": "Hi"}), origin=given_origin)
    assert reply.message.origin == replace(given_origin, response_id="chatcmpl-1")


SAME = {
    "text": body({"content": "Hi"}),
    "calls": body({"tool_calls": [CALL]}, "tool_calls"),
    "legacy call": body({"function_call": {"name": "f", "arguments": "{}"}}, "function_call"),
    "custom call": body(
        {"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "g", "input": "ls"}}]},
        "tool_calls",
    ),
    "cut call": body(
        {"tool_calls": [{**CALL, "function": {"name": "f", "arguments": '{"a": '}}]}, "length"
    ),
    "reasoning": body({"content": "Hi", "reasoning": "Hm"}),
    "details": body({"content": "Hi", "reasoning_details": [{"type": "reasoning.encrypted"}]}),
    "text and details": body(
        {"content": "Hi", "reasoning": "Hm", "reasoning_details": [{"type": "x"}]}
    ),
    "chunks": body(
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}], "closed": True},
                {"type": "text", "text": "Hi"},
            ]
        }
    ),
    "refusal": body({"refusal": "No."}),
    "filtered": body({"content": "H"}, "content_filter"),
    "sound": body(
        {"audio": {"id": "audio_1", "data": "aGk=", "expires_at": 9, "transcript": "Hi"}}
    ),
    "images": body(
        {
            "content": "See",
            "images": [{"type": "image_url", "image_url": {"url": "https://x.test/a"}}],
        }
    ),
    "annotations": body({"content": "Hi", "annotations": [{"type": "url_citation"}]}),
    "unknown finish": body({"content": "Hi"}, "bored"),
    "overflow": body({"content": "Hi"}, "model_context_window_exceeded"),
    "refusal word": body({"content": "H"}, "refusal"),
    "no finish": body({"content": "Hi"}, None),
    "other fields": body(
        {"content": "Hi", "padding": "abc"}, provider="x", system_fingerprint="fp"
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_a_reply_is_written_as_it_was(name):
    assert encode_response(decode_response(SAME[name])) == SAME[name]


def test_sound_and_its_words_are_blocks():
    words, sound = decode_response(SAME["sound"]).message.blocks
    assert words.text == "Hi"
    assert (sound.media_type, sound.data) == ("audio/*", "aGk=")
    assert sound.opaque == (Opaque("openai", "item_id", "audio_1"),)


def test_fields_of_the_reply_are_not_replayed_with_the_message():
    reply = decode_response(SAME["other fields"])
    assert reply.message.native is None
    assert reply.native.fields["message"] == {"padding": "abc"}


@pytest.mark.parametrize(
    ("message", "word", "finish"),
    [
        ({"content": "Hi"}, "stop", "stop"),
        ({"tool_calls": [CALL]}, "stop", "tool_calls"),
        ({"tool_calls": [CALL]}, "", "tool_calls"),
        ({"tool_calls": [CALL]}, None, "tool_calls"),
        ({"tool_calls": [CALL]}, "bored", "tool_calls"),
        ({"tool_calls": [CALL]}, "length", "length"),
        ({"tool_calls": [CALL]}, "content_filter", "filter"),
        ({"tool_calls": []}, "tool_calls", "stop"),
        ({"refusal": "No."}, "stop", "refusal"),
        ({"refusal": "No."}, "content_filter", "filter"),
        ({"content": "Hi", "refusal": ""}, "stop", "stop"),
        ({"content": "Hi"}, "", ""),
    ],
)
def test_the_finish_follows_what_is_there(message, word, finish):
    assert decode_response(body(message, word)).finish == finish


def test_calls_that_were_cut_off_are_not_complete():
    """OpenRouter says tool_calls for them; only the native reason tells."""
    cut = {**CALL, "function": {"name": "f", "arguments": '{"a": '}}
    wire = body({"tool_calls": [cut]}, "tool_calls")
    wire["choices"][0]["native_finish_reason"] = "max_output_tokens"
    reply = decode_response(wire)
    assert reply.finish == "length"
    assert codes(reply) == ["finish_corrected"]
    assert encode_response(reply)["choices"][0]["finish_reason"] == "length"


def test_an_unknown_finish_is_reported_and_kept():
    reply = decode_response(SAME["unknown finish"])
    assert reply.finish == ""
    assert codes(reply) == ["unknown_finish"]
    assert reply.native.fields["finish_reason"] == "bored"


def test_further_choices_are_kept_beside_the_first():
    wire = body({"content": "a"})
    other = {"index": 1, "message": {"role": "assistant", "content": "b"}, "finish_reason": "stop"}
    wire["choices"].append(other)
    reply = decode_response(wire)
    assert reply.message.text == "a"
    assert codes(reply) == ["more_choices"]
    assert encode_response(reply) == wire


def test_a_reply_that_came_in_two_choices_is_one():
    """Copilot: the first choice has the text, the second the calls; both end with tool_calls."""
    wire = body({"content": "Let me see."}, "tool_calls")
    call = {"index": 0, "message": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}
    wire["choices"].append(call)
    reply = decode_response(wire)
    assert [type(block) for block in reply.message.blocks] == [Text, ToolCall]
    assert reply.finish == "tool_calls"
    assert codes(reply) == ["split_reply"]
    (choice,) = encode_response(reply)["choices"]
    assert choice["message"]["tool_calls"] == [CALL]


@pytest.mark.parametrize(
    "wire",
    [
        {"error": {"code": 502, "message": "Provider returned error"}, "user_id": "u"},
        {"error": "Provider returned error", "choices": None},
        {"message": "Provider returned error", "code": 1},
        {**body({"content": "H"}), "error": {"message": "Provider returned error"}},
    ],
)
def test_an_error_inside_a_200_ends_the_reply(wire):
    reply = decode_response(wire)
    assert reply.finish == "error"
    assert codes(reply) == ["error_in_reply"]
    assert "Provider returned error" in reply.findings[0].why
    assert decode_response(encode_response(reply)).finish == "error"


def test_an_error_of_the_choice_ends_the_reply():
    wire = body({"content": "H"}, "error")
    wire["choices"][0]["error"] = {"message": "cut", "code": 502}
    reply = decode_response(wire)
    assert (reply.finish, reply.message.text, codes(reply)) == ("error", "H", ["error_in_reply"])
    assert encode_response(reply) == wire


def test_a_reply_without_choices_is_reported():
    reply = decode_response({"id": "x", "choices": []})
    assert (reply.message.blocks, reply.finish, codes(reply)) == ((), "", ["reply_missing"])


def test_the_usage_of_kimi_stands_in_the_choice_where_it_stands_nowhere_else():
    said = {"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}
    figures = {"prompt_tokens": 2, "completion_tokens": 3}
    told = {"choices": [said | {"usage": figures}]}
    assert decode_response(told).usage.input_tokens == 2
    assert decode_response(told | {"usage": {"prompt_tokens": 9}}).usage.input_tokens == 9
    assert decode_response({"choices": [said | {"usage": "none"}]}).usage is None


def test_the_usage_of_groq():
    groq = {"id": "r", "usage": {"prompt_tokens": 2, "completion_tokens": 3}}
    assert decode_response(body({"content": "Hi"}, x_groq=groq)).usage.input_tokens == 2


def test_a_reply_of_another_format_is_a_complete_body():
    message = Message(
        "assistant",
        (
            Thinking(text="Hm", opaque=(Opaque("anthropic", "signature", "s"),)),
            Text(text="a", native=Native("anthropic", {"citations": []})),
            Media(media_type="image/png", data="aGk="),
            Text(text="b"),
            ToolCall(id="call_1", name="f", args={"a": 1}),
        ),
        origin=Origin("anthropic", "anthropic", model="m"),
        finish="tool_calls",
    )
    native = Native("anthropic", {"stop_details": 1})
    assert encode_response(Reply(message, Usage(2, 3, 1), native=native)) == {
        "id": "chatcmpl-canonicall",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "a\nb",
                    "refusal": None,
                    "reasoning_content": "Hm",
                    "images": [
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
                    ],
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "f", "arguments": '{"a":1}'},
                        }
                    ],
                },
                "logprobs": None,
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {
            "prompt_tokens": 2,
            "completion_tokens": 3,
            "total_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


@pytest.mark.parametrize(
    ("wire", "where"),
    [
        ({"choices": {}}, "$.choices"),
        ({"choices": [1]}, "$.choices[0]"),
        ({"choices": [{"message": "a"}]}, "$.choices[0].message"),
        ({"choices": [{"message": {"content": 1}}]}, "$.choices[0].message.content"),
        ({"choices": [{"finish_reason": 1}]}, "$.choices[0].finish_reason"),
        ({"choices": [{}], "usage": [1]}, "$.usage"),
        ({"choices": [{}], "id": 1}, "$.id"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_path(wire, where):
    with pytest.raises(MalformedBody) as caught:
        decode_response(wire)
    assert caught.value.where == where


FIELDS = ("choices", "usage", "id", "model", "error", "x_groq", "created")
CHOICE_FIELDS = ("message", "finish_reason", "native_finish_reason", "error", "index")
MESSAGE_FIELDS = (
    *("content", "refusal", "tool_calls", "function_call", "audio", "images", "annotations"),
    *("reasoning", "reasoning_content", "reasoning_details", "role"),
)


@given(
    st.dictionaries(st.sampled_from(MESSAGE_FIELDS), json_values(), max_size=3),
    st.dictionaries(st.sampled_from(CHOICE_FIELDS), json_values(), max_size=1),
    st.dictionaries(st.sampled_from(FIELDS), json_values(), max_size=1),
)
def test_any_value_in_any_field_is_read_or_refused_with_its_path(message, choice, fields):
    """Nothing but our own error comes out, whatever comes in; what is read can be written."""
    wire = body(message)
    wire["choices"][0] |= choice
    try:
        reply = decode_response(wire | fields)
    except MalformedBody as refused:
        where = refused.where
    else:
        where = "$." if encode_response(reply)["choices"] else "lost"
    assert where.startswith("$.")
