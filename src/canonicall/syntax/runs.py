"""A run of calls at the end of a text: held back, and taken back if it is none.

`LeakScanner` reads one block of text. Text before a run is passed on as it comes. A run waits: text
after it gives it up, and then all of it is text again, exactly as it came, frames included. At the
end of the reply `settle` makes calls of it, or `give_up` text. `recovery` says when.
"""

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Block, Text, Thinking, ToolCall
from canonicall.events import BlockEnded, Event
from canonicall.findings import Action
from canonicall.folding import block_events
from canonicall.request import Tool
from canonicall.syntax.output import Output
from canonicall.syntax.quotation import Surroundings
from canonicall.syntax.scanner import TextScanner

FOLLOWED = "text follows it"


class LeakScanner(TextScanner):
    """Scans one block of text. A run of calls at its end waits for `settle` or `give_up`."""

    _output: "_HeldOutput"

    def _new_output(self, offered: dict[str, Tool]) -> Output:
        return _HeldOutput(self, offered)

    @property
    def position(self) -> int:
        """How many characters have been read."""
        return self._reader.position

    @property
    def has_run(self) -> bool:
        """Whether the text so far ends with a run of calls."""
        return self._output.run is not None

    @property
    def has_said_text(self) -> bool:
        """Whether there was text that is part of no run."""
        run = self._output.run
        return self._output.has_words if run is None else run.kind is Text or Text in run.kinds

    @property
    def printed(self) -> list[tuple[ToolCall, str]]:
        """The calls of the run, each with its printed form."""
        return self._output.printed

    def feed(self, text: str) -> list[Event]:
        """The events that this text completes."""
        self._output.fed.append(text)
        return super().feed(text)

    def passes(self, text: str) -> bool:
        """Whether this text is only more of a text that was begun; it has been read then."""
        output = self._output
        return output.may_pass and self._reader.passes(text, output.text) and output.passed(text)

    def read_rest(self) -> list[Event]:
        """The events of the last text. Only a run may wait now."""
        self._read_rest()
        return self.take()

    def take(self) -> list[Event]:
        """The events since the last time."""
        return self._output.take()

    def give_up(self, why: str) -> None:
        """The run is text."""
        self._output.give_up(why, self.position)

    def settle(self, why_not: str, *, is_cut: bool) -> None:
        """The run becomes calls, unless there is a reason why not."""
        if why_not:
            self.give_up(why_not)
        else:
            self._output.settle(is_cut=is_cut)


class _Run(Struct):
    """Calls that wait, and how all was before them."""

    start: int
    """Where the text of the run begins, its frames included."""
    place: int
    """Where its first call begins."""
    allows_text: bool
    blocks: int
    findings: int
    kind: type[Text | Thinking] | None
    """What was open."""
    pieces: list[str]
    held: list[str]
    kinds: set[type[Block]]
    detected: str | None
    events: list[Event]
    begun: list[int] = []
    """Where the marker of each call begins."""
    ended: list[int] = []
    """Where its arguments end."""


class _HeldOutput(Output):
    """Keeps a run of calls back, and can take it back."""

    def __init__(self, scanner: LeakScanner, offered: dict[str, Tool]) -> None:
        super().__init__(offered, keeps_blank=scanner.syntax.keeps_blank)
        self.run: _Run | None = None
        self._scanner = scanner
        self._said_to = 0
        """Up to where the text was passed on, or left out for good."""
        self.fed: list[str] = []
        """The text from `_fed_from` on."""
        self._fed_from = 0
        self._around: Surroundings | None = None
        """The text up to `_around_to`."""
        self._around_to = 0
        self._is_refused = False
        """Whether a call was only quoted, and was not yet passed on as text."""

    @property
    def may_pass(self) -> bool:
        """Whether text was begun that nothing has to be decided about."""
        return self._open is Text and self.run is None and not self._is_refused

    def passed(self, piece: str) -> bool:
        """Text that was passed on already."""
        if piece:
            self.fed.append(piece)
            self._pieces.append(piece)
            self._said_to += len(piece)
        return True

    def text(self, piece: str) -> None:
        """Text: of a run, around calls, or after a run, which is none then."""
        run = self.run
        if run is None:
            end = self._scanner.position
            if self._is_refused:
                # The frames before the call are text as well.
                self._is_refused = False
                piece = self._raw(self._said_to, end)
            super().text(piece)
            self._said_to = end
        elif run.allows_text or self.reading is not None:
            super().text(piece)
        elif not piece.isspace():
            self.give_up(FOLLOWED, self._scanner.position)

    def refuses(self, name: str) -> bool:
        """Whether a name makes no call: it was not offered, or the call is only quoted."""
        if super().refuses(name):
            return True
        why = "" if self.run is not None else self._why_quoted()
        self._is_refused = bool(why)
        if why:
            self._note_quoted(f"it is {why}")
        return self._is_refused

    def begin_call(self) -> None:
        """A call begins, and with it a run if there is none."""
        if self.run is None:
            self.run = _Run(
                start=self._said_to,
                place=self.position,
                allows_text=self.text_may_follow,
                blocks=len(self.blocks),
                findings=len(self.findings),
                kind=self._open,
                pieces=self._pieces,
                held=list(self._held),
                kinds=set(self._kinds),
                detected=self.detected,
                events=self.events,
            )
            self.events = []
        self.run.begun.append(self.position)

    def end_call(self) -> None:
        """A call has been read."""
        if self.run is not None:
            self.run.ended.append(self._scanner.position)

    def take(self) -> list[Event]:
        """The events since the last time, but for those of a run."""
        if self.run is None:
            return super().take()
        events, self.run.events = self.run.events, []
        return events

    def give_up(self, why: str, end: int) -> None:
        """The run is text, and so is all else up to `end`."""
        run, self.run = self.run, None
        if run is None:
            return
        del self.blocks[run.blocks :]
        del self.findings[run.findings :]
        self._open, self._pieces, self._held = run.kind, run.pieces, run.held
        self._kinds, self.detected, self.events = run.kinds, run.detected, run.events
        place, self.position = self.position, run.place
        self._note_quoted(why)
        self.position = place
        self.text(self._raw(run.start, end))
        self._said_to = end

    def settle(self, *, is_cut: bool) -> None:
        """The run is calls."""
        run = self.run
        if run is None:
            return
        self.end_words()
        self.run = None
        first = run.blocks + (run.kind is not None)
        self.events = run.events
        if run.kind is not None:
            self.events.append(BlockEnded(run.blocks, self.blocks[run.blocks]))
        for at, block in enumerate(self.blocks[first:], first):
            made = self.blocks[at] = _recovered(block, is_cut)
            self.events += block_events(at, made)
            if not (isinstance(made, ToolCall) and made.truncated):
                self.events.append(BlockEnded(at, made))

    @property
    def printed(self) -> list[tuple[ToolCall, str]]:
        """The calls of the run, each with its printed form."""
        run = self.run
        if run is None:
            return []
        calls = [one for one in self.blocks[run.blocks :] if isinstance(one, ToolCall)]
        return [
            (call, self._raw(begun, ended))
            for call, begun, ended in zip(calls, run.begun, run.ended, strict=True)
        ]

    def _note_quoted(self, why: str) -> None:
        self.note("call_quoted", Action.KEPT, f"A call is printed here, and {why}; it stays text.")

    def _why_quoted(self) -> str:
        """What the place of a call is inside of; empty if it is a call."""
        if self._around is None:
            self._around = Surroundings(self._scanner.tags)
        self._around.add(self._raw(self._around_to, self.position))
        self._around_to = self.position
        # Nothing is asked of the text that was passed on before.
        self.fed = [self._raw(self._said_to)]
        self._fed_from = self._said_to
        return self._around.why_quoted()

    def _raw(self, start: int, end: int | None = None) -> str:
        """The text as it came, between two positions."""
        text = "".join(self.fed)
        self.fed = [text]
        return text[start - self._fed_from : None if end is None else end - self._fed_from]


def _recovered(block: Block, is_cut: bool) -> Block:
    if not isinstance(block, ToolCall):
        return block
    return replace(block, recovered=True, truncated=block.truncated or is_cut)
