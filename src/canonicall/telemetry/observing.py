"""The way in: an observer that reports to OpenTelemetry, or to nobody where it is not installed."""

from typing import TYPE_CHECKING

from canonicall.runtime.observer import Observer

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider


def genai_observer(
    *,
    agent: str = "",
    content: bool = False,
    tracer_provider: "TracerProvider | None" = None,
    meter_provider: "MeterProvider | None" = None,
) -> Observer:
    """What to give an `Agent` or a `Session` as `observer`.

    `agent` is a name for people. `content` adds what was said and with which arguments tools were
    called: that may be anything, so it is off unless somebody wants it. Without providers, those
    that are set for the process are used.
    """
    try:
        from canonicall.telemetry.genai import GenAIObserver  # noqa: PLC0415  needs an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "opentelemetry":
            raise
        return Observer()
    return GenAIObserver(agent, content, tracer_provider, meter_provider)
