"""Events as the chunks of a streamed chat completion.

The first chunk has the role, then each event is one chunk; calls are numbered as they start. The
reason comes in a chunk of its own, usage in one without choices, and `[DONE]` ends the stream. A
stream that was cut ends in an error, so that no client takes it for whole.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from canonicall.blocks import Block, Message, Opaque, Origin, Text, Thinking, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    Event,
    FinishReported,
    MessageStarted,
    SignatureAdded,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.folding import CUT_SHORT, raw_arguments
from canonicall.reply import Usage
from canonicall.wire.finishing import has_calls
from canonicall.wire.openai_chat import FORMAT
from canonicall.wire.openai_chat.calls import encode_reply_call
from canonicall.wire.openai_chat.finish import encode_usage
from canonicall.wire.openai_chat.native import field_of, own_fields
from canonicall.wire.openai_chat.parts import is_refusal
from canonicall.wire.openai_chat.reasoning import DETAILS, TEXT_FIELDS, encode_thinking_chunk
from canonicall.wire.openai_chat.response import RESPONSE_ID, encode_ending, encode_message

_json = msgspec.json.encode
_CHOICE_END = b'},"finish_reason":null}]}\n\n'
_DONE = b"data: [DONE]\n\n"
_CHUNK = (b'"content":[{"type":"thinking","thinking":[{"type":"text","text":', b"}]}]")
_LEGACY = (b'"function_call":{"arguments":', b"}")
_NOWHERE = (b"", b"")


class StreamEncoding:
    """Writes the chunks of one stream."""

    created: int = 0

    def __init__(self) -> None:
        self._head = b""
        """How every chunk with a choice begins, up to its delta."""
        self._envelope: dict[str, Any] = {}
        self._around: dict[int, tuple[bytes, bytes]] = {}
        """What stands around the pieces of a block: the field of the delta, and its end."""
        self._ready: dict[int, tuple[bytes, bytes]] = {}
        """The same with the rest of the chunk, for blocks that have a piece already."""
        self._numbers: dict[int, int] = {}
        """The numbers of the calls."""
        self._separator = "\n"
        """What stands between two blocks in one field. Blocks of a chat stream are pieces of it."""
        self._written: set[bytes] = set()
        """The fields in which words stand already."""
        self._owed: int | None = None
        """The last call, if it has ended without any arguments: a limit may have cut them off."""
        self._transcript: tuple[Block, ...] = ()
        """The words of sound, which are written with the sound."""
        self._usage: Usage | None = None
        self._writers: dict[type, Callable[[Any], bytes]] = {
            MessageStarted: self._message_started,
            BlockStarted: self._block_started,
            SignatureAdded: self._signature_added,
            BlockEnded: self._block_ended,
            UsageReported: self._usage_reported,
            FinishReported: self._finish_reported,
            StreamEnded: self._stream_ended,
        }

    def event(self, event: Event) -> bytes:
        """The chunks for an event."""
        if isinstance(event, (TextAdded, ArgumentsAdded, ThinkingAdded)):
            ready = self._ready.get(event.index)
            if ready is not None:
                before, behind = ready
                return before + _json(event.text) + behind
            return self._first_piece(event.index, event.text)
        write = self._writers.get(type(event))
        return b"" if write is None else write(event)

    def keep_alive(self) -> bytes:
        """A comment, which clients skip."""
        return b": keep-alive\n\n"

    def _message_started(self, event: MessageStarted) -> bytes:
        return self._begin(event.origin)

    def _begin(self, origin: Origin) -> bytes:
        self._separator = "" if origin.format == FORMAT else "\n"
        self._envelope = {
            "id": origin.response_id or RESPONSE_ID,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": origin.model,
        }
        envelope = _json(self._envelope)[:-1]
        self._head = b"data: " + envelope + b',"choices":[{"index":0,"delta":{'
        return self._delta(b'"role":"assistant","content":""')

    def _delta(self, fields: bytes) -> bytes:
        return self._head + fields + _CHOICE_END

    def _first_piece(self, index: int, text: str) -> bytes:
        """The first piece of a block. Behind other words it begins on a line of its own."""
        before, behind = self._around[index]
        if not before:
            return b""
        if not behind:
            text = self._separator + text if before in self._written else text
            self._written.add(before)
        self._get_ready(index)
        return self._delta(before + _json(text) + behind)

    def _get_ready(self, index: int) -> None:
        before, behind = self._around[index]
        self._ready[index] = (self._head + before, behind + _CHOICE_END)

    def _block_started(self, event: BlockStarted) -> bytes:
        index, block = event.index, event.block
        match block:
            case ToolCall(kind="function" | "custom"):
                # Words settle nothing: in a message of this format the calls stand behind them.
                return self._settle() + self._call_started(index, block)
            case Thinking():
                return self._thinking_started(index, block)
            case Text():
                return self._text_started(index, block)
        return b""

    def _thinking_started(self, index: int, thought: Thinking) -> bytes:
        self._around[index] = _around_thought(thought)
        said = self._first_piece(index, thought.text) if thought.text else b""
        return said + b"".join([self._state(opaque) for opaque in thought.opaque])

    def _text_started(self, index: int, block: Text) -> bytes:
        """Words that are whole already are written; so is what tells them from those before."""
        if field_of(block) == "audio":
            self._around[index] = _NOWHERE
            return b""
        before = b'"refusal":' if is_refusal(block) else b'"content":'
        self._around[index] = (before, b"")
        if block.text or (before in self._written and self._separator):
            return self._first_piece(index, block.text)
        self._written.add(before)
        self._get_ready(index)
        return b""

    def _call_started(self, index: int, call: ToolCall) -> bytes:
        if field_of(call) == "function_call":
            self._around[index] = _LEGACY
            return self._delta(_json({"function_call": {"name": call.name, "arguments": ""}})[1:-1])
        number = self._numbers[index] = len(self._numbers)
        said = "input" if call.kind == "custom" else "arguments"
        inner = f'"tool_calls":[{{"index":{number},"{call.kind}":{{"{said}":'
        self._around[index] = (inner.encode(), b"}}]")
        held = {"name": call.name, said: ""}
        wire = {"index": number, "id": call.id, "type": call.kind, call.kind: held}
        return self._delta(b'"tool_calls":[' + _json(wire) + b"]")

    def _signature_added(self, event: SignatureAdded) -> bytes:
        return self._state(event.opaque)

    def _state(self, opaque: Opaque) -> bytes:
        """State of a thought; the seals of other formats have no place here."""
        if opaque.kind != "details":
            return b""
        return self._delta(_json(DETAILS) + b":" + _json(opaque.value))

    def _block_ended(self, event: BlockEnded) -> bytes:
        index, block = event.index, event.block
        match block:
            case ToolCall() if index in self._around:
                return self._call_ended(index, block)
            case Thinking() if index in self._around:
                return self._chunk_ended(block) if self._around[index] == _CHUNK else b""
            case Text() if self._around.get(index) == _NOWHERE:
                self._transcript = (block,)
                return b""
            case _ if index in self._around:
                return b""
        blocks, self._transcript = (*self._transcript, block), ()
        return self._whole(blocks)

    def _call_ended(self, index: int, call: ToolCall) -> bytes:
        """What is left of a call: arguments if there were none, and fields of the host's own."""
        text = raw_arguments(call)
        written = b""
        if index not in self._ready and (text or call.kind == "custom"):
            written = self._first_piece(index, text)
        elif index not in self._ready:
            self._owed = index
        wire = encode_reply_call(call)
        held = wire[call.kind]
        for said in ("name", "arguments", "input"):
            held.pop(said, None)
        rest = {name: field for name, field in wire.items() if name != "id" and field}
        if rest == {"type": call.kind} or index not in self._numbers:
            return written
        piece = {"index": self._numbers[index]} | rest
        return written + self._delta(b'"tool_calls":[' + _json(piece) + b"]")

    def _settle(self) -> bytes:
        """The arguments of a call that has none, once it is known that nothing cut them off.

        Clients cannot read "", so they get an object.
        """
        owed, self._owed = self._owed, None
        return b"" if owed is None else self._first_piece(owed, "{}")

    def _chunk_ended(self, thought: Thinking) -> bytes:
        """What a thinking chunk holds beside its words: a signature, that it is closed."""
        part = encode_thinking_chunk(thought) | {"thinking": []}
        return self._delta(b'"content":[' + _json(part) + b"]") if len(part) > 2 else b""

    def _whole(self, blocks: tuple[Block, ...]) -> bytes:
        """Blocks that came in one piece, in the fields that they have in a whole message."""
        fields = encode_message(Message("assistant", blocks))
        delta = {name: field for name, field in fields.items() if name != "role" and field}
        if isinstance(delta.get("content"), str):
            return self._text_started(-1, Text(text=delta["content"]))
        return self._delta(_json(delta)[1:-1]) if delta else b""

    def _usage_reported(self, event: UsageReported) -> bytes:
        self._usage = event.usage
        return b""

    def _finish_reported(self, event: FinishReported) -> bytes:
        return b"" if event.finish in CUT_SHORT else self._settle()

    def _stream_ended(self, event: StreamEnded) -> bytes:
        reply = event.reply
        written = b"" if self._head else self._begin(reply.message.origin or Origin())
        if self._transcript:
            written += self._whole(self._transcript)
        if not event.complete:
            error = {"message": event.why, "type": "server_error", "param": None, "code": None}
            told = own_fields(reply.native).get("error")
            if isinstance(told, dict):
                error |= {name: field for name, field in told.items() if name in error}
            return written + _frame({"error": error}) + _DONE
        if reply.finish not in CUT_SHORT:
            written += self._settle()
        native = own_fields(reply.native)
        for choice in native.get("other_choices", ()):
            written += _frame(self._envelope | {"choices": [_as_delta(choice)]})
        choice = {
            "index": 0,
            "delta": own_fields(reply.message.native) | native.get("message", {}),
            "finish_reason": encode_ending(reply, native.get("finish_reason"))
            or ("tool_calls" if has_calls(reply.message) else "stop"),
        }
        envelope = self._envelope | native.get("body", {})
        written += _frame(envelope | {"choices": [choice | native.get("choice", {})]})
        usage = reply.usage or self._usage
        if usage is not None:
            written += _frame(envelope | {"choices": [], "usage": encode_usage(usage)})
        return written + _DONE


def _around_thought(thought: Thinking) -> tuple[bytes, bytes]:
    """Where reasoning is written: where it came from. The words of details are in them."""
    field = field_of(thought)
    if field == "content":
        return _CHUNK
    if field == DETAILS:
        return _NOWHERE
    return _json(field if field in TEXT_FIELDS else TEXT_FIELDS[0]) + b":", b""


def _frame(chunk: dict[str, Any]) -> bytes:
    return b"data: " + _json(chunk) + b"\n\n"


def _as_delta(choice: dict[str, Any]) -> dict[str, Any]:
    """A choice of a whole response as one chunk of a stream has it."""
    rest = {name: field for name, field in choice.items() if name != "message"}
    told = choice.get("message")
    message: dict[str, Any] = told if isinstance(told, dict) else {}
    calls = message.get("tool_calls")
    # Nobody has looked into the choices beside the first: they go on as they came.
    if isinstance(calls, list) and calls and all(isinstance(call, dict) for call in calls):
        message = message | {"tool_calls": [{"index": n} | call for n, call in enumerate(calls)]}
        if rest.get("finish_reason") == "stop":
            rest["finish_reason"] = "tool_calls"
    return rest | {"delta": message}
