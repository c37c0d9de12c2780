"""Recorded Messages traffic: all of it decodes, means what it says, and comes back the same.

The readings of raw JSON in this file share no code with the decoder.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from canonicall import Report, Text, Thinking, ToolCall, ToolResult
from canonicall.errors import MalformedBody
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.errors import decode_error, encode_error
from canonicall.wire.anthropic.messages import encode_turn
from canonicall.wire.anthropic.request import decode_request, encode_request
from canonicall.wire.anthropic.response import decode_response, encode_response
from corpus.support import needs_corpus, recorded

pytestmark = needs_corpus


@cache
def records() -> list[dict[str, Any]]:
    return list(recorded("anthropic-messages"))


def is_malformed(body: dict[str, Any]) -> bool:
    """A schema that is no object: the API refused the one recording that has it."""
    return any(not isinstance(one.get("input_schema", {}), dict) for one in body.get("tools") or [])


def requests() -> list[dict[str, Any]]:
    recorded = [record for record in records() if isinstance(record["request"], dict)]
    return [record for record in recorded if not is_malformed(record["request"])]


def responses() -> list[dict[str, Any]]:
    """Complete replies. Streams have tests of their own."""
    return [one for one in records() if one["framing"] == "json" and one["status"] == 200]


def errors() -> list[dict[str, Any]]:
    return [one for one in records() if one["framing"] == "json" and one["status"] != 200]


# A few lines that read the raw JSON.


def blocks_of(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def bare(block: dict[str, Any]) -> dict[str, Any]:
    """A block in the one form that all its spellings share: a null field is no field, a string is
    one text, and a result that says it is no error says nothing."""
    block = {name: value for name, value in block.items() if value is not None}
    if block["type"] == "tool_result":
        block["content"] = [bare(part) for part in blocks_of(block.get("content"))]
        if not block.get("is_error"):
            block.pop("is_error", None)
    return block


def said(messages: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every block with its role, the results of a message before the rest of it."""
    for message in messages:
        parts = [bare(block) for block in blocks_of(message["content"])]
        if message["role"] == "user":
            parts.sort(key=lambda block: block["type"] != "tool_result")
        yield from ((message["role"], part) for part in parts)


def picked(blocks: Iterator[Any] | list[Any], *types: str) -> list[dict[str, Any]]:
    return [block for block in blocks if block["type"] in types]


def is_result(block: dict[str, Any]) -> bool:
    return block["type"].endswith("tool_result")


def as_sent(body: dict[str, Any]) -> dict[str, Any]:
    """A body as it is written today, without empty fields.

    An empty description of a tool is none, the output format has another place, and the version of
    the API is a header.
    """
    full = {name: value for name, value in body.items() if value not in (None, [], "")}
    full.pop("anthropic_version", None)
    if form := full.pop("output_format", None):
        full["output_config"] = full.get("output_config", {}) | {"format": form}
    if tools := full.get("tools"):
        full["tools"] = [{k: v for k, v in tool.items() if v != ""} for tool in tools]
    return full


# The canonical side.


def with_raw_ids(block: Any) -> Any:
    if isinstance(block, ToolCall):
        return replace(block, id=block.raw_id or block.id)
    if isinstance(block, ToolResult):
        return replace(block, call_id=block.raw_id or block.call_id)
    return block


def turns_of(request: Any) -> tuple[Turn, ...]:
    return tuple(
        Turn(one.role, tuple(map(with_raw_ids, one.blocks)), one.origin, one.native)
        for one in request.conversation.messages
    )


def ids_of_failures(checks: Iterator[tuple[str, bool]]) -> list[str]:
    return [id for id, holds in checks if not holds]


def test_the_corpus_is_there():
    assert len(requests()) > 550
    assert len(responses()) > 400
    assert len(errors()) > 10


def test_the_malformed_request_is_refused_as_it_was_by_the_api():
    refused = [one for one in records() if one["request"] and is_malformed(one["request"])]
    assert [record["status"] for record in refused] == [400]
    with pytest.raises(MalformedBody, match=r"\$\.tools\[0\]\.input_schema"):
        decode_request(refused[0]["request"])


# Recorded with status 200, although the conversation is out of order.
ODD = {
    # The result names another call than the one before it; early models let that pass.
    "anthropic_completion_tools_call_with_tool_result_stream_helper.yaml#0": "orphan_result",
    # A transcript of Gemini's in which two calls share an id, each answered at once.
    "test_cross_provider_capability_replay[google-gemini-3-flash-preview"
    "-anthropic-claude-sonnet-4-5].yaml#3": "reused_call_id",
}


def test_every_request_decodes_and_only_the_odd_ones_have_a_finding():
    found = {
        record["id"].rpartition("/")[2]: [one.code for one in request.findings]
        for record in requests()
        if (request := decode_request(record["request"])).findings
        and "output_format" not in record["request"]
    }
    assert found == {id: [code] for id, code in ODD.items()}


def test_the_deprecated_field_is_read_and_reported():
    old = [record["request"] for record in requests() if "output_format" in record["request"]]
    assert len(old) > 10
    for body in old:
        request = decode_request(body)
        assert [one.code for one in request.findings] == ["legacy_field"]
        assert request.params.output.schema == body["output_format"]["schema"]


def test_calls_results_and_words_of_requests_are_found():
    def checks() -> Iterator[tuple[str, bool]]:
        for record in requests():
            raw = [block for _, block in said(record["request"]["messages"])]
            system = blocks_of(record["request"].get("system"))
            chat = decode_request(record["request"]).conversation
            blocks = [block for message in chat.messages for block in message.blocks]
            calls = [one for one in blocks if isinstance(one, ToolCall)]
            results = [one for one in blocks if isinstance(one, ToolResult)]
            yield (
                record["id"],
                [(one.raw_id, one.name, one.args) for one in calls]
                == [
                    (one["id"], one["name"], one["input"])
                    for one in picked(raw, "tool_use", "server_tool_use", "mcp_tool_use")
                ]
                and [(one.raw_id or one.call_id, one.error) for one in results if not one.opaque]
                == [
                    (one["tool_use_id"], one.get("is_error", False))
                    for one in picked(raw, "tool_result")
                ]
                and len(results) == sum(map(is_result, raw))
                and (all(one.bound for one in results) or "orphan_result" in chat.report)
                and [one.text for one in blocks if isinstance(one, Text)]
                == [one["text"] for one in picked([*system, *raw], "text")]
                and [one.text for one in blocks if isinstance(one, Thinking)]
                == [one["thinking"] for one in picked(raw, "thinking")],
            )

    assert ids_of_failures(checks()) == []


def test_every_message_comes_back_block_for_block():
    def checks() -> Iterator[tuple[str, bool]]:
        for record in requests():
            body = record["request"]
            turns = turns_of(decode_request(body))
            if body.get("system"):
                turns = turns[1:]
            encoded = [message for turn in turns for message in encode_turn(turn, TARGET)]
            yield record["id"], list(said(encoded)) == list(said(body["messages"]))

    assert ids_of_failures(checks()) == []


def test_every_request_comes_back_field_for_field():
    def checks() -> Iterator[tuple[str, bool]]:
        for record in requests():
            body = as_sent(record["request"])
            request = decode_request(body)
            transcript = Transcript(turns_of(request), {}, {}, Report())
            encoded, findings = encode_request(request, transcript, TARGET)
            same = {**body, "messages": 0, "system": 0} == {**encoded, "messages": 0, "system": 0}
            system = [bare(one) for one in blocks_of(body.get("system"))]
            back = [bare(one) for one in blocks_of(encoded.get("system"))]
            yield record["id"], same and system == back and findings == []

    assert ids_of_failures(checks()) == []


def test_every_response_means_what_it_says():
    words = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}

    def checks() -> Iterator[tuple[str, bool]]:
        for record in responses():
            raw, reply = record["response"], decode_response(record["response"])
            content, usage = raw["content"], raw["usage"]
            blocks = reply.message.blocks
            cached = [usage.get(f"cache_{way}_input_tokens") or 0 for way in ("read", "creation")]
            yield (
                record["id"],
                [(one.id, one.name, one.args) for one in reply.calls]
                == [
                    (one["id"], one["name"], one["input"])
                    for one in picked(content, "tool_use", "server_tool_use", "mcp_tool_use")
                ]
                and [one.text for one in blocks if isinstance(one, Text)]
                == [one["text"] for one in picked(content, "text")]
                and [(one.text, one.opaque[0].value) for one in blocks if isinstance(one, Thinking)]
                == [
                    (one.get("thinking", ""), one.get("signature") or one.get("data"))
                    for one in picked(content, "thinking", "redacted_thinking")
                ]
                and len(reply.message.results) == sum(map(is_result, content))
                and reply.finish == words[raw["stop_reason"]]
                and reply.usage is not None
                and reply.usage.input_tokens == usage["input_tokens"] + sum(cached)
                and reply.usage.output_tokens == usage["output_tokens"]
                and reply.findings == (),
            )

    assert ids_of_failures(checks()) == []


def plain(response: dict[str, Any]) -> dict[str, Any]:
    """A response without what says nothing: null fields, and the caller that calls have anyway."""
    said = {name: value for name, value in response.items() if value is not None}
    blocks = [bare(block) for block in response["content"]]
    for block in blocks:
        if block["type"] == "tool_use" and block.get("caller") == {"type": "direct"}:
            del block["caller"]
    figures = {name: n for name, n in response.get("usage", {}).items() if n is not None}
    return {**said, "content": blocks, "usage": figures}


def test_every_response_comes_back():
    """Encoded again it is the recorded body, but for null fields; decoded again it is equal."""

    def checks() -> Iterator[tuple[str, bool]]:
        for record in responses():
            reply = decode_response(record["response"])
            encoded = encode_response(reply)
            came, went = plain(record["response"]), plain(encoded)
            yield record["id"], went == came and decode_response(encoded) == reply

    assert ids_of_failures(checks()) == []


def test_every_error_is_read():
    def checks() -> Iterator[tuple[str, bool]]:
        for record in errors():
            body = record["response"]
            error = decode_error(body)
            same = (error.type, error.message) == (body["error"]["type"], body["error"]["message"])
            yield record["id"], same and encode_error(error) == body

    assert ids_of_failures(checks()) == []
