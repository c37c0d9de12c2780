"""How a tool call ended: a closed vocabulary, and what a model is told for each.

The wording is the contract: constant, so that prompt caches hit, and true, so that a model is
never told that something did not happen when it may have.
"""

from enum import StrEnum


class Outcome(StrEnum):
    """How a call ended. A call without an outcome is still open."""

    COMPLETED = "completed"
    """It ran and gave a result."""
    FAILED = "failed"
    """It ran and reported an error."""
    NOT_RUN = "not_run"
    """It never started."""
    UNKNOWN = "unknown"
    """It started and was cut off: side effects are possible."""
    DENIED = "denied"
    """A person or a rule refused it before it started."""
    TIMED_OUT = "timed_out"
    """It started and ran out of time: side effects are possible."""
    SUPERSEDED = "superseded"
    """Another attempt took its place before it started."""
    TRUNCATED = "truncated"
    """Its arguments were cut off, or may have been, so it was not run."""
    INVALID = "invalid"
    """Its arguments were refused, so it was not run."""
    RESULT_LOST = "result_lost"
    """It may have run; its result is not part of the conversation."""


class Status(StrEnum):
    """Where a call stands in its life."""

    PENDING = "pending"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    ERROR = "error"


_STATUS = {
    Outcome.COMPLETED: Status.COMPLETE,
    Outcome.FAILED: Status.ERROR,
    Outcome.TIMED_OUT: Status.ERROR,
    Outcome.TRUNCATED: Status.ERROR,
    Outcome.INVALID: Status.ERROR,
    Outcome.NOT_RUN: Status.CANCELLED,
    Outcome.UNKNOWN: Status.CANCELLED,
    Outcome.DENIED: Status.CANCELLED,
    Outcome.SUPERSEDED: Status.CANCELLED,
    Outcome.RESULT_LOST: Status.CANCELLED,
}

_WORDING = {
    Outcome.COMPLETED: "The tool ran and returned no output.",
    Outcome.FAILED: "The tool ran and failed.",
    Outcome.NOT_RUN: "This tool call was not run: it was cancelled before it started.",
    Outcome.UNKNOWN: (
        "This tool call was interrupted after it had started. It may have taken effect, fully or"
        " in part. Check the actual state before you repeat it."
    ),
    Outcome.DENIED: "This tool call was refused and was not run.",
    Outcome.TIMED_OUT: (
        "This tool call ran out of time and was stopped. It may have taken effect, fully or in"
        " part. Check the actual state before you repeat it."
    ),
    Outcome.SUPERSEDED: "This tool call was not run: a later attempt took its place.",
    Outcome.TRUNCATED: "This tool call was not run: its arguments were cut off, or may have been.",
    Outcome.INVALID: "This tool call was not run: its arguments were not valid.",
    Outcome.RESULT_LOST: (
        "The result of this tool call is not available. The tool may have run. Check the actual"
        " state before you repeat it."
    ),
}

# An attribute of an enum takes ten times as long to look up as a global, and every result asks.
_COMPLETED = Outcome.COMPLETED

MAY_HAVE_RUN = frozenset(
    {
        Outcome.COMPLETED,
        Outcome.FAILED,
        Outcome.UNKNOWN,
        Outcome.TIMED_OUT,
        Outcome.RESULT_LOST,
    }
)
"""Outcomes after which side effects are possible. For the others they are excluded."""


def status_of(outcome: Outcome | None) -> Status:
    """The lifecycle state that an outcome means; no outcome means pending."""
    return Status.PENDING if outcome is None else _STATUS[outcome]


def wording(outcome: Outcome, why: str = "") -> str:
    """What a model is told about a call that ended like this. `why` is added as a reason."""
    text = _WORDING[outcome]
    return f"{text} Reason: {why}" if why else text


def infer_outcome(*, error: bool, is_complete: bool | None, has_content: bool) -> Outcome | None:
    """The outcome of a result that does not name one; None while it is pending.

    No single field decides: an error counts before `is_complete`, that before content.
    """
    if error:
        return Outcome.FAILED
    if is_complete is not None:
        return _COMPLETED if is_complete else None
    return _COMPLETED if has_content else None
