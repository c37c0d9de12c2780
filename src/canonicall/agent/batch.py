"""A batch: the calls of one turn that may run, and which of them may run beside each other.

The plan is data. Calls go in waves: what is in one wave may run at the same time, unless two share
a resource; a wave begins when the one before has ended. A sequential tool has a wave of its own.
"""

from collections.abc import Iterable

from msgspec import Struct

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.tools.bound import BoundTool
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
        resources = _resources(tool, call)
        planned = Planned(call, resources or (), tool.timeout)
        is_alone = tool.sequential or resources is None
        if is_open and not is_alone:
            waves[-1].append(planned)
        else:
            waves.append([planned])
        is_open = not is_alone
    return Batch(tuple(tuple(wave) for wave in waves))


def _resources(tool: BoundTool, call: ToolCall) -> tuple[str, ...] | None:
    """What a call works on; None where the tool's own function cannot tell: it runs alone then."""
    try:
        return tool.resources_of(arguments_of(call))
    except Exception:  # noqa: BLE001  # a user's function; the loop must not break by it
        return None
