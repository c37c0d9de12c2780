"""Clients that are slow or go away: the upstream waits or is let go, and nothing is left behind."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from canonicall.blocks import Text
from gateway_faults import FRONTS, assert_no_key, said, stream_of
from gateway_sockets import HEAD, Upstream, served, until
from loopback import open_files

Behaviour = Callable[[Upstream], Awaitable[None]]
START, PIECE = (
    event + b"\n\n"
    for event in stream_of(said(Text(text="x" * 60_000)), "openai-chat").split(b"\n\n")[:2]
)
MANY = 3_000
"""Pieces: 180 MB, of which a client that does not read must leave nearly all where it is."""


async def floods(upstream: Upstream) -> None:
    await upstream.write(HEAD + START)
    for _ in range(MANY):
        await upstream.write(PIECE)


async def is_silent(upstream: Upstream) -> None:
    await upstream.gone.wait()


async def stops_in_the_middle(upstream: Upstream) -> None:
    await upstream.write(HEAD + stream_of(said(Text(text="Well, ")), "openai-chat")[:400])
    await upstream.gone.wait()


@pytest.mark.parametrize("front", ["openai-chat", "anthropic"], ids=["forwarded", "translated"])
async def test_a_client_that_does_not_read_holds_the_upstream_back(front: str) -> None:
    async with served(floods) as (door, upstream):
        client = await door.connect(front)
        await upstream.begun.wait()
        before = -1
        while before < upstream.written:
            before = upstream.written
            await asyncio.sleep(0.3)
        # What the sockets themselves hold is the kernel's business: some megabytes each.
        assert upstream.written < 40_000_000
        client.leave()
        await asyncio.wait_for(upstream.gone.wait(), 10)
        await until(lambda: len(door.told.ends) == 1)
        assert door.told.ends[0].status == 499


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize(
    ("behave", "streams", "reads"),
    [(is_silent, True, False), (stops_in_the_middle, True, True), (is_silent, False, False)],
    ids=["before the head", "in the middle", "while a whole reply is made"],
)
async def test_a_client_that_goes_away_takes_the_upstream_with_it(
    front: str, behave: Behaviour, streams: bool, reads: bool
) -> None:
    async with served(behave) as (door, upstream):
        tasks, files = len(asyncio.all_tasks()), open_files()
        client = await door.connect(front, streams=streams)
        await upstream.begun.wait()
        if reads:
            await client.until(b"Well, ")
        client.leave()
        await asyncio.wait_for(upstream.gone.wait(), 10)
        await until(lambda: len(door.told.ends) == 1)
        await until(lambda: len(asyncio.all_tasks()) == tasks)
        await until(lambda: open_files() == files)
        (end,) = door.told.ends
        assert (end.status, end.is_complete) == (499, False)
        assert door.gateway.state.open_requests == 0
        assert_no_key(door.told.ends)


async def test_clients_that_go_away_in_the_midst_of_their_own_request_leave_nothing() -> None:
    async with served(is_silent) as (door, _):
        tasks, files = len(asyncio.all_tasks()), open_files()
        for _ in range(20):
            client = await door.write(
                b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 500\r\n\r\n{"
            )
            client.leave()
        await until(lambda: len(asyncio.all_tasks()) == tasks)
        await until(lambda: open_files() == files)
        assert door.gateway.state.open_requests == 0
