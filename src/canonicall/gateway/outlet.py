"""Responses to ASGI messages: whole ones, and streams that show signs of life."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from canonicall.gateway.exchange import HttpResponse
from canonicall.gateway.reading import Send


class Outlet:
    """Where one response goes. Counts what was sent, and when the first byte went."""

    def __init__(
        self, send: Send, *, keeps: int = 0, headers: Mapping[str, str] | None = None
    ) -> None:
        """`keeps`: how many bytes of the body are kept for the request log. `headers`: of every
        response, beside its own."""
        self._send = send
        self._headers = headers or {}
        self._keeps = keeps
        self._kept: list[bytes] = []
        self.is_started = False
        self.bytes_out = 0
        self.first_byte_after = 0.0
        """Seconds from the beginning to the first byte of the body."""
        self._now = asyncio.get_running_loop().time
        self._begun = self._last_at = self._now()

    @property
    def kept(self) -> bytes:
        """The beginning of the body, up to the last piece that is kept whole."""
        return b"".join(self._kept)

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head."""
        self.is_started = True
        self._last_at = self._now()
        if self._headers:
            headers = {**self._headers, **headers}
        named = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": named})

    async def whole(self, response: HttpResponse) -> None:
        """Send a response whose body is there."""
        body = response.body
        assert isinstance(body, bytes)  # noqa: S101  its caller has looked
        headers = {**response.headers, "content-length": str(len(body))}
        await self.start(response.status, headers)
        await self._piece(body, more=False)

    async def pieces(self, pieces: AsyncGenerator[bytes, None]) -> None:
        """Send the pieces of a body as they come. Each is whole: signs of life stand between them.

        Whatever makes them is closed, also where the client goes away while one is being sent.
        """
        async with aclosing(pieces):
            async for piece in pieces:
                await self._piece(piece, more=True)
        await self._piece(b"", more=False)

    async def _piece(self, data: bytes, *, more: bool) -> None:
        if data:
            self._count(data)
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    def _count(self, data: bytes) -> None:
        self._last_at = self._now()
        self.first_byte_after = self.first_byte_after or self._last_at - self._begun
        self.bytes_out += len(data)
        if self.bytes_out <= self._keeps:
            self._kept.append(data)

    async def keep_alive(self, sign: bytes, seconds: float, headers: Mapping[str, str]) -> None:
        """Send `sign` whenever nothing else was sent for so long, for ever; before that the head,
        where it is still missing."""
        while True:
            await asyncio.sleep(max(self._last_at + seconds - self._now(), 0.001))
            if self._now() < self._last_at + seconds:
                continue
            if not self.is_started:
                await self.start(200, headers)
            await self._piece(sign, more=True)
