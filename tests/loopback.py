"""Servers and connections of tests on the loopback interface; none of them outlives its test.

A connection that is left open is reported when the garbage collector finds it, which is in the
midst of another test. So tests do not call `asyncio.start_server` and `asyncio.open_connection`
themselves: what is opened here is closed at the end of its `async with`, and the event loop has
run every `connection_lost` by then.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Connect = Callable[..., Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]

HOST = "127.0.0.1"
STEPS_OF_AN_ACCEPT = 5
"""Rounds of the event loop between a connection and its handler, and one more."""


@asynccontextmanager
async def listening(serve: Serve, **options: Any) -> AsyncIterator[int]:
    """A port, on which `serve` is called for each connection. It may return or raise
    ConnectionError or IncompleteReadError, the connection is closed then; any other exception
    fails the test. At the end all of them are cancelled."""
    handlers: list[asyncio.Task[None]] = []
    writers: list[asyncio.StreamWriter] = []
    is_over = False

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        if is_over:
            writer.transport.abort()
        else:
            handlers.append(asyncio.ensure_future(handle(reader, writer)))

    server = await asyncio.start_server(connected, HOST, 0, **options)  # noqa: TID251
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        is_over = True
        server.close()
        for handler in handlers:
            handler.cancel()
        ends = await asyncio.gather(*handlers, return_exceptions=True)
        for _ in range(STEPS_OF_AN_ACCEPT):
            await asyncio.sleep(0)
        await aborted(writers)
        if failures := [end for end in ends if isinstance(end, Exception)]:
            raise ExceptionGroup("a handler of the server failed", failures)


@asynccontextmanager
async def connections() -> AsyncIterator[Connect]:
    """A function that connects to a port. At the end all of its connections are closed."""
    writers: list[asyncio.StreamWriter] = []

    async def connect(
        port: int, **options: Any
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(HOST, port, **options)  # noqa: TID251
        writers.append(writer)
        return reader, writer

    try:
        yield connect
    finally:
        await aborted(writers)


async def aborted(writers: Iterable[asyncio.StreamWriter]) -> None:
    """Abort these connections and wait until they are lost."""
    writers = list(writers)
    for writer in writers:
        writer.transport.abort()
    await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)


def open_files() -> int:
    """How many files and sockets this process has open; 0 on platforms that do not list them."""
    try:
        return sum(1 for _ in Path("/dev/fd").iterdir())
    except OSError:
        return 0
