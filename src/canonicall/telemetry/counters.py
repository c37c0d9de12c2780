"""The five counters of tool calling, for each provider, as text, as JSON and as metrics.

    tally = Tally()
    agent = Agent(model, "openai", tally=tally)

Sessions that share a tally count together. It is read when somebody asks; counting costs nothing
that is not counted anyway.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from canonicall.agent.counters import Counters, Tally
from canonicall.facts.telemetry_names import telemetry_name

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation

HELP = {
    "tool_calls_total": "Calls that models made.",
    "tool_calls_invalid_args": "Calls that were refused before they were run.",
    "tool_calls_repaired": "Calls whose arguments had to be put right before they were run.",
    "tool_api_400_total": "Requests that the provider refused.",
    "tool_loop_max_iterations": "Runs that reached a limit of turns or of tool calls.",
}


def counters_text(tally: Tally) -> str:
    """The counters in the text format of Prometheus, in a fixed order."""
    lines: list[str] = []
    for name, help in HELP.items():
        lines += (f"# HELP {name} {help}", f"# TYPE {name} counter")
        lines += (
            f'{name}{{provider="{_escaped(provider)}"}} {getattr(counters, name)}'
            for provider, counters in _sorted(tally)
        )
    return "\n".join(lines) + "\n"


def counters_json(tally: Tally) -> bytes:
    """The counters by provider, as one JSON object."""
    return msgspec.json.encode(dict(_sorted(tally)))


def export_counters(tally: Tally, meter: "Meter | None" = None) -> bool:
    """Have OpenTelemetry read the counters whenever it collects metrics.

    False, and nothing else, where opentelemetry is not installed.
    """
    try:
        from opentelemetry import metrics  # noqa: PLC0415  an extra
    except ImportError:
        return False
    meter = meter or metrics.get_meter("canonicall")
    for name, help in HELP.items():
        meter.create_observable_counter(
            name, callbacks=[_reader(tally, name, metrics.Observation)], description=help
        )
    return True


def _reader(
    tally: Tally, name: str, made: Any
) -> "Callable[[CallbackOptions], Iterable[Observation]]":
    def read(options: "CallbackOptions") -> "Iterable[Observation]":
        del options
        for provider, counters in _sorted(tally):
            attributes = {"gen_ai.provider.name": telemetry_name(provider)}
            yield made(getattr(counters, name), attributes)

    return read


def _sorted(tally: Tally) -> Iterator[tuple[str, Counters]]:
    yield from sorted(tally.by_provider.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
