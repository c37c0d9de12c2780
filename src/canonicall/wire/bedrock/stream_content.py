"""The content of a streamed Converse message: which piece belongs to which block.

A piece belongs to the block of its `contentBlockIndex`. One of another kind than that block opens a
block of its own there; the wire has no such thing, but nothing is put into the wrong block then.
"""

from typing import Any

from canonicall.events import Event
from canonicall.wire.bedrock.stream_blocks import (
    CALL,
    CITATION,
    REASONING,
    REDACTED,
    TEXT,
    GrowingBlock,
    GrowingCall,
    GrowingText,
    GrowingThought,
    GrowingWhole,
    is_server_call,
)
from canonicall.wire.carried import set_fields
from canonicall.wire.reading import object_at
from canonicall.wire.streaming import Blocks


class GrowingContent:
    """The blocks of one message, in the order in which they were first seen."""

    def __init__(self, domain: str) -> None:
        self.has_calls = False
        """Whether there is a call that the client has to run."""
        self._domain = domain
        self._blocks = Blocks()
        self._all: list[GrowingBlock] = []
        self._open: dict[int, GrowingBlock] = {}
        self._last = 0
        self._server_calls: list[dict[str, Any]] = []

    def start(self, number: Any, start: dict[str, Any], events: list[Event]) -> None:
        """A block starts that says what it is. What was open in its place is whole."""
        number = self._number(number)
        block: GrowingBlock
        for member, value in set_fields(start, ()).items():
            self.end(number, events)
            if member == CALL and not is_server_call(object_at(value, "$.start.toolUse")):
                block = GrowingCall(value, self._blocks, self._domain)
            else:
                block = GrowingWhole(member, self._blocks, self._domain, self._server_calls)
            block.add(member, value, events)
            self._keep(number, block)

    def add(self, number: Any, delta: dict[str, Any], events: list[Event]) -> None:
        """A block grows, or is seen for the first time."""
        number = self._number(number)
        block = self._open.get(number)
        for member, value in delta.items():
            if value is None:
                continue
            kind = _kind(member, value)
            if block is not None and block.kind == kind:
                block.add(member, value, events)
                continue
            self.end(number, events)
            block = self._new(kind)
            block.add(member, value, events)
            self._keep(number, block)

    def end(self, number: Any, events: list[Event]) -> None:
        """A block is whole."""
        block = self._open.pop(self._number(number), None)
        if block is not None:
            self._end(block, events)

    def end_all(self, events: list[Event], *, with_calls: bool) -> None:
        """All blocks are whole; calls only if their arguments cannot have been cut."""
        for number, block in list(self._open.items()):
            if with_calls or not block.is_call:
                del self._open[number]
                self._end(block, events)

    def wire(self) -> list[dict[str, Any]]:
        """The content of a response without streaming."""
        return [block.wire() for block in self._all]

    def _number(self, number: Any) -> int:
        if isinstance(number, int):
            self._last = number
        return self._last

    def _new(self, kind: str) -> GrowingBlock:
        match kind:
            case "text":
                return GrowingText(self._blocks, self._domain)
            case "reasoningContent":
                return GrowingThought(self._blocks, self._domain)
            case "toolUse":
                return GrowingCall({}, self._blocks, self._domain)
            case _:
                return GrowingWhole(kind, self._blocks, self._domain, self._server_calls)

    def _keep(self, number: int, block: GrowingBlock) -> None:
        self._all.append(block)
        self._open[number] = block
        self.has_calls = self.has_calls or block.is_call

    def _end(self, block: GrowingBlock, events: list[Event]) -> None:
        block.end(events)
        if block.kind == CALL and not block.is_call:
            self._server_calls.append(block.wire())


def _kind(member: str, value: Any) -> str:
    """The kind of block that a member of a delta belongs to."""
    if member == REASONING and isinstance(value, dict) and REDACTED in value:
        return REDACTED
    return TEXT if member == CITATION else member
