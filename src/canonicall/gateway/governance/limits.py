"""What a key may use, and the interface of what holds it to that.

A key has limits on the requests that run at once, and on the requests and tokens of a minute. The
gate asks a `Limiter` before each request, and says when it has ended. Each kind is one file:

- `windows.LocalLimiter`: one process.
- `shared_memory.SharedLimiter`: the workers of one port.

Keys are named by their hashes. The clock is handed in: seconds since 1970.
"""

from collections.abc import Iterable
from typing import Literal, Protocol

from msgspec import Struct


class KeyLimits(Struct, frozen=True):
    """The most that a key may use; 0 is no limit."""

    concurrent: int = 0
    requests_per_minute: int = 0
    tokens_per_minute: int = 0


class KeyUse(Struct, frozen=True):
    """What a key uses now, and has used in the last minute."""

    running: int = 0
    requests: int = 0
    tokens: int = 0


class LimitReached(Struct, frozen=True):
    """A limit that leaves no room for another request."""

    limit: Literal["concurrent", "requests", "tokens"]
    spent: int
    wait: float | None
    """Seconds until there is room; None if that depends on when a request ends."""


class Limiter(Protocol):
    """Counts what keys use. A minute slides: in no 60 seconds more requests begin than the limit.

    Whoever counts for several processes or machines sees to it that a request is checked and
    counted in one step, and that what ran in a process which died does not count for ever. Whoever
    makes a limiter closes it.
    """

    @property
    def is_shared(self) -> bool:
        """Whether it counts what all workers let in. Else each has to take its part of a limit."""
        ...

    def know(self, keys: Iterable[str]) -> None:
        """Make room for these keys. What is counted of any key stays."""
        ...

    async def begin(self, key: str, limits: KeyLimits, now: float) -> LimitReached | None:
        """Count one more request; or say which limit is reached, and count nothing."""
        ...

    def end(self, key: str, tokens: int, now: float) -> None:
        """A request has ended and cost so many tokens.

        It does not wait and does not fail: requests that are cancelled end here too.
        """
        ...

    async def spent(self, key: str, now: float) -> KeyUse:
        """What a key uses."""
        ...

    async def revoke(self, key: str) -> None:
        """Tell everybody who shares this limiter that a key is revoked."""
        ...

    async def newly_revoked(self) -> set[str]:
        """The keys that anybody has revoked since this was asked the last time."""
        ...
