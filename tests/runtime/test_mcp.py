"""MCP servers of the official SDK, as programs and over HTTP: calls, and what goes wrong with them."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from base64 import b64encode
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from mcp import MCPError

from canonicall.agent.batch import plan
from canonicall.blocks import Media, ToolCall
from canonicall.errors import CanonicallError
from canonicall.outcome import Outcome
from canonicall.runtime.agent import Agent
from canonicall.runtime.events import ToolCallEvent
from canonicall.runtime.mcp import McpServer
from canonicall.runtime.mcp_connection import McpConnectionError
from canonicall.runtime.model import LocalModel
from canonicall.runtime.scheduler import Scheduler
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.context import ToolContext
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset

PROGRAM = Path(__file__).parent / "mcp_server.py"
NUMBERS = count()
PNG = b64encode(b"\x89PNG\r\n\x1a\n").decode()


def program(log, **options):
    return McpServer.stdio(sys.executable, [str(PROGRAM), str(log)], **options)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log"
    path.touch()
    return path


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@contextmanager
def served(log, port, *more):
    """The server over HTTP, until the block ends or somebody kills it."""
    process = subprocess.Popen([sys.executable, str(PROGRAM), str(log), str(port), *more])
    try:
        while True:
            with socket.socket() as door:
                if door.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def website(tmp_path_factory):
    """One server over HTTP for all that do it no harm: its log, its address."""
    log = tmp_path_factory.mktemp("website") / "log"
    port = free_port()
    with served(log, port):
        yield log, f"http://127.0.0.1:{port}/mcp"


def pids(log):
    return [int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("pid")]


async def written(log, line):
    await until(lambda: line in log.read_text().splitlines())


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  another process makes it true
            await asyncio.sleep(0.01)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def run(scheduler, *calls, progress=None):
    """The ends of these calls, by tool."""
    ends = {}
    named = {one.id: one.name for one in calls}
    batch = plan(calls, scheduler.tools)
    await scheduler.start(
        batch, lambda end: ends.setdefault(named[end.call_id], end), progress=progress
    )
    return ends


def made(name, **args):
    """A call with an id of its own: a journal runs each id once."""
    return ToolCall(id=f"hist_tool_{next(NUMBERS)}", name=name, args=args)


async def results_of_every_kind(server):
    tools = await server.tools(prefix="x_")
    reported = []
    ends = await run(
        Scheduler(tools),
        made("x_echo", text="hi"),
        made("x_picture"),
        made("x_weather", city="Paris"),
        made("x_fail"),
        made("x_slow", seconds=0.01),
        progress=lambda call, value: reported.append((call.name, value)),
    )
    results = {name: end.result for name, end in ends.items()}
    assert results["x_echo"].text == "hi"
    (picture,) = results["x_picture"].content
    assert isinstance(picture, Media)
    assert (picture.media_type, picture.data) == ("image/png", PNG)
    assert "21" in results["x_weather"].text
    assert results["x_fail"].error
    assert "the disk is full" in results["x_fail"].text
    assert (results["x_slow"].text, results["x_slow"].error) == ("done", False)
    await until(lambda: reported)
    assert reported == [("x_slow", {"progress": 1.0, "total": 2.0, "message": "half"})]


async def changes_are_told(server, told):
    before = await server.tools()
    assert not server.changed
    await before["grow"].call({}, ToolContext())
    await until(lambda: server.changed)
    assert told
    after = await server.tools()
    assert not server.changed
    assert len(after) == len(before) + 1


async def stopped_calls(server, log, label):
    """A call that is cancelled or takes too long stops at the server; the rest goes on."""
    scheduler = Scheduler(await server.tools(), grace=60)
    slow = made("slow", seconds=600, label=f"a {label}")
    running = asyncio.ensure_future(run(scheduler, slow, made("echo", text="beside")))
    await written(log, f"started a {label}")
    scheduler.stop((slow.id,), "the user cancelled")
    ends = await running
    assert (ends["slow"].outcome, ends["slow"].why) == (Outcome.UNKNOWN, "the user cancelled")
    assert ends["echo"].result.text == "beside"
    await written(log, f"cancelled a {label}")
    hasty = Scheduler(await server.tools(timeout=0.2))
    ends = await run(hasty, made("slow", seconds=600, label=f"b {label}"))
    assert ends["slow"].outcome is Outcome.TIMED_OUT
    ends = await run(scheduler, made("echo", text="after"))
    assert ends["echo"].result.text == "after"


MODES = pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.deep)])
"""The revisions since 2026-07-28, and those with a handshake before."""


@MODES
async def test_a_program(log, mode):
    """Calls that end in every way, changes, and an end that leaves nothing running."""
    told = []
    async with program(log, mode=mode, on_change=lambda: told.append(1)) as server:
        await results_of_every_kind(server)
        await changes_are_told(server, told)
        await stopped_calls(server, log, mode)
        tools = await server.tools()
    (pid,) = pids(log)
    assert not is_running(pid)
    ends = await run(Scheduler(tools), made("echo", text="too late"))
    assert "it was closed" in ends["echo"].result.text
    assert pids(log) == [pid]


@MODES
async def test_a_server_over_http(website, mode):
    log, url = website
    told = []
    async with McpServer.http(url, mode=mode, on_change=lambda: told.append(1)) as server:
        await results_of_every_kind(server)
        await changes_are_told(server, told)
        await stopped_calls(server, log, mode)


@tool
async def beside() -> str:
    """Another tool of the same turn."""
    return "all is well"


async def test_a_program_that_is_killed_is_an_error_of_its_call_alone(log):
    """What was running is not sent again; the next call has a new program."""
    async with program(log) as server:
        scheduler = Scheduler(Toolset.of(await server.tools(), beside))
        slow = made("slow", seconds=600, label="x")
        running = asyncio.ensure_future(run(scheduler, slow, made("beside")))
        await written(log, "started x")
        (first,) = pids(log)
        os.kill(first, signal.SIGKILL)
        ends = await running
        assert ends["slow"].result.error
        assert "What it did is not known; it was not sent again." in ends["slow"].result.text
        assert ends["beside"].result.text == "all is well"
        ends = await run(scheduler, made("echo", text="once more"))
        assert ends["echo"].result.text == "once more"
        assert server.changed
        assert log.read_text().splitlines().count("started x") == 1
    assert not any(is_running(pid) for pid in pids(log))
    assert len(pids(log)) == 2


@pytest.mark.deep
@MODES
async def test_a_server_that_is_killed_behind_http(log, mode):
    """The old session means nothing to the server that took its place: a new one is made.

    With a session the answers come in one piece, without one as streams.
    """
    port = free_port()
    with served(log, port, *["json"] * (mode == "legacy")) as process:
        server = McpServer.http(f"http://127.0.0.1:{port}/mcp", mode=mode)
        await server.__aenter__()
        scheduler = Scheduler(Toolset.of(await server.tools(), beside))
        slow = made("slow", seconds=600, label="x")
        running = asyncio.ensure_future(run(scheduler, slow, made("beside")))
        await written(log, "started x")
        process.kill()
        process.wait()
        ends = await running
        assert "What it did is not known; it was not sent again." in ends["slow"].result.text
        assert ends["beside"].result.text == "all is well"
        if mode == "auto":
            ends = await run(scheduler, made("echo", text="nobody there"))
            assert "there is no connection" in ends["echo"].result.text
    with served(log, port):
        ends = await run(scheduler, made("echo", text="back again"))
        assert ends["echo"].result.text == "back again"
        await server.close()
    lines = log.read_text().splitlines()
    assert lines.count("started x") == lines.count("echo back again") == 1


async def test_an_agent_with_two_servers_in_one_conversation(log, website):
    steps = (
        says(call("near_echo", text="a"), call("far_echo", text="b")),
        says(call("far_slow", seconds=0.01)),
        "Done.",
    )
    async with program(log) as local, McpServer.http(website[1]) as remote:
        tools = [await local.tools(prefix="near_"), await remote.tools(prefix="far_")]
        agent = Agent(LocalModel(ScriptedModel(steps)), "anthropic", tools=tools)
        session = agent.session()
        events = [event async for event in session.send("Go.")]
        await session.close()
    ledger = session.conversation.ledger
    assert [one.result.text for one in ledger.values()] == ["a", "b", "done"]
    ended = [one for one in events if isinstance(one, ToolCallEvent) and one.outcome]
    assert {one.outcome for one in ended} == {"completed"}
    assert events[-1].text == "Done."


@pytest.mark.deep
@pytest.mark.parametrize("is_connected", [True, False])
async def test_whoever_is_cancelled_leaves_no_program_behind(log, is_connected):
    async def stay():
        async with program(log):
            log.with_name("connected").touch()
            await asyncio.Event().wait()

    staying = asyncio.ensure_future(stay())
    await until(lambda: log.with_name("connected").exists() if is_connected else pids(log))
    staying.cancel()
    await asyncio.wait((staying,))
    assert staying.cancelled()
    (pid,) = pids(log)
    assert not is_running(pid)


async def test_what_cannot_be_started_or_reached_is_told():
    with pytest.raises(McpConnectionError, match="there is no connection"):
        await McpServer.stdio("no-such-program-anywhere").__aenter__()
    with pytest.raises(McpConnectionError, match="there is no connection"):
        await McpServer.http(f"http://127.0.0.1:{free_port()}/mcp").__aenter__()
    silent = McpServer.stdio(sys.executable, ["-c", "import sys; sys.stdin.read()"], patience=0.2)
    with pytest.raises(McpConnectionError, match="did not answer in time"):
        await silent.__aenter__()


class Answers:
    """A client of the SDK that answers with one error."""

    def __init__(self, error):
        self._error = error

    async def call_tool(self, *arguments, **options):
        raise self._error

    async def list_tools(self, **options):
        raise self._error


@pytest.mark.parametrize(
    "error",
    [MCPError(-32602, "no such tool"), MCPError(-32603, "x"), ValueError("x"), RuntimeError("x")],
)
async def test_every_error_of_a_server_is_one_of_ours(log, monkeypatch, error):
    async with program(log) as server:
        connection = server._connection
        held = connection._client
        connection._client = Answers(error)
        with pytest.raises(CanonicallError, match="MCP server"):
            await connection.call("echo", {}, print)
        with pytest.raises(CanonicallError, match="MCP server"):
            await server.tools()
        connection._client = held


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("x", "a line of its output has more than 1,000,000 bytes"),
        ("\xff\n", "its output is not UTF-8"),
    ],
    ids=["endless line", "no UTF-8"],
)
async def test_output_that_cannot_be_read_ends_the_program(log, monkeypatch, data, why):
    """All that wait for an answer are told at once; the next call starts it again."""
    monkeypatch.setattr("canonicall.runtime.mcp_transports.MOST_BYTES", 1_000_000)
    async with program(log) as server:
        tools = await server.tools()
        calls = made("flood", data=data, megabytes=100), made("slow", seconds=3600)
        async with asyncio.timeout(60):
            ends = await run(Scheduler(tools), *calls)
        for one in calls:
            assert ends[one.name].result.error
            assert why in ends[one.name].result.text
        await until(lambda: not is_running(pids(log)[0]))
        ends = await run(Scheduler(tools), made("echo", text="again"))
        assert ends["echo"].result.text == "again"
        assert len(pids(log)) == 2


async def test_a_program_that_only_writes_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("canonicall.runtime.mcp_transports.MOST_BYTES", 1_000_000)
    flood = "import os\nfor _ in range(100): os.write(1, b'x' * 1000000)\nwhile True: pass"
    server = McpServer.stdio(sys.executable, ["-c", flood])
    with pytest.raises(McpConnectionError, match="a line of its output has more than 1,000,000"):
        await server.tools()


async def test_a_long_line_is_read(log):
    """In many pieces, of which each is looked at once."""
    async with program(log) as server:
        ends = await run(Scheduler(await server.tools()), made("echo", text="é" * 3_000_000))
        assert "é" in ends["echo"].result.text


async def test_an_answer_that_is_too_long_is_an_error_of_its_call_alone(website, monkeypatch):
    monkeypatch.setattr("canonicall.runtime.mcp_transports.MOST_BYTES", 20_000)
    async with McpServer.http(website[1]) as server:
        tools = await server.tools()
        ends = await run(Scheduler(tools), made("echo", text="x" * 30_000))
        assert ends["echo"].result.error
        ends = await run(Scheduler(tools), made("echo", text="short"))
        assert ends["echo"].result.text == "short"
