"""How much was spent in the last minute, and counting it in one process.

What is known of a key is a row of numbers: a list, or memory that several processes see. Whoever
shares it sees to it that only one works on it at a time.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from canonicall.gateway.governance.limits import KeyLimits, KeyUse, LimitReached

Numbers: TypeAlias = "list[int] | memoryview[int]"

_SECONDS = 60
_SLOTS = _SECONDS + 1
"""One more than a minute has, so that in no 60 seconds more than the limit is spent."""
_STRAGGLING = 1
"""Seconds that a caller may be behind another: clocks are read before it is their turn."""
_WINDOW = _SLOTS + 3
"""How many numbers a window is: those of the slots, and the three that have names."""
_SPENT, _AT, _SECOND = range(_SLOTS, _WINDOW)


class Window:
    """A minute that slides, in slots of a second: what is added counts for 60 to 61 seconds.

    Adding and asking cost the same however much was spent.
    """

    __slots__ = ("_numbers",)

    def __init__(self, numbers: "Numbers | None" = None) -> None:
        self._numbers = [0] * _WINDOW if numbers is None else numbers

    def add(self, amount: int, now: float) -> None:
        """So much was spent."""
        self._move(now)
        numbers = self._numbers
        numbers[_SPENT] += amount
        numbers[numbers[_AT]] += amount

    def at(self, now: float) -> int:
        """What was spent in the minute before."""
        self._move(now)
        return self._numbers[_SPENT]

    def wait(self, limit: int, now: float) -> float:
        """Seconds until less than the limit is spent; 0 where it is so."""
        self._move(now)
        numbers = self._numbers
        over = numbers[_SPENT] - limit
        if over < 0:
            return 0.0
        for age in range(_SLOTS - 1, -1, -1):
            over -= numbers[(numbers[_AT] - age) % _SLOTS]
            if over < 0:
                return numbers[_SECOND] + _SLOTS - age - now
        return float(_SLOTS)

    def put_right(self) -> None:
        """Add up again, after somebody who may have been killed in the midst of it."""
        self._numbers[_SPENT] = sum(self._numbers[:_SLOTS])

    def _move(self, now: float) -> None:
        numbers, second = self._numbers, int(now)
        ahead = second - numbers[_SECOND]
        if ahead <= 0:
            if ahead < -_STRAGGLING:
                # A clock that is set back must not keep old spending for as long as it was.
                numbers[_SECOND] = second
            return
        for _ in range(min(ahead, _SLOTS)):
            at = numbers[_AT] = (numbers[_AT] + 1) % _SLOTS
            numbers[_SPENT] -= numbers[at]
            numbers[at] = 0
        numbers[_SECOND] = second


class Row:
    """What is held against the limits of a key, by one worker or by several."""

    __slots__ = ("_requests", "_running", "_tokens", "_worker")

    def __init__(self, numbers: "Numbers | None" = None, *, worker: int = 0) -> None:
        """`numbers`: as many as `size` says, which others may see; `worker`: which one this is."""
        if numbers is None:
            numbers = [0] * self.size(workers=1)
        self._requests = Window(numbers[:_WINDOW])
        self._tokens = Window(numbers[_WINDOW : 2 * _WINDOW])
        self._running = numbers[2 * _WINDOW :]
        """In each worker, so that it is known what ends with one that dies."""
        self._worker = worker

    @staticmethod
    def size(*, workers: int) -> int:
        """How many numbers it takes for so many workers."""
        return 2 * _WINDOW + workers

    def begin(self, limits: KeyLimits, now: float) -> LimitReached | None:
        """One more request runs in this worker, or a limit is reached."""
        running = sum(self._running)
        if limits.concurrent and running >= limits.concurrent:
            return LimitReached("concurrent", running, None)
        if limits.requests_per_minute:
            wait = self._requests.wait(limits.requests_per_minute, now)
            if wait > 0:
                return LimitReached("requests", self._requests.at(now), wait)
        if limits.tokens_per_minute:
            wait = self._tokens.wait(limits.tokens_per_minute, now)
            if wait > 0:
                return LimitReached("tokens", self._tokens.at(now), wait)
        self._running[self._worker] += 1
        self._requests.add(1, now)
        return None

    def end(self, tokens: int, now: float) -> None:
        """One less, and what it cost: only now is that known."""
        self._running[self._worker] -= 1
        self._tokens.add(max(0, tokens), now)

    def spent(self, now: float) -> KeyUse:
        """What it says."""
        return KeyUse(sum(self._running), self._requests.at(now), self._tokens.at(now))

    def begin_anew(self) -> None:
        """This worker takes the place of one that died: what ran there runs no more."""
        self._running[self._worker] = 0
        self._requests.put_right()
        self._tokens.put_right()


class LocalLimiter:
    """Fits `Limiter`: what one process lets in."""

    is_shared = False

    def __init__(self) -> None:
        self._rows: defaultdict[str, Row] = defaultdict(Row)

    def know(self, keys: Iterable[str]) -> None:
        """Nothing has to be prepared."""

    async def begin(self, key: str, limits: KeyLimits, now: float) -> LimitReached | None:
        return self._rows[key].begin(limits, now)

    def end(self, key: str, tokens: int, now: float) -> None:
        self._rows[key].end(tokens, now)

    async def spent(self, key: str, now: float) -> KeyUse:
        return self._rows[key].spent(now)

    async def revoke(self, key: str) -> None:
        """Nobody else has to be told."""

    async def newly_revoked(self) -> set[str]:
        return set()
