"""Events of a streamed response, put together to the response they would have been.

What an item says at its end counts, and what the last event says of the whole response counts more;
some hosts leave the output out of it. Hosts that send no names of events still send their types.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Origin
from canonicall.errors import MalformedBody
from canonicall.events import (
    ErrorReported,
    Event,
    FinishReported,
    MessageStarted,
    UsageReported,
)
from canonicall.findings import Finding
from canonicall.wire.openai_responses import FORMAT, TARGET
from canonicall.wire.openai_responses.errors import decode_error
from canonicall.wire.openai_responses.finish import COMPLETED, FAILED, INCOMPLETE, finish_word
from canonicall.wire.openai_responses.response import decode_response
from canonicall.wire.openai_responses.stream_item import written
from canonicall.wire.openai_responses.stream_items import GrowingCall, GrowingReasoning
from canonicall.wire.openai_responses.stream_message import GrowingMessage
from canonicall.wire.openai_responses.stream_output import GrowingOutput
from canonicall.wire.reading import list_at, object_at

_Shape = type[GrowingMessage] | type[GrowingReasoning] | type[GrowingCall]
# What grows: the type of the item, the kind of part in it, and where the part's number stands.
_PIECES: dict[str, tuple[_Shape, str, str, str]] = {
    "response.output_text": (GrowingMessage, "message", "output_text", "content_index"),
    "response.refusal": (GrowingMessage, "message", "refusal", "content_index"),
    "response.reasoning_summary_text": (GrowingReasoning, "reasoning", "summary", "summary_index"),
    "response.reasoning_text": (GrowingReasoning, "reasoning", "content", "content_index"),
    "response.function_call_arguments": (GrowingCall, "function_call", "", ""),
    "response.custom_tool_call_input": (GrowingCall, "custom_tool_call", "", ""),
}
_DELTAS = {f"{name}.delta": piece for name, piece in _PIECES.items()}
_DONE = {f"{name}.done": piece for name, piece in _PIECES.items()}
_WHOLE_FIELDS = ("text", "refusal", "arguments", "input")
_UNDECIDED = (None, "queued", "in_progress")


class StreamDecoding:
    """Reads the events of one stream."""

    ends_with_done = False

    def __init__(self, origin: Origin | None, domain: str | None) -> None:
        self.complete = False
        self.error: ErrorReported | None = None
        self.findings: list[Finding] = []
        self._origin = origin or Origin(provider=TARGET.provider, format=FORMAT)
        self._domain = TARGET.domain if domain is None else domain
        self._output = GrowingOutput(self._domain)
        self._body: dict[str, Any] = {}
        self._started = False
        self._ended = False
        self._readers: dict[str, Callable[[dict[str, Any], list[Event]], None]] = {
            "response.created": self._opened,
            "response.queued": self._opened,
            "response.in_progress": self._opened,
            "response.output_item.added": self._item_added,
            "response.output_item.done": self._item_done,
            "response.content_part.added": self._part_added,
            "response.content_part.done": self._part_done,
            "response.output_text.annotation.added": self._annotated,
            "response.completed": partial(self._closed, COMPLETED),
            "response.incomplete": partial(self._closed, INCOMPLETE),
            "response.failed": partial(self._closed, FAILED),
            "error": self._failed,
        }

    def frame(self, name: str, data: dict[str, Any], events: list[Event]) -> None:
        """Take one event in. Those behind the end, and of types that add nothing, are skipped."""
        if self._ended:
            return
        kind = data.get("type")
        if kind.__class__ is not str:
            kind = name
        piece = _DELTAS.get(kind)
        if piece is not None:
            self._grow(piece, data, data.get("delta"), events)
        elif kind in _DONE:
            self._settle(_DONE[kind], data, events)
        elif kind in self._readers:
            self._readers[kind](data, events)
        elif "type" not in data and data.get("error"):
            self._failed(data, events)

    def end(self, events: list[Event]) -> None:
        """End the words and thoughts that are open."""
        self._start(events)
        self._output.cut(events)

    def whole(self) -> dict[str, Any]:
        """The body of a response without streaming."""
        if self._ended:
            return self._body
        body = self._body | {"status": INCOMPLETE, "output": self._output.whole(self.findings)}
        if self.error is not None:
            failure = {"code": self.error.type or None, "message": self.error.message}
            body |= {"status": FAILED, "error": failure}
        return body

    def _start(self, events: list[Event]) -> None:
        if self._started:
            return
        self._started = True
        model, id = self._body.get("model"), self._body.get("id")
        origin = replace(self._origin, model=model or self._origin.model, response_id=id or "")
        events.append(MessageStarted(origin))

    def _opened(self, data: dict[str, Any], events: list[Event]) -> None:
        """The response as it begins: who makes it, and what was asked for."""
        body = self._body | object_at(data.get("response"), "$.response")
        decode_response({**body, "output": []})
        self._body = body
        self._start(events)

    def _item_added(self, data: dict[str, Any], events: list[Event]) -> None:
        if data.get("item") is not None:
            self._start(events)
            self._output.add(object_at(data["item"], "$.item"), _place(data), events)

    def _item_done(self, data: dict[str, Any], events: list[Event]) -> None:
        self._start(events)
        self._output.finish(object_at(data.get("item"), "$.item"), _place(data), events)

    def _part_added(self, data: dict[str, Any], events: list[Event]) -> None:
        message = self._output.at(data)
        if isinstance(message, GrowingMessage) and not message.is_done:
            part = object_at(data.get("part"), "$.part")
            message.open_part(_number(data, "content_index"), part, events)

    def _part_done(self, data: dict[str, Any], events: list[Event]) -> None:
        message = self._output.at(data)
        if isinstance(message, GrowingMessage) and not message.is_done:
            part = object_at(data.get("part"), "$.part")
            message.end_part(_number(data, "content_index"), part, events)

    def _annotated(self, data: dict[str, Any], events: list[Event]) -> None:  # noqa: ARG002
        message = self._output.at(data)
        if isinstance(message, GrowingMessage):
            message.annotate(_number(data, "content_index"), data.get("annotation"))

    def _grow(
        self,
        piece: tuple[_Shape, str, str, str],
        data: dict[str, Any],
        said: Any,
        events: list[Event],
    ) -> None:
        shape, type, kind, number = piece
        text = said if said.__class__ is str else written(said, "$.delta")
        item = self._output.at(data)
        if item is None:
            self._start(events)
            begun = {"type": type, "id": data.get("item_id"), "role": "assistant"}
            item = self._output.add(begun, _place(data), events)
        if not isinstance(item, shape):
            raise MalformedBody("there is no such thing in this item.", where="$.output_index")
        if not item.is_done:
            item.add(kind, _number(data, number), text, events)

    def _settle(
        self, piece: tuple[_Shape, str, str, str], data: dict[str, Any], events: list[Event]
    ) -> None:
        """What came in pieces, once more as a whole: only what is new in it counts."""
        shape, _, kind, number = piece
        said = next((data[name] for name in _WHOLE_FIELDS if name in data), None)
        whole = written(said, "$")
        item = self._output.at(data)
        known = item.said(kind, _number(data, number)) if isinstance(item, shape) else ""
        rest = whole[len(known) :] if whole.startswith(known) else ""
        if rest:
            self._grow(piece, data, rest, events)

    def _closed(self, word: str, data: dict[str, Any], events: list[Event]) -> None:
        """The response as it ended. Of its output only that is told which is new."""
        response = object_at(data.get("response"), "$.response")
        if not self._started:
            self._opened({"response": response}, events)
        body = self._body | response
        if body.get("status") in _UNDECIDED:
            body["status"] = word
        output = list_at(response.get("output"), "$.response.output")
        self._output.finish_all(output, word == COMPLETED, events)
        if len(output) < self._output.done or not output:
            output = self._output.whole(self.findings)
        body["output"] = output
        reply = decode_response(body, domain=self._domain)
        self._body, self._ended = body, True
        if reply.usage is not None:
            events.append(UsageReported(reply.usage))
        if body["status"] == FAILED or body.get("error"):
            self._failed({"error": body.get("error")}, events)
        else:
            self.complete = finish_word(body) != INCOMPLETE
            events.append(FinishReported(reply.finish))

    def _failed(self, data: dict[str, Any], events: list[Event]) -> None:
        """An error of the provider's. OpenAI tells it twice, as an event and in the response."""
        self._start(events)
        if self.error is None:
            told = decode_error(data if data.get("error") else {**data, "type": None})
            message = told.message or told.code or "unknown error"
            self.error = ErrorReported(message, told.code or told.type, data)
            events.append(self.error)


def _place(data: dict[str, Any]) -> int | None:
    """The place of an item in the output."""
    index = data.get("output_index")
    return index if isinstance(index, int) else None


def _number(data: dict[str, Any], name: str) -> int:
    index = data.get(name)
    return index if isinstance(index, int) else 0
