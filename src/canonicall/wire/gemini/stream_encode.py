"""Events as the chunks of streamGenerateContent, in server-sent events.

Each chunk is a response whose parts are increments. The last one has an empty part, the finish
reason, the usage and what else belongs to the reply as a whole. A stream that was cut ends in an
error.
"""

from typing import Any

import msgspec

from canonicall.blocks import Block, Text, Thinking
from canonicall.events import StreamEnded
from canonicall.reply import Reply
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.gemini.errors import decode_error, encode_error
from canonicall.wire.gemini.fields import own_fields
from canonicall.wire.gemini.parts import encode_parts
from canonicall.wire.gemini.response import encode_response, readable
from canonicall.wire.gemini.target import FORMAT
from canonicall.wire.stream_writing import WholeCallEncoding

_json = msgspec.json.encode
_HEAD = b'data: {"candidates":[{"content":{"parts":['
_NO_WORDS = {"text": ""}


class StreamEncoding(WholeCallEncoding):
    """Writes the chunks of one stream."""

    def __init__(self) -> None:
        super().__init__()
        self._tail = b'],"role":"model"}}]}\n\n'

    def keep_alive(self) -> bytes:
        """An empty line: Google's own clients take a comment for broken JSON."""
        return b"\n"

    def begin(self) -> None:
        """What all chunks have behind their parts."""
        envelope = {"modelVersion": self.origin.model, "responseId": self.origin.response_id}
        told = {name: value for name, value in envelope.items() if value}
        rest = b"," + _json(told)[1:-1] if told else b""
        self._tail = b'],"role":"model"}}]' + rest + b"}\n\n"

    def around(self, block: Text | Thinking) -> tuple[bytes, bytes] | None:
        """What stands around a piece; words with fields of their own are written whole."""
        if own_fields(block.native):
            return None
        end = b',"thought":true}' if isinstance(block, Thinking) else b"}"
        return _HEAD + b'{"text":', end + self._tail

    def separator(self, block: Text | Thinking) -> str:  # noqa: ARG002  parts need none
        """Nothing: parts are told apart by their kind."""
        return ""

    def rest(self, block: Text | Thinking) -> bytes:
        """The signature, which comes on an empty part."""
        parts = encode_parts([readable(block, self.origin)], by_model=True)
        if not parts or "thoughtSignature" not in parts[0]:
            return b""
        return self._chunk([{**parts[0], "text": ""}])

    def whole(self, block: Block) -> bytes:
        """The part of a block."""
        parts = encode_parts([readable(block, self.origin)], by_model=True)
        return b"" if not parts or parts[0] == _NO_WORDS else self._chunk(parts)

    def finish(self, event: StreamEnded) -> bytes:
        """The last chunk: the body of the reply, without what has been written of it."""
        reply = event.reply
        reply = Reply(reply.message, reply.usage or self.usage, native=reply.native)
        body = encode_response(reply)
        for candidate in body.get("candidates", [])[:1]:
            candidate["content"]["parts"] = [_NO_WORDS]
            candidate.setdefault("finishReason", "STOP")
        return b"data: " + _json(body) + b"\n\n"

    def fail(self, event: StreamEnded) -> bytes:
        """The error that was told, or that the stream was cut."""
        told = ErrorBody(event.why, "" if self.error is None else self.error.type)
        if self.error is not None and self.origin.format == FORMAT:
            told = decode_error(self.error.native)
        return b"data: " + _json(encode_error(told)) + b"\n\n"

    def _chunk(self, parts: list[dict[str, Any]]) -> bytes:
        return _HEAD + _json(parts)[1:-1] + self._tail
