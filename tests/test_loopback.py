"""Servers and connections of tests leave nothing open, whatever their handlers do."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from loopback import connections, listening, open_files


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
async def test_nothing_is_left_open(serve, is_begun):
    tasks, files = asyncio.all_tasks(), open_files()
    async with listening(serve) as port, connections() as connect:
        for _ in range(3):
            await connect(port)
        if is_begun:
            await asyncio.sleep(0.01)
    assert asyncio.all_tasks() == tasks
    assert open_files() == files


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


LEAKS = """
import socket

def test_leaves_a_socket():
    ring = [socket.socket()]
    ring.append(ring)

def test_leaves_nothing():
    pass
"""


@pytest.mark.deep
@pytest.mark.skipif(not open_files(), reason="open files are not listed on this platform")
def test_what_is_left_open_fails_the_test_that_left_it(tmp_path):
    (tmp_path / "test_leaks.py").write_text(LEAKS)
    here = Path(__file__).parent
    settings = ["-c", str(here.parent / "pyproject.toml"), "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider"]
    told = subprocess.run(
        [*command, *settings, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(here)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert "ERROR at teardown of test_leaves_a_socket" in told
    assert "left open: unclosed <socket.socket" in told
    assert "2 passed, 1 error" in told
