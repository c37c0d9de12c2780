"""Servers and connections of tests leave nothing open, whatever their handlers do."""

import asyncio
import gc

import pytest

from loopback import connections, listening


async def waits(reader, writer):
    await asyncio.Event().wait()


async def floods(reader, writer):
    """Nobody reads it: what was written is still in the buffer at the end."""
    while True:
        writer.write(b"x" * 1_000_000)
        await writer.drain()


async def returns(reader, writer):
    writer.write(b"x" * 10_000_000)


async def wants_more(reader, writer):
    await reader.readexactly(1_000_000)


@pytest.mark.parametrize("serve", [waits, floods, returns, wants_more])
@pytest.mark.parametrize("is_begun", [False, True])
def test_nothing_is_left_open(serve, is_begun):
    async def run():
        async with listening(serve) as port, connections() as connect:
            for _ in range(3):
                await connect(port)
            if is_begun:
                await asyncio.sleep(0.01)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    gc.collect()
    asyncio.run(run())
    gc.collect()


async def test_a_handler_that_fails_fails_the_test():
    async def serve(reader, writer):
        assert await reader.readexactly(1) == b"b"

    async def run():
        async with listening(serve) as port, connections() as connect:
            reader, writer = await connect(port)
            writer.write(b"a")
            assert await reader.read() == b""

    with pytest.raises(ExceptionGroup) as told:
        await run()
    assert isinstance(told.value.exceptions[0], AssertionError)
