"""Recorded Chat Completions traffic of OpenAI and the compatible hosts, read in two ways.

The second way is a few lines of this file that look at the raw JSON only. What they find has to be
what the canonical form says, and what comes out when it is encoded again.
"""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from msgspec.structs import replace

from batches import each
from canonicall import (
    Media,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_canonical_tool_id,
)
from canonicall.errors import MalformedBody
from canonicall.findings import Report
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.openai_chat import TARGET
from canonicall.wire.openai_chat.errors import decode_error
from canonicall.wire.openai_chat.messages import encode_turn
from canonicall.wire.openai_chat.request import decode_request, encode_request
from canonicall.wire.openai_chat.response import decode_response, encode_response
from corpus.support import needs_corpus, recorded

pytestmark = needs_corpus


@cache
def records() -> list[dict]:
    return list(recorded("openai-chat"))


# Sent to provoke a 400: {"temperature": "hot"}. It is refused here as well, with the same path.
MALFORMED = {
    "0xPlaygrounds/rig:tests/cassettes/llamacpp/error_matrix/malformed_request_field.yaml#0": "$.temperature",
}


def requests() -> Iterator[tuple[str, dict]]:
    for one in records():
        if one["request"] and one["id"] not in MALFORMED:
            yield one["id"], one["request"]


def bodies(*, errors: bool) -> Iterator[tuple[str, dict]]:
    """Bodies that are not streams: replies (an error inside a 200 with them), or errors."""
    for one in records():
        if one["framing"] == "json" and (one["status"] != 200) is errors:
            yield one["id"], one["response"]


# The raw reading.


def words(content) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def thoughts(message: dict) -> str:
    text = message.get("reasoning_content") or message.get("reasoning")
    if text:
        return text
    if message.get("reasoning_details"):
        details = message["reasoning_details"]
        return "\n".join(filter(None, (d.get("text") or d.get("summary") for d in details)))
    parts = message["content"] if isinstance(message.get("content"), list) else []
    return "".join(
        chunk["text"] for part in parts if part["type"] == "thinking" for chunk in part["thinking"]
    )


def addresses(content) -> list:
    found = []
    for part in content if isinstance(content, list) else []:
        held = part.get(part["type"])
        match part["type"]:
            case "image_url" | "video_url":
                found.append((held["url"], held.get("detail")))
            case "document_url":
                found.append(held)
            case "file":
                found.append(held["file_data"])
            case "input_audio":
                found.append(held["data"])
    return found


def arguments(text: str | None):
    """The parsed arguments, or the text where it cannot be parsed."""
    try:
        return json.loads(text or "{}") or {}
    except ValueError:
        return text


def raw_calls(message: dict) -> list:
    calls = [
        (call.get("id") or "", call["function"]["name"], call["function"].get("arguments"))
        for call in message.get("tool_calls") or []
    ]
    legacy = message.get("function_call")
    if legacy and legacy["name"]:  # Snowflake sends an empty object in every message.
        calls.append(("", legacy["name"], legacy["arguments"]))
    return [(id, name, arguments(text)) for id, name, text in calls]


def raw_reading(message: dict) -> dict:
    return {
        "role": message["role"],
        "text": words(message.get("content")),
        "thinking": thoughts(message),
        "media": addresses(message.get("content")),
        "calls": raw_calls(message),
        "answers": message.get("tool_call_id") or "",
    }


# The canonical form, brought into the same shape.


def canonical_address(media: Media):
    if media.media_type.startswith("audio/"):
        return media.data
    address = media.url or f"data:{media.media_type};base64,{media.data}"
    if media.media_type.startswith(("image/", "video/")):
        fields = media.native.fields if media.native else {}
        return address, fields.get("image_url", {}).get("detail")
    return address


def canonical_reading(message: Message) -> dict:
    blocks = message.blocks
    result = blocks[0] if message.role == "tool" else None
    if result is not None:
        blocks = result.content
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    return {
        "role": message.role,
        "text": "\n".join(block.text for block in blocks if isinstance(block, Text)),
        "thinking": "".join(block.text for block in blocks if isinstance(block, Thinking)),
        "media": [canonical_address(block) for block in blocks if isinstance(block, Media)],
        "calls": [
            (
                call.raw_id if is_canonical_tool_id(call.id) else call.id,
                call.name,
                arguments(call.raw) if call.args is None else call.args,
            )
            for call in calls
        ],
        "answers": result.raw_id or result.call_id if result is not None else "",
    }


def as_turn(message: Message) -> Turn:
    """`message` as it came: with raw ids, and with nothing projected."""
    blocks = []
    for block in message.blocks:
        if isinstance(block, ToolCall):
            block = replace(block, id=block.raw_id)  # noqa: PLW2901
        if isinstance(block, ToolResult):
            block = replace(block, call_id=block.raw_id or block.call_id)  # noqa: PLW2901
        blocks.append(block)
    return Turn(message.role, tuple(blocks), message.origin, message.native)


def target_for(message: Message):
    """The base target, with reasoning where this message has it."""
    for block in message.blocks:
        if isinstance(block, Thinking):
            return replace(TARGET, reasoning="open", reasoning_field=block.native.fields["field"])
    return TARGET


# Results without an id are bound to their call by position: the canonical form knows more.
def without_position(wire: dict, canonical: dict) -> dict:
    return canonical if wire["answers"] else {**canonical, "answers": ""}


def test_every_request_says_in_canonical_form_what_its_json_says():
    count = 0
    for id, body in requests():
        request = decode_request(body)
        wire = [raw_reading(message) for message in body["messages"]]
        ours = [canonical_reading(message) for message in request.conversation.messages]
        assert list(map(without_position, wire, ours)) == wire, id
        assert len(request.tools) == len(body.get("tools") or body.get("functions") or ()), id
        count += len(wire)
    assert count > 3000


def test_every_message_is_encoded_to_what_it_said():
    """Decoded and encoded again, a message says the same."""
    count = 0
    for id, body in requests():
        for before, message in zip(
            body["messages"], decode_request(body).conversation.messages, strict=True
        ):
            (after,) = encode_turn(as_turn(message), target_for(message))
            wire = raw_reading(before)
            assert without_position(wire, raw_reading(after)) == wire, id
            count += 1
    assert count > 3000


def test_recorded_requests_have_only_these_oddities():
    codes = Counter(f.code for _, body in requests() for f in decode_request(body).findings)
    assert codes == {"legacy_function": 5, "missing_call_id": 1, "matched_by_position": 7}


def normal_tool(tool: dict) -> dict:
    """A tool with its type, and without a description that says nothing."""
    tool = {"type": "function", **tool}
    if "function" in tool:
        said = tool["function"].items()
        tool["function"] = {
            k: v for k, v in said if v is not None and (k, v) != ("description", "")
        }
    return tool


def normal_field(name: str, value):
    """What a field is written as where the format has two ways to say the same."""
    match name, value:
        case "stop", str():
            value = [value]
        case "functions", _:
            name, value = "tools", [normal_tool({"function": one}) for one in value]
        case "tools", _:
            value = list(map(normal_tool, value))
        case "tool_choice", "any":
            value = "required"
        case "tool_choice", {"type": "tool", "name": tool}:
            value = {"type": "function", "function": {"name": tool}}
        case "function_call", _:
            name = "tool_choice"
        case "random_seed", _:  # Mistral's name for it
            name = "seed"
    return name, value


def test_every_request_is_encoded_to_what_it_said():
    """All fields but the messages, which have a test of their own; null is as good as absent."""
    target = replace(TARGET, domain="host", cache_marks=4)
    count = 0
    for id, body in requests():
        request = decode_request(body)
        turns = tuple(map(as_turn, request.conversation.messages))
        written, findings = encode_request(request, Transcript(turns, {}, {}, Report()), target)
        assert findings == [], id
        expected = dict(
            normal_field(name, value)
            for name, value in body.items()
            if name != "messages" and value not in (None, [])
        )
        if not expected.get("tools"):  # Nothing to choose from, and empty lists are not sent.
            for name in ("tools", "tool_choice", "parallel_tool_calls"):
                expected.pop(name, None)
        assert {name: written[name] for name in written if name != "messages"} == expected, id
        count += 1
    assert count > 1400


LENGTH_WORDS = ("length", "max_output_tokens", "MAX_TOKENS")


def raw_finish(choice: dict) -> str:
    message = choice["message"]
    if (
        choice["finish_reason"] in LENGTH_WORDS
        or choice.get("native_finish_reason") in LENGTH_WORDS
    ):
        return "length"
    if raw_calls(message):
        return "tool_calls"
    if message.get("refusal"):
        return "refusal"
    return choice["finish_reason"] or ""


def test_every_response_says_in_canonical_form_what_its_json_says():
    count = 0
    for id, body in bodies(errors=False):
        if "choices" not in body:
            continue
        choice = body["choices"][0]
        reply = decode_response(body)
        wire = raw_reading(choice["message"])
        refusal = choice["message"].get("refusal")
        if refusal:
            wire["text"] = "\n".join(filter(None, (wire["text"], refusal)))
        ours = canonical_reading(reply.message)
        ours["calls"] = [(c, name, args or {}) for c, name, args in ours["calls"]]
        assert ours == wire, id
        assert reply.finish == raw_finish(choice), id
        assert reply.message.origin.response_id == body["id"]
        assert reply.message.origin.model == body["model"]
        count += 1
    assert count > 1000


def test_every_usage_is_read():
    for id, body in bodies(errors=False):
        usage = decode_response(body).usage
        raw = body.get("usage")
        if raw is None:
            continue
        assert usage.input_tokens == raw["prompt_tokens"], id
        # xAI counts reasoning beside the completion: the total is what both agree on.
        if raw["total_tokens"]:
            assert usage.input_tokens + usage.output_tokens == raw["total_tokens"], id
        details = raw.get("prompt_tokens_details") or {}
        cached = (
            details.get("cached_tokens")
            or raw.get("num_cached_tokens")
            or raw.get("prompt_cache_hit_tokens")
        )
        assert usage.cache_read_tokens == (cached or 0), id


def with_arguments(message: Message) -> Message:
    """OpenRouter leaves the arguments of a call without any out; the encoded call has them."""
    blocks = (
        replace(block, args=None, raw="{}")
        if isinstance(block, ToolCall) and block.raw is None
        else block
        for block in message.blocks
    )
    return replace(message, blocks=tuple(blocks))


@each("id, body", lambda: bodies(errors=False))
def test_every_response_is_encoded_to_what_it_said(id, body):
    reply = decode_response(body)
    again = decode_response(encode_response(reply))
    if not body.get("id"):
        # Snowflake, and an error inside a 200, give none; the encoded body has to have one.
        again = replace(again, message=replace(again.message, origin=reply.message.origin))
    # The corrected finish reason is written, so there is nothing left to report about it.
    corrected = [f for f in reply.findings if f.code == "finish_corrected"]
    findings = tuple(f for f in reply.findings if f not in corrected)
    expected = replace(reply, message=with_arguments(reply.message), findings=findings)
    assert again == expected


def test_the_error_inside_a_200_is_the_end_of_the_reply():
    found = [decode_response(body) for _, body in bodies(errors=False) if "error" in body]
    assert found
    assert all(reply.finish == "error" for reply in found)
    assert all("error_in_reply" in {f.code for f in reply.findings} for reply in found)


def test_every_error_has_its_message():
    count = 0
    for id, body in bodies(errors=True):
        error = decode_error(body)
        said = body.get("error", body)
        raw = said if isinstance(said, str) else said.get("message") or said.get("detail")
        assert error.message == raw, id
        count += 1
    assert count > 35


def test_malformed_requests_are_refused_with_their_path():
    found = {one["id"]: one["request"] for one in records() if one["id"] in MALFORMED}
    assert found.keys() == MALFORMED.keys()
    for id, body in found.items():
        with pytest.raises(MalformedBody) as caught:
            decode_request(body)
        assert caught.value.where == MALFORMED[id]
