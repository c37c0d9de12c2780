"""The conversation: an append-only log with one write boundary.

In: messages and call closings, from any path (user text, model replies, tool results,
cancellations, imports). Out: the same, checked, with canonical ids, each result bound to its call
in the ledger. `append` is the only method that writes; everything else is built on it.

What is written is never changed. Repairs are made when a request is rendered; only a real change
in the life of a call (it was cancelled) is written, as an entry of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from canonicall.admission import admit
from canonicall.binding import Binding, split_misplaced_calls
from canonicall.blocks import (
    Block,
    CallClosed,
    Entry,
    Message,
    Origin,
    ResultContent,
    Text,
    ToolCall,
    ToolResult,
)
from canonicall.errors import InvalidValue, UnknownCall
from canonicall.findings import Finding, Place, Report
from canonicall.ledger import Ledger
from canonicall.outcome import Outcome
from canonicall.record_binding import bind_record

Content = str | Block | Sequence[Block]


class Appended(Struct, frozen=True):
    """What one append wrote, and what was remarkable about it."""

    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...]

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls as recorded, with their canonical ids."""
        return tuple(
            call for entry in self.entries if isinstance(entry, Message) for call in entry.calls
        )


class Conversation:
    """An append-only conversation and the ledger of its tool calls.

    A result that no call asked for is kept and reported as a finding. With `strict` it raises
    `UnknownCall`, and nothing is written: for programs that write all calls themselves.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self._entries: list[Entry] = []
        self._binding = Binding()
        self._findings: list[Finding] = []

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """A conversation of these entries, each through the write boundary."""
        conversation = cls()
        conversation.extend(entries)
        return conversation

    @property
    def entries(self) -> Sequence[Entry]:
        """The log. Do not change it: append."""
        return self._entries

    @property
    def messages(self) -> Iterator[Message]:
        """The entries that are messages, in order."""
        return (entry for entry in self._entries if isinstance(entry, Message))

    @property
    def ledger(self) -> Ledger:
        """Every tool call with its state and its result, by canonical id."""
        return self._binding.ledger

    @property
    def settled_until(self) -> int:
        """How many entries are final: behind them a result still waits for its call to appear."""
        waiting = self._binding.waiting_since
        return len(self._entries) if waiting is None else waiting

    @property
    def report(self) -> Report:
        """All findings of all appends."""
        return Report((*self._findings, *self._binding.placement.findings))

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Conversation) and self._entries == other._entries

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return (
            f"<Conversation: {len(self._entries)} entries, {len(self.ledger)} tool calls,"
            f" {len(self.ledger.open)} open>"
        )

    def fork(self) -> "Conversation":
        """An independent copy that shares what has been written so far."""
        twin = Conversation(strict=self.strict)
        twin._entries = list(self._entries)
        twin._binding = self._binding.fork()
        twin._findings = list(self._findings)
        return twin

    # The write boundary.

    def append(self, entry: Entry) -> Appended:
        """Check `entry`, give its calls their ids, bind its results, and write it.

        Raises `InvalidValue`, and writes nothing, if a value has the wrong type. A conversation
        that is wrong in any other way is accepted, and the findings say what was done about it;
        a strict one raises `UnknownCall` for a result or a closing without its call.
        """
        return self.extend((entry,))

    def extend(self, entries: Iterable[Entry], *, stored: bool = False) -> Appended:
        """Append each entry. One that is refused raises, and those before it stay written.

        Entries that were in a log before (`stored`) are written as they were there. A result that
        names no call was given one by its position, for what was known then.
        """
        placement = self._binding.placement
        first, reported = len(self._entries), len(self._findings)
        said, known = placement.findings, len(placement.findings)
        try:
            for entry in entries:
                self._write(entry)
        finally:
            placement.place()
            placed = placement.new_places()
            if placed and not stored:
                self._write_placed(placed, first)
        if placement.findings is said:
            findings = (*self._findings[reported:], *said[known:])
        else:
            # Results were placed again, or for good: what was said of them before is not new.
            before = set(said[:known])
            findings = (*self._findings[reported:], *placement.findings)
            findings = tuple(one for one in findings if one not in before)
        return Appended(tuple(self._entries[first:]), findings)

    def _write_placed(self, placed: dict[Place, ToolResult], first: int) -> None:
        """Write the calls that results got by position into the entries that are new."""
        for at in dict.fromkeys(at for at, _ in placed if at >= first):
            message = self._entries[at]
            if isinstance(message, Message):
                blocks = enumerate(message.blocks)
                found = tuple(placed.get((at, position), block) for position, block in blocks)
                self._entries[at] = replace(message, blocks=found)

    def _write(self, entry: Entry) -> None:
        entries, findings, binding = self._entries, self._findings, self._binding
        at, told = len(entries), len(findings)
        try:
            admitted = admit(entry, at, findings)
            if self.strict:
                _refuse_unknown_calls(admitted, binding, at)
        except (InvalidValue, UnknownCall):
            del findings[told:]
            raise
        if type(admitted) is Message and (
            admitted.role == "assistant" or ToolCall not in map(type, admitted.blocks)
        ):
            entries.append(binding.bind_message(admitted, at, findings))
        else:
            entries += _bound(admitted, binding, at, findings)

    # Ways to append, one for each thing a person does.

    def system(self, text: str) -> Appended:
        """Append instructions."""
        return self.append(Message("system", blocks_of(text)))

    def user(self, content: Content) -> Appended:
        """Append what the user says: a text, a block or blocks."""
        return self.append(Message("user", blocks_of(content)))

    def assistant(
        self,
        content: Content,
        *,
        origin: Origin | None = None,
        turn_key: str = "",
        finish: str = "",
        partial: bool = False,
    ) -> Appended:
        """Append what a model said: a text, a block or blocks, its tool calls among them.

        `origin` names the provider, which takes part in the ids of the calls. `partial`: the reply
        was cut off.
        """
        return self.append(
            Message("assistant", blocks_of(content), turn_key, origin, finish, partial)
        )

    def result(
        self,
        call_id: str,
        content: str | ResultContent | Sequence[ResultContent],
        *,
        error: bool = False,
        outcome: Outcome | None = None,
    ) -> Appended:
        """Record what a tool returned for one call."""
        blocks: Sequence[ResultContent]
        blocks = (Text(text=content),) if isinstance(content, str) else _as_sequence(content)
        result = ToolResult(call_id=call_id, content=tuple(blocks), error=error, outcome=outcome)
        return self.append(Message("tool", (result,)))

    def close(
        self,
        call_id: str,
        outcome: Outcome,
        *,
        why: str = "",
        partial_output: Sequence[ResultContent] = (),
    ) -> Appended:
        """Record that a call ended without a result."""
        return self.append(CallClosed(call_id, outcome, why, tuple(partial_output)))

    def close_open(self, outcome: Outcome, *, why: str = "") -> tuple[Appended, ...]:
        """Record the same end for every call that is still open."""
        return tuple(self.close(one.id, outcome, why=why) for one in self.ledger.open)


def _bound(entry: Entry, binding: Binding, at: int, findings: list[Finding]) -> list[Entry]:
    """`entry` as it is to be written at position `at` of the log: one entry, or several."""
    if isinstance(entry, Message):
        parts = split_misplaced_calls(entry, at, findings)
        return [binding.bind_message(one, at + n, findings) for n, one in enumerate(parts)]
    if isinstance(entry, CallClosed):
        return [binding.bind_closing(entry, at, findings)]
    return [bind_record(entry, binding.ledger, at, findings)]


def _refuse_unknown_calls(entry: Entry, binding: Binding, at: int) -> None:
    """Raise for a result or a closing whose call is not known."""
    ended: tuple[CallClosed | ToolResult, ...] = ()
    made_here: set[str] = set()
    if isinstance(entry, CallClosed):
        ended = (entry,)
    elif isinstance(entry, Message):
        ended, made_here = entry.results, {one.id for one in entry.calls}
    named = (one for one in ended if one.call_id and one.call_id not in made_here)
    unknown = next((one.call_id for one in named if not binding.knows(one)), None)
    if unknown is None and isinstance(entry, Message) and not binding.has_calls_for(entry, at):
        unknown = ""
    if unknown is not None:
        open_calls = {one.id: one.call.raw_id for one in binding.ledger.open}
        raise UnknownCall(unknown, open_calls, where=f"entries[{at}]")


def blocks_of(content: Content) -> tuple[Block, ...]:
    """What somebody says, as blocks: bare text is words."""
    if isinstance(content, str):
        return (Text(text=content),)
    return tuple(_as_sequence(content))


def _as_sequence(content: Any) -> Sequence[Any]:
    return content if isinstance(content, (tuple, list)) else (content,)
