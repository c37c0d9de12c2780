"""What Prometheus is shown of the gateway.

The registry is one of our own: nothing of the process, and nothing of other programs in it. Where
PROMETHEUS_MULTIPROC_DIR names a folder, all workers count together in it; else each worker shows
its own figures, and a scrape meets one of them.
"""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from canonicall.agent.counters import Counters, Tally
from canonicall.errors import CanonicallError
from canonicall.gateway.governance.labels import Bounded, ModelNames
from canonicall.gateway.served import Begun, Served, Watcher
from canonicall.telemetry.counters import HELP

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Histogram, Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SHARED = "PROMETHEUS_MULTIPROC_DIR"
_MISSING = "metrics need the package prometheus-client: pip install 'canonicall[server]'"
_COUNTERS = {
    "requests": (
        "Requests that have ended; status 499 is a client that went away.",
        ("front", "model", "provider", "status", "error"),
    ),
    "tokens": (
        "Tokens, as providers count them: input, output, cache_read, cache_write, reasoning.",
        ("model", "provider", "kind"),
    ),
    "findings": ("What was changed or noticed on the way.", ("code",)),
    "replies": (
        "Replies, forwarded byte for byte or translated.",
        ("front", "provider", "way"),
    ),
    "replies_incomplete": ("Replies that broke off before their end.", ("front", "provider")),
    "retries": ("Attempts that asked the same target again.", ("provider",)),
    "fallbacks": ("Attempts that asked another target.", ("provider",)),
}
_OF_MODELS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_OUR_OWN = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1)
_HISTOGRAMS = {
    "request_seconds": (
        "From the request to the end of the reply.",
        ("front", "provider"),
        _OF_MODELS,
    ),
    "first_byte_seconds": (
        "From the request to the first byte of the reply.",
        ("front", "provider"),
        _OF_MODELS,
    ),
    "upstream_seconds": (
        "Waiting for the first byte of the provider.",
        ("provider",),
        _OF_MODELS,
    ),
    "overhead_seconds": (
        "The gateway's own part of the time to the first byte.",
        ("front",),
        _OUR_OWN,
    ),
}
_GAUGES = {
    "requests_open": "Requests that have not ended.",
    "streams_open": "Streams among them.",
}


class MetricsMissing(CanonicallError, ImportError):
    """The package that metrics need is not installed."""


class Metrics(Watcher):
    """Counts requests. `tally` holds the five counters of tool calling, counted elsewhere."""

    def __init__(self, models: Iterable[str] = (), *, tally: Tally | None = None) -> None:
        try:
            from prometheus_client import (  # noqa: PLC0415  an extra
                CollectorRegistry,
                Counter,
                Gauge,
                Histogram,
            )
        except ImportError:
            raise MetricsMissing(_MISSING) from None
        self.tally = tally or Tally()
        self._counted: dict[tuple[str, ...], Counter] = {}
        self._measured: dict[tuple[str, ...], Histogram] = {}
        self._told: dict[str, Counters] = {}
        self._models = ModelNames(models)
        self._providers, self._errors, self._codes = Bounded(), Bounded(), Bounded(500)
        self._fronts, self._statuses = Bounded(), Bounded()
        self._registry = registry = CollectorRegistry()
        self._counters = {
            name: Counter(f"canonicall_{name}", help, labels, registry=registry)
            for name, (help, labels) in _COUNTERS.items()
        }
        self._histograms = {
            name: Histogram(f"canonicall_{name}", help, labels, buckets=buckets, registry=registry)
            for name, (help, labels, buckets) in _HISTOGRAMS.items()
        }
        self._gauges = {
            name: Gauge(f"canonicall_{name}", help, registry=registry, multiprocess_mode="livesum")
            for name, help in _GAUGES.items()
        }
        # A counter of this library ends with _total, and these names are fixed: see `text`.
        self._tools = {
            name: Gauge(name, help, ("provider",), registry=registry, multiprocess_mode="sum")
            for name, help in HELP.items()
        }

    def know_models(self, names: Iterable[str]) -> None:
        """The names of the settings, after a reload. What was counted stays."""
        self._models.know(names)

    def begun(self, begun: Begun) -> None:
        """One more is open."""
        self._gauges["requests_open"].inc()
        if begun.streams:
            self._gauges["streams_open"].inc()

    def ended(self, served: Served) -> None:
        """Count it."""
        begun = served.begun
        self._gauges["requests_open"].dec()
        if begun.streams:
            self._gauges["streams_open"].dec()
        front, provider = self._fronts.label(begun.front), self._provider(served)
        model, error = self._models.label(begun.model), self._errors.label(served.error)
        status = self._statuses.label(str(served.status))
        self._counter("requests", front, model, provider, status, error).inc()
        self._count_time(served, front, provider)
        for code, count in served.findings:
            self._counter("findings", self._codes.label(code)).inc(max(0, count))
        if provider:
            self._count_reply(served, front, provider)
            self._count_tokens(served, model, provider)
            self._count_tools(served.target.partition(":")[0])

    def text(self) -> bytes:
        """All figures, in the text format of Prometheus."""
        from prometheus_client import (  # noqa: PLC0415  there since __init__
            CollectorRegistry,
            generate_latest,
            multiprocess,
        )

        for provider in tuple(self.tally.by_provider):
            self._count_tools(provider)
        registry = self._registry
        if _SHARED in os.environ:
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        text = generate_latest(_Shown(registry))
        for name in HELP:
            text = text.replace(b"# TYPE %b gauge\n" % name.encode(), _counter_line(name))
        return text

    def _counter(self, *series: str) -> "Counter":
        """A series by its name and labels. To look it up in the library takes ten times as long."""
        found = self._counted.get(series)
        if found is None:
            name, *labels = series
            found = self._counted[series] = self._counters[name].labels(*labels)
        return found

    def _histogram(self, *series: str) -> "Histogram":
        found = self._measured.get(series)
        if found is None:
            name, *labels = series
            found = self._measured[series] = self._histograms[name].labels(*labels)
        return found

    def _provider(self, served: Served) -> str:
        return self._providers.label(served.target.partition(":")[0])

    def _count_time(self, served: Served, front: str, provider: str) -> None:
        self._histogram("request_seconds", front, provider).observe(served.seconds)
        if served.first_byte_seconds:
            self._histogram("first_byte_seconds", front, provider).observe(
                served.first_byte_seconds
            )
        if served.upstream_seconds:
            self._histogram("upstream_seconds", provider).observe(served.upstream_seconds)
        own = (served.first_byte_seconds or served.seconds) - served.upstream_seconds
        self._histogram("overhead_seconds", front).observe(max(0.0, own))

    def _count_reply(self, served: Served, front: str, provider: str) -> None:
        if not served.error:
            way = "forwarded" if served.is_forwarded else "translated"
            self._counter("replies", front, provider, way).inc()
        if not served.is_complete:
            self._counter("replies_incomplete", front, provider).inc()
        if served.fallbacks > 0:
            self._counter("fallbacks", provider).inc(served.fallbacks)
        retries = served.attempts - 1 - served.fallbacks
        if retries > 0:
            self._counter("retries", provider).inc(retries)

    def _count_tokens(self, served: Served, model: str, provider: str) -> None:
        usage = served.usage
        if usage is None:
            return
        for kind, tokens in (
            ("input", usage.input_tokens),
            ("output", usage.output_tokens),
            ("cache_read", usage.cache_read_tokens),
            ("cache_write", usage.cache_write_tokens),
            ("reasoning", usage.reasoning_tokens),
        ):
            if tokens > 0:
                self._counter("tokens", model, provider, kind).inc(tokens)

    def _count_tools(self, provider: str) -> None:
        counters, told = self.tally.by_provider.get(provider), self._told.get(provider)
        if counters is None or counters is told:
            return
        self._told[provider] = counters
        for name, gauge in self._tools.items():
            count = getattr(counters, name)
            if told is None or count != getattr(told, name):
                gauge.labels(provider).set(count)


class _Shown:
    """A registry without the times at which its series were made: a series more for each."""

    def __init__(self, registry: "CollectorRegistry") -> None:
        self._registry = registry

    def collect(self) -> "Iterator[Metric]":
        for metric in self._registry.collect():
            metric.samples = [one for one in metric.samples if not one.name.endswith("_created")]
            yield metric


def _counter_line(name: str) -> bytes:
    return b"# TYPE %b counter\n" % name.encode()
