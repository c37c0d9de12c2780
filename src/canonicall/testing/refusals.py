"""How a simulator says no: a violation, or a fault on demand, as status and error."""

from collections.abc import Iterator

from canonicall.target import Target
from canonicall.testing.doors.door import Door
from canonicall.testing.faults import Fault
from canonicall.verify.violation import Violation
from canonicall.wire.error_body import ErrorBody

_RETRY_AFTER = "1"


class Failure(Exception):
    """An error response on its way out of a simulator."""

    def __init__(self, status: int, error: ErrorBody, **headers: str) -> None:
        self.status = status
        self.error = error
        self.headers = headers
        super().__init__(error.message)


def refusal(violation: Violation, door: Door, target: Target) -> Failure:
    """The answer to a body that breaks a rule, in the provider's own words where they are known."""
    words = violation.error or f"{violation.where.removeprefix('$.')}: {violation.why}"
    kind = "INVALID_ARGUMENT" if target.format == "gemini" else "invalid_request_error"
    if target.format == "bedrock":
        kind = "ValidationException"
    status = door.refusal_status(violation.code, target)
    param = violation.where.removeprefix("$.") if target.format.startswith("openai") else ""
    return Failure(status, ErrorBody(words, kind, param=param))


def failures_in(faults: frozenset[Fault], target: Target) -> Iterator[Failure]:
    """The error responses among some faults."""
    if Fault.RATE_LIMITED in faults:
        error = ErrorBody("Rate limit reached. Please try again later.", _kind(target, 429))
        yield Failure(429, error, retry_after=_RETRY_AFTER)
    if Fault.OVERLOADED in faults:
        status = 529 if target.format == "anthropic" else 503
        yield Failure(status, ErrorBody("Overloaded", _kind(target, status)))
    if Fault.SERVER_ERROR in faults:
        yield Failure(500, ErrorBody("Internal server error", _kind(target, 500)))


_KINDS = {
    "gemini": {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"},
    "bedrock": {
        429: "ThrottlingException",
        500: "InternalServerException",
        503: "ServiceUnavailableException",
    },
}
_USUAL = {
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
    529: "overloaded_error",
}


def _kind(target: Target, status: int) -> str:
    return _KINDS.get(target.format, _USUAL)[status]
