"""A batch: the calls of one turn that may run, and which of them may run beside each other.

The plan is data. Calls go in waves: what is in one wave may run at the same time, unless two share
a resource; a wave begins when the one before has ended. A sequential tool has a wave of its own.
"""

from collections.abc import Iterable

from msgspec import Struct

from canonicall.blocks import ToolCall
from canonicall.tools.toolset import Toolset


class Planned(Struct, frozen=True):
    """A call that is ready to run."""

    call: ToolCall
    resources: tuple[str, ...] = ()
    """What it works on: two calls of a wave that share one run one after the other."""
    timeout: float | None = None


class Batch(Struct, frozen=True):
    """The calls of one turn, wave by wave."""

    waves: tuple[tuple[Planned, ...], ...] = ()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls, in the order the model made them."""
        return tuple(one.call for wave in self.waves for one in wave)


def plan(calls: Iterable[ToolCall], tools: Toolset) -> Batch:
    """The waves in which these calls run: in call order, cut at every sequential tool."""
    waves: list[list[Planned]] = []
    is_open = False
    for call in calls:
        tool = tools[call.name]
        planned = Planned(call, tool.resources_of(call.args or {}), tool.timeout)
        if is_open and not tool.sequential:
            waves[-1].append(planned)
        else:
            waves.append([planned])
        is_open = not tool.sequential
    return Batch(tuple(tuple(wave) for wave in waves))
