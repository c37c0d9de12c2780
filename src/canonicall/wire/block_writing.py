"""Streams of formats that know one block at a time, each of which grows by pieces.

Blocks that overlap wait for one another. A piece of the block that is open has nothing to wait for:
nearly all events are such pieces, and they are written at once.
"""

from collections.abc import Callable
from typing import Any

from canonicall.events import ArgumentsAdded, Event, TextAdded, ThinkingAdded, UsageReported
from canonicall.reply import Usage
from canonicall.wire.streaming import InOrder

_PIECES = (TextAdded, ThinkingAdded, ArgumentsAdded)


class BlockEncoding:
    """Writes one stream; a format says what writes each kind of event."""

    def __init__(self, writers: dict[type, Callable[[Any], bytes]]) -> None:
        self.index: int | None = None
        """The block that is open."""
        self.usage: Usage | None = None
        """The figures that were told on the way."""
        self._order = InOrder()
        self._writers = writers | {UsageReported: self._usage_reported}

    def event(self, event: Event) -> bytes:
        """The frames for an event."""
        if isinstance(event, _PIECES) and event.index == self.index:
            return self._write(event)
        return b"".join([self._write(one) for one in self._order.pass_on(event)])

    def _write(self, event: Event) -> bytes:
        write = self._writers.get(type(event))
        return b"" if write is None else write(event)

    def _usage_reported(self, event: UsageReported) -> bytes:
        self.usage = event.usage
        return b""
