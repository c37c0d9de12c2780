"""Clients that send too much, too slowly, or nothing at all."""

import asyncio
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest

from canonicall.gateway.config import ServerSettings, Settings, SettingsSource
from canonicall.gateway.server.sockets import listen
from canonicall.gateway.server.worker import Worker
from loopback import connections

PATIENCE = 30
ASK = b"GET / HTTP/1.1\r\nhost: localhost\r\n"


class Tiny:
    """Answers once it has the whole body; `/wait` when it is told to, `/flood` without an end."""

    serving = None

    def __init__(self, settings):
        del settings
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def reload(self, settings):
        raise NotImplementedError

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            for _ in range(2):
                asked = await receive()
                await send({"type": f"{asked['type']}.complete"})
            return
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.disconnect":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/wait":
            self.begun.set()
            await self.go_on.wait()
        while scope["path"] == "/flood" and not self.go_on.is_set():
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"done"})


@asynccontextmanager
async def served(**limits):
    """A server with these limits: the application and a way to connect."""
    settings = Settings(server=ServerSettings(port=0, **limits))
    ready = asyncio.Event()
    apps = []

    def made(settings):
        apps.append(Tiny(settings))
        return apps[-1]

    with listen(settings.server) as bound:
        source = SettingsSource(lambda: settings)
        worker = Worker(source, made, bound, lambda *_: None, on_ready=ready.set)
        running = asyncio.create_task(worker.serve())
        await asyncio.wait_for(ready.wait(), PATIENCE)
        try:
            async with connections() as connect:
                yield apps[0], partial(connect, bound.getsockname()[1])
        finally:
            apps[0].go_on.set()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def answer_to(connect, data):
    """The status of the answer and its text, up to the end of the connection."""
    reader, writer = await connect()
    writer.write(data)
    try:
        received = await asyncio.wait_for(reader.read(), PATIENCE)
    finally:
        writer.close()
    head, _, text = received.partition(b"\r\n\r\n")
    return (int(head.split()[1]) if head else 0), text.decode()


CLOSE = b"connection: close\r\n"


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (ASK + CLOSE, 200),
        (ASK + CLOSE + b"x: y\r\n" * 30, 200),
        (ASK + CLOSE + b"x: y\r\n" * 100, 431),
        (ASK + CLOSE + b"x: " + b"y" * 3000 + b"\r\n", 200),
        (ASK + CLOSE + b"x: " + b"y" * 5000 + b"\r\n", 431),
        (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nhost: localhost\r\n", 431),
        (b"".join([ASK, *(b"x%d: y\r\n" % one for one in range(20_000))]), 431),
    ],
)
async def test_the_head_of_a_request_is_bounded(head, status):
    async with served(max_head_bytes=4096, max_headers=50) as (_, connect):
        got, text = await answer_to(connect, head + b"\r\n")
    assert got == status
    assert status == 200 or "server.max_head_bytes" in text


async def test_a_head_without_an_end_is_not_kept():
    async with served(max_head_bytes=4096) as (_, connect):
        status, _ = await answer_to(connect, ASK + b"x: " + b"y" * 300_000)
    assert status == 431


async def test_a_pipelined_request_after_a_refused_one_is_not_answered():
    first = ASK + b"x: y\r\n" * 100 + b"\r\n"
    async with served(max_headers=50) as (_, connect):
        reader, writer = await connect()
        writer.write(first + ASK + b"\r\n")
        received = await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
    assert received.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    ("sent", "limits", "named"),
    [
        (b"", {"head_seconds": 0.1}, "server.head_seconds"),
        (ASK, {"head_seconds": 0.1}, "server.head_seconds"),
        (b"\r\n", {"head_seconds": 0.1}, "server.head_seconds"),
        (
            b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nabc",
            {"body_seconds": 0.1},
            "server.body_seconds",
        ),
    ],
)
async def test_a_client_that_stops_sending_is_not_waited_for(sent, limits, named):
    async with served(**limits) as (_, connect):
        status, text = await answer_to(connect, sent)
    assert (status, named in text) == (408, True)


async def test_the_second_half_head_of_a_connection_is_not_waited_for():
    async with served(head_seconds=0.1) as (_, connect):
        reader, writer = await connect()
        writer.write(ASK + b"\r\n" + ASK)
        received = await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
    assert b"HTTP/1.1 200" in received
    assert b"HTTP/1.1 408" in received


async def test_a_connection_is_kept_for_the_next_request_and_then_closed():
    async with served(idle_seconds=0.5, head_seconds=0.1) as (_, connect):
        reader, writer = await connect()
        writer.write(ASK + b"\r\n")
        received = await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
    assert received.startswith(b"HTTP/1.1 200")
    assert received.count(b"HTTP/1.1") == 1


async def test_an_answer_that_takes_long_is_not_bounded_by_what_bounds_the_client():
    limits = {"head_seconds": 0.1, "body_seconds": 0.1, "idle_seconds": 0.1, "read_seconds": 0.1}
    async with served(**limits) as (app, connect):
        asked = asyncio.create_task(
            answer_to(connect, b"GET /wait HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        )
        await asyncio.wait_for(app.begun.wait(), PATIENCE)
        await asyncio.sleep(1.5)
        app.go_on.set()
        status, text = await asked
    assert (status, "done" in text) == (200, True)


async def test_a_client_that_does_not_read_is_not_written_to_for_ever():
    async with served(read_seconds=0.1) as (_, connect):
        reader, writer = await connect()
        writer.write(b"GET /flood HTTP/1.1\r\nhost: a\r\n\r\n")
        await reader.readexactly(1)
        reader._transport.pause_reading()
        await asyncio.sleep(2.5)
        reader._transport.resume_reading()
        end = await asyncio.wait_for(_end_of(reader), PATIENCE)
        writer.close()
    assert not end.endswith(b"0\r\n\r\n")


async def _end_of(reader):
    """The last bytes that come, however the connection ends."""
    last = b""
    with suppress(ConnectionError):
        while piece := await reader.read(1_000_000):
            last = piece[-9:]
    return last


async def test_idle_connections_give_way_to_new_ones():
    async with served(max_connections=20, head_seconds=1000) as (_, connect):
        idle = [await connect() for _ in range(100)]
        for _, writer in idle:
            writer.write(b"GET /half")
        answers = [await answer_to(connect, ASK + CLOSE + b"\r\n") for _ in range(5)]
        for _, writer in idle:
            writer.close()
    assert [status for status, _ in answers] == [200] * 5


async def test_the_health_of_a_full_server_can_be_asked():
    waiting = b"GET /wait HTTP/1.1\r\nhost: a\r\n\r\n"
    async with served(max_connections=3) as (app, connect):
        busy = []
        for _ in range(3):
            app.begun.clear()
            busy.append(await connect())
            busy[-1][1].write(waiting)
            await asyncio.wait_for(app.begun.wait(), PATIENCE)
        refused, text = await answer_to(connect, ASK + CLOSE + b"\r\n")
        healthy = [
            await answer_to(connect, b"GET %s HTTP/1.1\r\nhost: a\r\n%s\r\n" % (path, CLOSE))
            for path in (b"/healthz", b"/readyz?x=1")
        ]
        app.go_on.set()
        for _, writer in busy:
            writer.close()
    assert refused == 503
    assert "3 connections" in text
    assert [status for status, _ in healthy] == [200, 200]
