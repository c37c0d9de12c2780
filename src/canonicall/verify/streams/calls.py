"""The calls of one reply while it streams: their ids, their arguments, and the reason at the end.

Arguments are judged when the reason is known: where a limit cut the reply off, its last call may
have stopped in the middle.
"""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from canonicall.verify.violation import Violation, refuse


class Reasons(NamedTuple):
    """The words of a format for how a reply ended."""

    calls: frozenset[str]
    """The client has to answer calls."""
    plain: frozenset[str]
    """The turn is over, nothing is left to do."""
    cut: frozenset[str]
    """Something stopped the model before it was done."""
    other: frozenset[str] = frozenset()

    @property
    def known(self) -> frozenset[str]:
        return self.calls | self.plain | self.cut | self.other


class Call:
    """One call and the pieces of its arguments."""

    def __init__(self, where: str, *, is_freeform: bool = False) -> None:
        self.where = where
        self.is_freeform = is_freeform
        self.pieces: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Calls:
    """All calls of a reply, in order."""

    def __init__(self, reasons: Reasons, source: str, *, may_be_empty: bool = False) -> None:
        self._reasons = reasons
        self._source = source
        self._may_be_empty = may_be_empty
        """Clients of the format read no arguments at all as an empty object."""
        self._calls: list[Call] = []
        self._ids: set[str] = set()

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, where: str, *, is_freeform: bool = False) -> Call:
        call = Call(where, is_freeform=is_freeform)
        self._calls.append(call)
        return call

    def named(self, id: str, where: str) -> Iterator[Violation]:
        """What is wrong with the id of the next call."""
        if id and id in self._ids:
            yield self._broken("duplicate_call_id", where)
        self._ids.add(id)

    def finished(self, reason: str, where: str) -> Iterator[Violation]:
        """What is wrong with this reason, and with the calls in the light of it."""
        if reason not in self._reasons.known:
            yield self._broken("finish_unknown", where)
        elif reason in self._reasons.calls and not self._calls:
            yield self._broken("finish_without_calls", where)
        elif reason in self._reasons.plain and self._calls:
            yield self._broken("finish_hides_calls", where)
        yield from self.arguments(is_cut=reason in self._reasons.cut)

    def arguments(self, *, is_cut: bool = False) -> Iterator[Violation]:
        judged = self._calls[:-1] if is_cut else self._calls
        for call in judged:
            is_nothing = self._may_be_empty and not call.text.strip()
            if not (call.is_freeform or is_nothing or is_object(call.text)):
                yield self._broken("arguments_not_json", call.where)

    def _broken(self, code: str, where: str) -> Violation:
        return refuse(code, where, source=self._source)


def is_object(text: str) -> bool:
    """Whether a text is the JSON of an object."""
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
