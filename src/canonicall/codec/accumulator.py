"""Tool calls out of a stream: partial ones as they grow, whole ones as soon as they are certain.

A call is certain when something follows it, or the reply ends as it should. The last call of a
stream that was cut, or that a limit, a filter or an error ended, is never among the completed ones.
"""

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any, Protocol

from canonicall.arguments import with_arguments
from canonicall.blocks import ToolCall
from canonicall.codec.streams import StreamDecoder
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    Event,
    FinishReported,
    StreamEnded,
)
from canonicall.folding import CUT_SHORT
from canonicall.growing import GrowingJson
from canonicall.reply import ERROR, FILTER, MALFORMED_CALL, REFUSAL

_NOT_TO_RUN = (*CUT_SHORT, FILTER, REFUSAL, MALFORMED_CALL, ERROR)
"""The ends that leave it open whether the last call is what the model meant to say."""


class EventSource(Protocol):
    """What turns the pieces of a stream into events."""

    def feed(self, data: Any, /) -> list[Event]: ...

    def close(self) -> list[Event]: ...


class PartialCall:
    """A call whose arguments are still coming."""

    def __init__(self, call: ToolCall) -> None:
        self.id = call.id
        self.name = call.name
        self._pieces: list[str] = []
        self._growing = GrowingJson()

    def __repr__(self) -> str:
        return f"<PartialCall {self.name!r}: {self.args!r}>"

    @property
    def raw(self) -> str:
        """The arguments so far, as text."""
        return "".join(self._pieces)

    @property
    def args(self) -> dict[str, Any]:
        """The arguments so far: members that are whole, and as much as is there of the next."""
        value = self._growing.value
        return value if isinstance(value, dict) else {}

    def add(self, text: str) -> None:
        """Take in more of the arguments."""
        self._pieces.append(text)
        self._growing.feed(text)


class ToolCallAccumulator:
    """Collects the calls of one stream.

    `source` is the name of a wire format, or anything that makes events of pieces. Events that are
    known already can be given to `add`.
    """

    def __init__(self, source: str | EventSource = "openai-chat") -> None:
        self._source: EventSource = StreamDecoder(source) if isinstance(source, str) else source
        self.in_progress: dict[int, PartialCall] = {}
        """The calls that are not certain yet, by the number of their block."""
        self.completed: list[ToolCall] = []
        """The calls that may be run, in order."""
        self._order: list[int] = []
        """A heap of their numbers."""
        self._ended: dict[int, ToolCall] = {}
        self._last = -1
        """The number of the last block that has started: what came before it is followed."""

    def add_chunk(self, chunk: bytes | str) -> list[ToolCall]:
        """Take a piece of the stream in. Returns the calls that became certain by them."""
        if isinstance(self._source, StreamDecoder) and isinstance(chunk, str):
            chunk = chunk.encode()
        return self.add(self._source.feed(chunk))

    def close(self) -> list[ToolCall]:
        """Nothing more comes. Returns the calls that became certain by that."""
        return self.add(self._source.close())

    def get_completed(self) -> list[ToolCall]:
        """The calls that may be run so far, in order."""
        return list(self.completed)

    def add(self, events: Iterable[Event]) -> list[ToolCall]:
        """Take events in. Returns the calls that became certain by them."""
        before = len(self.completed)
        for event in events:
            self._take(event)
        return self.completed[before:]

    def _take(self, event: Event) -> None:
        match event:
            case ArgumentsAdded():
                if event.index in self.in_progress:
                    self.in_progress[event.index].add(event.text)
            case BlockStarted():
                self._last = max(self._last, event.index)
                if isinstance(event.block, ToolCall) and event.block.kind != "server":
                    if event.index not in self.in_progress:
                        heappush(self._order, event.index)
                    self.in_progress[event.index] = PartialCall(event.block)
                self._settle(self._last)
            case BlockEnded(block=ToolCall() as call) if event.index in self.in_progress:
                self._ended[event.index] = call
                self._settle(self._last)
            case FinishReported() if event.finish and event.finish not in _NOT_TO_RUN:
                self._settle(self._last + 1)
            case StreamEnded():
                is_sound = event.complete and event.reply.finish not in _NOT_TO_RUN
                self._settle(self._last + is_sound, is_end=True)

    def _settle(self, stop: int, *, is_end: bool = False) -> None:
        """Calls before `stop` that have ended are certain now; until the end they keep in order."""
        while self._order and self._order[0] < stop:
            index = self._order[0]
            if not (is_end or index in self._ended):
                return
            heappop(self._order)
            if index in self._ended:
                del self.in_progress[index]
                self.completed.append(with_arguments(self._ended.pop(index), []))
