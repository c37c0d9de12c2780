"""The error envelope `{"type": "error", "error": {...}}`, both ways (docs "Errors")."""

from typing import Any

from canonicall.wire.error_body import ErrorBody

_TYPES = {
    "invalid_request_error",
    "authentication_error",
    "billing_error",
    "permission_error",
    "not_found_error",
    "conflict_error",
    "request_too_large",
    "rate_limit_error",
    "timeout_error",
    "api_error",
    "overloaded_error",
}


def decode_error(body: dict[str, Any]) -> ErrorBody:
    """What an error body says. Hosts that leave out the envelope are understood as well."""
    error = body.get("error")
    if isinstance(error, str):
        return ErrorBody(error, native=body)
    inner: dict[str, Any] = error if isinstance(error, dict) else body
    details = inner.get("details")
    return ErrorBody(
        message=_text(inner.get("message")),
        type="" if inner is body else _text(inner.get("type")),
        code=_text(details.get("error_code")) if isinstance(details, dict) else "",
        native=body,
    )


def encode_error(error: ErrorBody) -> dict[str, Any]:
    """The envelope for `error`; a type this API does not have becomes `api_error`."""
    kind = error.type if error.type in _TYPES else "api_error"
    own = error.native
    if own is not None and is_own(own) and decode_error(own) == error:
        return own
    inner: dict[str, Any] = {"type": kind, "message": error.message}
    if error.code:
        inner["details"] = {"error_code": error.code}
    return {"type": "error", "error": inner}


def is_own(body: Any) -> bool:
    """Whether a body is this envelope. OpenAI's error event has the same type, and is flat."""
    match body:
        case {"type": "error", "error": {"type": str()}}:
            return True
        case _:
            return False


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
