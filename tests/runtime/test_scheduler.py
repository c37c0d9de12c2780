"""The scheduler: every call ends exactly once, beside the others and whatever they do."""

import asyncio
import threading

import pytest

from canonicall.agent.batch import plan
from canonicall.agent.inputs import CallEnded
from canonicall.blocks import ToolCall
from canonicall.outcome import Outcome
from canonicall.runtime.journal import MemoryJournal
from canonicall.runtime.scheduler import Scheduler
from canonicall.tools.context import ToolContext
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset


def calls_of(*names):
    return [ToolCall(id=f"call-{n}", name=name, args={}) for n, name in enumerate(names)]


async def scheduled(*names, tools, stop=None, **options):
    """How the calls ended, in the order they did, and what they reported."""
    toolset = Toolset.of(*tools)
    scheduler = Scheduler(toolset, **options)
    ended, reported = [], []
    running = scheduler.start(
        plan(calls_of(*names), toolset),
        ended.append,
        progress=lambda call, value: reported.append(value),
    )
    if stop is not None:
        await stop(scheduler, running)
    await asyncio.gather(running, return_exceptions=True)
    scheduler.close()
    return ended, reported


def told(ended):
    return [(one.call_id, one.result.text if one.result else str(one.outcome)) for one in ended]


class Meeting:
    """Counts who is there at the same time."""

    def __init__(self, wanted=2):
        self.here = 0
        self.most = 0
        self.wanted = wanted
        self.complete = asyncio.Event()

    async def __aenter__(self):
        self.here += 1
        self.most = max(self.most, self.here)
        if self.here >= self.wanted:
            self.complete.set()

    async def __aexit__(self, *_):
        self.here -= 1


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
