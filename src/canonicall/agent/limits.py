"""How far a run may go, and what happens there."""

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from canonicall.agent.inputs import ModelReplied

AtLimit: TypeAlias = Literal["answer", "stop"]
"""answer: one last turn in words, with tools declared but forbidden. stop: at once."""


class RunLimits(Struct, frozen=True, kw_only=True):
    """What one run of an agent may spend; None for no limit.

    A run is everything between something the user says and the end of the answer to it.
    """

    turns: int | None = 25
    """How often the model is asked."""
    tool_calls: int | None = None
    tokens: int | None = None
    """Read and written, all turns together."""
    cost: float | None = None
    """In whatever the driver counts it in."""
    seconds: float | None = None
    at_turns: AtLimit = "answer"
    at_tool_calls: AtLimit = "answer"
    at_tokens: AtLimit = "stop"
    at_cost: AtLimit = "stop"
    at_seconds: AtLimit = "stop"


class Spent(Struct, frozen=True, kw_only=True):
    """What a run has spent so far."""

    turns: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def with_turn(self, event: ModelReplied) -> "Spent":
        """One more turn of the model."""
        usage = event.reply.usage
        return replace(
            self,
            turns=self.turns + 1,
            tokens=self.tokens + (usage.input_tokens + usage.output_tokens if usage else 0),
            cost=self.cost + event.cost,
            seconds=self.seconds + event.seconds,
        )

    def with_call(self, seconds: float) -> "Spent":
        """One more call."""
        return replace(self, tool_calls=self.tool_calls + 1, seconds=self.seconds + seconds)


class Reached(Struct, frozen=True):
    """A limit that is reached."""

    name: str
    limit: float
    policy: AtLimit


def limit_reached(limits: RunLimits, spent: Spent) -> Reached | None:
    """The first limit that leaves no room for another turn; one that says stop comes first."""
    found = [
        Reached(name, limit, getattr(limits, f"at_{name}"))
        for name in ("turns", "tool_calls", "tokens", "cost", "seconds")
        if (limit := getattr(limits, name)) is not None and getattr(spent, name) >= limit
    ]
    return min(found, key=lambda one: one.policy != "stop", default=None)
