"""How long pieces of work take, side by side: they run in turn, and the best of each counts.

Times say something about the machine, ratios about the code: whatever slows the machine down slows
all of them, because none runs for long before the next one has its turn.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TypeAlias

from msgspec import Struct

Clock: TypeAlias = Callable[[], float]
Work: TypeAlias = Callable[[], object]

_SHORTEST = 0.002
"""Seconds that one piece of work runs at a time: less is below what clocks tell well."""
_LEAST_ROUNDS = 3


class Measured(Struct, frozen=True):
    """What one piece of work costs."""

    seconds: float
    """For one run, at its best."""
    runs: int


def side_by_side(
    works: Mapping[str, Work], seconds: float, clock: Clock = perf_counter
) -> dict[str, Measured]:
    """The cost of each, measured for so many seconds in all."""
    end = clock() + seconds
    counts = {name: _count(work, clock) for name, work in works.items()}
    best = dict.fromkeys(works, float("inf"))
    runs = dict.fromkeys(works, 0)
    rounds = 0
    while rounds < _LEAST_ROUNDS or clock() < end:
        rounds += 1
        for name, work in works.items():
            best[name] = min(best[name], _seconds(work, counts[name], clock))
            runs[name] += counts[name]
    return {name: Measured(best[name], runs[name]) for name in works}


def _count(work: Work, clock: Clock) -> int:
    """How often work is done at a time, after it was done once to be warm."""
    work()
    return max(1, round(_SHORTEST / max(_seconds(work, 1, clock), 1e-9)))


def _seconds(work: Work, count: int, clock: Clock) -> float:
    begin = clock()
    for _ in range(count):
        work()
    return (clock() - begin) / count
