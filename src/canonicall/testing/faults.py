"""Faults on demand: what providers do wrong in the field, done on purpose.

A fault is named in a simulator's schedule, or by the client in the header `x-sim-fault`.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TypeAlias

from canonicall.errors import UnknownName

HEADER = "x-sim-fault"


class Fault(StrEnum):
    """One way in which a reply goes wrong."""

    REUSED_IDS = "reused_ids"
    """Every turn gives the same ids again."""
    INDEX_ZERO = "index_zero"
    """All calls of a chat stream have the index 0."""
    LATE_NAMES = "late_names"
    """The name of a call comes behind its first arguments, in a chat stream."""
    CUT_STREAM = "cut_stream"
    """The connection breaks in the midst of the stream."""
    CUT_ARGUMENTS = "cut_arguments"
    """The token limit is reached inside the arguments of the last call."""
    BAD_ARGUMENTS = "bad_arguments"
    """The arguments of the first call are no JSON."""
    ERROR_IN_200 = "error_in_200"
    """The status is 200, the body or the stream tells of an error."""
    SLOW_STREAM = "slow_stream"
    """A short pause before every piece."""
    STALLED_STREAM = "stalled_stream"
    """After the first pieces nothing comes any more."""
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    LEAKED_CALLS = "leaked_calls"
    """The calls are printed into the text, in a syntax that models write."""
    EMPTY_REPLY = "empty_reply"
    THREAD_UNSUPPORTED = "thread_unsupported"
    """A request with a thread is refused: Claude's clients then send the whole history."""


Entry: TypeAlias = Fault | str | Iterable[Fault | str] | None
"""The faults of one answer."""


def fault_named(name: str) -> Fault:
    """The fault of this name."""
    try:
        return Fault(name.strip())
    except ValueError:
        raise UnknownName("fault", name, [fault.value for fault in Fault]) from None


class Schedule:
    """Which answer has which faults.

    Each entry is for one answer: a fault, several, or None for a sound one. Behind the last entry
    all answers are sound; with `repeat` the list begins anew.
    """

    def __init__(self, entries: Iterable[Entry], *, repeat: bool = False) -> None:
        self._entries = [_faults_of(entry) for entry in entries]
        self._repeat = repeat
        self._at = 0

    def take(self) -> frozenset[Fault]:
        """The faults of the next answer."""
        at, self._at = self._at, self._at + 1
        if self._repeat and self._entries:
            at %= len(self._entries)
        return self._entries[at] if at < len(self._entries) else frozenset()


def faults_in(header: str) -> frozenset[Fault]:
    """The faults a client asks for, separated by commas."""
    return frozenset(fault_named(name) for name in header.split(",") if name.strip())


def _faults_of(entry: Entry) -> frozenset[Fault]:
    def each() -> Iterator[str]:
        if isinstance(entry, str):
            yield entry
        else:
            yield from entry or ()

    return frozenset(map(fault_named, each()))
