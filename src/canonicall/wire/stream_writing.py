"""Streams of formats that know whole calls only: words go out as they come, the rest when it ends.

Such a format has no way to say that a call is not whole. So a call waits until something shows that
the stream did not break off in it: another block, or the reason why the model stopped.
"""

from abc import ABC, abstractmethod

from canonicall.blocks import Block, Origin, Text, Thinking
from canonicall.events import (
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    FinishReported,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.reply import Usage
from canonicall.wire.streaming import InOrder, is_client_call
from canonicall.wire.writing import json_line


class WholeCallEncoding(ABC):
    """Writes one stream; a format says what a piece of words and a whole block look like."""

    def __init__(self) -> None:
        self.origin = Origin()
        self.usage: Usage | None = None
        self.error: ErrorReported | None = None
        self._order = InOrder()
        self._open: Text | Thinking | None = None
        """The words that are being written, as they started."""
        self._index = -1
        """The number of their block, once a piece of it has been written."""
        self._around = (b"", b"")
        """What stands in front of a piece and behind it."""
        self._held = b""
        """The last call, until it is known to be whole."""

    def event(self, event: Event) -> bytes:
        """What an event becomes."""
        if isinstance(event, (TextAdded, ThinkingAdded)) and event.index == self._index:
            before, behind = self._around
            return before + json_line(event.text) + behind
        return b"".join([self._write(one) for one in self._order.pass_on(event)])

    @abstractmethod
    def keep_alive(self) -> bytes:
        """What shows a client that the stream is alive."""

    @abstractmethod
    def begin(self) -> None:
        """The origin is known."""

    @abstractmethod
    def around(self, block: Text | Thinking) -> tuple[bytes, bytes] | None:
        """What stands around a piece of these words; None if they can be written whole only."""

    @abstractmethod
    def separator(self, block: Text | Thinking) -> str:
        """What stands between these words and those before."""

    @abstractmethod
    def rest(self, block: Text | Thinking) -> bytes:
        """What is left to write of words whose pieces have been written."""

    @abstractmethod
    def whole(self, block: Block) -> bytes:
        """A block that has not been written at all."""

    @abstractmethod
    def finish(self, event: StreamEnded) -> bytes:
        """The end of a stream that is complete."""

    @abstractmethod
    def fail(self, event: StreamEnded) -> bytes:
        """The end of a stream that is not."""

    def _write(self, event: Event) -> bytes:
        match event:
            case MessageStarted():
                self.origin = event.origin
                self.begin()
            case BlockStarted():
                return self._release() + self._start(event)
            case TextAdded() | ThinkingAdded() if self._open is not None:
                return self._first_piece(event)
            case BlockEnded():
                return self._end(event.block)
            case UsageReported():
                self.usage = event.usage
            case FinishReported():
                return self._release()
            case ErrorReported():
                self.error = event
            case StreamEnded():
                return self._end_stream(event)
        return b""

    def _start(self, event: BlockStarted) -> bytes:
        block = event.block
        self._open = None
        if isinstance(block, (Text, Thinking)) and not block.text:
            around = self.around(block)
            if around is not None:
                self._open, self._around = block, around
        return b""

    def _first_piece(self, event: TextAdded | ThinkingAdded) -> bytes:
        if not event.text or self._open is None:
            return b""
        before, behind = self._around
        text = self.separator(self._open) + event.text
        self._index = event.index
        return before + json_line(text) + behind

    def _end(self, block: Block) -> bytes:
        written = self._index >= 0
        self._open = None
        self._index = -1
        if written and isinstance(block, (Text, Thinking)):
            return self.rest(block)
        if is_client_call(block):
            self._held = self.whole(block)
            return b""
        return self.whole(block)

    def _release(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def _end_stream(self, event: StreamEnded) -> bytes:
        if not event.complete:
            return self.fail(event)
        return self._release() + self.finish(event)
