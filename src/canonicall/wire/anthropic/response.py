"""Whole responses, both ways."""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import (
    Block,
    Message,
    Origin,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.errors import MalformedBody
from canonicall.findings import Finding
from canonicall.reply import TOOL_CALLS, Reply, Usage
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.blocks import encode_reply_block, replied, server_block
from canonicall.wire.anthropic.errors import decode_error
from canonicall.wire.anthropic.extras import FORMAT, native_of, own_fields
from canonicall.wire.anthropic.finish import (
    FIGURES,
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
    meaning_of,
)
from canonicall.wire.anthropic.messages import decode_content
from canonicall.wire.carried import set_fields, with_rest
from canonicall.wire.finishing import finish_findings, finish_told, has_calls, is_kept
from canonicall.wire.reading import object_at, text_at

RESPONSE_ID = "msg_0"
"""The id of a response that has none of its own."""

UNSET = {"context_management": None, "diagnostics": None}
"""SDK message.py, beta_message.py: the fields of a response that are null unless asked for."""

_MODEL = {
    "capabilities": None,
    "deprecated_at": None,
    "lifecycle": "active",
    "line": None,
    "max_input_tokens": None,
    "max_tokens": None,
    "retires_at": None,
}
_KNOWN = {"id", "type", "role", "model", "content", "stop_reason", "usage"}


def decode_response(
    body: dict[str, Any], *, origin: Origin | None = None, domain: str | None = None
) -> Reply:
    """The reply in `body`."""
    if body.get("type") == "error":
        raise MalformedBody(f"the body is an error: {decode_error(body).message}")
    findings: list[Finding] = []
    domain = TARGET.domain if domain is None else domain
    content = decode_content(body.get("content"), "$.content", domain, findings)
    blocks = tuple(map(replied, content))
    raw = text_at(body.get("stop_reason"), "$.stop_reason")
    message = Message("assistant", blocks, origin=origin_of(body, origin))
    meaning = meaning_of(raw)
    finish = decode_finish(raw, has_calls(message))
    findings += finish_findings(raw, meaning, finish, "$.stop_reason")
    native = set_fields(body, _KNOWN)
    if raw and is_kept(raw, meaning, finish, encode_finish(finish)):
        native["stop_reason"] = raw
    usage = body.get("usage")
    return Reply(
        message=replace(message, finish=finish),
        usage=None if usage is None else decode_usage(object_at(usage, "$.usage")),
        findings=tuple(findings),
        native=native_of(native),
    )


def encode_response(reply: Reply) -> dict[str, Any]:
    """The body of `reply`. State that only another provider can read is left out."""
    message = reply.message
    origin = message.origin or Origin(format=FORMAT)
    blocks = [readable(block, origin) for block in message.blocks]
    native = own_fields(reply.native)
    body = {
        "id": origin.response_id or RESPONSE_ID,
        "type": "message",
        "role": "assistant",
        "model": origin.model,
        "content": [encode_reply_block(block, TARGET) for block in blocks if has_form(block)],
        **encode_ending(reply),
        "usage": encode_figures(reply.usage, origin),
    }
    return with_rest(with_rest(body, native), UNSET)


def encode_ending(reply: Reply) -> dict[str, Any]:
    """The fields that say why a reply ended."""
    message, native = reply.message, own_fields(reply.native)
    finish = finish_told(message)
    if not finish and has_calls(message):
        finish = TOOL_CALLS
    kept = native.get("stop_reason")
    return {
        "stop_reason": kept if kept and meaning_of(kept) == finish else encode_finish(finish),
        "stop_sequence": native.get("stop_sequence"),
        "stop_details": native.get("stop_details"),
        "container": native.get("container"),
    }


def encode_figures(usage: Usage | None, origin: Origin) -> dict[str, Any]:
    """The field `usage`, which every response has."""
    if usage is None:
        return dict.fromkeys(FIGURES) | {"input_tokens": 0, "output_tokens": 0}
    return encode_usage(usage, usage.native if origin.format == FORMAT else None)


def encode_model(name: str, created: str) -> dict[str, Any]:
    """A model as lists of models have it (SDK model_info.py)."""
    known = {"type": "model", "id": name, "display_name": name, "created_at": created}
    return {**_MODEL, **known}


def origin_of(body: dict[str, Any], origin: Origin | None) -> Origin:
    """Who made the message in `body`, as far as is known beforehand and as the body says."""
    given = origin or Origin(provider=TARGET.provider, format=FORMAT)
    return replace(
        given,
        model=text_at(body.get("model"), "$.model") or given.model,
        response_id=text_at(body.get("id"), "$.id"),
    )


def readable(block: Block, origin: Origin) -> Block:
    """`block` without opaque state that a reader of this format could not send back."""
    if origin.format == FORMAT:
        return block
    kept = tuple(one for one in block.opaque if one.domain == TARGET.domain)
    return replace(block, opaque=kept)


def has_form(block: Block) -> bool:
    """Whether the format can show `block`: not what another provider ran, hid or alone can name."""
    match block:
        case Thinking(text="", opaque=()):
            return False
        case ToolCall(kind="server"):
            return server_block(block) is not None
        case ToolResult():
            return server_block(block) is not None
        case Unknown():
            return bool(own_fields(block.native))
        case _:
            return True
