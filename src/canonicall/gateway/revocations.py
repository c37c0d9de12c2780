"""Keys that are revoked while gateways run: told to all who serve, and kept for the next start.

The workers of one port tell each other by their limiter, all gateways with the same store by that.
Nobody is asked when a request comes: what is new is looked for every second.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.keeping import Keeping
from canonicall.store.engine import StoreError

_LOOKS_EVERY = 1.0
"""Seconds; so long at most, others let in a key that is revoked."""


class Revocations:
    """What one gateway tells others, and learns from them."""

    def __init__(self, keeping: Keeping, gate: Callable[[], Gate]) -> None:
        """`gate`: the one that lets in now."""
        self._keeping = keeping
        self._gate = gate
        self._following: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Learn what was revoked before, and go on to look."""
        await self._learn()
        if self._gate().limiter.is_shared or self._keeping.is_shared:
            self._following = asyncio.create_task(self._follow())

    async def keep(self, hash: str, now: float) -> None:
        """Tell others of one that was revoked here."""
        await self._gate().limiter.revoke(hash)
        await self._keeping.revoke(hash, now)

    def end(self) -> None:
        """Look no more."""
        if self._following is not None:
            self._following.cancel()

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(_LOOKS_EVERY)
            # A store that is locked or full today may be read tomorrow; /readyz tells of it.
            with suppress(StoreError):
                await self._learn()

    async def _learn(self) -> None:
        learned = await self._gate().limiter.newly_revoked()
        self._keeping.revoked |= learned
        self._gate().revoked |= self._keeping.revoked
        if self._keeping.is_shared:
            await self._keeping.reread_revoked()
            self._gate().revoked |= self._keeping.revoked
