"""The scheduler: every call ends exactly once, beside the others and whatever they do."""

import asyncio
import threading

import pytest

from canonicall.tools.context import ToolContext
from canonicall.tools.functions import tool
from runtime.scheduling import Meeting, scheduled, told


async def test_calls_of_a_turn_run_beside_each_other():
    meeting = Meeting()

    @tool
    async def meet() -> str:
        """Waits for the other one."""
        async with meeting:
            await meeting.complete.wait()
        return "met"

    ended, _ = await scheduled("meet", "meet", tools=[meet])
    assert sorted(told(ended)) == [("call-0", "met"), ("call-1", "met")]


@pytest.mark.parametrize("options", [{"at_once": 1}, {}])
async def test_no_more_than_the_bound_and_never_two_on_one_resource(options):
    meeting = Meeting(9)

    @tool(resources=() if options else ("file",))
    async def write() -> str:
        """Writes."""
        async with meeting:
            await asyncio.sleep(0)
        return "written"

    ended, _ = await scheduled(*["write"] * 5, tools=[write], **options)
    assert len(ended) == 5
    assert meeting.most == 1
    assert [one.call_id for one in ended] == [f"call-{n}" for n in range(5)]


async def test_a_sequential_tool_is_alone():
    running = []
    seen = {}

    def noting(name, **declared):
        @tool(name=name, **declared)
        async def note() -> str:
            """Notes who else runs."""
            running.append(name)
            await asyncio.sleep(0.01)
            seen.setdefault(name, set()).update(running)
            running.remove(name)
            return name

        return note

    tools = [noting("a"), noting("alone", sequential=True), noting("b")]
    await scheduled("a", "a", "alone", "b", tools=tools)
    assert seen["alone"] == {"alone"}


async def test_one_that_fails_leaves_the_others_alone():
    @tool
    async def fail() -> str:
        """Fails."""
        raise ValueError("no")

    @tool
    def leave() -> str:
        """Wants to end the process."""
        raise SystemExit(3)

    @tool
    async def cancels_itself() -> str:
        """Raises what asyncio uses to cancel."""
        raise asyncio.CancelledError

    @tool
    async def fine() -> str:
        """Works."""
        await asyncio.sleep(0.01)
        return "fine"

    names = ("fail", "leave", "cancels_itself", "fine")
    ended, _ = await scheduled(*names, tools=[fail, leave, cancels_itself, fine])
    results = {one.call_id: one.result for one in ended}
    assert [results[f"call-{n}"].error for n in range(4)] == [True, True, True, False]
    assert results["call-3"].text == "fine"


async def test_every_kind_of_function_is_run_and_progress_is_told():
    @tool
    def plain() -> str:
        """In a thread."""
        return threading.current_thread().name

    @tool
    def steps():
        """Yields its progress, returns its result."""
        yield "half"
        return "whole"

    @tool
    async def async_steps():
        """Yields its progress; the last is the result."""
        yield "a quarter"
        yield "all"

    @tool
    async def says(context: ToolContext) -> str:
        """Reports."""
        context.report(context.call_id)
        return "said"

    names = ("plain", "steps", "async_steps", "says")
    ended, reported = await scheduled(*names, tools=[plain, steps, async_steps, says])
    results = dict(told(ended))
    assert results["call-0"].startswith("tool")
    assert [results[f"call-{n}"] for n in (1, 2, 3)] == ["whole", "all", "said"]
    assert sorted(reported) == ["a quarter", "call-3", "half"]


async def test_what_an_async_generator_yields_is_progress_and_its_last_value_the_result():
    @tool
    async def count() -> str:
        """Counts."""
        for number in ("one", "two", "three"):
            yield number

    ended, reported = await scheduled("count", tools=[count])
    await asyncio.sleep(0)
    assert told(ended) == [("call-0", "three")]
    assert reported == ["one", "two"]
