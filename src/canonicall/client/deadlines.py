"""How long each phase of an exchange may take, and what is said where it takes longer."""

import asyncio
from types import TracebackType
from urllib.parse import urlsplit

from canonicall.client.transport import Phase, Timeouts, TransportError

_HELP: dict[Phase, str] = {
    "setup": "Check base_url, the key and the certificates; nothing was sent.",
    "connect": "Check the address and the network, or raise timeouts.connect.",
    "first_byte": "The model may need longer: raise timeouts.first_byte.",
    "between_bytes": "The stream stalled: ask again, or raise timeouts.between_bytes.",
    "total": "Ask for less, or raise timeouts.total.",
    "connection": "Ask again; if it stays, check the address, the proxy and the certificates.",
    "limit": "If such replies are wanted, raise the limits for replies.",
}
_WAITED = {
    "connect": "no connection",
    "first_byte": "no answer",
    "between_bytes": "nothing more came",
    "total": "the answer was not complete",
}


class Clock:
    """How long each phase of one exchange may still take."""

    def __init__(self, timeouts: Timeouts, where: str) -> None:
        self.timeouts = timeouts
        self.where = where
        self._now = asyncio.get_running_loop().time
        self._begun = self._now()

    def end_of(self, phase: Phase) -> tuple[Phase, float | None]:
        """What ends the phase in time, and when: its own limit, or that of the whole exchange."""
        limit = getattr(self.timeouts, phase)
        # Waiting for the head and for the first bytes behind it is one wait.
        since = self._begun if phase == "first_byte" else self._now()
        own = None if limit is None else since + limit
        total = self.timeouts.total
        end = None if total is None else self._begun + total
        if own is None or (end is not None and end < own):
            return "total", end
        return phase, own

    def limit(self, phase: Phase) -> "Limit":
        """A block that the phase takes place in."""
        return Limit(self, *self.end_of(phase))

    def late(self, phase: Phase) -> TransportError:
        """The error of a phase that has taken too long."""
        return self.failed(f"{_WAITED[phase]} within {getattr(self.timeouts, phase):g} s.", phase)

    def failed(self, what: str, phase: Phase) -> TransportError:
        """The error of an exchange that has failed in this phase."""
        return TransportError(what, where=self.where, phase=phase, help=_HELP[phase])


class Limit:
    """A block that may take until `end`; then `TransportError`."""

    def __init__(self, clock: Clock, phase: Phase, end: float | None) -> None:
        self._clock = clock
        self._phase: Phase = phase
        self._timeout = asyncio.timeout_at(end)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            raise self._clock.late(self._phase) from None


def shown_address(url: str) -> str:
    """The address for messages: no query, no user, no password."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"
