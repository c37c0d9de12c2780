"""How much was spent in the last minute. The clock is handed in."""

from collections.abc import Sequence

_SECONDS = 60
_SLOTS = _SECONDS + 1
"""One more than a minute has, so that in no 60 seconds more than the limit is spent."""
_STRAGGLING = 1
"""Seconds that a caller may be behind another: clocks are read before it is their turn."""
KEPT_OF_WINDOW = _SLOTS + 3
"""How many numbers a window is, where it is written down."""


class Window:
    """A minute that slides, in slots of a second: what is added counts for 60 to 61 seconds.

    Adding and asking cost the same however much was spent.
    """

    __slots__ = ("_at", "_second", "_slots", "_spent")

    def __init__(self, kept: Sequence[int] = (0,) * KEPT_OF_WINDOW) -> None:
        """`kept`: what another one was."""
        self._spent, self._at, self._second, *self._slots = kept

    def kept(self) -> tuple[int, ...]:
        """All that it is, to make the same one again."""
        return (self._spent, self._at, self._second, *self._slots)

    def add(self, amount: int, now: float) -> None:
        """So much was spent."""
        self._move(now)
        self._slots[self._at] += amount
        self._spent += amount

    def at(self, now: float) -> int:
        """What was spent in the minute before."""
        self._move(now)
        return self._spent

    def wait(self, limit: int, now: float) -> float:
        """Seconds until less than the limit is spent; 0 where it is so."""
        self._move(now)
        over = self._spent - limit
        if over < 0:
            return 0.0
        for age in range(_SLOTS - 1, -1, -1):
            over -= self._slots[self._at - age]
            if over < 0:
                return self._second + _SLOTS - age - now
        return float(_SLOTS)

    def _move(self, now: float) -> None:
        second = int(now)
        behind = self._second - second
        if behind >= 0:
            if behind > _STRAGGLING:
                # A clock that is set back must not keep old spending for as long as it was.
                self._second = second
            return
        for _ in range(min(second - self._second, _SLOTS)):
            self._at = (self._at + 1) % _SLOTS
            self._spent -= self._slots[self._at]
            self._slots[self._at] = 0
        self._second = second


class Spent:
    """What is held against the limits of a key."""

    __slots__ = ("requests", "running", "tokens")

    def __init__(
        self,
        *,
        running: int = 0,
        requests: Window | None = None,
        tokens: Window | None = None,
    ) -> None:
        self.running = running
        self.requests = requests or Window()
        self.tokens = tokens or Window()
