"""What the stream decoders and encoders of all formats have in common.

A decoder puts the wire's increments together to the whole response it would have been, and tells
what comes on the way. An encoder writes one event after the other in its format's grammar.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from canonicall.blocks import Block, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    SignatureAdded,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.findings import Finding

CUT = "The stream ended before it was complete."
"""What is told of a stream that broke off, where nobody has said why."""


class Growth(NamedTuple):
    """What a frame only added a piece to.

    A decoder that has it as its `growth` behind a frame says: the same frame with another text at
    `path` does nothing but to add that text, by `add`.
    """

    path: tuple[str | int, ...]
    add: Callable[[str, list[Event]], None]


class Decoding(Protocol):
    """Reads the frames of one stream."""

    ends_with_done: bool
    """Whether `[DONE]` is this format's own end; elsewhere it is a gateway's, behind anything."""
    complete: bool
    """Whether the provider has said that it ended."""
    error: ErrorReported | None
    """The error that the provider told of inside the stream."""
    findings: list[Finding]

    def frame(self, name: str, data: dict[str, Any], events: list[Event]) -> None:
        """Take one frame in and add what it tells to `events`."""
        ...

    def end(self, events: list[Event]) -> None:
        """End what is still open; nothing more comes."""
        ...

    def whole(self) -> dict[str, Any]:
        """The body that a response without streaming would have had."""
        ...


class Encoding(Protocol):
    """Writes the frames of one stream."""

    created: int
    """When the reply was made, in seconds since 1970; 0 where that is not known. Not every format
    tells it."""
    completed: int
    """When it was complete; 0 where that is not known."""
    repeats: Mapping[str, Any]
    """The fields that it repeats of its request, where the format has such."""

    def event(self, event: Event) -> bytes:
        """The frames for an event; blocks come one at a time, each with its end."""
        ...

    def keep_alive(self) -> bytes:
        """What shows a client that the stream is alive."""
        ...


class Blocks:
    """The blocks of a streamed message: numbered as they open, ended in any order."""

    def __init__(self) -> None:
        self._next = 0
        self._pieces: dict[int, list[str]] = {}

    def start(self, block: Block, events: list[Event]) -> int:
        """Open a block."""
        index = self._next
        self._next += 1
        self._pieces[index] = []
        events.append(BlockStarted(index, block))
        return index

    def whole(self, block: Block, events: list[Event]) -> None:
        """A block that came in one piece."""
        index = self.start(block, events)
        self.end(index, block, events)

    def text(self, index: int, text: str, events: list[Event]) -> None:
        self._pieces[index].append(text)
        events.append(TextAdded(index, text))

    def thinking(self, index: int, text: str, events: list[Event]) -> None:
        self._pieces[index].append(text)
        events.append(ThinkingAdded(index, text))

    def arguments(self, index: int, text: str, events: list[Event]) -> None:
        self._pieces[index].append(text)
        events.append(ArgumentsAdded(index, text))

    def said(self, index: int) -> str:
        """All that was added to a block so far."""
        return "".join(self._pieces[index])

    def end(self, index: int, block: Block, events: list[Event]) -> None:
        """Close a block, which is now known as a whole."""
        del self._pieces[index]
        events.append(BlockEnded(index, block))


class InOrder:
    """Makes blocks that overlap follow one another, for formats that know one block at a time.

    The first open block goes through at once; the events of the others wait until it has ended.
    """

    def __init__(self) -> None:
        self._current: int | None = None
        self._waiting: dict[int, list[Event]] = {}

    def pass_on(self, event: Event) -> list[Event]:
        """The events that may be written now."""
        match event:
            case BlockStarted(index=index) if self._current is None:
                self._current = index
                return [event]
            case BlockEnded(index=index) if index == self._current:
                return [event, *self._next_blocks()]
            case (
                BlockStarted()
                | TextAdded()
                | ThinkingAdded()
                | ArgumentsAdded()
                | SignatureAdded()
                | BlockEnded()
            ):
                if event.index == self._current:
                    return [event]
                self._waiting.setdefault(event.index, []).append(event)
                return []
            case StreamEnded():
                return [*self._rest(), event]
            case _:
                return [event]

    def _next_blocks(self) -> list[Event]:
        """The blocks that waited: whole ones, and the first that is still open."""
        self._current = None
        ready: list[Event] = []
        while self._waiting:
            index = next(iter(self._waiting))
            events = self._waiting.pop(index)
            ready += events
            if not isinstance(events[-1], BlockEnded):
                self._current = index
                break
        return ready

    def _rest(self) -> list[Event]:
        """What still waits when the stream ends."""
        rest = [event for events in self._waiting.values() for event in events]
        self._waiting.clear()
        return rest


def is_client_call(block: Block) -> bool:
    """Whether a block is a call that the client has to run."""
    return isinstance(block, ToolCall) and block.kind != "server"
