"""Simulators in the place of the network: what a client sends goes to them without a socket."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from urllib.parse import urlsplit

from canonicall.client.transport import Timeouts, TransportError
from canonicall.testing.exchange import Pause, SimRequest, SimResponse
from canonicall.testing.simulator import Simulator


class SimulatorTransport:
    """A transport to simulated providers: one for each host that is asked."""

    def __init__(self, simulator_for: Callable[[str], Simulator]) -> None:
        """`simulator_for`: the simulator that answers at an address."""
        self._simulator_for = simulator_for

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeouts: Timeouts,
        *,
        proxy: str = "",
    ) -> "SimulatedResponse":
        """The answer of the simulator at `url`."""
        del timeouts, proxy
        request = SimRequest.of("POST", url, body, dict(headers))
        return SimulatedResponse(self._simulator_for(url).answer(request), urlsplit(url).path)

    async def get(
        self, url: str, headers: Mapping[str, str], timeouts: Timeouts, *, proxy: str = ""
    ) -> "SimulatedResponse":
        """The same for what is only read, such as a list of models."""
        del timeouts, proxy
        request = SimRequest.of("GET", url, b"", dict(headers))
        return SimulatedResponse(self._simulator_for(url).answer(request), urlsplit(url).path)

    async def close(self) -> None:
        """Nothing is open."""


class SimulatedResponse:
    """What a simulator answered."""

    def __init__(self, response: SimResponse, where: str) -> None:
        self._response = response
        self._where = where
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.headers.items()}

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes, piece by piece, with the pauses between them."""
        for piece in self._response.pieces:
            if isinstance(piece, Pause):
                await asyncio.sleep(3600.0 if piece.seconds is None else piece.seconds)
            else:
                await asyncio.sleep(0)
                yield piece
        if self._response.is_cut:
            what = "the connection broke before the end of the answer."
            raise TransportError(what, where=self._where, phase="connection")

    def close(self) -> None:
        """Nothing is open."""
