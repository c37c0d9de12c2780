"""HTTP by aiohttp: a pool of connections, time-outs by phase, errors in our own words."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Mapping
from types import SimpleNamespace

import aiohttp
from yarl import URL

from canonicall.client.deadlines import Clock, shown_address
from canonicall.client.transport import Phase, Response, Timeouts, TransportError
from canonicall.client.unpacking import Unpacking

KEPT_ALIVE = 30.0
# A stream that is compressed comes in the pieces of the compressor, not in those of the model.
HEADERS = {"accept-encoding": "identity", "user-agent": "canonicall"}
_NO_LIMIT = aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None)


class AiohttpTransport:
    """Connections of one event loop; another loop gets its own.

    The environment is not read here: aiohttp would also take passwords from a netrc file and put
    them in the place of the key. Proxies come from the configuration.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._session: aiohttp.ClientSession | None = None
        self._fresh: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeouts: Timeouts,
        *,
        proxy: str = "",
    ) -> Response:
        """The answer, as soon as its head is there."""
        return await self._asked("POST", url, headers, body, timeouts, proxy)

    async def get(
        self, url: str, headers: Mapping[str, str], timeouts: Timeouts, *, proxy: str = ""
    ) -> "AiohttpResponse":
        """The answer, as soon as its head is there."""
        return await self._asked("GET", url, headers, None, timeouts, proxy)

    async def close(self) -> None:
        """Close all connections."""
        sessions = (self._session, self._fresh)
        self._session = self._fresh = None
        for session in sessions:
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
        clock = Clock(timeouts, shown_address(url))
        limit = aiohttp.ClientTimeout(total=None, sock_connect=timeouts.connect)
        connected = _Connected()

        def sent(session: aiohttp.ClientSession) -> Awaitable[aiohttp.ClientResponse]:
            return session.request(
                method,
                URL(url, encoded=True),
                data=body,
                headers=headers,
                timeout=limit,
                allow_redirects=False,
                proxy=proxy or None,
                trace_request_ctx=connected,
            )

        try:
            async with clock.limit("first_byte"):
                try:
                    response = await sent(self._opened())
                except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
                    # A host may close a connection that rests at the moment at which it is used.
                    if not connected.is_kept_one or _has_begun(error):
                        raise
                    response = await sent(self._unshared())
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _told(error, clock) from None
        return AiohttpResponse(response, clock)

    def _opened(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            # Streams are long: a limit of connections would make one wait for another.
            connector = aiohttp.TCPConnector(
                limit=0, keepalive_timeout=KEPT_ALIVE, ssl=self._tls or True
            )
            self._session = _session(connector)
            self._loop = loop
            self._fresh = None
        return self._session

    def _unshared(self) -> aiohttp.ClientSession:
        """The same with a new connection for each request."""
        if self._fresh is None or self._fresh.closed:
            connector = aiohttp.TCPConnector(limit=0, force_close=True, ssl=self._tls or True)
            self._fresh = _session(connector)
        return self._fresh


class _Connected:
    """What is known about the connection of one request."""

    is_kept_one = False
    """Whether it was used before."""


async def _note_kept(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
    context.trace_request_ctx.is_kept_one = True


def _session(connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
    tracing = aiohttp.TraceConfig()
    tracing.on_connection_reuseconn.append(_note_kept)
    return aiohttp.ClientSession(
        connector=connector,
        headers=HEADERS,
        timeout=_NO_LIMIT,
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        trace_configs=[tracing],
    )


def _has_begun(error: Exception) -> bool:
    """Whether a part of an answer had come."""
    said = getattr(error, "message", "")
    return not isinstance(said, str)


class AiohttpResponse:
    """An answer that comes in."""

    def __init__(self, response: aiohttp.ClientResponse, clock: Clock) -> None:
        self._response = response
        self._clock = clock
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.headers.items()}

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes as they come."""
        phase: Phase = "first_byte"
        content = self._response.content
        unpacking = Unpacking(self.headers.get("content-encoding", ""), self._clock)
        while True:
            try:
                async with self._clock.limit(phase):
                    chunk = await content.readany()
            except (aiohttp.ClientError, OSError) as error:
                raise _told(error, self._clock) from None
            if not chunk:
                return
            phase = "between_bytes"
            if unpacking.is_plain:
                yield chunk
                continue
            async for piece in unpacking.slices(chunk):
                yield piece

    def close(self) -> None:
        """Break the connection off, unless all was read."""
        self._response.close()


def _told(error: Exception, clock: Clock) -> TransportError:
    """What went wrong. Only kinds are named: a message may quote a header or a proxy's password."""
    phase: Phase = "connect"
    match error:
        case aiohttp.ConnectionTimeoutError():
            return clock.late("connect")
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
    return clock.failed(what, phase)
