"""How the benchmarks measure: two pieces of work, side by side, best of several repeats.

A benchmark states a ratio, never a time: times say something about the machine, ratios about the
code. Both sides run in turn in one process, so that whatever slows the machine slows both. The
garbage collector stays on, as it is in the programs that use the library.

Growth is measured in time of the processor, and the short side does its work as often as it takes
to be as much as the long one: of short runs the best is a lucky one, of long runs it never is.
"""

import gc
from collections.abc import Callable
from time import perf_counter, process_time
from typing import NamedTuple, TypeAlias

REPEATS = 7
Clock: TypeAlias = Callable[[], float]


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
    must: bool = False
    """Whether a goal that is missed ends the run with 1."""

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.ratio <= self.goal


def compare(
    what: str,
    ours: Side,
    theirs: Side,
    *,
    goal: float | None = None,
    clock: Clock = perf_counter,
    repeats: int = REPEATS,
) -> Ratio:
    """The cost of a unit of `ours` in units of `theirs`."""
    for side in (ours, theirs):
        side.work()
    best_ours = best_theirs = float("inf")
    for _ in range(repeats):
        best_ours = min(best_ours, _seconds(ours, clock))
        best_theirs = min(best_theirs, _seconds(theirs, clock))
    return Ratio(what, best_ours, best_theirs, goal)


def growth(
    what: str,
    work: Callable[[str], object],
    long: str,
    short: str,
    *,
    goal: float,
    repeats: int = REPEATS,
) -> Ratio:
    """The cost of a character of the long text in characters of the short one."""
    times = max(1, round(len(long) / len(short)))

    def work_as_much() -> None:
        for _ in range(times):
            work(short)

    ours, theirs = Side(lambda: work(long), len(long)), Side(work_as_much, len(short) * times)
    return compare(what, ours, theirs, goal=goal, clock=process_time, repeats=repeats)


def growth_once(work: Callable[[str], object], long: str, short: str) -> float:
    """The same in one run, without the name: a first look at one of many texts."""
    times = max(1, round(len(long) / len(short)))
    begin = process_time()
    work(long)
    middle = process_time()
    for _ in range(times):
        work(short)
    return (middle - begin) / max(process_time() - middle, 1e-9)


def _seconds(side: Side, clock: Clock) -> float:
    """Seconds for one unit, in one run that starts with a clean heap."""
    gc.collect()
    begin = clock()
    side.work()
    return (clock() - begin) / side.units
