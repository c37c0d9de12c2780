"""A gateway on a real port, before an upstream on another, all in one event loop: so that tests can
count its tasks and files, and see when a connection is closed."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import uvicorn

from canonicall.client.secrets import Secret
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import (
    Choice,
    ModelSettings,
    ProviderSettings,
    RepairSettings,
    ServerSettings,
    Settings,
)
from gateway_faults import CLIENT_KEY, FRONTS, Told
from gateway_support import UPSTREAM_KEY
from loopback import Connect, connections, listening

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


class Upstream:
    """A server that does with each connection what it is told to."""

    def __init__(self, behave: Callable[["Upstream"], Awaitable[None]]) -> None:
        self._behave = behave
        self.begun = asyncio.Event()
        self.may_go_on = asyncio.Semaphore(0)
        self.gone = asyncio.Event()
        """The gateway has closed its connection."""
        self.written = 0
        self.url = ""
        self._writer: asyncio.StreamWriter | None = None

    async def write(self, data: bytes) -> None:
        assert self._writer is not None
        self._writer.write(data)
        await self._writer.drain()
        self.written += len(data)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        self._writer = writer
        self.begun.set()
        watching = asyncio.ensure_future(self._watch(reader))
        try:
            await self._behave(self)
        except ConnectionError:
            self.gone.set()
        finally:
            watching.cancel()

    async def _watch(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            await reader.read()
        self.gone.set()


def settings_for(url: str, back: str, *, keep_alive: float, chain: int = 1) -> Settings:
    """Settings that lead the model `m` to a provider at this address."""
    names = [f"back{at}" for at in range(chain)]
    profile = {"openai-chat": "openai", "openai-responses": "openai"}.get(back, back)
    one = ProviderSettings(profile=profile, format=back, base_url=url, keys=(Secret(UPSTREAM_KEY),))
    first, *others = [f"{name}:some-model" for name in names]
    models = {"m": ModelSettings(choices=(Choice(target=first),), fallbacks=tuple(others))}
    return Settings(
        providers=dict.fromkeys(names, one),
        models=models,
        server=ServerSettings(keep_alive_seconds=keep_alive),
        repair=RepairSettings(continue_streams=False),
    )


class Door:
    """A gateway that is served."""

    def __init__(self, gateway: Gateway, told: Told, url: str, connect: Connect) -> None:
        self.gateway = gateway
        self.told = told
        self.url = url
        self._connect = connect

    async def connect(self, front: str, *, streams: bool = True) -> "Client":
        """Send a request, and read nothing yet."""
        one = FRONTS[front]
        return await self.send(*(one.streamed("m") if streams else one.whole("m")))

    async def send(self, path: str, body: Any) -> "Client":
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        head = (
            f"POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {CLIENT_KEY}\r\n"
            f"content-type: application/json\r\nconnection: close\r\n"
            f"content-length: {len(data)}\r\n\r\n"
        )
        return await self.write(head.encode() + data)

    async def write(self, data: bytes) -> "Client":
        """Connect and write what need not be a request."""
        reader, writer = await self._connect(int(self.url.rpartition(":")[2]), limit=2048)
        writer.write(data)
        await writer.drain()
        return Client(reader, writer)


class Client:
    """A client that reads when it is told to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._seen = b""

    async def until(self, mark: bytes, *, after: bytes = b"\r\n\r\n") -> None:
        """Read until `mark` has come, behind `after`."""
        async with asyncio.timeout(10):
            while mark not in self._seen.partition(after)[2]:
                piece = await self._reader.read(1000)
                assert piece, self._seen
                self._seen += piece

    async def all(self) -> tuple[bytes, bytes]:
        """Head and body of the whole answer."""
        self._seen += await self._reader.read()
        head, _, rest = self._seen.partition(b"\r\n\r\n")
        self._writer.close()
        return head, _unchunked(rest) if b"chunked" in head.lower() else rest

    def leave(self) -> None:
        self._writer.transport.abort()


@asynccontextmanager
async def served(
    behave: Callable[[Upstream], Awaitable[None]], back: str = "openai-chat", *, keep: float = 60.0
) -> AsyncIterator[tuple[Door, Upstream]]:
    """A gateway before an upstream that behaves so."""
    upstream = Upstream(behave)
    async with listening(upstream.connected) as port, connections() as connect:
        upstream.url = f"http://127.0.0.1:{port}"
        told = Told()
        gateway = Gateway(settings_for(upstream.url, back, keep_alive=keep), watchers=(told,))
        try:
            async with on_port(gateway) as url:
                yield Door(gateway, told, url, connect), upstream
        finally:
            await gateway.close()


@asynccontextmanager
async def on_port(gateway: Gateway) -> AsyncIterator[str]:
    """Serve a gateway in this event loop."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.bind(("127.0.0.1", 0))
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    config = uvicorn.Config(gateway, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[bound]))
    await until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        await serving


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that is about to happen."""
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.01)


def _unchunked(data: bytes) -> bytes:
    made = []
    while data:
        size, _, data = data.partition(b"\r\n")
        made.append(data[: int(size, 16)])
        data = data[int(size, 16) + 2 :]
    return b"".join(made)
