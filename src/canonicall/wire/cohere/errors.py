"""Cohere's error bodies: an id and a message."""

from typing import Any

from canonicall.wire.error_body import ErrorBody


def decode_error(body: dict[str, Any]) -> ErrorBody:
    """What an error body says."""
    message = body.get("message")
    return ErrorBody(message=message if isinstance(message, str) else "", native=body)


def encode_error(error: ErrorBody) -> dict[str, Any]:
    """The body for an error."""
    return {"message": error.message}
