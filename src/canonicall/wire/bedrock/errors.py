"""Bedrock's error bodies.

The exception's name comes in the header `x-amzn-ErrorType`, or in the body as `__type`, there
sometimes with a namespace before `#` (AWS restJson1 protocol).
"""

from typing import Any

from canonicall.wire.error_body import ErrorBody


def decode_error(body: dict[str, Any]) -> ErrorBody:
    """What an error body says."""
    message = body.get("message", body.get("Message"))
    name = body.get("__type", body.get("code"))
    return ErrorBody(
        message=message if isinstance(message, str) else "",
        type=name.rpartition("#")[2] if isinstance(name, str) else "",
        native=body,
    )


def encode_error(error: ErrorBody) -> dict[str, Any]:
    """The body for an error."""
    body = {"__type": error.type} if error.type else {}
    return {**body, "message": error.message}
