"""Events of ConverseStream, put together to the response they would have been.

Only calls, results and images have a `contentBlockStart`; of words and thoughts the first delta is
the first sign. `messageStop` ends the message; `metadata` may come before or behind it. `p` in
every event is padding.
"""

from typing import Any

from canonicall.blocks import Origin
from canonicall.events import (
    ErrorReported,
    Event,
    FinishReported,
    MessageStarted,
    UsageReported,
)
from canonicall.findings import Finding
from canonicall.reply import LENGTH
from canonicall.wire.bedrock import TARGET
from canonicall.wire.bedrock.content import FORMAT
from canonicall.wire.bedrock.errors import decode_error
from canonicall.wire.bedrock.finish import decode_finish, decode_usage
from canonicall.wire.bedrock.response import NO_USAGE
from canonicall.wire.bedrock.stream_content import GrowingContent
from canonicall.wire.carried import set_fields
from canonicall.wire.reading import object_at, text_at

_EXCEPTION = "Exception"
# `p` is padding; the output is made of the other events.
_NOT_KEPT = ("p", "output")

# What an event without a name is known by.
_SIGNS = {
    "delta": "contentBlockDelta",
    "start": "contentBlockStart",
    "stopReason": "messageStop",
    "usage": "metadata",
    "role": "messageStart",
    "contentBlockIndex": "contentBlockStop",
}


class StreamDecoding:
    """Reads the events of one stream."""

    ends_with_done = False

    def __init__(self, origin: Origin | None, domain: str | None) -> None:
        self.complete = False
        self.error: ErrorReported | None = None
        self.findings: list[Finding] = []
        self._origin = origin or Origin(provider=TARGET.provider, format=FORMAT)
        self._content = GrowingContent(TARGET.domain if domain is None else domain)
        self._body: dict[str, Any] = {}
        self._finish = ""
        self._started = False
        self._readers = {
            "messageStart": self._message_start,
            "contentBlockStart": self._block_start,
            "contentBlockDelta": self._block_delta,
            "contentBlockStop": self._block_stop,
            "messageStop": self._message_stop,
            "metadata": self._metadata,
        }

    def frame(self, name: str, data: dict[str, Any], events: list[Event]) -> None:
        """Take one event in."""
        read = self._readers.get(name)
        if read is None:
            name, data = self._named(name, data)
            read = self._readers.get(name)
        self._start(events)
        if read is not None:
            read(data, events)
        elif name.endswith(_EXCEPTION) or "__type" in data:
            self._fail(name, data, events)

    def end(self, events: list[Event]) -> None:
        """Tell that words and thoughts are whole; calls only if the message is."""
        self._start(events)
        is_whole = self.complete and self.error is None and self._finish != LENGTH
        self._content.end_all(events, with_calls=is_whole)

    def whole(self) -> dict[str, Any]:
        """The body of a response without streaming."""
        message = {"role": "assistant", "content": self._content.wire()}
        return {"output": {"message": message}, **self._body}

    def _named(self, name: str, data: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """An event that has its name around it, as SDKs show it, or has none at all."""
        for key, value in data.items():
            if isinstance(value, dict) and (key in self._readers or key.endswith(_EXCEPTION)):
                return key, value
        if not name:
            name = next((event for sign, event in _SIGNS.items() if sign in data), "")
        return name, data

    def _start(self, events: list[Event]) -> None:
        if not self._started:
            self._started = True
            events.append(MessageStarted(self._origin))

    def _message_start(self, data: dict[str, Any], events: list[Event]) -> None:
        """It says the role, which is known."""

    def _block_start(self, data: dict[str, Any], events: list[Event]) -> None:
        start = object_at(data.get("start") or {}, "$.start")
        self._content.start(data.get("contentBlockIndex"), start, events)

    def _block_delta(self, data: dict[str, Any], events: list[Event]) -> None:
        delta = object_at(data.get("delta") or {}, "$.delta")
        self._content.add(data.get("contentBlockIndex"), delta, events)

    def _block_stop(self, data: dict[str, Any], events: list[Event]) -> None:
        self._content.end(data.get("contentBlockIndex"), events)

    def _message_stop(self, data: dict[str, Any], events: list[Event]) -> None:
        self._keep(data, events)
        self.complete = True
        raw = text_at(data.get("stopReason"), "$.stopReason")
        self._finish = decode_finish(raw, self._content.has_calls)
        self._content.end_all(events, with_calls=self._finish != LENGTH)
        events.append(FinishReported(self._finish))

    def _metadata(self, data: dict[str, Any], events: list[Event]) -> None:
        self._keep(data, events)

    def _keep(self, data: dict[str, Any], events: list[Event]) -> None:
        """What stands beside the content in a whole response."""
        text_at(data.get("stopReason"), "$.stopReason")
        usage = data.get("usage")
        if usage is not None and object_at(usage, "$.usage") != NO_USAGE:
            events.append(UsageReported(decode_usage(usage)))
        self._body |= set_fields(data, _NOT_KEPT)

    def _fail(self, name: str, data: dict[str, Any], events: list[Event]) -> None:
        told = decode_error(data)
        self.error = ErrorReported(told.message or "unknown error", name or told.type, data)
        events.append(self.error)
