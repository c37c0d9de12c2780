"""How a simulator says no: a violation, or a fault on demand, as status and error."""

from collections.abc import Iterator
from typing import Any

import msgspec

from canonicall.facts.target import Target
from canonicall.testing.doors.door import Door
from canonicall.testing.error_kinds import kind_of
from canonicall.testing.failure import Failure
from canonicall.testing.faults import Fault
from canonicall.testing.host_words import code_of, status_of, told_by
from canonicall.verify.violation import Violation
from canonicall.wire.anthropic.errors import decode_error
from canonicall.wire.error_body import ErrorBody

_RETRY_AFTER = "1"
# anthropic 2.8.0 (Python), types/thread_unsupported_request_error_details.py and
# types/thread_unsupported_feature_name.py.
_NO_THREADS = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "The request combines `thread` with a request field or an organization setting"
        " that Threads do not support. Send the full conversation without `thread`, or change that"
        " field.",
        "details": {
            "error_code": "thread_unsupported_request",
            "unsupported": ["context_management"],
        },
    },
}
_SPOKEN = "openai-chat"
"""The format that many hosts speak besides its owner."""


def refusal(
    violations: tuple[Violation, ...], body: dict[str, Any], door: Door, target: Target
) -> Failure:
    """The answer to a body that breaks rules: the first of them is told, as providers do it.

    It is told in the provider's own words where they are known.
    """
    violation = violations[0]
    own_words = told_by(target.provider, violation, body) if target.format == _SPOKEN else ""
    words = own_words or violation.error or f"{violation.where.removeprefix('$.')}: {violation.why}"
    status = status_of(target, violation, door.refusal_status(violation.code, target))
    code = code_of(target, violation)
    param = violation.where.removeprefix("$.") if target.format.startswith("openai") else ""
    return Failure(
        status, ErrorBody(words, kind_of(target, 400), code, param), violations=violations
    )


def unreadable(what: str, target: Target) -> Failure:
    """The answer to a body that is no request of the format at all."""
    return Failure(400, ErrorBody(what, kind_of(target, 400)))


def parsed(data: bytes, door: Door, target: Target) -> dict[str, Any]:
    """The body of a request; a failure where it is none."""
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise unreadable(door.not_json.replace("{why}", str(error)), target) from None
    if not isinstance(body, dict):
        raise unreadable("The body of the request has to be a JSON object.", target)
    return body


def failures_in(faults: frozenset[Fault], target: Target) -> Iterator[Failure]:
    """The error responses among some faults."""
    if Fault.RATE_LIMITED in faults:
        error = ErrorBody("Rate limit reached. Please try again later.", kind_of(target, 429))
        yield Failure(429, error, retry_after=_RETRY_AFTER)
    if Fault.OVERLOADED in faults:
        status = 529 if target.format == "anthropic" else 503
        yield Failure(status, ErrorBody("Overloaded", kind_of(target, status)))
    if Fault.SERVER_ERROR in faults:
        yield Failure(500, ErrorBody("Internal server error", kind_of(target, 500)))
    if Fault.THREAD_UNSUPPORTED in faults and target.format == "anthropic":
        yield Failure(400, decode_error(_NO_THREADS))
