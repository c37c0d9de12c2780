"""Events as the events of ConverseStream, each in a frame of AWS.

Blocks are numbered as they are written; words and thoughts have no start. Freeform input becomes
the only field of an object while it comes. A stream that was cut ends in an exception.
"""

from typing import Any

import msgspec

from canonicall.arguments import arguments_of
from canonicall.blocks import Block, Media, Origin, Text, Thinking, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    MessageStarted,
    SignatureAdded,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.folding import raw_arguments
from canonicall.framing.eventstream import write_frame
from canonicall.wire.bedrock import TARGET
from canonicall.wire.bedrock.content import encode_content, own_fields
from canonicall.wire.bedrock.finish import encode_usage
from canonicall.wire.bedrock.messages import encode_blocks
from canonicall.wire.bedrock.response import (
    NO_METRICS,
    NO_USAGE,
    encode_stop_reason,
    readable,
)
from canonicall.wire.bedrock.stream_pieces import deltas_of, start_of
from canonicall.wire.block_writing import BlockEncoding
from canonicall.wire.streaming import CUT

_json = msgspec.json.encode
_EXTRA = "additionalModelResponseFields"


class StreamEncoding(BlockEncoding):
    """Writes the events of one stream."""

    def __init__(self) -> None:
        super().__init__(
            {
                MessageStarted: self._message_started,
                BlockStarted: self._block_started,
                TextAdded: self._text_added,
                ThinkingAdded: self._thinking_added,
                ArgumentsAdded: self._arguments_added,
                SignatureAdded: self._signature_added,
                BlockEnded: self._block_ended,
                StreamEnded: self._stream_ended,
            }
        )
        self._origin: Origin | None = None
        self._began = False
        self._number = 0
        """The number of the block that is open, or will be next."""
        self._head = b'{"contentBlockIndex":0'
        self._wrote = False
        """Whether anything of the open block has been written."""
        self._said = False
        """Whether anything has been written into it."""
        self._is_text = False
        self._is_freeform = False

    def keep_alive(self) -> bytes:
        """Nothing more of the open text. Between blocks no event means nothing: none is written."""
        return self._delta(b'{"text":""}') if self._is_text and self._said else b""

    def _message_started(self, event: MessageStarted) -> bytes:
        self._origin = event.origin
        return self._begin()

    def _begin(self) -> bytes:
        if self._began:
            return b""
        self._began = True
        return write_frame("messageStart", b'{"role":"assistant"}')

    def _block_started(self, event: BlockStarted) -> bytes:
        self._advance()
        self.index = event.index
        self._is_text = isinstance(event.block, Text)
        call = event.block
        if not isinstance(call, ToolCall) or call.kind == "server":
            return b""
        self._is_freeform = call.kind == "custom"
        start = {"toolUseId": call.id, "name": call.name}
        return self._start({"toolUse": start | own_fields(call.native, except_for=start)})

    def _text_added(self, event: TextAdded) -> bytes:
        return self._delta(b'{"text":' + _json(event.text) + b"}")

    def _thinking_added(self, event: ThinkingAdded) -> bytes:
        return self._delta(b'{"reasoningContent":{"text":' + _json(event.text) + b"}}")

    def _arguments_added(self, event: ArgumentsAdded) -> bytes:
        text = event.text
        if self._is_freeform:
            escaped = _json(text)[1:-1].decode()
            text = escaped if self._said else '{"input":"' + escaped
        return self._input(text)

    def _input(self, text: str) -> bytes:
        return self._delta(b'{"toolUse":{"input":' + _json(text) + b"}}")

    def _signature_added(self, event: SignatureAdded) -> bytes:
        if event.opaque.kind != "signature":
            return b""
        if readable(Thinking(opaque=(event.opaque,)), self._origin) is None:
            return b""
        return self._delta(_json({"reasoningContent": {"signature": event.opaque.value}}))

    def _block_ended(self, event: BlockEnded) -> bytes:
        block = event.block
        match block:
            case ToolCall(kind="function" | "custom"):
                written = self._rest_of_call(block)
            case Text():
                written = b"" if self._said else self._delta(_json({"text": block.text}))
                cited = encode_content(block).get("citationsContent") or {}
                for citation in cited.get("citations") or ():
                    written += self._delta(_json({"citation": citation}))
            case _ if self._said:
                written = b""
            case _:
                written = self._whole(block)
        written += self._stop()
        self.index = None
        return written

    def _rest_of_call(self, call: ToolCall) -> bytes:
        if self._is_freeform:
            return self._input('"}' if self._said else _json(arguments_of(call)).decode())
        return b"" if self._said else self._input(raw_arguments(call).strip() or "{}")

    def _whole(self, block: Block) -> bytes:
        """A block that came in one piece, in as many deltas as the format wants; still open."""
        known = readable(block, self._origin)
        if known is None:
            return b""
        if isinstance(known, Media) and not known.media_type.startswith("image/"):
            # The format streams images, no other media.
            known = Text(text=f"[{known.media_type}: {known.url or 'not available'}]")
        written = b""
        for wire in encode_blocks((known,), TARGET)[:1]:
            start = start_of(wire)
            if start:
                written += self._start(start)
            for delta in deltas_of(wire):
                written += self._delta(_json(delta))
        return written

    def _start(self, start: dict[str, Any]) -> bytes:
        self._wrote = True
        return write_frame("contentBlockStart", self._head + b',"start":' + _json(start) + b"}")

    def _delta(self, delta: bytes) -> bytes:
        self._wrote = self._said = True
        return write_frame("contentBlockDelta", self._head + b',"delta":' + delta + b"}")

    def _stop(self) -> bytes:
        if not self._wrote:
            return b""
        written = write_frame("contentBlockStop", self._head + b"}")
        self._advance()
        return written

    def _advance(self) -> None:
        """Go to the next number, unless nothing has been written under this one."""
        self._number += self._wrote
        self._head = b'{"contentBlockIndex":%d' % self._number
        self._wrote = self._said = self._is_freeform = False

    def _stream_ended(self, event: StreamEnded) -> bytes:
        written = self._begin()
        if not event.complete:
            error = _json({"message": event.why or CUT})
            return written + write_frame("modelStreamErrorException", error, exception=True)
        reply = event.reply
        native = own_fields(reply.native, except_for=("stopReason",))
        stop = {"stopReason": encode_stop_reason(reply)}
        if _EXTRA in native:
            stop[_EXTRA] = native.pop(_EXTRA)
        usage = reply.usage or self.usage
        metadata = {
            "usage": NO_USAGE if usage is None else encode_usage(usage),
            "metrics": native.pop("metrics", NO_METRICS),
            **native,
        }
        written += self._stop() + write_frame("messageStop", _json(stop))
        return written + write_frame("metadata", _json(metadata))
