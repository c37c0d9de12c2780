"""HTTP to hosts that are reached directly, at a third of the cost; the rest is aiohttp's.

What is posted goes over connections of its own. Proxies, and addresses and headers that are out of
the ordinary, are left to the general client: there is no second opinion on what they mean.
"""

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from aiohappyeyeballs import start_connection
from msgspec import Struct

from canonicall.client.aiohttp_transport import HEADERS, KEPT_ALIVE, AiohttpTransport
from canonicall.client.connection import Broken, Connection
from canonicall.client.deadlines import Clock, shown_address
from canonicall.client.transport import Phase, Response, Timeouts, TransportError
from canonicall.client.unpacking import Unpacking

_PLAIN_URL = re.compile(r"(https?)://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(/[!-~]*)?")
_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PORTS = {"http": 80, "https": 443}
_FRAMING = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that say how a body is sent, and to whom."""
_USUAL = {"accept": "*/*", **HEADERS}
_ADDRESSES_KEPT = 10.0
_NEXT_ADDRESS_AFTER = 0.25
"""Seconds until another address of a host is tried beside the first (RFC 8305)."""
_MOST_PLACES = 1000
_CANNOT_BE_SENT = "the address, or a header for it, cannot be sent."


class _Place(Struct, frozen=True):
    """What an address says, read once."""

    host: str
    port: int
    is_secure: bool
    key: tuple[str, int, bool]
    """Places with the same key share connections."""
    begin: str
    """How a request to it begins."""
    shown: str


class DirectTransport(AiohttpTransport):
    """Connections of one event loop; another loop gets its own."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls=tls)
        self._places: dict[str, _Place | None] = {}
        self._idle: dict[tuple[str, int, bool], list[Connection]] = {}
        self._open: set[Connection] = set()
        self._addresses: dict[tuple[str, int], tuple[float, list[Any]]] = {}
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._sweeping: asyncio.TimerHandle | None = None

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
        place = self._place(url)
        named = {name.lower(): value for name, value in headers.items()}
        if proxy or place is None or not _FRAMING.isdisjoint(named):
            return await super().post(url, headers, body, timeouts, proxy=proxy)
        clock = Clock(timeouts, place.shown)
        head = _head(place, named, len(body), clock)
        kept = self._waiting(place)
        if kept is not None:
            try:
                await self._exchanged(kept, head, body, clock)
                return _Answer(self, place, kept, clock)
            except TransportError:
                # A host may close a connection that rests at the moment at which it is used.
                if not kept.is_closed_unanswered:
                    raise
        connection = await self._connected(place, clock)
        await self._exchanged(connection, head, body, clock)
        return _Answer(self, place, connection, clock)

    async def _exchanged(
        self, connection: Connection, head: bytes, body: bytes, clock: Clock
    ) -> None:
        """Send a request, and wait for the head of the answer."""
        phase, end = clock.end_of("first_byte")
        try:
            connection.send(head, body)
            await connection.head(end)
        except TimeoutError:
            connection.close(at_once=True)
            raise clock.late(phase) from None
        except Broken as broken:
            connection.close(at_once=True)
            raise clock.failed(str(broken), "connection") from None
        except BaseException:
            connection.close(at_once=True)
            raise

    async def close(self) -> None:
        """Close all connections."""
        for connection in tuple(self._open):
            connection.close(at_once=not connection.can_send)
        self._forget()
        await super().close()

    def release(self, place: _Place, connection: Connection) -> None:
        """Keep a connection for the next request, where it can have one."""
        if not connection.can_send or connection not in self._open:
            connection.close(at_once=True)
            return
        connection.rest()
        self._idle.setdefault(place.key, []).append(connection)
        if self._sweeping is None and self._own_loop is not None:
            self._sweeping = self._own_loop.call_later(KEPT_ALIVE, self._sweep)

    def _place(self, url: str) -> _Place | None:
        """None where the address is out of the ordinary."""
        if url in self._places:
            return self._places[url]
        if len(self._places) >= _MOST_PLACES:
            self._places.clear()
        place = self._places[url] = _read(url)
        return place

    def _waiting(self, place: _Place) -> Connection | None:
        """A connection that is open: the one used last, as hosts hang up on those that rest."""
        loop = asyncio.get_running_loop()
        if loop is not self._own_loop:
            self._forget()
            self._own_loop = loop
        idle = self._idle.get(place.key)
        while idle:
            connection = idle.pop()
            if connection.can_send and loop.time() - connection.idle_since < KEPT_ALIVE:
                return connection
            connection.close()
        return None

    async def _connected(self, place: _Place, clock: Clock) -> Connection:
        """A new connection. Nothing was sent where that fails."""
        async with clock.limit("first_byte"):
            try:
                async with asyncio.timeout(clock.timeouts.connect):
                    connection = await self._connect(place)
            except ssl.SSLCertVerificationError:
                raise clock.failed("its certificate is not trusted.", "setup") from None
            except OSError as error:
                if type(error) is TimeoutError and error.errno is None:
                    raise clock.late("connect") from None
                what = f"no connection: {error.strerror or 'failed'}."
                raise clock.failed(what, "connect") from None
        self._open.add(connection)
        return connection

    async def _connect(self, place: _Place) -> Connection:
        loop = asyncio.get_running_loop()
        known = await self._addresses_of(place)
        reached = await start_connection(
            known, happy_eyeballs_delay=_NEXT_ADDRESS_AFTER, interleave=1
        )
        try:
            _, connection = await loop.create_connection(
                lambda: Connection(self._open.discard),
                sock=reached,
                ssl=(self._tls or _trusting()) if place.is_secure else None,
                server_hostname=place.host if place.is_secure else None,
            )
        except BaseException:
            reached.close()
            raise
        return connection

    async def _addresses_of(self, place: _Place) -> list[Any]:
        loop = asyncio.get_running_loop()
        key = (place.host, place.port)
        until, known = self._addresses.get(key, (0.0, []))
        if loop.time() >= until:
            known = list(await loop.getaddrinfo(*key, type=socket.SOCK_STREAM))
            self._addresses[key] = (loop.time() + _ADDRESSES_KEPT, known)
        return known

    def _sweep(self) -> None:
        """Close what has rested for too long."""
        self._sweeping = None
        if self._own_loop is None:
            return
        oldest = self._own_loop.time() - KEPT_ALIVE
        for key, idle in tuple(self._idle.items()):
            for connection in idle:
                if connection.idle_since <= oldest or not connection.can_send:
                    connection.close()
            self._idle[key] = [one for one in idle if one.can_send]
            if not self._idle[key]:
                del self._idle[key]
        if self._idle:
            self._sweeping = self._own_loop.call_later(KEPT_ALIVE, self._sweep)

    def _forget(self) -> None:
        """Nothing of another event loop can be used, or even closed."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        self._own_loop = self._sweeping = None
        self._idle.clear()
        self._open.clear()
        self._addresses.clear()


class _Answer:
    """An answer that comes in; fits `Response`."""

    def __init__(
        self, transport: DirectTransport, place: _Place, connection: Connection, clock: Clock
    ) -> None:
        self._transport = transport
        self._place = place
        self._connection: Connection | None = connection
        self._clock = clock
        self.status = connection.status
        self.headers = connection.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes as they come."""
        phase: Phase = "first_byte"
        unpacking = Unpacking(self.headers.get("content-encoding", ""), self._clock)
        while self._connection is not None:
            named, end = self._clock.end_of(phase)
            try:
                chunk = await self._connection.read(end)
            except TimeoutError:
                raise self._clock.late(named) from None
            except Broken as broken:
                raise self._clock.failed(str(broken), "connection") from None
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
        connection, self._connection = self._connection, None
        if connection is not None:
            self._transport.release(self._place, connection)


@cache
def _trusting() -> ssl.SSLContext:
    """What trusts the certificates that this machine trusts."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _read(url: str) -> _Place | None:
    if _PLAIN_URL.fullmatch(url) is None:
        return None
    parts = urlsplit(url)
    try:
        port = parts.port or _PORTS[parts.scheme]
    except ValueError:
        return None
    path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    begin = f"POST {path} HTTP/1.1\r\nhost: {parts.netloc}\r\n"
    host, is_secure = parts.hostname or "", parts.scheme == "https"
    return _Place(host, port, is_secure, (host, port, is_secure), begin, shown_address(url))


def _head(place: _Place, headers: Mapping[str, str], size: int, clock: Clock) -> bytes:
    """The head of a request."""
    lines = [place.begin]
    for name, value in {**_USUAL, **headers}.items():
        if _UNSENDABLE.search(value) or _NAME.fullmatch(name) is None:
            raise clock.failed(_CANNOT_BE_SENT, "setup")
        lines.append(f"{name}: {value}\r\n")
    lines.append(f"content-length: {size}\r\n\r\n")
    try:
        return "".join(lines).encode()
    except UnicodeError:
        raise clock.failed(_CANNOT_BE_SENT, "setup") from None
