"""Events of a streamed message, put together to the response they would have been.

The type stands in the data; the name of the event only helps hosts out that leave it off. A reason
to stop ends the message as well as `message_stop` does: hosts forget the latter. Deltas of a block
that is not open are put where they make sense, else they are reported.

Over Bedrock's InvokeModel the same events come as AWS frames, their JSON in base64.
"""

from base64 import b64decode
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.blocks import Origin, ToolCall
from canonicall.errors import MalformedBody
from canonicall.events import (
    ArgumentsAdded,
    ErrorReported,
    Event,
    FinishReported,
    MessageStarted,
    SignatureAdded,
    UsageReported,
)
from canonicall.findings import Finding
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.errors import decode_error
from canonicall.wire.anthropic.finish import decode_finish, decode_usage
from canonicall.wire.anthropic.response import origin_of
from canonicall.wire.anthropic.stream_blocks import INPUT, TEXT, THINKING, GrowingBlock
from canonicall.wire.reading import object_at, objects_at, parse_body, text_at
from canonicall.wire.streaming import Blocks, Growth

_PIECES = {
    "text_delta": ("text", TEXT),
    "thinking_delta": ("thinking", THINKING),
    "input_json_delta": ("partial_json", INPUT),
}
"""Deltas that bring a piece: where it stands, and the field of the block it belongs to."""

_NOT_FIELDS = ("type", "role", "content", "usage", "delta")
_TEXTS = ("id", "model", "stop_reason")


class StreamDecoding:
    """Reads the events of one stream."""

    ends_with_done = False

    def __init__(self, origin: Origin | None, domain: str | None) -> None:
        self.complete = False
        self.error: ErrorReported | None = None
        self.findings: list[Finding] = []
        self.growth: Growth | None = None
        self._origin = origin
        self._domain = TARGET.domain if domain is None else domain
        self._started = False
        self._body: dict[str, Any] = {}
        self._usage: dict[str, Any] | None = None
        self._blocks = Blocks()
        self._grown: list[GrowingBlock] = []
        self._open: dict[int, GrowingBlock] = {}
        """The blocks that go on, by their index on the wire."""
        self._unknown: set[str] = set()
        """Types of deltas that have been reported."""
        self._takers: dict[str, Callable[[dict[str, Any], list[Event]], None]] = {
            "message_start": self._message_started,
            "message": self._message_taken,
            "content_block_start": self._block_started,
            "content_block_delta": self._delta_taken,
            "content_block_stop": self._block_stopped,
            "message_delta": self._message_changed,
            "message_stop": self._message_stopped,
            "error": self._failed,
        }

    def frame(self, name: str, data: dict[str, Any], events: list[Event]) -> None:
        """Take one event in."""
        kind = data.get("type")
        if kind == "content_block_delta":
            self._delta_taken(data, events)
            return
        take = self._takers.get(kind if isinstance(kind, str) else name)
        if take is not None:
            take(data, events)
        elif kind is None:
            self._untyped(name, data, events)

    def end(self, events: list[Event]) -> None:
        """End what is open. A call that the stream broke off in is not: its input may be cut."""
        self._start(events)
        for block in list(self._open.values()):
            if self.complete or block.grown != INPUT:
                self._end(block, events)

    def whole(self) -> dict[str, Any]:
        """The body of a response without streaming."""
        body = {**self._body, "content": [block.wire() for block in self._grown]}
        return body if self._usage is None else body | {"usage": self._usage}

    def _untyped(self, name: str, data: dict[str, Any], events: list[Event]) -> None:
        """A frame of AWS, or an error without its envelope; others mean nothing."""
        if isinstance(data.get("bytes"), str):
            try:
                payload = b64decode(data["bytes"])
            except ValueError:
                raise MalformedBody("expected base64.", where="$.bytes") from None
            self.frame("", parse_body(payload), events)
        elif data.get("error") or name.endswith("Exception"):
            self._failed(data, events, name)

    # The message.

    def _message_started(self, data: dict[str, Any], events: list[Event]) -> None:
        self._message_taken(object_at(data.get("message"), "$.message"), events)

    def _message_taken(self, message: dict[str, Any], events: list[Event]) -> None:
        """A message as it starts; a host that does not stream sends all of it at once."""
        self._keep(message)
        self._start(events)
        self._count(message.get("usage"), events)
        for fields, where in objects_at(message.get("content"), "$.message.content"):
            self._end(self._begin(fields, where, events), events)
        self._finish(message, events)

    def _message_changed(self, data: dict[str, Any], events: list[Event]) -> None:
        self._keep(data)
        delta = object_at(data.get("delta") or {}, "$.delta")
        self._keep(delta)
        self._start(events)
        self._count(data.get("usage"), events)
        self._finish(delta, events)

    def _message_stopped(self, data: dict[str, Any], events: list[Event]) -> None:  # noqa: ARG002
        self.complete = True

    def _failed(self, data: dict[str, Any], events: list[Event], name: str = "") -> None:
        self._start(events)
        told = decode_error(data)
        message = told.message or name or "unknown error"
        self.error = ErrorReported(message, told.type or name, data)
        events.append(self.error)

    def _start(self, events: list[Event]) -> None:
        if not self._started:
            self._started = True
            events.append(MessageStarted(origin_of(self._body, self._origin)))

    def _keep(self, fields: dict[str, Any]) -> None:
        """Keep what is said of the message as a whole; a null takes nothing back."""
        for name in _TEXTS:
            text_at(fields.get(name), f"$.{name}")
        for name, value in fields.items():
            if value is not None and name not in _NOT_FIELDS:
                self._body[name] = value

    def _count(self, usage: Any, events: list[Event]) -> None:
        """Figures are totals: later ones take the place of earlier ones, where they are given."""
        if usage is None:
            return
        known = self._usage or {}
        figures = object_at(usage, "$.usage")
        said = {name: n for name, n in figures.items() if n is not None or name not in known}
        self._usage = known | said
        events.append(UsageReported(decode_usage(self._usage)))

    def _finish(self, fields: dict[str, Any], events: list[Event]) -> None:
        raw = fields.get("stop_reason")
        if not raw:
            return
        self.complete = True
        for block in list(self._open.values()):
            self._end(block, events)
        has_calls = any(block.is_call for block in self._grown)
        events.append(FinishReported(decode_finish(raw, has_calls)))

    # Its blocks.

    def _block_started(self, data: dict[str, Any], events: list[Event]) -> None:
        fields = object_at(data.get("content_block"), "$.content_block")
        index = data.get("index")
        number = index if isinstance(index, int) else len(self._grown)
        block = self._begin(fields, "$.content_block", events)
        if number in self._open:
            # The host gives every block the same number: the one before is whole.
            self._end(self._open[number], events)
        self._open[number] = block
        served = fields.get("to")
        if fields.get("type") == "fallback" and isinstance(served, dict):
            # SDK lib/streaming: the model that took over is the one that answers.
            self._keep({"model": served.get("model")})

    def _delta_taken(self, data: dict[str, Any], events: list[Event]) -> None:
        index = data.get("index")
        block = self._open.get(index) if index.__class__ is int else None
        delta = data.get("delta")
        if delta.__class__ is not dict:
            delta = object_at(delta, "$.delta")
        kind = delta.get("type")
        place = _PIECES.get(kind) if kind.__class__ is str else None
        if place is None:
            self._assign(block, delta)
            return
        name, field = place
        piece = delta.get(name)
        if piece.__class__ is not str:
            piece = text_at(piece, f"$.delta.{name}")
        if block is None or block.grown != field:
            block = self._block_for(field, index, events)
        if piece:
            block.add(piece, events)
            self.growth = Growth(("delta", name), block.add)

    def _block_stopped(self, data: dict[str, Any], events: list[Event]) -> None:
        index = data.get("index")
        block = self._open.get(index) if isinstance(index, int) else self._last_open()
        if block is not None:
            self._end(block, events)

    def _begin(self, fields: dict[str, Any], where: str, events: list[Event]) -> GrowingBlock:
        """A block that starts, with what it already says."""
        block = GrowingBlock(fields, where, self._domain)
        self._start(events)
        self._grown.append(block)
        if block.is_told:
            empty = block.empty()
            if isinstance(empty, ToolCall):
                empty = replace(empty, args=None)
            block.index = self._blocks.start(empty, events)
        if block.first_piece:
            block.add(block.first_piece, events)
        return block

    def _end(self, block: GrowingBlock, events: list[Event]) -> None:
        """Tell that a block is whole."""
        was_silent = not block.pieces
        block.close(self.findings)
        self._open = {number: one for number, one in self._open.items() if one is not block}
        decoded = block.decoded()
        if block.index < 0:
            self._blocks.whole(decoded, events)
            return
        if was_silent and isinstance(decoded, ToolCall) and decoded.args:
            text = msgspec.json.encode(decoded.args).decode()
            events.append(ArgumentsAdded(block.index, text))
        events += [SignatureAdded(block.index, opaque) for opaque in decoded.opaque]
        self._blocks.end(block.index, decoded, events)

    def _assign(self, block: GrowingBlock | None, delta: dict[str, Any]) -> None:
        """Take in a delta that brings no piece of something."""
        block = block or self._last_open()
        kind = str(delta.get("type"))
        if block is None:
            raise MalformedBody("the delta belongs to no block.", where="$.index")
        if not block.assign(delta) and kind not in self._unknown:
            self._unknown.add(kind)
            raise MalformedBody(f"deltas of type {kind!r} are not known.", where="$.delta.type")

    def _block_for(self, field: str, index: Any, events: list[Event]) -> GrowingBlock:
        """The open block that a piece belongs to, if not the named one; a new one for words."""
        number = index if isinstance(index, int) else max(self._open, default=-1) + 1
        named = self._open.get(number)
        for block in (named, *reversed(self._open.values())):
            if block is not None and block.can_grow(field):
                return block
        if field == INPUT:
            raise MalformedBody("the input belongs to no call.", where="$.index")
        if named is not None:
            self._end(named, events)
        block = self._open[number] = self._begin({"type": field, field: ""}, "$", events)
        return block

    def _last_open(self) -> GrowingBlock | None:
        return next(reversed(self._open.values()), None)
