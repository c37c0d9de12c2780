"""One HTTP/1.1 connection to a provider: one request at a time, its answer in pieces as they come.

Only what a JSON API needs of HTTP is here, and the parsing is that of httptools: a request costs a
third of what a general client takes for it.
"""

import asyncio
from collections.abc import Callable
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

LARGEST_HEAD = 256 * 1024
MOST_BUFFERED = 256 * 1024
"""Bytes that wait for whoever reads them; the host has to wait then."""
_FIRST_FINAL = 200
"""Statuses below it only say that the answer is still to come."""
_WITHOUT_BODY = (204, 304)

CLOSED = "the connection was closed without an answer."
BROKEN = "the connection broke before the end of the answer."
_TOO_LARGE = "the head of the answer has no end."


class Broken(Exception):
    """The connection ended too early, or what came is no HTTP; its text says which."""


class Connection(asyncio.Protocol):
    """`send`, then `head`, then `read` until nothing comes any more; then it can send again."""

    def __init__(self, lost: Callable[["Connection"], None]) -> None:
        """`lost` is told when the connection is gone."""
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._waits_until: float | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._rings_at = 0.0
        self._is_paused = False
        self._pieces: list[bytes] = []
        self._buffered = 0
        self._head_size = 0
        self._has_head = False
        self._ends_with_connection = False
        self._why = ""
        self.status = 0
        self.headers: dict[str, str] = {}
        self.is_done = True
        """Whether the answer is whole, though perhaps not read."""
        self.is_kept = False
        """Whether another request can follow."""
        self.idle_since = 0.0

    def send(self, head: bytes, body: bytes) -> None:
        """Begin an exchange."""
        self._head_size = 0
        self._has_head = self._ends_with_connection = self.is_done = self.is_kept = False
        self.headers = {}
        if self._transport is not None:
            self._transport.writelines((head, body))

    async def head(self, end: float | None) -> None:
        """Wait for `status` and `headers`; `TimeoutError` at `end`, `Broken` where none come."""
        while not self._has_head:
            if self._why:
                raise Broken(self._why)
            await self._something(end)

    async def read(self, end: float | None) -> bytes:
        """All that has come of the body; nothing at its end."""
        while not self._pieces:
            if self.is_done:
                return b""
            if self._why:
                raise Broken(self._why)
            await self._something(end)
        pieces, self._pieces = self._pieces, []
        self._buffered = 0
        if self._is_paused and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self, *, at_once: bool = False) -> None:
        """End it; `at_once`: whatever the host would still send."""
        self.is_kept = False
        if self._transport is not None:
            if at_once:
                self._transport.abort()
            else:
                self._transport.close()

    @property
    def is_closed_unanswered(self) -> bool:
        """Whether the host has closed it before any byte of an answer came."""
        return self._why == CLOSED and not self._head_size

    @property
    def can_send(self) -> bool:
        """Whether it is open and nothing is on the way in it."""
        if self._transport is None or self._transport.is_closing():
            return False
        return self.is_kept and self.is_done and not self._pieces

    async def _something(self, end: float | None) -> None:
        """Wait until something has come, or the connection is gone.

        The alarm of an earlier wait stands where this one ends later: it is set again when it
        rings. A stream has thousands of waits, and hardly one of them ends by it.
        """
        waiter = self._waiter = self._loop.create_future()
        self._waits_until = end
        if end is not None and (self._alarm is None or self._rings_at > end):
            self._set_alarm(end)
        try:
            await waiter
        finally:
            self._waiter = None

    def _set_alarm(self, at: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_at(at, self._ring)
        self._rings_at = at

    def _ring(self) -> None:
        self._alarm = None
        waiter, end = self._waiter, self._waits_until
        if waiter is None or waiter.done() or end is None:
            return
        if self._loop.time() < end:
            self._set_alarm(end)
        else:
            waiter.set_exception(TimeoutError())

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def rest(self) -> None:
        """Nobody waits for it until it sends again."""
        self.idle_since = self._loop.time()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    # What the event loop says.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_kept = True

    def data_received(self, data: bytes) -> None:
        if self.is_done or self._parser is None:
            # Nobody asked for it: it answers nothing, and must not answer what comes next.
            self.close(at_once=True)
            return
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._break(f"the exchange failed ({type(error).__name__}).")
        if not self._has_head:
            self._head_size += len(data)
            if self._head_size > LARGEST_HEAD:
                self._break(_TOO_LARGE)
        if self._buffered > MOST_BUFFERED and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        if self._ends_with_connection and error is None:
            self.is_done = True
        self._why = self._why or (BROKEN if self._has_head else CLOSED)
        self.rest()
        self._wake()
        # The parser holds what it tells, which is this: without it both are gone at once.
        self._parser = self._transport = None
        self._lost(self)

    def _break(self, why: str) -> None:
        """Nothing more can be read of it."""
        if not self.is_done:
            self._why = why
        self.close(at_once=True)

    # What the parser says.

    def on_message_begin(self) -> None:
        if self.is_done:
            self.is_kept = False

    def on_header(self, name: bytes, value: bytes) -> None:
        # Behind the body there may be more of them, which say nothing of use.
        if not self._has_head:
            self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self.is_done or self._parser is None:
            return
        status = self._parser.get_status_code()
        if status < _FIRST_FINAL:
            self.headers = {}
            return
        self.status = status
        self._has_head = True
        self.is_kept = self._parser.should_keep_alive()
        is_framed = "content-length" in self.headers or self.headers.get(
            "transfer-encoding", ""
        ).lower().endswith("chunked")
        self._ends_with_connection = not is_framed and status not in _WITHOUT_BODY

    def on_body(self, body: bytes) -> None:
        if not self.is_done:
            self._pieces.append(body)
            self._buffered += len(body)

    def on_message_complete(self) -> None:
        if self._has_head:
            self.is_done = True
