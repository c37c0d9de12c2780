"""HTTP by aiohttp: a pool of connections, time-outs by phase, errors in our own words."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from canonicall.client.transport import Phase, Timeouts, TransportError

_KEPT_ALIVE = 30.0
# A stream that is compressed comes in the pieces of the compressor, not in those of the model.
_HEADERS = {"accept-encoding": "identity", "user-agent": "canonicall"}
_NO_LIMIT = aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None)
_HELP: dict[Phase, str] = {
    "setup": "Check base_url, the key and the certificates; nothing was sent.",
    "connect": "Check the address and the network, or raise timeouts.connect.",
    "first_byte": "The model may need longer: raise timeouts.first_byte.",
    "between_bytes": "The stream stalled: ask again, or raise timeouts.between_bytes.",
    "total": "Ask for less, or raise timeouts.total.",
    "connection": "Ask again; if it stays, check the address, the proxy and the certificates.",
}


class AiohttpTransport:
    """Connections of one event loop; another loop gets its own.

    The environment is not read here: aiohttp would also take passwords from a netrc file and put
    them in the place of the key. Proxies come from the configuration.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeouts: Timeouts,
        *,
        proxy: str = "",
    ) -> "AiohttpResponse":
        """The answer, as soon as its head is there."""
        return await self._asked("POST", url, headers, body, timeouts, proxy)

    async def get(
        self, url: str, headers: Mapping[str, str], timeouts: Timeouts, *, proxy: str = ""
    ) -> "AiohttpResponse":
        """The answer, as soon as its head is there."""
        return await self._asked("GET", url, headers, None, timeouts, proxy)

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None and not session.closed:
            await session.close()

    async def _asked(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeouts: Timeouts,
        proxy: str,
    ) -> "AiohttpResponse":
        where = _shown(url)
        clock = _Clock(timeouts, where)
        limit = aiohttp.ClientTimeout(total=None, sock_connect=timeouts.connect)
        try:
            async with clock.limit("first_byte"):
                response = await self._opened().request(
                    method,
                    URL(url, encoded=True),
                    data=body,
                    headers=headers,
                    timeout=limit,
                    allow_redirects=False,
                    proxy=proxy or None,
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _told(error, where, timeouts) from None
        return AiohttpResponse(response, clock)

    def _opened(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            # Streams are long: a limit of connections would make one wait for another.
            connector = aiohttp.TCPConnector(
                limit=0, keepalive_timeout=_KEPT_ALIVE, ssl=self._tls or True
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                headers=_HEADERS,
                timeout=_NO_LIMIT,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
            self._loop = loop
        return self._session


class AiohttpResponse:
    """An answer that comes in."""

    def __init__(self, response: aiohttp.ClientResponse, clock: "_Clock") -> None:
        self._response = response
        self._clock = clock
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.headers.items()}

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes as they come."""
        phase: Phase = "first_byte"
        content = self._response.content
        while True:
            try:
                async with self._clock.limit(phase):
                    chunk = await content.readany()
            except (aiohttp.ClientError, OSError) as error:
                raise _told(error, self._clock.where, self._clock.timeouts) from None
            if not chunk:
                return
            phase = "between_bytes"
            yield chunk

    def close(self) -> None:
        """Break the connection off, unless all was read."""
        self._response.close()


class _Clock:
    """How long each phase of one exchange may still take."""

    def __init__(self, timeouts: Timeouts, where: str) -> None:
        self.timeouts = timeouts
        self.where = where
        self._now = asyncio.get_running_loop().time
        self._begun = self._now()

    def limit(self, phase: Phase) -> "_Limit":
        """What ends the phase in time: its own limit, or that of the whole exchange."""
        limit = getattr(self.timeouts, phase)
        # Waiting for the head and for the first bytes behind it is one wait.
        since = self._begun if phase == "first_byte" else self._now()
        own = None if limit is None else since + limit
        total = self.timeouts.total
        end = None if total is None else self._begun + total
        if own is None or (end is not None and end < own):
            return _Limit(self, "total", end)
        return _Limit(self, phase, own)


class _Limit:
    """A block that may take until `end`; then `TransportError`."""

    def __init__(self, clock: _Clock, phase: Phase, end: float | None) -> None:
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
            raise _late(self._phase, self._clock.where, self._clock.timeouts) from None


_WAITED = {
    "connect": "no connection",
    "first_byte": "no answer",
    "between_bytes": "nothing more came",
    "total": "the answer was not complete",
}


def _late(phase: Phase, where: str, timeouts: Timeouts) -> TransportError:
    seconds = getattr(timeouts, phase, None)
    what = f"{_WAITED[phase]} within {seconds:g} s."
    return TransportError(what, where=where, phase=phase, help=_HELP[phase])


def _told(error: Exception, where: str, timeouts: Timeouts) -> TransportError:
    """What went wrong. Only kinds are named: a message may quote a header or a proxy's password."""
    phase: Phase = "connect"
    match error:
        case aiohttp.ConnectionTimeoutError():
            return _late("connect", where, timeouts)
        case aiohttp.ClientConnectorCertificateError():
            what, phase = "its certificate is not trusted.", "setup"
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            what = "the proxy cannot be reached, or refuses to connect."
        case aiohttp.ClientConnectorError():
            what = f"no connection: {error.os_error.strerror or 'failed'}."
        case aiohttp.InvalidURL() | ValueError():
            what, phase = "the address, or a header for it, cannot be sent.", "setup"
        case aiohttp.ClientPayloadError():
            what, phase = "the connection broke before the end of the answer.", "connection"
        case aiohttp.ServerDisconnectedError() | ConnectionResetError():
            what, phase = "the connection was closed without an answer.", "connection"
        case _:
            what, phase = f"the exchange failed ({type(error).__name__}).", "connection"
    return TransportError(what, where=where, phase=phase, help=_HELP[phase])


def _shown(url: str) -> str:
    """The address for messages: no query, no user, no password."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"
