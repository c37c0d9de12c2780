"""Events as the chunks of streamGenerateContent, in server-sent events.

Each chunk is a response whose parts are increments. The last one has an empty part, the finish
reason, the usage and what else belongs to the reply as a whole. A stream that was cut ends in an
error.
"""

from typing import Any

from canonicall.blocks import Block, Text, Thinking
from canonicall.events import StreamEnded
from canonicall.reply import Reply
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.gemini.errors import decode_error, encode_error, is_own
from canonicall.wire.gemini.fields import own_fields
from canonicall.wire.gemini.parts import encode_parts
from canonicall.wire.gemini.response import encode_response, readable
from canonicall.wire.stream_writing import WholeCallEncoding
from canonicall.wire.writing import json_line

_HEAD = b'data: {"candidates":[{"content":{"parts":['
_NO_WORDS = {"text": ""}
_NOTHING_SAID = (_NO_WORDS, {"text": "", "thought": True})
"""Parts that readers take for nothing."""


class StreamEncoding(WholeCallEncoding):
    """Writes the chunks of one stream."""

    def __init__(self) -> None:
        super().__init__()
        self._tail = b'],"role":"model"}}]}\n\n'
        self._signed: type[Block] | None = None
        """The kind of the words that readers add to, if they have a signature."""

    def keep_alive(self) -> bytes:
        """An empty line: Google's own clients take a comment for broken JSON."""
        return b"\n"

    def begin(self) -> None:
        """What all chunks have behind their parts."""
        envelope = {"modelVersion": self.origin.model, "responseId": self.origin.response_id}
        told = {name: value for name, value in envelope.items() if value}
        rest = b"," + json_line(told)[1:-1] if told else b""
        self._tail = b'],"role":"model"}}]' + rest + b"}\n\n"

    def around(self, block: Text | Thinking) -> tuple[bytes, bytes] | None:
        """What stands around a piece.

        Words with fields of their own are written whole, and those behind signed ones of their
        kind: pieces would be taken for more of these, and their signature for a part of its own.
        """
        if own_fields(block.native) or type(block) is self._signed:
            return None
        end = b',"thought":true}' if isinstance(block, Thinking) else b"}"
        return _HEAD + b'{"text":', end + self._tail

    def separator(self, block: Text | Thinking) -> str:  # noqa: ARG002  parts need none
        """Nothing: parts are told apart by their kind."""
        return ""

    def rest(self, block: Text | Thinking) -> bytes:
        """The signature, which comes on an empty part."""
        parts = self._parts(block)
        is_signed = bool(parts) and "thoughtSignature" in parts[0]
        return self._chunk([{**parts[0], "text": ""}]) if is_signed else b""

    def whole(self, block: Block) -> bytes:
        """The part of a block."""
        parts = self._parts(block)
        return b"" if not parts or parts[0] == _NO_WORDS else self._chunk(parts)

    def finish(self, event: StreamEnded) -> bytes:
        """The last chunk: the body of the reply, without what has been written of it.

        A stream keeps the id that it began with: hosts of other formats change theirs.
        """
        reply = event.reply
        reply = Reply(reply.message, reply.usage or self.usage, native=reply.native)
        body = encode_response(reply)
        if self.origin.response_id:
            body["responseId"] = self.origin.response_id
        for candidate in body.get("candidates", [])[:1]:
            candidate["content"]["parts"] = [_NO_WORDS]
            candidate.setdefault("finishReason", "STOP")
        return b"data: " + json_line(body) + b"\n\n"

    def fail(self, event: StreamEnded) -> bytes:
        """The error that was told, or that the stream was cut."""
        told = ErrorBody(event.why, "" if self.error is None else self.error.type)
        if self.error is not None and is_own(self.error.native):
            told = decode_error(self.error.native)
        return b"data: " + json_line(encode_error(told)) + b"\n\n"

    def _parts(self, block: Block) -> list[dict[str, Any]]:
        """The part of a block, none for what only another provider can read."""
        known = readable(block, self.origin)
        parts = [] if known is None else encode_parts([known], by_model=True)
        is_signed = bool(parts) and "thoughtSignature" in parts[0] and "text" in parts[0]
        if is_signed:
            self._signed = type(block)
        elif parts and parts[0] not in _NOTHING_SAID and type(block) is not self._signed:
            self._signed = None
        return parts

    def _chunk(self, parts: list[dict[str, Any]]) -> bytes:
        return _HEAD + json_line(parts)[1:-1] + self._tail
