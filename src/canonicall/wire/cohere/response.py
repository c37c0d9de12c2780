"""Cohere chat responses, both ways."""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Origin
from canonicall.reply import Reply
from canonicall.wire.carried import with_rest
from canonicall.wire.cohere import TARGET
from canonicall.wire.cohere.content import FORMAT, native_of, own_fields
from canonicall.wire.cohere.finish import (
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
    meaning_of,
)
from canonicall.wire.cohere.messages import decode_reply, encode_reply
from canonicall.wire.finishing import finish_findings, finish_of, has_calls, is_kept
from canonicall.wire.reading import object_at, text_at

NO_ID = "00000000-0000-0000-0000-000000000000"
"""The id of a response that has none of its own."""
_KNOWN = ("id", "message", "usage", "finish_reason")


def decode_response(
    body: dict[str, Any],
    *,
    origin: Origin | None = None,
    domain: str | None = None,  # noqa: ARG001  Cohere has no opaque state
) -> Reply:
    """The canonical reply of a chat response. It does not name its model."""
    body = object_at(body, "$")
    id = text_at(body.get("id"), "$.id")
    origin = origin or Origin(provider=TARGET.provider, format=FORMAT)
    if id and id != NO_ID:
        origin = replace(origin, response_id=id)
    message = decode_reply(object_at(body.get("message"), "$.message"), "$.message", origin)
    raw = text_at(body.get("finish_reason"), "$.finish_reason")
    meaning = meaning_of(raw)
    finish = decode_finish(raw, has_calls(message))
    fields = {name: value for name, value in body.items() if name not in _KNOWN}
    if is_kept(raw, meaning, finish, encode_finish(finish)):
        fields["finish_reason"] = raw
    usage = body.get("usage")
    return Reply(
        replace(message, finish=finish),
        usage=decode_usage(object_at(usage, "$.usage")) if usage is not None else None,
        findings=finish_findings(raw, meaning, finish, "$.finish_reason"),
        native=native_of(fields),
    )


def encode_response(reply: Reply) -> dict[str, Any]:
    """The chat response of a reply."""
    message = reply.message
    body: dict[str, Any] = {
        "id": (message.origin.response_id if message.origin is not None else "") or NO_ID,
        "message": encode_reply(message.blocks, message.native, TARGET),
        "finish_reason": encode_ending(reply),
    }
    if reply.usage is not None:
        body["usage"] = encode_usage(reply.usage)
    return with_rest(body, own_fields(reply.native))


def encode_ending(reply: Reply) -> str:
    """The provider's own word as long as it says the same, else the nearest one.

    A client that gets calls without `TOOL_CALL` does not run them.
    """
    calls = has_calls(reply.message)
    raw = own_fields(reply.native).get("finish_reason")
    if isinstance(raw, str) and meaning_of(raw) == reply.finish:
        return raw
    return encode_finish(finish_of(reply.finish, calls))
