"""A span for each request, by OpenTelemetry's conventions for generative AI.

    chat {model}       from the request to the end of the reply, in the trace of the client

While a request is served, its span is the current one of its task: hosts that are to know the trace
are asked in its name. What was said is never part of it.
"""

from contextvars import Token
from typing import TYPE_CHECKING, Any

from canonicall.facts.telemetry_names import telemetry_name
from canonicall.gateway.served import Begun, Served, Watcher
from canonicall.telemetry.propagation import continued

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, TracerProvider

_OPERATIONS = {"generate": "chat"}
"""The conventions' words for what is asked for; other actions have none."""


def request_traces(provider: "TracerProvider | None" = None) -> "Traces | None":
    """A watcher that reports to OpenTelemetry; None where it is not installed."""
    try:
        return Traces(provider)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "opentelemetry":
            raise
        return None


class Traces(Watcher):
    """Spans of the requests that are open. Made by `request_traces`."""

    def __init__(self, provider: "TracerProvider | None") -> None:
        from opentelemetry import context  # noqa: PLC0415  an extra
        from opentelemetry.trace import SpanKind, set_span_in_context  # noqa: PLC0415

        from canonicall.telemetry.spans import fail, tracer, usage_attributes  # noqa: PLC0415

        self._tracer = tracer(provider)
        self._kind = SpanKind.CLIENT
        self._attach, self._detach = context.attach, context.detach
        self._within = set_span_in_context
        self._fail, self._usage = fail, usage_attributes
        self._open: dict[str, tuple[Span, Token[Context]]] = {}

    def begun(self, begun: Begun) -> None:
        """A span begins, below the client's own where it sent one."""
        operation = _OPERATIONS.get(begun.action, begun.action)
        attributes = {"gen_ai.operation.name": operation, "canonicall.front": begun.front}
        if begun.model:
            attributes["gen_ai.request.model"] = begun.model
        if begun.key:
            attributes["canonicall.key"] = begun.key
        span = self._tracer.start_span(
            f"{operation} {begun.model}".rstrip(),
            continued(begun.traceparent, begun.tracestate),
            self._kind,
            attributes=attributes,
        )
        self._open[begun.id] = (span, self._attach(self._within(span)))

    def ended(self, served: Served) -> None:
        """It ends with what is known now."""
        span, token = self._open.pop(served.begun.id, (None, None))
        if span is None or token is None:
            return
        self._detach(token)
        span.set_attributes(_known(served))
        if served.usage is not None:
            span.set_attributes(self._usage(served.usage))
        if served.error or served.status >= 500:
            self._fail(span, served.error or str(served.status))
        span.end()


def _known(served: Served) -> dict[str, Any]:
    provider, _, model = served.target.partition(":")
    told: dict[str, Any] = {
        "http.response.status_code": served.status,
        "canonicall.attempts": served.attempts,
        "canonicall.forwarded": served.is_forwarded,
        "canonicall.complete": served.is_complete,
    }
    if provider:
        told["gen_ai.provider.name"] = telemetry_name(provider)
    if model:
        # The one that is asked in the end; the span keeps the name that the client has for it.
        told["gen_ai.request.model"] = model
    if served.findings:
        told["canonicall.findings"] = [code for code, _ in served.findings]
    return told
