"""The gateway as operators see it: what `operations` asks for."""

import time
from typing import TYPE_CHECKING, Any

from canonicall.errors import CanonicallError
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.metrics import Metrics
from canonicall.gateway.settings import Settings

if TYPE_CHECKING:
    from canonicall.gateway.app import Gateway

NOT_READABLE = "the settings were given in code: there is no file to read again."


class Operated:
    """Fits `operations.App`."""

    def __init__(self, gateway: "Gateway", metrics: Metrics | None) -> None:
        self._gateway = gateway
        self.metrics = metrics

    @property
    def is_draining(self) -> bool:
        """Whether its server ends, and takes nothing new."""
        serving = self._gateway.serving
        return serving is not None and serving.is_draining

    @property
    def settings(self) -> Settings:
        """Those that hold now."""
        return self._gateway.state.settings

    @property
    def gate(self) -> Gate:
        """The one that lets in now."""
        return self._gateway.state.gate

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    async def is_store_writable(self) -> bool:
        """Whether what must be kept can be kept."""
        try:
            await self._gateway.keeping.check()
        except CanonicallError:
            return False
        return True

    async def reread(self) -> Any:
        """Have the settings read again, in all workers; the server tells what comes of it."""
        if self._gateway.serving is None:
            raise CanonicallError(NOT_READABLE)
        self._gateway.serving.renew()
        return "The settings are read again; the server tells what comes of it."

    async def keep_revoked(self, hash: str) -> None:
        """Remember that a key is revoked."""
        await self._gateway.keeping.revoke(hash, self.now())

    def breakers(self) -> Any:
        """The state of each provider, as JSON."""
        return self._gateway.state.backs.shown()

    async def reports(self, most: int) -> Any:
        """The last reports."""
        return await self._gateway.keeping.last_reports(most)

    async def report(self, id: str) -> Any | None:
        """The report of one request."""
        return await self._gateway.keeping.report(id)
