"""Events of a Cohere chat stream, put together to the response they would have been.

What an event is stands in its `type`. Parts of the content and calls have a start, deltas and an
end, each with numbers of their own; the plan has deltas only. In the events of calls and citations
a single object stands where a whole response has a list.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Origin
from canonicall.events import (
    ErrorReported,
    Event,
    FinishReported,
    MessageStarted,
    UsageReported,
)
from canonicall.findings import Finding
from canonicall.reply import ERROR, LENGTH
from canonicall.wire.cohere import TARGET
from canonicall.wire.cohere.content import FORMAT
from canonicall.wire.cohere.finish import decode_finish, decode_usage
from canonicall.wire.cohere.response import NO_ID
from canonicall.wire.cohere.stream_message import (
    GrowingCall,
    GrowingPart,
    GrowingPlan,
    Numbered,
)
from canonicall.wire.reading import object_at, text_at
from canonicall.wire.streaming import Blocks

_MAYBE_CUT = (LENGTH, ERROR)
"""Ends at which a call without an end of its own may have been cut."""


class StreamDecoding:
    """Reads the events of one stream."""

    ends_with_done = False

    def __init__(
        self,
        origin: Origin | None,
        domain: str | None,  # noqa: ARG002  Cohere has no opaque state
    ) -> None:
        self.complete = False
        self.error: ErrorReported | None = None
        self.findings: list[Finding] = []
        self._origin = origin or Origin(provider=TARGET.provider, format=FORMAT)
        self._blocks = Blocks()
        self._body: dict[str, Any] = {}
        self._plan = GrowingPlan(self._blocks)
        self._parts = Numbered[GrowingPart]()
        self._calls = Numbered[GrowingCall]()
        self._citations: list[Any] = []
        self._finish = ""
        self._started = False
        self._readers = {
            "message-start": self._message_start,
            "content-start": self._content_start,
            "content-delta": self._content_delta,
            "content-end": self._content_end,
            "tool-plan-delta": self._plan_delta,
            "tool-call-start": self._call_start,
            "tool-call-delta": self._call_delta,
            "tool-call-end": self._call_end,
            "citation-start": self._citation_start,
            "message-end": self._message_end,
        }

    def frame(self, name: str, data: dict[str, Any], events: list[Event]) -> None:
        """Take one event in."""
        kind = data.get("type")
        if not isinstance(kind, str):
            kind = name
        read = self._readers.get(kind)
        if read is not None:
            if not self._started and kind != "message-start":
                self._start("", events)
            read(data, events)
        elif isinstance(data.get("message"), str):
            # An error body, as it comes instead of a stream.
            self._fail(data["message"], data, events)

    def end(self, events: list[Event]) -> None:
        """Tell that words and thoughts are whole; calls only if the message is."""
        self._start("", events)
        is_whole = self.complete and self.error is None and self._finish not in _MAYBE_CUT
        self._end_open(events, with_calls=is_whole)

    def whole(self) -> dict[str, Any]:
        """The body of a response without streaming."""
        message: dict[str, Any] = {"role": "assistant"}
        fields = {
            "content": self._parts.wire(),
            "tool_plan": self._plan.wire(),
            "tool_calls": self._calls.wire(),
            "citations": self._citations,
        }
        message |= {name: value for name, value in fields.items() if value}
        return {**self._body, "message": message}

    def _start(self, id: str, events: list[Event]) -> None:
        if not self._started:
            self._started = True
            known = "" if id == NO_ID else id
            events.append(MessageStarted(replace(self._origin, response_id=known)))

    def _end_open(self, events: list[Event], *, with_calls: bool) -> None:
        self._plan.end(events)
        self._parts.end_all(events)
        if with_calls:
            self._calls.end_all(events)

    def _fail(self, message: str, native: dict[str, Any], events: list[Event]) -> None:
        self._start("", events)
        self.error = ErrorReported(message or "unknown error", native=native)
        events.append(self.error)

    def _message_start(self, data: dict[str, Any], events: list[Event]) -> None:
        id = text_at(data.get("id"), "$.id")
        if id:
            self._body["id"] = id
        self._start(id, events)

    def _content_start(self, data: dict[str, Any], events: list[Event]) -> None:
        self._plan.end(events)
        self._open_part(data.get("index"), _said(data, "content"), events)

    def _content_delta(self, data: dict[str, Any], events: list[Event]) -> None:
        said = _said(data, "content")
        part = self._parts.get(data.get("index"))
        if part is None:
            self._open_part(data.get("index"), said, events)
        else:
            part.add(said, events)
        if "logprobs" in data:
            self._body.setdefault("logprobs", []).append(data["logprobs"])

    def _open_part(self, number: Any, said: dict[str, Any], events: list[Event]) -> None:
        self._parts.end(number, events)
        part = GrowingPart(said, self._blocks)
        part.add(said, events)
        self._parts.open(number, part)

    def _content_end(self, data: dict[str, Any], events: list[Event]) -> None:
        self._parts.end(data.get("index"), events)

    def _plan_delta(self, data: dict[str, Any], events: list[Event]) -> None:
        message = _message(data)
        self._plan.add(text_at(message.get("tool_plan"), "$.delta.message.tool_plan"), events)

    def _call_start(self, data: dict[str, Any], events: list[Event]) -> None:
        self._plan.end(events)
        self._calls.end(data.get("index"), events)
        call = GrowingCall(_said(data, "tool_calls"), self._blocks, events)
        self._calls.open(data.get("index"), call)

    def _call_delta(self, data: dict[str, Any], events: list[Event]) -> None:
        call = self._calls.get(data.get("index"))
        if call is None:
            self._call_start(data, events)
        else:
            call.add(_said(data, "tool_calls"), events)

    def _call_end(self, data: dict[str, Any], events: list[Event]) -> None:
        self._calls.end(data.get("index"), events)

    def _citation_start(
        self,
        data: dict[str, Any],
        events: list[Event],  # noqa: ARG002  citations are told with the reply
    ) -> None:
        self._citations.append(_said(data, "citations"))

    def _message_end(self, data: dict[str, Any], events: list[Event]) -> None:
        delta = object_at(data.get("delta") or {}, "$.delta")
        raw = text_at(delta.get("finish_reason"), "$.delta.finish_reason")
        usage = delta.get("usage")
        if usage is not None:
            events.append(UsageReported(decode_usage(object_at(usage, "$.delta.usage"))))
        self._body |= {name: value for name, value in delta.items() if value is not None}
        error = self._body.pop("error", None)
        if error:
            self._fail(error if isinstance(error, str) else str(error), delta, events)
            return
        self.complete = True
        self._finish = decode_finish(raw, bool(self._calls))
        self._end_open(events, with_calls=self._finish not in _MAYBE_CUT)
        events.append(FinishReported(self._finish))


def _message(data: dict[str, Any]) -> dict[str, Any]:
    delta = object_at(data.get("delta") or {}, "$.delta")
    return object_at(delta.get("message") or {}, "$.delta.message")


def _said(data: dict[str, Any], field: str) -> dict[str, Any]:
    """What an event says: one object. A list of one is taken as well."""
    said = _message(data).get(field)
    if isinstance(said, list) and len(said) == 1:
        said = said[0]
    return object_at({} if said is None else said, f"$.delta.message.{field}")
