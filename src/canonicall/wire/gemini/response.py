"""generateContent response bodies.

The first candidate is the reply. Its other fields, the other candidates and the rest of the body
are native: `candidates` there holds what is left of each candidate, in order.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Origin, ToolResult
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import ERROR, FILTER, Reply
from canonicall.wire.carried import with_rest
from canonicall.wire.finishing import finish_findings, finish_told, has_calls
from canonicall.wire.gemini import FORMAT, PROVIDER, TARGET
from canonicall.wire.gemini.fields import enum_at, fields_at, many_at, native_of, own_fields
from canonicall.wire.gemini.finish import (
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
    meaning_of,
    says,
)
from canonicall.wire.gemini.parts import decode_parts, encode_parts
from canonicall.wire.reading import native_fields, text_at

_UNSPECIFIED = ("FINISH_REASON_UNSPECIFIED", 0)
_KNOWN = ("candidates", "usageMetadata", "modelVersion", "responseId")


def decode_response(
    body: dict[str, Any], *, origin: Origin | None = None, domain: str | None = None
) -> Reply:
    """The reply in a body."""
    fields = fields_at(body, "$")
    findings: list[Finding] = []
    rest = {name: field for name, field in fields.items() if name not in _KNOWN}
    candidates = many_at(fields.get("candidates"), "$.candidates")
    if candidates:
        domain = TARGET.domain if domain is None else domain
        message, left = _decode_candidate(candidates[0], domain, findings)
        others = candidates[1:]
        if left or others:
            rest["candidates"] = [left, *others]
        if others:
            why = f"There are {len(candidates)} candidates; the first one is the reply."
            place = "$.candidates[1:]"
            findings.append(Finding("more_choices", place, Action.SET_ASIDE, why, Fault.INPUT))
    else:
        message = _without_candidates(fields, findings)
    usage = fields.get("usageMetadata")
    return Reply(
        message=replace(message, origin=_origin(fields, origin)),
        usage=None if usage is None else decode_usage(fields_at(usage, "$.usageMetadata")),
        findings=tuple(findings),
        native=native_of(rest),
    )


def encode_response(reply: Reply) -> dict[str, Any]:
    """A complete body for a reply. State that only another provider can read is left out."""
    rest = own_fields(reply.native)
    left, *others = rest.pop("candidates", None) or [{}]
    body: dict[str, Any] = {}
    if not _is_blocked_prompt(reply, rest):
        body["candidates"] = [_encode_candidate(reply.message, left), *others]
    if reply.usage is not None:
        body["usageMetadata"] = encode_usage(reply.usage)
    origin = reply.message.origin or Origin()
    if origin.model:
        body["modelVersion"] = origin.model
    if origin.response_id:
        body["responseId"] = origin.response_id
    return with_rest(body, rest)


def readable(block: Block, origin: Origin | None) -> Block | None:
    """`block` without opaque state that a reader of this format could not send back.

    None for what another provider ran on its side: without its state it would be the client's.
    """
    if origin is None or origin.format in ("", FORMAT):
        return block
    if isinstance(block, ToolResult):
        return None
    kept = tuple(one for one in block.opaque if one.domain == TARGET.domain)
    if any(one.kind == "server_block" and one not in kept for one in block.opaque):
        return None
    return replace(block, opaque=kept)


def _decode_candidate(
    candidate: Any, domain: str, findings: list[Finding]
) -> tuple[Message, dict[str, Any]]:
    """The message of a candidate, and the fields that are left."""
    where = "$.candidates[0]"
    left = fields_at(candidate, where)
    content = fields_at(left.pop("content", {}), f"{where}.content")
    blocks = decode_parts(content.get("parts"), f"{where}.content.parts", domain, findings)
    message = Message(
        "assistant",
        tuple(blocks),
        native=native_fields(FORMAT, content, ("role", "parts")),
    )
    raw = left.get("finishReason")
    finish = decode_finish(raw, has_calls(message))
    # Words only: Google's own client trips over the numbers that some gateways write.
    if raw == encode_finish(finish) or not (isinstance(raw, str) and says(raw, finish)):
        left.pop("finishReason", None)
    if raw not in _UNSPECIFIED:
        findings += finish_findings(raw, meaning_of(raw), finish, f"{where}.finishReason")
    return replace(message, finish=finish), left


def _encode_candidate(message: Message, left: dict[str, Any]) -> dict[str, Any]:
    blocks = (readable(block, message.origin) for block in message.blocks)
    parts = encode_parts([block for block in blocks if block is not None], by_model=True)
    content = {"parts": parts, "role": "model"}
    extra = own_fields(message.native)
    candidate: dict[str, Any] = {"content": {**extra, **content}}
    raw = left.get("finishReason")
    if raw is None or not says(raw, message.finish):
        raw = encode_finish(finish_told(message))
    if raw is not None:
        candidate["finishReason"] = raw
    return with_rest(candidate, left)


def _without_candidates(fields: dict[str, Any], findings: list[Finding]) -> Message:
    if "error" in fields:
        why = "This is an error, not a reply."
        findings.append(Finding("error_in_reply", "$.error", Action.KEPT, why, Fault.INPUT))
        return Message("assistant", finish=ERROR)
    # "Returns no candidates at all only if there was something wrong with the prompt (check
    # promptFeedback)": ai.google.dev/api/generate-content.
    feedback = fields_at(fields.get("promptFeedback", {}), "$.promptFeedback")
    reason = enum_at(feedback.get("blockReason"), "$.promptFeedback.blockReason")
    why = f"There is no candidate: the prompt was blocked ({reason or 'no reason given'})."
    findings.append(Finding("reply_missing", "$.candidates", Action.KEPT, why, Fault.INPUT))
    return Message("assistant", finish=FILTER)


def _is_blocked_prompt(reply: Reply, rest: dict[str, Any]) -> bool:
    """Whether the reply came without a candidate; so it goes out without one."""
    is_told = "promptFeedback" in rest or "error" in rest
    return is_told and not reply.message.blocks and reply.finish in (FILTER, ERROR)


def _origin(fields: dict[str, Any], origin: Origin | None) -> Origin:
    """Who made the reply: what the caller knows, and what the body says."""
    origin = origin or Origin(provider=PROVIDER, format=FORMAT)
    model = text_at(fields.get("modelVersion"), "$.modelVersion")
    id = text_at(fields.get("responseId"), "$.responseId")
    return replace(origin, model=model or origin.model, response_id=id or origin.response_id)
