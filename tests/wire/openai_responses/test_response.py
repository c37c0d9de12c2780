"""Whole responses, both ways."""

import pytest

from canonicall.blocks import (
    Code,
    Media,
    Message,
    Native,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.reply import Reply, Usage
from canonicall.wire.openai_responses import FORMAT
from canonicall.wire.openai_responses.response import decode_response, encode_response

CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "f",
    "arguments": "{}",
    "status": "completed",
}
WORDS = {
    "type": "message",
    "role": "assistant",
    "id": "msg_1",
    "status": "completed",
    "content": [{"type": "output_text", "text": "hi", "annotations": []}],
}
REFUSAL = {**WORDS, "content": [{"type": "refusal", "refusal": "no"}]}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "q"}}
SHELL = {"type": "shell_call", "id": "sh_1", "call_id": "call_s", "action": {"commands": ["ls"]}}
USAGE = {
    "input_tokens": 3,
    "input_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
    "output_tokens": 2,
    "output_tokens_details": {"reasoning_tokens": 1},
    "total_tokens": 5,
}


SETTINGS = {
    "access_programs": None,
    "background": False,
    "frequency_penalty": 0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1,
    "truncation": "disabled",
}


def body(*output, **fields):
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "completed_at": 0 if fields.get("status", "completed") == "completed" else None,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "gpt-5",
        "output": list(output),
        "usage": USAGE,
        **SETTINGS,
        **fields,
    }


def foreign(*blocks, finish="stop", format="anthropic", **fields):
    origin = Origin(provider="other", format=format, model="m", response_id="r")
    return Reply(Message("assistant", blocks, origin=origin, finish=finish), **fields)


def test_all_items_are_one_message():
    reply = decode_response(body(WORDS, CALL))
    assert reply.message.role == "assistant"
    assert [type(block) for block in reply.message.blocks] == [Text, ToolCall]
    assert reply.message.origin == Origin(
        provider="openai", format=FORMAT, model="gpt-5", response_id="resp_1"
    )
    assert reply.usage == Usage(3, 2, 1, 0, 1, USAGE)
    assert reply.native is None
    assert reply.findings == ()


@pytest.mark.parametrize(
    ("response", "finish", "partial"),
    [
        (body(WORDS), "stop", False),
        (body(CALL), "tool_calls", False),
        (body(REFUSAL), "refusal", False),
        (body(SEARCH, WORDS), "stop", False),
        (body(SHELL), "tool_calls", False),
        (
            body(CALL, status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "length",
            False,
        ),
        (
            body(status="incomplete", incomplete_details={"reason": "content_filter"}),
            "filter",
            False,
        ),
        (
            body(CALL, status="incomplete", incomplete_details={"reason": "steered"}),
            "tool_calls",
            False,
        ),
        (body(WORDS, status="incomplete", incomplete_details={"reason": "steered"}), "", False),
        (body(status="in_progress"), "", True),
        (body(status="queued", usage=None), "", True),
        (body(CALL, status="cancelled"), "", True),
        (body(status="failed", error={"code": "server_error", "message": "m"}), "error", False),
        (
            body(status="failed", error={"code": "context_length_exceeded", "message": "m"}),
            "context_overflow",
            False,
        ),
    ],
)
def test_every_end_is_read_and_comes_back(response, finish, partial):
    reply = decode_response(response)
    assert (reply.finish, reply.message.partial) == (finish, partial)
    assert encode_response(reply) == response
    assert decode_response(encode_response(reply)) == reply


@pytest.mark.parametrize(
    ("response", "told"),
    [
        (
            body(WORDS, status="incomplete", incomplete_details={"reason": "max_messages"}),
            [("unknown_finish", "$.incomplete_details.reason", "kept")],
        ),
        (
            body(CALL, status="incomplete", incomplete_details={"reason": "steered"}),
            [("unknown_finish", "$.incomplete_details.reason", "changed")],
        ),
        (body(WORDS, status="of_tomorrow"), [("unknown_finish", "$.status", "kept")]),
        (body(WORDS, status="incomplete"), []),
        (body(WORDS, status="cancelled"), []),
    ],
)
def test_an_end_that_is_not_known_is_reported(response, told):
    findings = decode_response(response).findings
    assert [(one.code, one.where, one.action) for one in findings] == told


def test_a_failure_is_one_whatever_the_status_says():
    failed = body(WORDS, error={"code": "server_error", "message": "m"})
    reply = decode_response(failed)
    assert reply.finish == "error"
    assert encode_response(reply) == failed


@pytest.mark.parametrize(
    "item",
    [
        {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": []},
        {"type": "mcp_approval_response", "id": "m_1", "approval_request_id": "a", "approve": True},
    ],
)
def test_items_of_a_client_in_a_response_are_known(item):
    reply = decode_response(body(item))
    assert not reply.findings
    assert encode_response(reply)["output"] == [item]


def test_a_failure_is_a_finding():
    (finding,) = decode_response(
        body(status="failed", error={"code": "server_error", "message": "overloaded"})
    ).findings
    assert (finding.code, finding.where) == ("error_in_reply", "$.error")
    assert "overloaded" in finding.why


def test_fields_without_meaning_come_back():
    response = body(WORDS, service_tier="flex", metadata={"a": "b"}, tools=[{"type": "web_search"}])
    reply = decode_response(response)
    assert reply.native == Native(
        FORMAT,
        {"service_tier": "flex", "metadata": {"a": "b"}, "tools": [{"type": "web_search"}]},
    )
    assert encode_response(reply) == response


def test_defaults_are_not_kept():
    """They are written because the schema requires them; nulls in their place become them."""
    assert decode_response(body(WORDS)).native is None
    assert decode_response(body(WORDS, temperature=None, text=None)).native is None


def test_the_times_of_a_response_are_not_kept():
    response = encode_response(decode_response(body(WORDS, created_at=123, completed_at=124)))
    assert (response["created_at"], response["completed_at"]) == (0, 0)


def test_the_short_text_counts_where_there_are_no_items():
    assert decode_response(body(output_text="hi")).message.text == "hi"
    assert decode_response(body(WORDS, output_text="hi")).message.text == "hi"


def test_the_origin_and_domain_of_the_caller_count():
    origin = Origin(provider="azure", format=FORMAT, endpoint="e")
    reply = decode_response(body(CALL), origin=origin, domain="azure")
    assert reply.message.origin == Origin("azure", FORMAT, "e", "gpt-5", "resp_1")
    assert reply.calls[0].opaque == (Opaque("azure", "item_id", "fc_1"),)


# Replies of other formats.


def test_a_foreign_reply_becomes_a_complete_response():
    reply = foreign(
        Thinking(text="hm", opaque=(Opaque("anthropic", "signature", "s"),)),
        Text(text="a"),
        Text(text="b"),
        ToolCall(id="toolu_1", name="f", args={"a": 1}),
        ToolCall(name="run", raw="ls", kind="custom"),
        finish="tool_calls",
        usage=Usage(3, 2, 1, 0, 1),
    )
    response = encode_response(reply)
    thought, message, call, custom = response["output"]
    assert response == body(thought, message, call, custom, id="r", model="m")
    assert thought["summary"] == [{"type": "summary_text", "text": "hm"}]
    assert "encrypted_content" not in thought
    assert [part["text"] for part in message["content"]] == ["a", "b"]
    assert (call["call_id"], call["arguments"], call["status"]) == (
        "toolu_1",
        '{"a":1}',
        "completed",
    )
    assert custom["call_id"].startswith("call_")
    prefixes = [item["id"].partition("_")[0] for item in response["output"]]
    assert prefixes == ["rs", "msg", "fc", "ctc"]


def test_made_ids_are_the_same_every_time_and_differ_between_responses():
    reply = foreign(Text(text="a"), ToolCall(id="c", name="f", args={}), Text(text="b"))
    ids = [item["id"] for item in encode_response(reply)["output"]]
    assert ids == [item["id"] for item in encode_response(reply)["output"]]
    assert len(set(ids)) == 3
    other = Reply(Message("assistant", reply.message.blocks, origin=Origin(response_id="s")))
    assert not set(ids) & {item["id"] for item in encode_response(other)["output"]}


def test_a_foreign_refusal_is_one_here():
    response = encode_response(foreign(Text(text="no"), finish="refusal"))
    assert response["output"][0]["content"] == [{"type": "refusal", "refusal": "no"}]
    assert decode_response(response).finish == "refusal"
    assert decode_response(encode_response(foreign(finish="refusal"))).finish == "refusal"


def test_an_image_the_model_made_is_an_item():
    image = Media(media_type="image/png", data="aGk=")
    (item,) = encode_response(foreign(image, format="gemini"))["output"]
    assert item.pop("id").startswith("ig_")
    assert item == {"type": "image_generation_call", "status": "completed", "result": "aGk="}


def test_other_media_and_code_are_told_in_words():
    blocks = (
        Media(media_type="audio/wav", data="aGk="),
        Media(media_type="image/png", url="https://example.com/a.png"),
        Code(code="1", language="py"),
    )
    (message,) = encode_response(foreign(*blocks))["output"]
    assert [part["text"] for part in message["content"]] == [
        "[audio/wav]",
        "https://example.com/a.png",
        "```py\n1\n```",
    ]


def test_what_another_provider_ran_is_left_out():
    block = {"type": "server_tool_use", "id": "s"}
    blocks = (
        ToolCall(id="s", kind="server", opaque=(Opaque("anthropic", "server_block", block),)),
        ToolResult(call_id="s", content=(), opaque=(Opaque("anthropic", "server_block", block),)),
        Unknown(native=Native("anthropic", block)),
        Text(text="a"),
    )
    output = encode_response(foreign(*blocks))["output"]
    assert [item["type"] for item in output] == ["message"]


@pytest.mark.parametrize(
    ("finish", "status", "reason"),
    [
        ("stop", "completed", None),
        ("length", "incomplete", {"reason": "max_output_tokens"}),
        ("filter", "incomplete", {"reason": "content_filter"}),
        ("error", "failed", None),
    ],
)
def test_foreign_ends(finish, status, reason):
    response = encode_response(foreign(Text(text="a"), finish=finish))
    assert (response["status"], response["incomplete_details"]) == (status, reason)
    assert (response["error"] is not None) == (status == "failed")
    assert decode_response(response).finish == finish


def test_a_cut_reply_is_incomplete():
    reply = Reply(Message("assistant", (Text(text="a"),), partial=True))
    response = encode_response(reply)
    assert (response["id"], response["status"]) == ("resp_canonicall", "incomplete")
    assert decode_response(response).message.partial


def test_encoding_does_not_change_the_reply():
    item = {"type": "image_generation_call", "result": "aGk="}
    reply = decode_response(body(item))
    encode_response(reply)
    assert item == {"type": "image_generation_call", "result": "aGk="}
