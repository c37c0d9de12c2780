"""Events as the chunks of a streamed chat completion.

The first chunk has the role, then each event is one chunk; calls are numbered as they start. The
reason comes in a chunk of its own, usage in one without choices, and `[DONE]` ends the stream. A
stream that was cut ends in an error, so that no client takes it for whole.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from canonicall.blocks import Block, Message, Origin, Text, Thinking, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    Event,
    MessageStarted,
    SignatureAdded,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.folding import raw_arguments
from canonicall.reply import Usage
from canonicall.wire.openai_chat.finish import encode_usage
from canonicall.wire.openai_chat.native import field_of, own_fields
from canonicall.wire.openai_chat.parts import is_refusal
from canonicall.wire.openai_chat.reasoning import DETAILS, TEXT_FIELDS
from canonicall.wire.openai_chat.response import RESPONSE_ID, encode_ending, encode_message

_json = msgspec.json.encode
_CHOICE_END = b'},"finish_reason":null}]}\n\n'


class StreamEncoding:
    """Writes the chunks of one stream."""

    def __init__(self) -> None:
        self._head = b""
        """How every chunk with a choice begins, up to its delta."""
        self._envelope: dict[str, Any] = {}
        self._fields: dict[int, bytes] = {}
        """The field of the delta in which the pieces of a block are written."""
        self._around: dict[int, tuple[bytes, bytes]] = {}
        """What stands before and behind a piece of a block that has one already."""
        self._calls: dict[int, int] = {}
        self._silent: set[int] = set()
        """Calls of which no argument has been written yet."""
        self._usage: Usage | None = None
        self._writers: dict[type, Callable[[Any], bytes]] = {
            MessageStarted: self._message_started,
            BlockStarted: self._block_started,
            TextAdded: self._piece_added,
            ThinkingAdded: self._piece_added,
            ArgumentsAdded: self._arguments_added,
            SignatureAdded: self._signature_added,
            BlockEnded: self._block_ended,
            UsageReported: self._usage_reported,
            StreamEnded: self._stream_ended,
        }

    def event(self, event: Event) -> bytes:
        """The chunks for an event."""
        if isinstance(event, (TextAdded, ArgumentsAdded, ThinkingAdded)):
            around = self._around.get(event.index)
            if around is not None:
                before, after = around
                return before + _json(event.text) + after
        write = self._writers.get(type(event))
        return b"" if write is None else write(event)

    def keep_alive(self) -> bytes:
        """A comment, which clients skip."""
        return b": keep-alive\n\n"

    def _message_started(self, event: MessageStarted) -> bytes:
        return self._begin(event.origin)

    def _begin(self, origin: Origin) -> bytes:
        self._envelope = {
            "id": origin.response_id or RESPONSE_ID,
            "object": "chat.completion.chunk",
            "created": 0,
            "model": origin.model,
        }
        envelope = _json(self._envelope)[:-1]
        self._head = b"data: " + envelope + b',"choices":[{"index":0,"delta":{'
        return self._delta(b'"role":"assistant","content":""')

    def _delta(self, fields: bytes) -> bytes:
        return self._head + fields + _CHOICE_END

    def _block_started(self, event: BlockStarted) -> bytes:
        match event.block:
            case ToolCall(kind="function" | "custom") as call:
                return self._call_started(event.index, call)
            case Thinking() as thought:
                field = field_of(thought)
                self._fields[event.index] = _json(field if field in TEXT_FIELDS else TEXT_FIELDS[0])
            case Text() as text:
                self._fields[event.index] = b'"refusal"' if is_refusal(text) else b'"content"'
        return b""

    def _piece_added(self, event: TextAdded | ThinkingAdded) -> bytes:
        return self._piece(event.index, self._fields[event.index] + b":", event.text, b"")

    def _piece(self, index: int, field: bytes, text: str, rest: bytes) -> bytes:
        before, after = self._around[index] = self._head + field, rest + _CHOICE_END
        return before + _json(text) + after

    def _call_started(self, index: int, call: ToolCall) -> bytes:
        number = self._calls[index] = len(self._calls)
        self._silent.add(index)
        said = "input" if call.kind == "custom" else "arguments"
        held = {"name": call.name, said: ""}
        wire = {"index": number, "id": call.id, "type": call.kind, call.kind: held}
        inner = f'{{"index":{number},"{call.kind}":{{"{said}":'
        self._fields[index] = b'"tool_calls":[' + inner.encode()
        return self._delta(b'"tool_calls":[' + _json(wire) + b"]")

    def _arguments_added(self, event: ArgumentsAdded) -> bytes:
        self._silent.discard(event.index)
        return self._piece(event.index, self._fields[event.index], event.text, b"}}]")

    def _signature_added(self, event: SignatureAdded) -> bytes:
        if event.opaque.kind != "details":
            return b""
        return self._delta(b'"' + DETAILS.encode() + b'":' + _json(event.opaque.value))

    def _block_ended(self, event: BlockEnded) -> bytes:
        block = event.block
        if event.index in self._silent and isinstance(block, ToolCall):
            # Hosts refuse "" for no arguments; for freeform input it is what was said.
            text = raw_arguments(block) or ("" if block.kind == "custom" else "{}")
            return self._arguments_added(ArgumentsAdded(event.index, text))
        return b"" if event.index in self._fields else self._whole(block)

    def _whole(self, block: Block) -> bytes:
        """A block that came in one piece, in the fields that it has in a whole message."""
        fields = encode_message(Message("assistant", (block,)))
        delta = {name: field for name, field in fields.items() if name != "role" and field}
        return self._delta(_json(delta)[1:-1]) if delta else b""

    def _usage_reported(self, event: UsageReported) -> bytes:
        self._usage = event.usage
        return b""

    def _stream_ended(self, event: StreamEnded) -> bytes:
        written = b"" if self._head else self._begin(event.reply.message.origin or Origin())
        if not event.complete:
            error = {"message": event.why, "type": "server_error", "param": None, "code": None}
            return written + b"data: " + _json({"error": error}) + b"\n\ndata: [DONE]\n\n"
        kept = own_fields(event.reply.native).get("finish_reason")
        reason = _json(encode_ending(event.reply, kept) or "stop")
        written += self._head + b'},"finish_reason":' + reason + b"}]}\n\n"
        usage = event.reply.usage or self._usage
        if usage is not None:
            chunk = self._envelope | {"choices": [], "usage": encode_usage(usage)}
            written += b"data: " + _json(chunk) + b"\n\n"
        return written + b"data: [DONE]\n\n"
