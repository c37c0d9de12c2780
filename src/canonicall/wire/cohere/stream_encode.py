"""Events as the events of a Cohere chat stream.

Parts of the content and calls are numbered apart. Words are written as content while they come,
for nobody knows then whether calls will follow; only what was a plan is written as one. A stream
that was cut ends with the reason `ERROR`.
"""

from typing import Any

import msgspec

from canonicall.arguments import arguments_text
from canonicall.blocks import Block, Native, Origin, Text, Thinking, ToolCall, ToolResult
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.wire.block_writing import BlockEncoding
from canonicall.wire.carried import with_rest
from canonicall.wire.cohere.content import encode_part, own_fields
from canonicall.wire.cohere.finish import encode_usage
from canonicall.wire.cohere.messages import PLAN
from canonicall.wire.cohere.response import NO_ID, encode_ending
from canonicall.wire.streaming import CUT

_json = msgspec.json.encode
_EMPTY = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
_DONE = b"data: [DONE]\n\n"
_PLAN_BEFORE = (
    b'event: tool-plan-delta\ndata: {"type":"tool-plan-delta","delta":{"message":{"tool_plan":'
)
_PLAN_BEHIND = b"}}}\n\n"
_CONTENT, _CALL = "content", "tool-call"


class StreamEncoding(BlockEncoding):
    """Writes the events of one stream."""

    def __init__(self) -> None:
        super().__init__(
            {
                MessageStarted: self._message_started,
                BlockStarted: self._block_started,
                TextAdded: self._piece_added,
                ThinkingAdded: self._piece_added,
                ArgumentsAdded: self._arguments_added,
                BlockEnded: self._block_ended,
                StreamEnded: self._stream_ended,
            }
        )
        self._began = False
        self._numbers = {_CONTENT: -1, _CALL: -1}
        self._open = ""
        """What kind of thing has to be ended: a part or a call."""
        self._before = self._behind = b""
        """What stands around a piece of the open block."""
        self._said = False
        self._is_freeform = False
        """The input of the open call is no JSON: it becomes the only field of an object."""
        self._planned = False

    def keep_alive(self) -> bytes:
        """A comment, which clients skip."""
        return b": keep-alive\n\n"

    def _message_started(self, event: MessageStarted) -> bytes:
        return self._begin(event.origin)

    def _begin(self, origin: Origin | None) -> bytes:
        if self._began:
            return b""
        self._began = True
        id = (origin.response_id if origin is not None else "") or NO_ID
        return _frame({"id": id, "type": "message-start", "delta": {"message": _EMPTY}})

    def _block_started(self, event: BlockStarted) -> bytes:
        self.index = event.index
        self._open, self._said, self._is_freeform = "", False, False
        match event.block:
            case ToolCall(kind="function" | "custom") as call:
                return self._start_call(call)
            case Text(native=native) if native == PLAN:
                self._before, self._behind = _PLAN_BEFORE, _PLAN_BEHIND
                return b""
            case Text() | Thinking() as block:
                return self._start_part(block)
            case _:
                return b""

    def _start_part(self, block: Text | Thinking) -> bytes:
        field = "thinking" if isinstance(block, Thinking) else "text"
        rest = own_fields(block.native, except_for=("type", field, "tool_plan", "document"))
        self._around(_CONTENT, b'"content":{"' + field.encode() + b'":', b"}")
        return self._started("content", {"type": field, field: "", **rest})

    def _start_call(self, call: ToolCall) -> bytes:
        self._is_freeform = call.kind == "custom"
        function = {"name": call.name, "arguments": ""}
        wire: dict[str, Any] = {"id": call.id, "type": "function", "function": function}
        self._around(_CALL, b'"tool_calls":{"function":{"arguments":', b"}}")
        return self._started("tool_calls", wire | own_fields(call.native, except_for=wire))

    def _around(self, kind: str, before: bytes, behind: bytes) -> None:
        """Open a part or a call under the next number."""
        self._open = kind
        number = self._numbers[kind] = self._numbers[kind] + 1
        name = f"{kind}-delta"
        head = f'event: {name}\ndata: {{"type":"{name}","index":{number},"delta":{{"message":{{'
        self._before, self._behind = head.encode() + before, behind + b"}}}\n\n"

    def _started(self, field: str, said: dict[str, Any]) -> bytes:
        number = self._numbers[self._open]
        delta = {"message": {field: said}}
        return _frame({"type": f"{self._open}-start", "index": number, "delta": delta})

    def _piece_added(self, event: TextAdded | ThinkingAdded) -> bytes:
        return self._piece(event.text)

    def _arguments_added(self, event: ArgumentsAdded) -> bytes:
        if not self._is_freeform:
            return self._piece(event.text)
        escaped = _json(event.text)[1:-1].decode()
        return self._piece(escaped if self._said else '{"input":"' + escaped)

    def _piece(self, text: str) -> bytes:
        written = self._before + _json(text) + self._behind
        if not self._said and not self._open:
            # Plans are one text; those of several blocks stand on lines of their own.
            if self._planned:
                written = self._before + b'"\\n"' + self._behind + written
            self._planned = True
        self._said = True
        return written

    def _block_ended(self, event: BlockEnded) -> bytes:
        if self._said:
            written = self._piece('"}') if self._is_freeform else b""
        else:
            written = self._unsaid(event.block)
        self.index = None
        return written + self._end()

    def _unsaid(self, block: Block) -> bytes:
        """What a block that came without pieces says."""
        match block:
            case ToolCall() if self._open:
                return self._piece(arguments_text(block))
            case Text() | Thinking():
                return self._piece(block.text) if block.text else b""
            case ToolCall() | ToolResult():
                return b""
            case _:
                return self._whole(encode_part(block))

    def _whole(self, part: dict[str, Any]) -> bytes:
        """A part that came in one piece. Its end is still to be written."""
        if not part:
            return b""
        if part.keys() == {"type", "text"}:
            return self._start_part(Text(text="")) + self._piece(part["text"])
        self._around(_CONTENT, b"", b"")
        return self._started("content", part)

    def _end(self) -> bytes:
        if not self._open:
            return b""
        kind, self._open = self._open, ""
        return _frame({"type": f"{kind}-end", "index": self._numbers[kind]})

    def _stream_ended(self, event: StreamEnded) -> bytes:
        reply = event.reply
        written = self._begin(reply.message.origin)
        usage = reply.usage or self.usage
        figures = {} if usage is None else {"usage": encode_usage(usage)}
        if not event.complete:
            end = {"error": event.why or CUT, "finish_reason": "ERROR", **figures}
            return written + _frame({"type": "message-end", "delta": end}) + _DONE
        written += self._end()
        for number, citation in enumerate(_citations(reply.message.native)):
            delta = {"message": {"citations": citation}}
            written += _frame({"type": "citation-start", "index": number, "delta": delta})
            written += _frame({"type": "citation-end", "index": number})
        end = with_rest(
            {"finish_reason": encode_ending(reply), **figures}, own_fields(reply.native)
        )
        return written + _frame({"type": "message-end", "delta": end}) + _DONE


def _citations(native: Native | None) -> list[Any]:
    citations = own_fields(native).get("citations")
    return citations if isinstance(citations, list) else []


def _frame(event: dict[str, Any]) -> bytes:
    name: str = event["type"]
    return b"event: " + name.encode() + b"\ndata: " + _json(event) + b"\n\n"
