"""Whole response bodies."""

import pytest
from msgspec.structs import replace

from canonicall.blocks import Message, Native, Opaque, Origin, Text, Thinking, ToolCall
from canonicall.errors import MalformedBody
from canonicall.reply import Reply, Usage
from canonicall.wire.gemini.response import decode_response, encode_response

BODY = {
    "candidates": [
        {
            "content": {
                "parts": [
                    {"text": "Hm.", "thought": True},
                    {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "YQ=="},
                ],
                "role": "model",
            },
            "finishReason": "STOP",
            "index": 0,
            "groundingMetadata": {"webSearchQueries": ["q"]},
        }
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
    "modelVersion": "gemini-x",
    "responseId": "r1",
    "createTime": "2026-01-01T00:00:00Z",
}


def test_a_reply_is_read_and_comes_back():
    reply = decode_response(BODY)
    seal = Opaque("gemini-api", "signature", "YQ==")
    assert reply.message.blocks == (
        Thinking(text="Hm."),
        ToolCall(name="f", args={"a": 1}, opaque=(seal,)),
    )
    assert reply.message.origin == Origin("gemini", "gemini", "", "gemini-x", "r1")
    assert (reply.finish, reply.findings) == ("tool_calls", ())
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (1, 2)
    assert encode_response(reply) == BODY


def test_origin_and_domain_are_what_the_caller_says():
    origin = Origin(provider="vertex", format="gemini", endpoint="e", model="asked")
    reply = decode_response(BODY, origin=origin, domain="vertex")
    assert reply.message.origin == replace(origin, model="gemini-x", response_id="r1")
    assert reply.calls[0].opaque[0].domain == "vertex"
    unnamed = decode_response({"candidates": BODY["candidates"]}, origin=origin)
    assert unnamed.message.origin == origin


@pytest.mark.parametrize(
    "content", [{"content": {"role": "model"}}, {"content": {}}, {}, {"content": None}]
)
def test_a_candidate_without_parts_is_an_empty_reply(content):
    reply = decode_response({"candidates": [{**content, "finishReason": "MAX_TOKENS"}]})
    assert (reply.message.blocks, reply.finish) == ((), "length")
    assert decode_response(encode_response(reply)) == reply


def test_other_candidates_are_kept_and_reported():
    other = {"content": {"role": "model", "parts": [{"text": "or"}]}, "index": 1}
    body = {**BODY, "candidates": [*BODY["candidates"], other]}
    reply = decode_response(body)
    assert [(one.code, one.where) for one in reply.findings] == [
        ("more_choices", "$.candidates[1:]")
    ]
    assert encode_response(reply) == body


@pytest.mark.parametrize("reason", ["SAFETY", "PROHIBITED_CONTENT", 3])
def test_a_blocked_prompt_is_a_filtered_reply(reason):
    body = {"promptFeedback": {"blockReason": reason}, "modelVersion": "m"}
    reply = decode_response(body)
    assert (reply.finish, reply.message.blocks) == ("filter", ())
    assert [one.code for one in reply.findings] == ["reply_missing"]
    assert str(reason) in reply.findings[0].why
    assert encode_response(reply) == body


def test_no_candidate_and_no_reason_is_a_filtered_reply_too():
    reply = decode_response({"usageMetadata": {"promptTokenCount": 3}, "candidates": []})
    assert reply.finish == "filter"
    assert decode_response(encode_response(reply)).finish == "filter"


def test_an_error_in_place_of_a_reply_is_reported():
    body = {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}
    reply = decode_response(body)
    assert (reply.finish, [one.code for one in reply.findings]) == ("error", ["error_in_reply"])
    assert encode_response(reply) == body


def test_a_number_is_written_as_its_word():
    """Google's own client trips over numbers."""
    said = {"content": {"parts": [{"text": "x"}], "role": "model"}}
    again = encode_response(decode_response({"candidates": [{**said, "finishReason": 1}]}))
    assert again == {"candidates": [{**said, "finishReason": "STOP"}]}


@pytest.mark.parametrize(
    "reason", ["RECITATION", "UNEXPECTED_TOOL_CALL", "FINISH_REASON_UNSPECIFIED"]
)
def test_the_exact_reason_comes_back(reason):
    body = {
        "candidates": [
            {"content": {"parts": [{"text": "x"}], "role": "model"}, "finishReason": reason}
        ]
    }
    assert encode_response(decode_response(body)) == body


def test_the_kept_reason_yields_to_a_finish_that_has_changed():
    body = {
        "candidates": [
            {"content": {"parts": [{"text": "x"}], "role": "model"}, "finishReason": "RECITATION"}
        ]
    }
    reply = decode_response(body)
    changed = replace(reply, message=replace(reply.message, finish="length"))
    assert encode_response(changed)["candidates"][0]["finishReason"] == "MAX_TOKENS"


def test_an_unknown_reason_is_reported_and_kept():
    body = {"candidates": [{"content": {"parts": [], "role": "model"}, "finishReason": "TIRED"}]}
    reply = decode_response(body)
    assert reply.finish == ""
    assert [(one.code, one.where) for one in reply.findings] == [
        ("unknown_finish", "$.candidates[0].finishReason")
    ]
    assert encode_response(reply) == body


def test_calls_of_the_server_are_not_calls_to_answer():
    part = {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "args": {}}}
    body = {"candidates": [{"content": {"parts": [part], "role": "model"}, "finishReason": "STOP"}]}
    assert decode_response(body).finish == "stop"


def test_a_reply_of_another_provider_is_a_complete_body():
    message = Message(
        "assistant",
        (Text(text="so"), ToolCall(id="call_1", name="f", raw='{"a":1}')),
        origin=Origin("openai", "openai-chat", "", "gpt", "chatcmpl-1"),
        finish="tool_calls",
        native=Native("openai-chat", {"refusal": None}),
    )
    reply = Reply(message, Usage(3, 2), native=Native("openai-chat", {"system_fingerprint": "x"}))
    assert encode_response(reply) == {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {"text": "so"},
                        {"functionCall": {"id": "call_1", "name": "f", "args": {"a": 1}}},
                    ],
                    "role": "model",
                },
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
        "modelVersion": "gpt",
        "responseId": "chatcmpl-1",
    }


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ([], "$"),
        ({"candidates": "x"}, "$.candidates"),
        ({"candidates": ["x"]}, "$.candidates[0]"),
        ({"candidates": [{"content": "x"}]}, "$.candidates[0].content"),
        ({"usageMetadata": 1}, "$.usageMetadata"),
        ({"promptFeedback": []}, "$.promptFeedback"),
    ],
)
def test_wrong_kinds_are_refused_with_their_path(body, where):
    with pytest.raises(MalformedBody) as caught:
        decode_response(body)
    assert caught.value.where == where
