"""Tool calls out of a stream: partial ones as they grow, whole ones as soon as they are certain.

A call is certain when something follows it, or the stream ends as it should. The last call of a
stream that was cut, or stopped by the token limit, is never among the completed ones.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from msgspec.structs import replace

from canonicall.admission import parse_arguments
from canonicall.blocks import ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    Event,
    FinishReported,
    StreamEnded,
)
from canonicall.growing import GrowingJson
from canonicall.reply import LENGTH
from canonicall.streams import StreamDecoder


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
        self._pieces.append(text)
        self._growing.feed(text)


class ToolCallAccumulator:
    """Collects the calls of one stream.

    `source` is the name of a wire format, or anything that makes events of pieces. Events that are
    known already can be given to `add`.
    """

    def __init__(self, source: str | EventSource = "openai-chat") -> None:
        self._source = StreamDecoder(source) if isinstance(source, str) else source
        self.in_progress: dict[int, PartialCall] = {}
        """The calls that are not certain yet, by the number of their block."""
        self.completed: list[ToolCall] = []
        """The calls that may be run, in order."""
        self._whole: dict[int, ToolCall] = {}

    def add_chunk(self, chunk: bytes | str) -> list[ToolCall]:
        """Take bytes of the stream in. Returns the calls that became certain by them."""
        data = chunk.encode() if isinstance(chunk, str) else chunk
        return self.add(self._source.feed(data))

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
                self._settle()
                if isinstance(event.block, ToolCall) and event.block.kind != "server":
                    self.in_progress[event.index] = PartialCall(event.block)
            case BlockEnded(block=ToolCall() as call) if event.index in self.in_progress:
                self._whole[event.index] = call
            case FinishReported() if event.finish not in ("", LENGTH):
                self._settle()
            case StreamEnded() if event.complete and event.reply.finish != LENGTH:
                self._settle()

    def _settle(self) -> None:
        """Calls that have ended are certain now."""
        for index in sorted(self._whole):
            call = self._whole.pop(index)
            del self.in_progress[index]
            if call.args is None and call.kind == "function":
                call = replace(call, args=parse_arguments(call.raw))
            self.completed.append(call)
