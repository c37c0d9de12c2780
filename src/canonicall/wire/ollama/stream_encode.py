"""Events as the lines of a streamed chat response.

Each line is a response whose message is an increment; calls are whole. The last line says that it
is done, why, and what it cost. A stream that was cut ends in an error instead.
"""

from typing import Any

from canonicall.blocks import Block, Code, Media, Summary, Text, Thinking, ToolCall
from canonicall.events import StreamEnded
from canonicall.reply import Reply
from canonicall.wire.ollama.messages import encode_call, encode_content
from canonicall.wire.ollama.response import NO_TIME, encode_response
from canonicall.wire.stream_writing import WholeCallEncoding
from canonicall.wire.streaming import is_client_call
from canonicall.wire.writing import json_line

_TAIL = b'},"done":false}\n'
_INCREMENTS = ("content", "thinking", "images", "tool_calls")


class StreamEncoding(WholeCallEncoding):
    """Writes the lines of one stream."""

    def __init__(self) -> None:
        super().__init__()
        self._texts = 0
        self._thoughts = 0
        self._calls = 0
        self.begin()

    def keep_alive(self) -> bytes:
        """A blank in front of the next line: clients take an empty line for broken JSON."""
        return b" "

    def begin(self) -> None:
        """How every line begins, up to what its message says."""
        envelope = json_line({"model": self.origin.model, "created_at": NO_TIME})[:-1]
        self._head = envelope + b',"message":{"role":"assistant","content":'

    def around(self, block: Text | Thinking) -> tuple[bytes, bytes]:
        """What stands around a piece of words or of a thought."""
        if isinstance(block, Thinking):
            return self._head + b'"","thinking":', _TAIL
        return self._head, _TAIL

    def separator(self, block: Text | Thinking) -> str:
        """A line end between words, as in whole responses: the message has one text."""
        if isinstance(block, Thinking):
            self._thoughts += 1
            return "\n" if self._thoughts > 1 else ""
        return self._text_separator()

    def rest(self, block: Text | Thinking) -> bytes:  # noqa: ARG002  there is nothing else to say
        """Nothing: words have neither signatures nor fields of their own."""
        return b""

    def whole(self, block: Block) -> bytes:
        """The line of a block; none for what only another provider can read."""
        match block:
            case Thinking():
                before, behind = self.around(block)
                text = self.separator(block) + block.text if block.text else ""
                return before + json_line(text) + behind if text else b""
            case ToolCall() if is_client_call(block):
                call = encode_call(block, self._calls)
                self._calls += 1
                return self._line({"tool_calls": [call]})
            case Text() | Summary() | Code() | Media():
                return self._whole_content(block)
            case _:
                return b""

    def finish(self, event: StreamEnded) -> bytes:
        """The last line: the body of the reply, without what has been written of it."""
        reply = event.reply
        body = encode_response(Reply(reply.message, reply.usage or self.usage, native=reply.native))
        body["model"] = body["model"] or self.origin.model
        said = body["message"]
        rest = {name: field for name, field in said.items() if name not in _INCREMENTS}
        body["message"] = {"role": "assistant", "content": ""} | rest
        return json_line(body) + b"\n"

    def fail(self, event: StreamEnded) -> bytes:
        """What went wrong, which is all that such a line says."""
        return json_line({"error": event.why}) + b"\n"

    def _whole_content(self, block: Block) -> bytes:
        content = encode_content([block])
        if "images" in content:
            return self._line({"images": content["images"]})
        text = self._text_separator() + content["content"]
        return self._head + json_line(text) + _TAIL if text else b""

    def _text_separator(self) -> str:
        self._texts += 1
        return "\n" if self._texts > 1 else ""

    def _line(self, fields: dict[str, Any]) -> bytes:
        return self._head + b'"",' + json_line(fields)[1:-1] + _TAIL
