"""Converse responses, both ways.

A response names neither its model nor itself; both are known only to the caller, who may pass them
as `origin`.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Native, Origin, Thinking
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import Reply
from canonicall.wire.bedrock import TARGET
from canonicall.wire.bedrock.content import FORMAT, native_of, own_fields
from canonicall.wire.bedrock.finish import (
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
    meaning_of,
)
from canonicall.wire.bedrock.messages import decode_blocks, encode_blocks
from canonicall.wire.finishing import finish_findings, finish_of, has_calls, is_kept
from canonicall.wire.reading import native_fields, object_at, text_at

NO_METRICS = {"latencyMs": 0}
NO_USAGE = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}


def decode_response(
    body: dict[str, Any], *, origin: Origin | None = None, domain: str | None = None
) -> Reply:
    """The canonical reply of a Converse response."""
    body = object_at(body, "$")
    output = object_at(body.get("output") or {}, "$.output")
    message = object_at(output.get("message") or {}, "$.output.message")
    blocks = decode_blocks(
        message.get("content"),
        "$.output.message.content",
        TARGET.domain if domain is None else domain,
    )
    reply = Message(
        "assistant",
        tuple(blocks),
        origin=origin or Origin(provider=TARGET.provider, format=FORMAT),
        native=native_fields(FORMAT, message, ("role", "content")),
    )
    raw = text_at(body.get("stopReason"), "$.stopReason")
    finish = decode_finish(raw, has_calls(reply))
    usage = body.get("usage")
    return Reply(
        Message(reply.role, reply.blocks, origin=reply.origin, finish=finish, native=reply.native),
        usage=None if usage in (None, NO_USAGE) else decode_usage(object_at(usage, "$.usage")),
        findings=tuple(_findings(body, output, raw, finish)),
        native=_decode_native(body, raw, finish),
    )


def _decode_native(body: dict[str, Any], raw: str, finish: str) -> Native | None:
    fields = dict(body)
    for name in ("output", "usage", "stopReason"):
        fields.pop(name, None)
    if fields.get("metrics") == NO_METRICS:
        del fields["metrics"]
    if is_kept(raw, meaning_of(raw), finish, encode_finish(finish)):
        fields["stopReason"] = raw
    return native_of(fields)


def _findings(body: dict[str, Any], output: dict[str, Any], raw: str, finish: str) -> list[Finding]:
    findings: list[Finding] = []
    if output.get("message") is None:
        why = f"The response has no message, only {', '.join(body) or 'nothing'}."
        where = "$.output.message"
        findings.append(Finding("reply_missing", where, Action.KEPT, why, Fault.INPUT))
    return [*findings, *finish_findings(raw, meaning_of(raw), finish, "$.stopReason")]


def encode_response(reply: Reply) -> dict[str, Any]:
    """The Converse response of a reply."""
    blocks = [readable(block, reply.message.origin) for block in reply.message.blocks]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": encode_blocks(tuple(block for block in blocks if block is not None), TARGET),
    }
    message |= own_fields(reply.message.native, except_for=message)
    native = own_fields(reply.native, except_for=("stopReason",))
    return {
        "output": {"message": message},
        "stopReason": encode_stop_reason(reply),
        "usage": NO_USAGE if reply.usage is None else encode_usage(reply.usage),
        "metrics": native.pop("metrics", NO_METRICS),
        **native,
    }


def encode_stop_reason(reply: Reply) -> str:
    """The provider's own word as long as it says the same, else the nearest one.

    A client that gets calls without `tool_use` does not run them.
    """
    calls = has_calls(reply.message)
    raw = own_fields(reply.native).get("stopReason")
    if isinstance(raw, str) and meaning_of(raw) == reply.finish:
        return raw
    return encode_finish(finish_of(reply.finish, calls))


def readable(block: Block, origin: Origin | None) -> Block | None:
    """`block` without seals that Bedrock could not read; None where nothing else was in it."""
    if not isinstance(block, Thinking) or origin is None or origin.format in ("", FORMAT):
        return block
    kept = tuple(one for one in block.opaque if one.domain == TARGET.domain)
    return replace(block, opaque=kept) if block.text or kept else None
