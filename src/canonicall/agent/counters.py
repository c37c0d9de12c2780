"""What went how often, for each provider: five numbers that show where tool calling goes wrong."""

from msgspec import Struct
from msgspec.structs import replace

from canonicall.findings import Action
from canonicall.guard.validation import Validated


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


class Tally:
    """Counts by provider."""

    def __init__(self) -> None:
        self.by_provider: dict[str, Counters] = {}

    def count(self, provider: str, checked: Validated) -> None:
        """What a call says about how well its provider calls tools."""
        self.add(provider, "tool_calls_total")
        if not checked.ok:
            self.add(provider, "tool_calls_invalid_args")
        elif any(one.action is not Action.KEPT for one in checked.findings):
            self.add(provider, "tool_calls_repaired")

    def add(self, provider: str, name: str) -> None:
        """One more."""
        known = self.by_provider.get(provider, Counters())
        self.by_provider[provider] = replace(known, **{name: getattr(known, name) + 1})
