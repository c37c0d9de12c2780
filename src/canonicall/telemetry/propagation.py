"""The trace that a request belongs to, in the headers of W3C Trace Context: as a client sent them,
and for the host that is asked.

Source: https://www.w3.org/TR/trace-context/. Baggage is not part of it: that may hold anything, and
would go to strangers. Without opentelemetry there is no trace.
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

TRACEPARENT, TRACESTATE = "traceparent", "tracestate"
_LONGEST = 512
"""What is longer is not read. A `traceparent` has 55 characters, with room for later versions; of
`tracestate`, so many are to be passed on (section 3.3.1.5), and more may be a stranger's load.
Earlier releases of opentelemetry read any length."""


def trace_headers() -> dict[str, str]:
    """Those of the current span; none where there is no span."""
    headers: dict[str, str] = {}
    propagator = _propagator()
    if propagator is not None:
        propagator.inject(headers)
    return headers


def continued(traceparent: str, tracestate: str) -> "Context | None":
    """The context in which the trace of these headers goes on; None where they name no trace."""
    propagator = _propagator()
    if propagator is None or not traceparent or len(traceparent) > _LONGEST:
        return None
    carrier = {TRACEPARENT: traceparent}
    if tracestate and len(tracestate) <= _LONGEST:
        carrier[TRACESTATE] = tracestate
    # An empty context is a false one.
    return propagator.extract(carrier) or None


@cache
def _propagator() -> "TraceContextTextMapPropagator | None":
    try:
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415  an extra
            TraceContextTextMapPropagator,
        )
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "opentelemetry":
            raise
        return None
    return TraceContextTextMapPropagator()
