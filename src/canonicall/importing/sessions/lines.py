"""What the readers of session files share: lines, what is not part of the talk, the document.

A session file holds more than the model saw: events, snapshots, side talks of sub-agents, branches
that were left, turns that were compacted away. Only what the model would see next is read into the
conversation; of the rest the findings say how much there is, and where it begins.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Message
from canonicall.conversation import Conversation
from canonicall.errors import MalformedBody
from canonicall.findings import Action, Fault, Finding
from canonicall.importing.halves import halves_replaced, without_halves
from canonicall.importing.kinds import Document, Sent
from canonicall.request import Request

HEAD_LENGTH = 4000
"""How much of a document is looked at before any of it is parsed."""
NEXT_PROMPT = "Go on."
"""Takes the place of what the user says next."""


class Line(Struct, frozen=True):
    """One line of a session file."""

    number: int
    """From 1; the position from 1 where the file is one JSON document."""
    value: dict[str, Any]

    def text(self, name: str) -> str:
        """A field that is text; "" where it is not there, or something else."""
        return text_in(self.value, name)

    def object(self, name: str) -> dict[str, Any]:
        """A field that is an object; empty where it is not there, or something else."""
        return object_in(self.value.get(name))


def object_in(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list; anything else has none."""
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))


def text_in(value: dict[str, Any], name: str) -> str:
    """A field that is text; "" where it is not there, or something else."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


def first_object(data: bytes) -> dict[str, Any]:
    """The object in the first line that is not blank, empty where there is none."""
    return object_in(_parsed(data.lstrip().partition(b"\n")[0]))


def whole_object(data: bytes) -> dict[str, Any]:
    """The object that all of a document is, empty where it is something else."""
    return object_in(_parsed(data))


def _parsed(data: bytes) -> Any:
    """The value in a JSON text, with halves of characters replaced; None where there is none."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        mended = without_halves(data)
        return _parsed(mended) if mended != data else None


class Notes:
    """What is gathered while a session is read."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def lines(self, data: bytes) -> list[Line]:
        """The lines that can be read. A last line that was cut is told from one that is damaged."""
        found = []
        rows = data.split(b"\n")
        for number, row in enumerate(rows, 1):
            value = _parsed(row)
            if isinstance(value, dict):
                self.halves(row, f"line {number}")
                found.append(Line(number, value))
            elif row.strip():
                self._lose(number, row, is_last=number == len(rows))
        return found

    def halves(self, data: bytes, place: str) -> None:
        """Tell of halves of characters in a JSON text that could be read."""
        if without_halves(data) != data:
            self.findings.append(halves_replaced(place))

    def _lose(self, number: int, row: bytes, *, is_last: bool) -> None:
        place = f"line {number}"
        if is_last:
            why = f"The last line was cut off after {len(row)} bytes; what it held is lost."
            self.findings.append(Finding("truncated_line", place, Action.DROPPED, why, Fault.INPUT))
        else:
            self.unreadable(number, "this is not an object of JSON.")

    def unreadable(self, number: int, what: str) -> None:
        why = f"The line cannot be read: {what}"
        place = f"line {number}"
        self.findings.append(Finding("unreadable_line", place, Action.DROPPED, why, Fault.INPUT))

    def bookkeeping(self, lines: Iterable[Line]) -> None:
        """Lines that no model ever saw: events, snapshots, titles."""
        seen = list(lines)
        if seen:
            kinds = Counter(line.text("type") or "untyped" for line in seen)
            listed = ", ".join(f"{kind} x {times}" for kind, times in kinds.items())
            why = f"The program's own records are no part of the conversation: {listed}."
            self._set_aside("session_bookkeeping", seen, why)

    def side_chain(self, lines: Sequence[Line]) -> None:
        why = "What sub-agents said among themselves is a conversation of its own."
        self._set_aside("session_side_chain", lines, why)

    def branch_left(self, lines: Sequence[Line]) -> None:
        why = "The conversation went back to an earlier point; what had followed it does not count."
        self._set_aside("session_branch_left", lines, why)

    def compacted(self, lines: Sequence[Line]) -> None:
        why = "A summary stands for what was said before; the model does not see it any more."
        self._set_aside("session_compacted", lines, why)

    def edited(self, lines: Sequence[Line]) -> None:
        why = "It was changed or taken out later; what the model sees is the later form."
        self._set_aside("session_edited", lines, why)

    def errors(self, lines: Sequence[Line]) -> None:
        why = "The program showed an error; the model did not say it."
        self._set_aside("session_error_left_out", lines, why)

    def _set_aside(self, code: str, lines: Sequence[Line], why: str) -> None:
        if lines:
            more = f" ({len(lines)} lines in all)" if len(lines) > 1 else ""
            place = f"line {lines[0].number}{more}"
            self.findings.append(Finding(code, place, Action.SET_ASIDE, why, Fault.NONE))

    def told(self, findings: Iterable[Finding], place: str) -> None:
        """Take over what a decoder found in one place of the file."""
        self.findings += (replace(one, where=f"{place}: {one.where}") for one in findings)

    def document(
        self, format: str, messages: Sequence[Message], model: str, sent: Sent | None = None
    ) -> Document:
        """The document of these messages."""
        if not messages:
            raise MalformedBody(f"there is no message in this session of {format}.")
        conversation = Conversation.of(messages)
        told = conversation.report.findings
        request = Request(conversation, model=model, findings=told)
        return Document(format, request, None, (*self.findings, *told), sent)
