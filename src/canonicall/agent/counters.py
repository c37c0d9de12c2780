"""What went how often, for each provider: five numbers that show where tool calling goes wrong."""

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from canonicall.findings import Action
from canonicall.guard.validation import Validated

_MOST_PLACES = 10_000
_LONGEST = 128
"""Characters of the name of a tool."""


class Counters(Struct, frozen=True, kw_only=True):
    """The counts of one provider."""

    tool_calls_total: int = 0
    tool_calls_invalid_args: int = 0
    """Refused before they were run: no such tool, cut, unreadable, not what the schema wants."""
    tool_calls_repaired: int = 0
    """Run with arguments that had to be put right first."""
    tool_api_400_total: int = 0
    """Requests that the provider refused, also where it then took them in another form."""
    tool_loop_max_iterations: int = 0
    """Runs that reached a limit of turns or of tool calls."""


class Place(NamedTuple):
    """What a count is of. `tool` is empty for what concerns no single tool."""

    provider: str
    model: str = ""
    tool: str = ""


class Tally:
    """Counts by provider. What is new since the last `take` is known by model and tool too."""

    def __init__(self) -> None:
        self.by_provider: dict[str, Counters] = {}
        self.on_news: Callable[[], None] | None = None
        """Called when something is counted for the first time after a `take`."""
        self._new: dict[Place, Counters] = {}

    def count(self, provider: str, checked: Validated, *, model: str = "") -> None:
        """What a call says about how well its provider calls tools."""
        tool = checked.call.name[:_LONGEST]
        self.add(provider, "tool_calls_total", model=model, tool=tool)
        if not checked.ok:
            self.add(provider, "tool_calls_invalid_args", model=model, tool=tool)
        elif any(one.action is not Action.KEPT for one in checked.findings):
            self.add(provider, "tool_calls_repaired", model=model, tool=tool)

    def add(self, provider: str, name: str, *, model: str = "", tool: str = "") -> None:
        """One more."""
        self.by_provider[provider] = _more(self.by_provider.get(provider), name)
        place = Place(provider, model, tool)
        if place not in self._new and len(self._new) >= _MOST_PLACES:
            # Models invent names, and perhaps no store takes them.
            place = Place(provider)
        is_first = not self._new
        self._new[place] = _more(self._new.get(place), name)
        if is_first and self.on_news is not None:
            self.on_news()

    @property
    def has_news(self) -> bool:
        """Whether anything was counted since the last `take`."""
        return bool(self._new)

    def take(self) -> dict[Place, Counters]:
        """What was counted since this was called the last time."""
        taken, self._new = self._new, {}
        return taken


def _more(known: Counters | None, name: str) -> Counters:
    known = known or Counters()
    return replace(known, **{name: getattr(known, name) + 1})
