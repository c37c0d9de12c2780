"""The gateway as operators see it: what `operations` asks for."""

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from canonicall.discovery.addresses import provider_name
from canonicall.discovery.discover import discover
from canonicall.discovery.profile_text import profile_text
from canonicall.errors import CanonicallError
from canonicall.gateway.config import Settings
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.metrics import Metrics
from canonicall.gateway.operations import DiscoveryWanted

if TYPE_CHECKING:
    from canonicall.gateway.app import Gateway

NOT_READABLE = "the settings were given in code: there is no file to read again."


class Operated:
    """Fits `operations.App`."""

    def __init__(self, gateway: "Gateway", metrics: Metrics | None) -> None:
        self._gateway = gateway
        self.metrics = metrics

    @property
    def is_ending(self) -> bool:
        """Whether its server ends, and takes nothing new."""
        serving = self._gateway.serving
        return serving is not None and serving.is_ending

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

    async def store_problem(self) -> str:
        """Why what must be kept cannot be kept; empty if it can."""
        return await self._gateway.keeping.check()

    async def reread(self) -> Any:
        """Have the settings read again, in all workers; the server tells what comes of it."""
        if self._gateway.serving is None:
            raise CanonicallError(NOT_READABLE)
        self._gateway.serving.renew()
        return "The settings are read again; the server tells what comes of it."

    async def keep_revoked(self, hash: str) -> None:
        """Remember that a key is revoked, and tell other workers."""
        await self._gateway.revocations.keep(hash, self.now())

    def breakers(self) -> Any:
        """The state of each provider, as JSON."""
        return self._gateway.state.backs.shown()

    async def reports(self, most: int) -> Any:
        """The last reports."""
        return await self._gateway.keeping.last_reports(most)

    async def report(self, id: str) -> Any | None:
        """The report of one request."""
        return await self._gateway.keeping.report(id)

    async def discover(self, wanted: DiscoveryWanted) -> Any:
        """What is found out about an endpoint, with its profile as text."""
        # Only this needs the checks, and few gateways are asked for it.
        from canonicall.testing.conformance import broken_checks  # noqa: PLC0415

        transport: Any = self._gateway.state.backs.means.transport
        info = await discover(
            wanted.url,
            model=wanted.model,
            key=wanted.key,
            format=wanted.format,
            prove=broken_checks,
            # One that was given for tests may only know how to ask models.
            transport=transport if hasattr(transport, "get") else None,
        )
        name = wanted.name or provider_name(info.url)
        date = datetime.fromtimestamp(self.now(), UTC).date().isoformat()
        text = profile_text(info, date=date, name=name)
        return {**msgspec.to_builtins(info), "provider": name, "profile": text}
