"""Google's error envelope: `{"error": {code, message, status, details}}`, or a list of one."""

from typing import Any

from canonicall.wire.error_body import ErrorBody
from canonicall.wire.reading import object_at

# google.rpc.Code and the HTTP status each one is sent with (googleapis, google/rpc/code.proto).
_HTTP = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
_FOREIGN = {
    "invalid_request_error": "INVALID_ARGUMENT",
    "authentication_error": "UNAUTHENTICATED",
    "permission_error": "PERMISSION_DENIED",
    "not_found_error": "NOT_FOUND",
    "rate_limit_error": "RESOURCE_EXHAUSTED",
    "overloaded_error": "UNAVAILABLE",
    "timeout_error": "DEADLINE_EXCEEDED",
}


def decode_error(body: Any) -> ErrorBody:
    """What an error body says."""
    # streamGenerateContent without alt=sse wraps everything in a list, errors too.
    if isinstance(body, list) and body:
        body = body[0]
    envelope = object_at(body, "$")
    error = envelope.get("error", envelope)
    if not isinstance(error, dict):
        return ErrorBody(message=str(error), native=envelope)
    code = error.get("code")
    return ErrorBody(
        message=str(error.get("message") or ""),
        type=str(error.get("status") or ""),
        code="" if code is None else str(code),
        param=_field(error.get("details")),
        native=envelope,
    )


def encode_error(error: ErrorBody) -> dict[str, Any]:
    """The envelope: as it came if it came like this, else made from the fields."""
    came = error.native
    if came is not None and is_own(came) and decode_error(came) == error:
        return came
    status = error.type if error.type in _HTTP else _FOREIGN.get(error.type, "")
    code = int(error.code) if error.code.isascii() and error.code.isdecimal() else 0
    if not status:
        status = next((name for name, http in _HTTP.items() if http == code), "INTERNAL")
    return {"error": {"code": code or _HTTP[status], "message": error.message, "status": status}}


def is_own(body: Any) -> bool:
    """Whether a body is Google's envelope, or a list that begins with it."""
    match body:
        case {"error": {"status": _}} | [{"error": {"status": _}}, *_]:
            return True
        case _:
            return False


def _field(details: Any) -> str:
    """The first field that a google.rpc.BadRequest among the details complains about."""
    for detail in details if isinstance(details, list) else ():
        violations = detail.get("fieldViolations") if isinstance(detail, dict) else None
        for violation in violations if isinstance(violations, list) else ():
            if isinstance(violation, dict) and isinstance(violation.get("field"), str):
                return str(violation["field"])
    return ""
