"""Events as those of a streamed response.

Every frame has a number, in a row. An item is added, grows and is done before the next one is
added; words in a row share one message. The last frame holds the whole response, its output made of
the items as they were told. A stream that was cut ends as incomplete, one that broke as failed, and
what was open stays open, so that no client takes it for whole.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Message, Origin, Text
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
from canonicall.reply import ERROR, REFUSAL, Reply, Usage
from canonicall.wire.openai_responses.fields import own_fields
from canonicall.wire.openai_responses.finish import (
    COMPLETED,
    FAILED,
    INCOMPLETE,
    encode_usage,
    ending_of,
)
from canonicall.wire.openai_responses.output import REFUSED
from canonicall.wire.openai_responses.response import encode_response
from canonicall.wire.openai_responses.stream_writing import Writing
from canonicall.wire.streaming import InOrder

_PIECES = (TextAdded, ThinkingAdded, ArgumentsAdded)
_NOT_COMPLETED = {"completed_at": None, "error": None, "incomplete_details": None}
_BEHIND_ALL = -1
"""The index of a block that no stream has: the refusal that only its end makes known."""


class StreamEncoding:
    """Writes the frames of one stream."""

    created: int = 0
    completed: int = 0

    def __init__(self) -> None:
        self.repeats: Mapping[str, Any] = {}
        self._order = InOrder()
        self._writing: Writing | None = None
        self._origin = Origin()
        self._usage: Usage | None = None
        self._failed = False

    def event(self, event: Event) -> bytes:
        """The frames for an event."""
        writing = self._writing
        if writing is not None and isinstance(event, _PIECES) and event.index == writing.current:
            return writing.add(event.text)
        return b"".join([self._write(one) for one in self._order.pass_on(event)])

    def keep_alive(self) -> bytes:
        """A comment, which clients skip."""
        return b": keep-alive\n\n"

    def _write(self, event: Event) -> bytes:
        writing, begun = self._begun(event)
        match event:
            case BlockStarted():
                return begun + writing.start(event.index, event.block)
            case TextAdded() | ThinkingAdded() | ArgumentsAdded():
                return begun + writing.add(event.text)
            case BlockEnded():
                return begun + writing.end(event.block)
            case StreamEnded():
                return begun + self._end(event, writing)
            case UsageReported():
                self._usage = event.usage
            case ErrorReported():
                self._failed = True
            case _:
                pass
        return begun

    def _begun(self, event: Event) -> tuple[Writing, bytes]:
        """What writes the stream; with the first event, the two frames that it begins with."""
        if self._writing is not None:
            return self._writing, b""
        if isinstance(event, MessageStarted):
            self._origin = event.origin
        elif isinstance(event, StreamEnded):
            self._origin = event.reply.message.origin or Origin()
        self._writing = writing = Writing(self._origin)
        response = {"response": self._empty() | {"status": "in_progress"}}
        frame = writing.frames.frame
        return writing, frame("response.created", response) + frame(
            "response.in_progress", response
        )

    def _end(self, event: StreamEnded, writing: Writing) -> bytes:
        reply = event.reply
        written = b""
        if event.complete:
            written = writing.close()
            if reply.finish == REFUSAL and not writing.refused:
                refusal = Text(text="", native=REFUSED)
                written += writing.start(_BEHIND_ALL, refusal) + writing.end(refusal)
                written += writing.close()
            response = self._response(reply)
        else:
            writing.leave_open()
            response = self._response(reply) | self._broken(reply, event.why)
        response["output"] = writing.output
        kind = f"response.{ending_of(response['status'])}"
        return written + writing.frames.frame(kind, {"response": response})

    def _broken(self, reply: Reply, why: str) -> dict[str, Any]:
        """The status of a response that did not get to its end."""
        if not self._failed and reply.finish != ERROR:
            return {**_NOT_COMPLETED, "status": INCOMPLETE}
        told = own_fields(reply.native).get("error") or {}
        fields = told if isinstance(told, dict) else {"message": str(told)}
        failure = {"code": "server_error", "message": why or "The response failed."}
        failure |= {name: field for name, field in fields.items() if field is not None}
        return {**_NOT_COMPLETED, "status": FAILED, "error": failure}

    def _response(self, reply: Reply) -> dict[str, Any]:
        """The response, but for its output. A stream keeps the id that it began with."""
        response = encode_response(replace(reply, message=replace(reply.message, blocks=())))
        begun = self._empty()
        response |= {"id": begun["id"], "model": begun["model"] or response["model"]}
        response |= {"created_at": self.created, **self.repeats}
        if response["status"] == COMPLETED:
            response["completed_at"] = self.completed or self.created
        if reply.usage is None:
            response["usage"] = encode_usage(self._usage)
        return response

    def _empty(self) -> dict[str, Any]:
        response = encode_response(Reply(Message("assistant", origin=self._origin)))
        times = {"created_at": self.created, "completed_at": None}
        return {**response, **self.repeats, **times}
