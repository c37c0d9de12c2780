"""How the benchmarks measure: two pieces of work, side by side, best of several repeats.

A benchmark states a ratio, never a time: times say something about the machine, ratios about the
code. Both sides run in turn in one process, so that whatever slows the machine slows both. The
garbage collector stays on, as it is in the programs that use the library.
"""

import gc
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

REPEATS = 7


class Side(NamedTuple):
    """One side of a comparison: work, and how many units it does."""

    work: Callable[[], object]
    units: int


class Ratio(NamedTuple):
    """What one comparison found."""

    what: str
    ours: float
    """Seconds for one unit of the work in question."""
    theirs: float
    """Seconds for one unit of what it is compared with."""
    goal: float | None
    """The ratio to stay within; None for information only."""

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.ratio <= self.goal


def compare(what: str, ours: Side, theirs: Side, *, goal: float | None = None) -> Ratio:
    """The cost of a unit of `ours` in units of `theirs`."""
    for side in (ours, theirs):
        side.work()
    best_ours = best_theirs = float("inf")
    for _ in range(REPEATS):
        best_ours = min(best_ours, _seconds(ours))
        best_theirs = min(best_theirs, _seconds(theirs))
    return Ratio(what, best_ours, best_theirs, goal)


def _seconds(side: Side) -> float:
    """Seconds for one unit, in one run that starts with a clean heap."""
    gc.collect()
    begin = perf_counter()
    side.work()
    return (perf_counter() - begin) / side.units
