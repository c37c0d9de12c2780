"""Ollama chat responses, both ways.

The time of a response is not kept: what is written has always the same one.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Origin
from canonicall.reply import Reply
from canonicall.wire.carried import with_rest
from canonicall.wire.finishing import finish_findings, finish_told, has_calls, is_kept
from canonicall.wire.ollama import TARGET
from canonicall.wire.ollama.finish import (
    USAGE_FIELDS,
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
    meaning_of,
)
from canonicall.wire.ollama.messages import (
    FORMAT,
    decode_reply,
    encode_reply,
    native_of,
    own_fields,
)
from canonicall.wire.reading import object_at, text_at

NO_TIME = "1970-01-01T00:00:00Z"
_KNOWN = ("model", "created_at", "message", "done", "done_reason", *USAGE_FIELDS)


def decode_response(
    body: dict[str, Any],
    *,
    origin: Origin | None = None,
    domain: str | None = None,  # noqa: ARG001  Ollama has no opaque state
) -> Reply:
    """The canonical reply of a chat response."""
    body = object_at(body, "$")
    model = text_at(body.get("model"), "$.model")
    origin = origin or Origin(provider=TARGET.provider, format=FORMAT, model=model)
    message = decode_reply(object_at(body.get("message"), "$.message"), "$.message", origin)
    raw = text_at(body.get("done_reason"), "$.done_reason")
    meaning = meaning_of(raw)
    finish = decode_finish(raw, has_calls(message))
    fields = {name: value for name, value in body.items() if name not in _KNOWN}
    if is_kept(raw, meaning, finish, encode_finish(finish)):
        fields["done_reason"] = raw
    return Reply(
        replace(message, finish=finish, partial=body.get("done") is False),
        usage=decode_usage(body),
        findings=finish_findings(raw, meaning, finish, "$.done_reason"),
        native=native_of(fields),
    )


def encode_response(reply: Reply) -> dict[str, Any]:
    """The chat response of a reply."""
    message = reply.message
    native = own_fields(reply.native)
    raw = native.pop("done_reason", None)
    if raw is None or meaning_of(raw) != reply.finish:
        raw = encode_finish(finish_told(message))
    body: dict[str, Any] = {
        "model": message.origin.model if message.origin is not None else "",
        "created_at": NO_TIME,
        "message": encode_reply(message.blocks, message.native, TARGET, numbered=True),
        "done": not message.partial,
        "done_reason": raw,
    }
    if reply.usage is not None:
        body |= encode_usage(reply.usage)
    return with_rest(body, native)
