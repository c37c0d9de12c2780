"""What the grammars of all formats have in common.

A grammar sees the frames of one stream in order and yields what is wrong with each. It goes on
after a violation as a client would: one fault may be followed by others that it caused.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar, Protocol

from canonicall.framing.frame import Frame
from canonicall.framing.sse import ServerSentEvents
from canonicall.verify.node import Node
from canonicall.verify.violation import Violation, refuse


class Reader(Protocol):
    """Finds the frames in the bytes of a stream."""

    def feed(self, data: bytes) -> Iterable[Frame]:
        """The frames that these bytes complete."""
        ...

    def close(self) -> Iterable[Frame]:
        """What is left of a frame that was cut off."""
        ...


class Grammar:
    """The events of one format: which may come, in which order, with what in them."""

    source: ClassVar[str] = ""
    """Where the format documents its events."""

    def __init__(self) -> None:
        self.is_over = False
        """The format's own end was seen, or its error."""
        self.complete = False
        """The end that was seen is that of a whole reply."""

    def reader(self) -> Reader:
        return ServerSentEvents()

    def frame(self, name: str, data: Node) -> Iterator[Violation]:
        """What is wrong with the next frame."""
        raise NotImplementedError

    def done(self, where: str) -> Iterator[Violation]:
        """What is wrong with `[DONE]` as the next frame."""
        yield self.broken("unknown_event", where, why="this format has no [DONE].")

    def end(self, where: str) -> Iterator[Violation]:
        """What is wrong with the stream stopping here."""
        if not self.is_over:
            yield self.broken("stream_not_ended", where)

    def broken(self, code: str, where: str, error: str = "", *, why: str = "") -> Violation:
        return refuse(code, where, error, source=self.source, why=why)

    def missing(self, node: Node, *keys: str, error: str = "") -> Iterator[Violation]:
        """A violation for each of the fields that is absent or null."""
        for key in keys:
            if not node.has(key):
                yield self.broken("frame_field_missing", node.at(key), error)

    def failed(self) -> None:
        """The format's own error ends the stream; what is open stays open."""
        self.is_over = True
