"""Connections of clients, bounded: how large a head may be, how long each part may take, how many.

uvicorn's HTTP connection waits for ever for a request to arrive, takes heads of any size and any
number of clients. Here each connection notes since when it waits for its client and for what, and
the server looks at all of them once a second: no timer has to be set for a request.

Beyond `max_connections` a new connection takes the place of the one that has been idle longest. A
client that opens connections and sends nothing closes only its own ones that way. If none is
idle, the new one is answered 503, but for the paths that say whether the gateway works.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import ServerState

from canonicall.gateway.config import ServerSettings

_ALWAYS_ANSWERED = (b"/healthz", b"/readyz")
_HEADER_BYTES = 4
"""What a header has beside its name and value: a colon, a blank and the end of the line."""


_LINGER_SECONDS = 2.0


class Bounds:
    """The settings that hold now, for all connections of a server; a reload changes them."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings


class BoundedConnection(HttpToolsProtocol):
    """One connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        bounds: Bounds,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._bounds = bounds
        self._head_bytes = 0
        """Bytes of the head that is arriving; 0 before its first one."""
        self._in_head = True
        self._is_refused = False
        self._is_extra = False
        """Whether there were too many connections, all of them busy, when this one was opened."""
        self._since = self.loop.time()
        """Since when it waits for its client."""
        self._unread_since = 0.0
        """Since when the client leaves unread what it is sent; 0 while it reads."""

    @property
    def _cycle(self) -> RequestResponseCycle | None:
        """The request that is answered, or was answered last."""
        return self.cycle

    @property
    def idle_since(self) -> float | None:
        """Since when nothing is done for its client; None while a request is answered."""
        is_busy = self._cycle and not self._cycle.response_complete and not self._is_refused
        return None if is_busy else self._since

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if len(self.connections) >= self._bounds.settings.max_connections:
            self._is_extra = not _close_longest_idle(self.connections)
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        if self._in_head:
            self._begin_head()
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > self._bounds.settings.max_head_bytes:
            self._refuse_head()

    def on_message_begin(self) -> None:
        self._begin_head()
        super().on_message_begin()

    def _begin_head(self) -> None:
        """The next request has all its time from its first byte on."""
        if self._head_bytes == 0:
            self._head_bytes = 1
            self._since = self.loop.time()

    def on_headers_complete(self) -> None:
        if self._is_refused:
            return
        self._in_head = False
        settings, headers = self._bounds.settings, self.headers
        size = len(self.url) + sum(
            len(name) + len(value) + _HEADER_BYTES for name, value in headers
        )
        if size > settings.max_head_bytes or len(headers) > settings.max_headers:
            self._refuse_head()
        elif self._is_extra and self.url.partition(b"?")[0] not in _ALWAYS_ANSWERED:
            what = f"All {settings.max_connections} connections are in use. Try again in a second."
            self._refuse(503, what, b"retry-after: 1\r\n")
        else:
            self._since = self.loop.time()
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._is_refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._head_bytes, self._in_head = 0, True
        if not self._is_refused:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        self._unread_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._unread_since = 0.0
        super().resume_writing()

    def check(self, now: float) -> None:
        """Close the connection if its client takes too long."""
        settings = self._bounds.settings
        is_unread = self._unread_since and now - self._unread_since > settings.read_seconds
        if is_unread or (self._is_refused and now - self._since > _LINGER_SECONDS):
            self.transport.abort()
        elif self._is_refused:
            return
        elif self._in_head:
            # Between two requests, uvicorn waits for `idle_seconds`.
            is_awaited = self._cycle is None or self._head_bytes > 0
            is_late = now - self._since > settings.head_seconds
            if is_awaited and is_late and self.idle_since is not None:
                self._refuse_late("head", settings.head_seconds)
        elif now - self._since > settings.body_seconds and not self.flow.read_paused:
            self._refuse_late("body", settings.body_seconds)

    def _refuse_late(self, part: str, seconds: float) -> None:
        is_begun = self._cycle is not None and self._cycle.response_started
        if is_begun and self.idle_since is None:
            # Nothing else can be said within an answer.
            self.transport.close()
        else:
            what = f"The {part} of the request did not arrive in {seconds:g} seconds."
            self._refuse(408, f"{what} It is bounded by server.{part}_seconds.")

    def _refuse_head(self) -> None:
        settings = self._bounds.settings
        what = (
            f"The head of the request has more than {settings.max_head_bytes} bytes"
            f" (server.max_head_bytes) or {settings.max_headers} headers (server.max_headers)."
        )
        self._refuse(431, what)

    def _refuse(self, status: int, what: str, more: bytes = b"") -> None:
        """Answer, and end the connection once the client has read it or a few seconds later.

        To close it at once would reset it while the client still sends: the answer would be lost.
        """
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        self._since = self.loop.time()
        if self._cycle is not None:
            self._cycle.disconnected = True
            self._cycle.message_event.set()
        text = what.encode("ascii", "replace")
        head = b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
        length = b"content-length: %d\r\n\r\n" % len(text)
        self.transport.write(b"".join((STATUS_LINE[status], head, more, length, text)))
        self.transport.write_eof()


def check_all(connections: Iterable[object], now: float) -> None:
    """Close those whose clients take too long; WebSockets have their own limits."""
    for one in list(connections):
        if isinstance(one, BoundedConnection):
            one.check(now)


def _close_longest_idle(connections: Iterable[object]) -> bool:
    """Whether there was an idle connection to close."""
    idle = [
        (since, id(one), one)
        for one in connections
        if isinstance(one, BoundedConnection) and (since := one.idle_since) is not None
    ]
    if not idle:
        return False
    *_, longest = min(idle)
    longest.connections.discard(longest)
    longest.transport.abort()
    return True
