"""What a session has done so far: model calls, tool calls, tokens and time, in numbers.

The five counters of each provider are the machine's own. How calls ended is read from the ledger,
so that a number never says anything else than the conversation. Time comes from the session's
clock.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.agent.counters import Counters
from canonicall.agent.inputs import CallEnded, Input, ModelFailed, ModelReplied
from canonicall.ledger import Interaction

_OPEN = "open"


class Latency(Struct, frozen=True):
    """How long something took, over all times it was done."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    @property
    def mean(self) -> float:
        """Seconds each."""
        return self.total / self.count if self.count else 0.0

    def plus(self, seconds: float) -> "Latency":
        """With one more."""
        return Latency(self.count + 1, self.total + seconds, max(self.longest, seconds))


class ProviderStats(Struct, frozen=True, kw_only=True):
    """What one provider was asked."""

    turns: int = 0
    """Replies."""
    failures: int = 0
    """How often no reply came; cancelled ones are among them."""
    input_tokens: int = 0
    output_tokens: int = 0
    latency: Latency = Latency()
    counters: Counters = Counters()


class ToolStats(Struct, frozen=True, kw_only=True):
    """What became of the calls of one tool."""

    outcomes: dict[str, int] = {}
    latency: Latency = Latency()
    """Of the calls that were run."""


class SessionStats(Struct, frozen=True, kw_only=True):
    """Everything, as of now."""

    providers: dict[str, ProviderStats] = {}
    tools: dict[str, ToolStats] = {}

    def json(self) -> bytes:
        """One JSON object."""
        return msgspec.json.encode(self)

    def table(self) -> str:
        """Tables for people, one line each; names that others chose are for the caller to check."""
        asked = [
            (
                name,
                *(str(one.turns), str(one.failures), str(one.input_tokens), str(one.output_tokens)),
                *_times(one.latency),
            )
            for name, one in self.providers.items()
        ]
        counted = [
            (name, *(str(getattr(one.counters, field)) for field in Counters.__struct_fields__))
            for name, one in self.providers.items()
        ]
        called = [
            (
                name,
                ", ".join(f"{count} {outcome}" for outcome, count in one.outcomes.items()),
                *_times(one.latency),
            )
            for name, one in self.tools.items()
        ]
        parts = [
            _aligned(
                ("provider", "turns", "failed", "tokens in", "out", "mean s", "most s"), asked
            ),
            _aligned(("provider", *(_SHORT[name] for name in Counters.__struct_fields__)), counted),
        ]
        if called:
            parts.append(_aligned(("tool", "calls", "mean s", "most s"), called))
        return "\n\n".join(parts)


_SHORT = {
    "tool_calls_total": "calls",
    "tool_calls_invalid_args": "invalid",
    "tool_calls_repaired": "repaired",
    "tool_api_400_total": "refused",
    "tool_loop_max_iterations": "at limit",
}
"""The counters as heads of columns."""


class Watch:
    """Keeps the figures of a session while it goes on."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        """`known`: calls that were made before the session was opened; they are not its own."""
        self._known = frozenset(known)
        self._providers: dict[str, ProviderStats] = {}
        self._tools: dict[str, Latency] = {}
        self._ended: set[str] = set()

    def heard(self, event: Input, provider: str) -> None:
        """Take in what the machine is told."""
        one = self._providers.get(provider, ProviderStats())
        if isinstance(event, ModelReplied):
            usage = event.reply.usage
            self._providers[provider] = replace(
                one,
                turns=one.turns + 1,
                input_tokens=one.input_tokens + (usage.input_tokens if usage else 0),
                output_tokens=one.output_tokens + (usage.output_tokens if usage else 0),
                latency=one.latency.plus(event.seconds),
            )
        elif isinstance(event, ModelFailed):
            self._providers[provider] = replace(
                one, failures=one.failures + 1, latency=one.latency.plus(event.seconds)
            )

    def ran(self, name: str, event: CallEnded) -> None:
        """A call of this tool ended; one that never began took no time, late ends do not count."""
        if event.seconds and event.call_id not in self._ended:
            self._tools[name] = self._tools.get(name, Latency()).plus(event.seconds)
        self._ended.add(event.call_id)

    def stats(self, counters: dict[str, Counters], calls: Iterable[Interaction]) -> SessionStats:
        """All figures, with the machine's counters and the calls of the ledger."""
        names = dict.fromkeys((*self._providers, *counters))
        providers = {
            name: replace(
                self._providers.get(name, ProviderStats()),
                counters=counters.get(name, Counters()),
            )
            for name in names
        }
        outcomes: dict[str, Counter[str]] = {}
        for one in calls:
            if one.id not in self._known:
                ended = _OPEN if one.outcome is None else one.outcome.value
                outcomes.setdefault(one.name, Counter())[ended] += 1
        tools = {
            name: ToolStats(outcomes=dict(found), latency=self._tools.get(name, Latency()))
            for name, found in outcomes.items()
        }
        return SessionStats(providers=providers, tools=tools)


def _times(latency: Latency) -> tuple[str, str]:
    return (f"{latency.mean:.3f}", f"{latency.longest:.3f}") if latency.count else ("-", "-")


def _aligned(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Columns as wide as they have to be; the first to the left, numbers to the right."""
    lines = [head, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]

    def line(cells: tuple[str, ...]) -> str:
        first, *rest = (
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join((first, *rest)).rstrip()

    return "\n".join(map(line, lines))
