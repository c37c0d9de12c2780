"""Keys that are revoked while gateways run: told to all who serve, and kept for the next start.

The workers of one port tell each other by their ledger, all gateways with the same store by that.
Nobody is asked when a request comes: what is new is looked for every second.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.keeping import Keeping
from canonicall.store.engine import StoreError

if TYPE_CHECKING:
    from canonicall.gateway.governance.ledger import Ledger

_LOOKS_EVERY = 1.0
"""Seconds; so long at most, others let in a key that is revoked."""


class Revocations:
    """What one gateway tells others, and learns from them."""

    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping
        self._ledger: Ledger | None = None
        self._following: asyncio.Task[None] | None = None

    async def begin(self, gate: Callable[[], Gate], ledger: "Ledger | None") -> None:
        """Learn what was revoked before, and go on to look. `gate`: the one that lets in now."""
        self._ledger = ledger
        await self._learn(gate)
        if ledger is not None or self._keeping.is_shared:
            self._following = asyncio.create_task(self._follow(gate))

    async def keep(self, hash: str, now: float) -> None:
        """Tell others of one that was revoked here."""
        if self._ledger is not None:
            self._ledger.revoke(hash)
        await self._keeping.revoke(hash, now)

    def end(self) -> None:
        """Look no more."""
        if self._following is not None:
            self._following.cancel()

    async def _follow(self, gate: Callable[[], Gate]) -> None:
        while True:
            await asyncio.sleep(_LOOKS_EVERY)
            # A store that is locked or full today may be read tomorrow; /readyz tells of it.
            with suppress(StoreError):
                await self._learn(gate)

    async def _learn(self, gate: Callable[[], Gate]) -> None:
        if self._ledger is not None:
            self._keeping.revoked |= self._ledger.newly_revoked()
            gate().revoked |= self._keeping.revoked
        if self._keeping.is_shared:
            await self._keeping.reread_revoked()
            gate().revoked |= self._keeping.revoked
