"""Calls that are stopped, take too long, or ended before: what is told of each."""

import asyncio
import threading

import pytest

from canonicall.agent.inputs import CallEnded
from canonicall.outcome import Outcome
from canonicall.runtime.journal import MemoryJournal
from canonicall.tools.context import ToolContext
from canonicall.tools.functions import tool
from runtime.scheduling import calls_of, scheduled, told


@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_a_tool_that_takes_too_long_is_left_with_what_it_had_said(kind):
    release = threading.Event()

    if kind == "async":

        @tool(timeout=0.05)
        async def slow(context: ToolContext) -> str:
            """Takes too long."""
            context.report("half of it")
            await asyncio.sleep(60)
            return "never"
    else:

        @tool(timeout=0.05)
        def slow(context: ToolContext) -> str:
            """Takes too long."""
            context.report("half of it")
            release.wait(5)
            return "late"

    ended, _ = await scheduled("slow", tools=[slow])
    release.set()
    (first, *_) = ended
    assert first.outcome is Outcome.TIMED_OUT
    assert [block.text for block in first.partial] == ["half of it"]


async def test_a_cancelled_call_may_end_by_itself():
    started = asyncio.Event()

    @tool
    async def patient(context: ToolContext) -> str:
        """Stops when it is told to."""
        started.set()
        while not context.cancelled:  # noqa: ASYNC110  the flag is all a tool has
            await asyncio.sleep(0.001)
        return "tidied up"

    async def stop(scheduler, running):
        await started.wait()
        scheduler.stop(("call-0",), "the user cancelled")

    ended, _ = await scheduled("patient", tools=[patient], stop=stop)
    assert told(ended) == [("call-0", "tidied up")]


async def test_a_call_that_does_not_listen_is_unknown_and_its_result_comes_late():
    started, release = threading.Event(), threading.Event()

    @tool
    def stubborn() -> str:
        """Does not look at the flag."""
        started.set()
        release.wait(5)
        return "done all the same"

    async def stop(scheduler, running):
        await asyncio.to_thread(started.wait)
        scheduler.stop(("call-0", "call-1"), "the user cancelled")
        await running
        release.set()
        await asyncio.sleep(0.05)

    ended, _ = await scheduled(
        "stubborn", "stubborn", tools=[stubborn], stop=stop, grace=0.01, at_once=1
    )
    by_id = {}
    for one in ended:
        by_id.setdefault(one.call_id, []).append(one)
    first, late = by_id["call-0"]
    assert first.outcome is Outcome.UNKNOWN
    assert late.result.text == "done all the same"
    assert [one.outcome for one in by_id["call-1"]] == [Outcome.NOT_RUN]


async def test_a_batch_that_nobody_waits_for_any_more_still_says_how_its_calls_ended():
    started = asyncio.Event()

    @tool
    async def endless() -> str:
        """Never ends."""
        started.set()
        await asyncio.sleep(60)
        return "never"

    async def stop(scheduler, running):
        await started.wait()
        running.cancel()

    ended, _ = await scheduled("endless", "endless", tools=[endless], stop=stop, at_once=1)
    assert told(ended) == [("call-0", "unknown"), ("call-1", "not_run")]


async def test_a_call_that_ended_before_is_not_run_again():
    count = 0

    @tool
    async def pay() -> str:
        """Pays."""
        nonlocal count
        count += 1
        return f"paid {count}"

    journal = MemoryJournal()
    for _ in range(2):
        ended, _ = await scheduled("pay", tools=[pay], journal=journal)
        assert told(ended) == [("call-0", "paid 1")]
    assert count == 1


async def test_a_call_whose_end_was_never_written_is_unknown():
    @tool
    async def pay() -> str:
        """Pays."""
        raise AssertionError("it must not be run again")

    journal = MemoryJournal()
    await journal.begin(*calls_of("pay"))
    ended, _ = await scheduled("pay", tools=[pay], journal=journal)
    (one,) = ended
    assert isinstance(one, CallEnded)
    assert (one.outcome, one.why) == (
        Outcome.UNKNOWN,
        "it was started before, and its end is not known",
    )


async def test_a_batch_can_be_stopped_before_it_has_begun():
    @tool
    async def pay() -> str:
        """Pays."""
        raise AssertionError("it must not be run")

    async def stop(scheduler, running):
        scheduler.stop(("call-0", "call-1"), "the user cancelled")

    ended, _ = await scheduled("pay", "pay", tools=[pay], stop=stop)
    assert told(ended) == [("call-0", "not_run"), ("call-1", "not_run")]


@pytest.mark.parametrize("is_early", [True, False])
async def test_a_tool_that_waits_for_others_is_told_to_stop_at_once(is_early):
    """It need not wait for the grace period; what it did is not known, and nothing says it failed."""
    started = asyncio.Event()
    may_go_on = asyncio.Event()

    @tool
    async def remote(context: ToolContext) -> str:
        """Waits for somebody else."""
        if is_early:
            context.on_cancel(asyncio.current_task().cancel)
        started.set()
        await may_go_on.wait()
        context.on_cancel(asyncio.current_task().cancel)
        await asyncio.Event().wait()

    async def stop(scheduler, running):
        await started.wait()
        scheduler.stop(("call-0",), "enough")
        scheduler.stop(("call-0",), "enough again")
        may_go_on.set()

    (end,), _ = await scheduled("remote", tools=[remote], stop=stop, grace=600)
    assert (end.outcome, end.why) == (Outcome.UNKNOWN, "enough")


@pytest.mark.parametrize(("at", "outcome"), [("begin", Outcome.NOT_RUN), ("end", Outcome.UNKNOWN)])
async def test_a_call_that_cannot_be_recorded_leaves_the_others_alone(at, outcome):
    class Full(MemoryJournal):
        async def begin(self, call):
            if at == "begin" and call.id == "call-0":
                raise OSError("no space left")
            return await super().begin(call)

        async def end(self, ended):
            if at == "end" and ended.call_id == "call-0":
                raise OSError("no space left")
            await super().end(ended)

    @tool
    async def work() -> str:
        """Works."""
        await asyncio.sleep(0)
        return "done"

    ended, _ = await scheduled("work", "work", tools=[work], journal=Full())
    ends = {one.call_id: one for one in ended}
    assert ends["call-0"].outcome is outcome
    assert "no space left" in ends["call-0"].why
    assert ends["call-1"].result.text == "done"


async def test_a_batch_that_takes_too_long_ends_for_all_its_calls():
    """What runs is timed out with what it had said, what waits is not run, what is done stays."""

    @tool
    async def quick() -> str:
        """Is done at once."""
        return "done"

    @tool
    async def slow(context: ToolContext) -> str:
        """Takes too long."""
        context.report("half of it")
        await asyncio.sleep(60)
        return "never"

    names = ("quick", "slow", "slow")
    ended, _ = await scheduled(*names, tools=[quick, slow], at_once=1, batch_timeout=0.05)
    assert told(ended) == [("call-0", "done"), ("call-1", "timed_out"), ("call-2", "not_run")]
    assert [block.text for block in ended[1].partial] == ["half of it"]
    assert "0.05 seconds" in ended[1].why
