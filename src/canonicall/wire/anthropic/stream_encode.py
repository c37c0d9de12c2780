"""Events as those of a streamed message.

One block is open at a time, and blocks are numbered as they are written. `message_start` waits for
the next event, so that figures which are known from the start stand in it. A stream that was cut
ends in an error and leaves its open block open: no client takes its input for whole.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from canonicall.blocks import Block, Origin, Text, Thinking, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.reply import Usage
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.blocks import encode_reply_block
from canonicall.wire.anthropic.errors import decode_error, encode_error, is_own
from canonicall.wire.anthropic.extras import FORMAT, own_fields
from canonicall.wire.anthropic.response import (
    RESPONSE_ID,
    UNSET,
    encode_ending,
    encode_figures,
    has_form,
    readable,
)
from canonicall.wire.anthropic.stream_deltas import start_and_deltas
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.streaming import CUT, InOrder, is_client_call

_json = msgspec.json.encode
_DELTA_END = b"}}\n\n"
_BESIDE = ("context_management", "input_transformations")
"""SDK beta_raw_message_delta_event.py: the fields of a message that stand beside the delta."""
_STREAMED = ("text_delta", "thinking_delta", "input_json_delta")


class StreamEncoding:
    """Writes the events of one stream."""

    def __init__(self) -> None:
        self._order = InOrder()
        self._origin = Origin(format=FORMAT)
        self._usage: Usage | None = None
        self._error: ErrorReported | None = None
        self._is_begun = False
        self._number = 0
        """The number of the block that is being written, or of the next one."""
        self._open: Block | None = None
        """The block whose start has been written."""
        self._index = -1
        """The block whose pieces are deltas just as they are."""
        self._head = b""
        """How the deltas of the open block begin, once it has any."""
        self._waits: Block | None = None
        """The block that starts with its first piece, or is written whole."""
        self._is_held = False
        """The input of the open call is no JSON object: it is written whole, as one."""
        self._writers: dict[type, Callable[[Any], bytes]] = {
            BlockStarted: self._block_started,
            TextAdded: self._piece_added,
            ThinkingAdded: self._piece_added,
            ArgumentsAdded: self._piece_added,
            BlockEnded: self._block_ended,
            StreamEnded: self._stream_ended,
        }

    def event(self, event: Event) -> bytes:
        """The wire's events for an event."""
        if isinstance(event, (TextAdded, ArgumentsAdded, ThinkingAdded)):
            if event.index == self._index:
                return self._head + _json(event.text) + _DELTA_END
        elif isinstance(event, MessageStarted):
            if event.origin != Origin():
                self._origin = event.origin
            return b""
        elif isinstance(event, UsageReported):
            self._usage = event.usage
            return self._begin()
        elif isinstance(event, ErrorReported):
            self._error = event
        elif isinstance(event, StreamEnded) and not event.complete:
            return self._begin() + self._broken(event.why)
        return self._begin() + b"".join(map(self._write, self._order.pass_on(event)))

    def keep_alive(self) -> bytes:
        """A ping, as the API sends it."""
        return _event("ping", {})

    def _write(self, event: Event) -> bytes:
        write = self._writers.get(type(event))
        return b"" if write is None else write(event)

    # The message.

    def _begin(self) -> bytes:
        if self._is_begun:
            return b""
        self._is_begun = True
        message: dict[str, Any] = {
            "id": self._origin.response_id or RESPONSE_ID,
            "type": "message",
            "role": "assistant",
            "model": self._origin.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "stop_details": None,
            "container": None,
            **UNSET,
            "usage": encode_figures(self._usage, self._origin),
        }
        return _event("message_start", {"message": message})

    def _stream_ended(self, event: StreamEnded) -> bytes:
        written = self._stop() if self._open is not None else b""
        native = own_fields(event.reply.native)
        ending = encode_ending(event.reply)
        rest = {name: value for name, value in native.items() if name not in ending}
        fields: dict[str, Any] = {
            "delta": ending | {name: rest[name] for name in rest if name not in _BESIDE},
            "usage": encode_figures(event.reply.usage or self._usage, self._origin),
            "context_management": None,
        }
        fields |= {name: rest[name] for name in rest if name in _BESIDE}
        return written + _event("message_delta", fields) + _event("message_stop", {})

    def _broken(self, why: str) -> bytes:
        told = ErrorBody(why or CUT)
        if self._error is not None:
            native = self._error.native
            error = ErrorBody(self._error.message, self._error.type)
            told = decode_error(native) if is_own(native) else error
        return _event("error", {"error": encode_error(told)["error"]})

    # Its blocks.

    def _block_started(self, event: BlockStarted) -> bytes:
        written = self._stop() if self._open is not None else b""
        block = readable(event.block, self._origin)
        self._waits = block
        self._is_held = False
        if isinstance(block, Text) and not block.text:
            written += self._start(block)
            self._stream(event.index, "text_delta", "text")
        elif isinstance(block, ToolCall) and is_client_call(block):
            written += self._start(block)
        return written

    def _piece_added(self, event: TextAdded | ThinkingAdded | ArgumentsAdded) -> bytes:
        """A piece that waited, or the first one of a thought or a call."""
        if event.index == self._index:
            return self._piece(event.text)
        if isinstance(self._waits, Thinking):
            written = self._start(self._waits)
            self._stream(event.index, "thinking_delta", "thinking")
            return written + self._piece(event.text)
        if isinstance(self._open, ToolCall) and not self._is_held:
            return self._arguments_begun(event.index, self._open, event.text)
        return b""

    def _arguments_begun(self, index: int, call: ToolCall, text: str) -> bytes:
        """Arguments that are seen to begin an object are input; freeform ones become its field."""
        if call.kind == "custom":
            begin = "" if self._head else '{"input":"'
            self._stream(-1, "input_json_delta", "partial_json")
            return self._piece(begin + _json(text)[1:-1].decode())
        said = text.lstrip()
        self._is_held = bool(said) and said[0] != "{"
        if self._is_held or not said:
            return b""
        self._stream(index, "input_json_delta", "partial_json")
        return self._piece(text)

    def _block_ended(self, event: BlockEnded) -> bytes:
        block = readable(event.block, self._origin)
        if not has_form(block):
            self._waits = None
            return b""
        start, deltas = start_and_deltas(encode_reply_block(block, TARGET))
        written = b"" if self._open is not None else self._start_wire(block, start)
        if self._head:
            written += self._piece('"}') if self._index < 0 else b""
            deltas = [one for one in deltas if one["type"] not in _STREAMED]
        for delta in deltas:
            written += _event("content_block_delta", {"index": self._number, "delta": delta})
        return written + self._stop()

    def _start(self, block: Block) -> bytes:
        start, _ = start_and_deltas(encode_reply_block(block, TARGET))
        return self._start_wire(block, start)

    def _start_wire(self, block: Block, start: dict[str, Any]) -> bytes:
        self._open, self._waits = block, None
        return _event("content_block_start", {"index": self._number, "content_block": start})

    def _stream(self, index: int, kind: str, field: str) -> None:
        """Write the pieces of the open block as they come from now on."""
        self._index = index
        head = f'{{"type":"content_block_delta","index":{self._number},"delta":{{"type":"{kind}",'
        self._head = f'event: content_block_delta\ndata: {head}"{field}":'.encode()

    def _piece(self, text: str) -> bytes:
        return self._head + _json(text) + _DELTA_END

    def _stop(self) -> bytes:
        number = self._number
        self._open, self._index, self._head = None, -1, b""
        self._number += 1
        return _event("content_block_stop", {"index": number})


def _event(name: str, fields: dict[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), _json({"type": name, **fields}))
