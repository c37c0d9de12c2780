"""A session file in its own form again: with the results it lacks, without results of no call.

Only lines are added, dropped or, where a line names the one before it or has a number, linked and
counted anew; every other byte stays. What is added is made from the file alone: the same file is
always repaired in the same way.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from canonicall.findings import Action, Fault, Finding
from canonicall.importing.kinds import WrittenBack
from canonicall.importing.sessions.lines import Line, Notes
from canonicall.outcome import Outcome, wording


class Exchange(Struct, frozen=True):
    """What one line does for calls."""

    line: int
    calls: tuple[tuple[str, str], ...] = ()
    """Id and tool of each call."""
    results: tuple[str, ...] = ()
    """The ids of the calls it answers."""
    is_only_results: bool = False


class Missing(Struct, frozen=True):
    """A call without a result."""

    line: int
    after: int
    """The last line of its turn: its result belongs behind it."""
    id: str
    name: str


def made_uuid(*parts: str) -> str:
    """A UUID for an entry that is added. The same parts always give the same one."""
    digest = sha256("|".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"


class Repair:
    """The repair of one file."""

    wording: ClassVar[str] = wording(Outcome.RESULT_LOST)
    """What the model is told about a call whose result was never written."""

    def __init__(self, data: bytes) -> None:
        notes = Notes()
        self.lines: list[Line] = notes.lines(data)
        self.findings: list[Finding] = [
            one for one in notes.findings if one.code == "truncated_line"
        ]
        self._rows = data.split(b"\n")
        if self.findings:
            self._rows[-1] = b""
        self._added: dict[int, list[dict[str, Any]]] = {}
        self._dropped: set[int] = set()

    def missing(self, exchanges: Sequence[Exchange]) -> list[Missing]:
        """Calls that nothing answers, in their order."""
        open_calls: dict[str, tuple[int, str]] = {}
        for at, exchange in enumerate(exchanges):
            open_calls |= {id: (at, name) for id, name in exchange.calls}
            for id in exchange.results:
                open_calls.pop(id, None)
        return [
            Missing(exchanges[at].line, _end_of_turn(exchanges, at), id, name)
            for id, (at, name) in open_calls.items()
        ]

    def orphans(self, exchanges: Sequence[Exchange]) -> Iterator[tuple[int, set[str]]]:
        """Lines with results of calls that are not open there, and the ids these name."""
        open_calls: set[str] = set()
        for exchange in exchanges:
            open_calls |= {id for id, _ in exchange.calls}
            unknown = {id for id in exchange.results if id not in open_calls}
            open_calls -= {*exchange.results}
            if unknown:
                yield exchange.line, unknown

    def insert(self, missing: Missing, *entries: dict[str, Any]) -> None:
        """Write entries behind the turn of a call."""
        self._added.setdefault(missing.after, []).extend(entries)
        why = f"The call {missing.id!r} ({missing.name}) had no result; the model is told so."
        place = f"line {missing.line}"
        self.findings.append(Finding("session_result_added", place, Action.ADDED, why, Fault.STATE))

    def drop(self, line: int, rest: dict[str, Any] | None = None) -> None:
        """Leave a line out, or leave `rest` of it."""
        if rest is None:
            self._dropped.add(line)
        else:
            self._rows[line - 1] = msgspec.json.encode(rest)
        why = "It held a result of a call that is not there, or has one; no provider accepts that."
        self.findings.append(
            Finding("session_entry_dropped", f"line {line}", Action.DROPPED, why, Fault.INPUT)
        )

    def written_back(self, link: tuple[str, str] | None = None, count: str = "") -> WrittenBack:
        """The file. `link`: the fields in which an entry names itself and the one before it;
        `count`: the field in which entries have their number."""
        renamed = self._linked(*link) if link else {}
        if count:
            renamed |= self._counted(count)
        rows: list[bytes] = []
        for number, row in enumerate(self._rows, 1):
            if number not in self._dropped:
                rows.append(renamed.get(number, row))
            rows += map(msgspec.json.encode, self._added.get(number, ()))
        if rows[-1]:
            # What the program appends next has to begin on a line of its own.
            rows.append(b"")
        data = b"\n".join(rows)
        return WrittenBack(data if self.findings else b"\n".join(self._rows), tuple(self.findings))

    def _linked(self, own: str, before: str) -> dict[int, bytes]:
        """The rows of entries whose predecessor is another one now."""
        by_number = {line.number: line for line in self.lines}
        kept = {line.text(own) for line in self.lines if line.number not in self._dropped}
        instead: dict[str, str] = {}
        for number in sorted({*self._dropped, *self._added}):
            line = by_number[number]
            last = line.text(own)
            if not last or (last in kept and number in self._dropped):
                # Nothing names it, or what names it means another line of the same id.
                continue
            if number in self._dropped:
                # Its predecessor may be gone, too, or have another one behind it now.
                last = instead.get(line.text(before), line.text(before))
            for entry in self._added.get(number, ()):
                entry[before], last = last, str(entry[own])
            instead[line.text(own)] = last
        return {
            line.number: _with_field(
                self._rows[line.number - 1],
                before,
                line.text(before),
                instead[line.text(before)] or None,
            )
            for line in self.lines
            if instead.get(line.text(before), line.text(before)) != line.text(before)
        }

    def _counted(self, field: str) -> dict[int, bytes]:
        """The rows whose number is another one now; entries that are added get theirs."""
        rows: dict[int, bytes] = {}
        shift = 0
        for line in self.lines:
            number = line.value.get(field)
            if not isinstance(number, int):
                continue
            if line.number in self._dropped:
                shift -= 1
            elif shift:
                row = self._rows[line.number - 1]
                rows[line.number] = _with_field(row, field, number, number + shift)
            for entry in self._added.get(line.number, ()):
                shift += 1
                entry[field] = number + shift
        return rows


def _with_field(row: bytes, field: str, old: Any, new: Any) -> bytes:
    """A row in which one field has another value; nothing else in it changes."""
    name, was, becomes = map(msgspec.json.encode, (field, old, new))
    for between in (b":", b": "):
        row = row.replace(name + between + was, name + between + becomes, 1)
    return row


def _end_of_turn(exchanges: Sequence[Exchange], at: int) -> int:
    """The last line of the turn of a call: more calls of it, and the results that did come."""
    end = at
    is_answered = False
    for later in range(at + 1, len(exchanges)):
        one = exchanges[later]
        is_more_of_it = bool(one.calls) and not is_answered
        if not is_more_of_it and not one.is_only_results:
            break
        is_answered = is_answered or bool(one.results)
        end = later
    return exchanges[end].line
