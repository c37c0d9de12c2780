"""Spans in memory, and simulators that remember the headers of what they were asked."""

from typing import Any

import pytest

from canonicall.testing import Simulator
from canonicall.testing.exchange import SimRequest, SimResponse

sdk = pytest.importorskip("opentelemetry.sdk.trace")
export = pytest.importorskip("opentelemetry.sdk.trace.export")
in_memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"


class Listening(Simulator):
    """A simulator that keeps the headers it got."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.heard: list[dict[str, str]] = []

    def answer(self, request: SimRequest) -> SimResponse:
        self.heard.append(request.headers)
        return super().answer(request)


class Spans:
    """A provider of traces, and what was exported."""

    def __init__(self) -> None:
        self._exporter = in_memory.InMemorySpanExporter()
        self.provider = sdk.TracerProvider()
        self.provider.add_span_processor(export.SimpleSpanProcessor(self._exporter))

    @property
    def finished(self) -> Any:
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> list[Any]:
        return [one for one in self.finished if one.name == name]


def traceparent_of(span: Any) -> str:
    """What tells others of a span, as the specification has it."""
    context = span.context
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
