"""Chunks of streamGenerateContent, put together to the response they would have been.

A chunk is a response of its own whose parts are increments. There is no last chunk as such: the
stream is whole once a finish reason was seen, or that the prompt was blocked. Only the first
candidate is told while it streams.
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
from canonicall.reply import FILTER
from canonicall.wire.gemini import FORMAT, PROVIDER, TARGET
from canonicall.wire.gemini.errors import decode_error
from canonicall.wire.gemini.fields import enum_at, fields_at, many_at
from canonicall.wire.gemini.finish import decode_finish, decode_usage
from canonicall.wire.gemini.stream_candidate import GrowingCandidate
from canonicall.wire.reading import text_at

_UNSPECIFIED = ("FINISH_REASON_UNSPECIFIED", 0)


class StreamDecoding:
    """Reads the chunks of one stream."""

    ends_with_done = False

    def __init__(self, origin: Origin | None, domain: str | None) -> None:
        self.complete = False
        self.error: ErrorReported | None = None
        self.findings: list[Finding] = []
        self._origin = origin or Origin(provider=PROVIDER, format=FORMAT)
        self._domain = TARGET.domain if domain is None else domain
        self._body: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._candidates: dict[int, GrowingCandidate] = {}
        self._started = False
        self._finish = ""
        self._block_reason = ""
        """Why the prompt was blocked, where it was."""

    def frame(
        self,
        name: str,  # noqa: ARG002  chunks have no names
        data: dict[str, Any],
        events: list[Event],
    ) -> None:
        """Take one chunk in."""
        chunk = fields_at(data, "$")
        candidates = chunk.pop("candidates", None)
        usage = chunk.pop("usageMetadata", None)
        error = chunk.pop("error", None)
        self._merge(chunk)
        self._start(events)
        for number, value in enumerate(many_at(candidates, "$.candidates")):
            self._take(fields_at(value, f"$.candidates[{number}]"), number, events)
        if usage is not None:
            self._count(fields_at(usage, "$.usageMetadata"), events)
        if error:
            told = decode_error({"error": error})
            self.error = ErrorReported(told.message or "unknown error", told.type, {"error": error})
            events.append(self.error)
        self._tell_finish(events)

    def end(self, events: list[Event]) -> None:
        """Tell that the words are whole. A call that should go on is left open."""
        self._start(events)
        for index, candidate in self._candidates.items():
            candidate.end([] if index else events)

    def whole(self) -> dict[str, Any]:
        """The body of a response without streaming."""
        body = dict(self._body)
        if self._usage:
            body["usageMetadata"] = self._usage
        if self._candidates:
            body["candidates"] = [
                self._candidates[index].whole() for index in sorted(self._candidates)
            ]
        elif self.error is not None:
            # Damage of the stream itself is told by nothing that came.
            body |= self.error.native or {"error": {"message": self.error.message}}
        elif not self._block_reason:
            body["candidates"] = [{}]
        return body

    def _merge(self, chunk: dict[str, Any]) -> None:
        """Keep what stands around the candidates; later values take the place of earlier ones."""
        text_at(chunk.get("modelVersion"), "$.modelVersion")
        text_at(chunk.get("responseId"), "$.responseId")
        if "promptFeedback" in chunk:
            feedback = fields_at(chunk["promptFeedback"], "$.promptFeedback")
            reason = enum_at(feedback.get("blockReason"), "$.promptFeedback.blockReason")
            self._block_reason = reason or self._block_reason
        self._body |= chunk

    def _start(self, events: list[Event]) -> None:
        if self._started:
            return
        self._started = True
        origin = replace(
            self._origin,
            model=self._body.get("modelVersion", self._origin.model),
            response_id=self._body.get("responseId", self._origin.response_id),
        )
        events.append(MessageStarted(origin))

    def _take(self, fields: dict[str, Any], number: int, events: list[Event]) -> None:
        index = fields.get("index")
        place = index if type(index) is int else number
        candidate = self._candidates.get(place)
        if candidate is None:
            candidate = self._candidates[place] = GrowingCandidate(self._domain)
        candidate.add(fields, f"$.candidates[{number}]", [] if place else events)

    def _count(self, usage: dict[str, Any], events: list[Event]) -> None:
        """Figures are totals. Those that a later chunk leaves out still hold."""
        merged = {**self._usage, **usage}
        if merged != self._usage:
            self._usage = merged
            events.append(UsageReported(decode_usage(merged)))

    def _tell_finish(self, events: list[Event]) -> None:
        """Tell the reason when it comes; again where calls that follow it change it."""
        finish = ""
        first = self._candidates.get(0)
        raw = None if first is None else first.fields.get("finishReason")
        if first is not None and raw and raw not in _UNSPECIFIED:
            self.complete = True
            finish = decode_finish(raw, has_calls=first.has_calls)
        elif first is None and self._block_reason:
            self.complete = True
            finish = FILTER
        if finish and finish != self._finish:
            self._finish = finish
            events.append(FinishReported(finish))
