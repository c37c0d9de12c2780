"""The gateway as operators see it: what `operations` asks for."""

import time
from collections.abc import Callable
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

    def __init__(
        self,
        gateway: "Gateway",
        metrics: Metrics | None,
        reread: Callable[[], Settings] | None = None,
    ) -> None:
        """`reread`: the settings as their file has them now."""
        self._gateway = gateway
        self._reread = reread
        self.metrics = metrics
        self.is_draining = False

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
        """Read the settings again, and serve by them."""
        if self._reread is None:
            raise CanonicallError(NOT_READABLE)
        settings = self._reread()
        await self._gateway.reload(settings)
        return {"models": list(settings.models), "providers": list(settings.providers)}

    async def keep_revoked(self, hash: str) -> None:
        """Remember that a key is revoked."""
        await self._gateway.keeping.revoke(hash, self.now())

    def breakers(self) -> Any:
        """The state of each provider, as JSON."""
        return self._gateway.state.backs.shown(self.now())

    async def reports(self, most: int) -> Any:
        """The last reports."""
        return await self._gateway.keeping.last_reports(most)

    async def report(self, id: str) -> Any | None:
        """The report of one request."""
        return await self._gateway.keeping.report(id)
