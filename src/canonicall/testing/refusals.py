"""How a simulator says no: a violation, or a fault on demand, as status and error.

The judge reports a violation in the text of the format's owner. Where the file of a host has a
text, a status or an error code of its own for it, the simulator answers with these.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from canonicall.facts.habits import error_type, format_habits
from canonicall.facts.host_errors import Answer
from canonicall.facts.target import Target
from canonicall.testing.doors.door import Door
from canonicall.testing.failure import Failure
from canonicall.testing.faults import Fault
from canonicall.testing.habits import errors_like, host_format
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
_INDEX = re.compile(r"messages\[(\d+)\]")
_CALL = re.compile(r"messages\[(\d+)\]\.tool_calls\[(\d+)\]")


def refusal(
    violations: tuple[Violation, ...], body: dict[str, Any], door: Door, target: Target
) -> Failure:
    """The answer to a body that breaks rules: the first of them is reported, as providers do it."""
    violation = violations[0]
    own = own_text(target, violation, body)
    text = own or violation.error or f"{violation.where.removeprefix('$.')}: {violation.why}"
    usual = door.refusal_status(violation.code, target)
    status = next((one.status for one in _answers(target, violation) if one.status), usual)
    param = violation.where.removeprefix("$.") if door.names_param else ""
    error = ErrorBody(text, error_type(target.format, 400), _code(target, violation, door), param)
    return Failure(status, error, violations=violations)


def own_text(target: Target, violation: Violation, body: dict[str, Any]) -> str:
    """What this host says about a violation; empty where no text of its own is known."""
    text = next((one.text for one in _answers(target, violation) if one.text), "")
    found = _INDEX.search(violation.where)
    index = int(found[1]) if found else 0
    choice = body.get("tool_choice")
    gaps = {
        "field": violation.where.rpartition(".")[2],
        "choice": choice if isinstance(choice, str) else "specified",
        "call": _id_of_call(violation.where, body),
        "role": _of_message("role", body, index),
        "id": _of_message("tool_call_id", body, index),
        "index": str(index),
    }
    for name, value in gaps.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _answers(target: Target, violation: Violation) -> Iterator[Answer]:
    """The host's own answers to a violation."""
    field = violation.where.removeprefix("$.")
    for errors in errors_like(target):
        for one in errors.answers:
            is_format = target.format in (one.formats or (host_format(target),))
            if is_format and violation.code in one.codes and one.field in ("", field):
                yield one


def _code(target: Target, violation: Violation, door: Door) -> str:
    """What the error has in `code` at this host, where the format has such a field."""
    if not door.names_param:
        return ""
    tables = (errors.codes for errors in errors_like(target))
    found = (code for table in tables for code, ours in table.items() if violation.code in ours)
    return next(found, "")


def _id_of_call(where: str, body: dict[str, Any]) -> str:
    """The id of the call at a place of the body, if there is one."""
    found = _CALL.search(where)
    if found is None:
        return ""
    message = _entry(body, "messages", int(found[1]))
    return _text(_entry(message, "tool_calls", int(found[2])), "id")


def _of_message(field: str, body: dict[str, Any], index: int) -> str:
    return _text(_entry(body, "messages", index), field)


def _entry(owner: dict[str, Any], name: str, index: int) -> dict[str, Any]:
    """An object in a list; an empty one where a broken body has something else there."""
    listed = owner.get(name)
    entry = listed[index] if isinstance(listed, list) and index < len(listed) else None
    return entry if isinstance(entry, dict) else {}


def _text(owner: dict[str, Any], name: str) -> str:
    value = owner.get(name)
    return value if isinstance(value, str) else ""


def unreadable(what: str, target: Target) -> Failure:
    """The answer to a body that is no request of the format at all."""
    return Failure(400, ErrorBody(what, error_type(target.format, 400)))


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
        error = ErrorBody(
            "Rate limit reached. Please try again later.", error_type(target.format, 429)
        )
        yield Failure(429, error, retry_after=_RETRY_AFTER)
    if Fault.OVERLOADED in faults:
        status = format_habits(target.format).overloaded_status
        yield Failure(status, ErrorBody("Overloaded", error_type(target.format, status)))
    if Fault.SERVER_ERROR in faults:
        yield Failure(500, ErrorBody("Internal server error", error_type(target.format, 500)))
    if Fault.THREAD_UNSUPPORTED in faults and target.format == "anthropic":
        yield Failure(400, decode_error(_NO_THREADS))
