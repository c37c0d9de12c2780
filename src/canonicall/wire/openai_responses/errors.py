"""Error envelopes, both ways."""

from typing import Any

from canonicall.wire.error_body import ErrorBody


def decode_error(body: Any) -> ErrorBody:
    """The error in a body. Beside OpenAI's own envelope there are flat ones and bare texts."""
    if not isinstance(body, dict):
        return ErrorBody(message=str(body))
    inner = body.get("error")
    if isinstance(inner, str):
        # xAI: {"code": "...", "error": "<text>"}
        inner = {**body, "message": inner}
    error = inner if isinstance(inner, dict) else body
    # The ChatGPT backend: {"detail": "<text>"}
    message = error.get("message") or error.get("detail")
    return ErrorBody(
        message=_text(message),
        type=_text(error.get("type")),
        code=_text(error.get("code")),
        param=_text(error.get("param")),
        native=body,
    )


def encode_error(error: ErrorBody) -> dict[str, Any]:
    """The envelope of the Responses API; all four fields are always there."""
    return {
        "error": {
            "message": error.message,
            "type": error.type or "invalid_request_error",
            "param": error.param or None,
            "code": error.code or None,
        }
    }


def _text(value: Any) -> str:
    return "" if value is None else str(value)
