"""Threads of tools: a call that hangs holds up nothing but itself."""

import asyncio
import subprocess
import sys
import textwrap
import threading

import pytest

from canonicall.runtime.model import LocalModel
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.session import Session
from canonicall.runtime.threads import ToolThreads
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset


def test_results_and_errors_are_those_of_the_function():
    threads = ToolThreads()
    assert threads.submit(divmod, 7, 2).result() == (3, 1)
    with pytest.raises(ZeroDivisionError):
        threads.submit(divmod, 7, 0).result()
    threads.shutdown()
    with pytest.raises(RuntimeError, match="closed"):
        threads.submit(divmod, 7, 2)


async def test_calls_that_hang_do_not_take_the_place_of_later_ones():
    """More hang than may run at once; the next one runs all the same."""
    released = threading.Event()

    @tool(timeout=0.02)
    def hang() -> str:
        """Hangs."""
        released.wait()
        return "late"

    @tool
    def quick() -> str:
        """Does not."""
        return "done"

    tools = Toolset.of(hang, quick)
    replies = [says(call("hang"), call("hang"), call("hang")), says(call("quick")), "Well."]
    one = Session(
        LocalModel(ScriptedModel(replies)), "openai", tools, scheduler=Scheduler(tools, at_once=2)
    )
    async for _ in one.send("Go."):
        pass
    outcomes = [str(made.outcome) for made in one.conversation.ledger.values()]
    assert outcomes == ["timed_out"] * 3 + ["completed"]
    released.set()
    await asyncio.sleep(0)
    await one.close()


PROGRAM = """
    import asyncio, threading
    from canonicall import Agent, LocalModel, Scheduler, ToolCallEvent, Toolset, tool, ToolContext
    from canonicall.testing import ScriptedModel, call, says

    @tool
    def hang(context: ToolContext) -> str:
        "Hangs for ever."
        context.report("hanging")
        threading.Event().wait()

    async def main():
        agent = Agent(LocalModel(ScriptedModel([says(call("hang"))])), "openai", tools=[hang])
        session = agent.session(scheduler=Scheduler(Toolset.of(hang), grace=0.01))
        async for event in session.send("Go."):
            if isinstance(event, ToolCallEvent) and event.phase == "progress":
                session.cancel()
        await session.close()
        print([str(one.outcome) for one in session.conversation.ledger.values()])

    asyncio.run(main())
"""


def test_a_program_ends_although_a_tool_does_not():
    """With a pool it would wait for ever."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "['unknown']\n", "")
