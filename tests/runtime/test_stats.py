"""The figures of a session: they agree with its conversation, its counters and its clock."""

import asyncio
import json

import pytest

from canonicall.agent.limits import RunLimits
from canonicall.reply import Usage
from canonicall.runtime.model import LocalModel, ModelError
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.session import Session
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset


class Clock:
    """Time that passes when somebody says so."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def session(clock, *steps, **options):
    @tool
    async def work(seconds: int) -> str:
        """Works."""
        clock.now += seconds
        return "done"

    @tool(approval="always")
    async def pay() -> str:
        """Pays."""
        return "paid"

    tools = Toolset.of(work, pay)
    return Session(LocalModel(ScriptedModel(steps)), "openai", tools, clock=clock, **options)


def takes(clock, seconds, reply):
    """A step of a script that takes its time."""

    def step(request):
        clock.now += seconds
        return reply

    return step


async def run(one, text="Go."):
    async for _ in one.send(text):
        pass


async def test_turns_tokens_calls_and_times_are_counted(clock):
    usage = Usage(input_tokens=10, output_tokens=3)
    one = session(
        clock,
        takes(clock, 2, says(call("work", seconds=5), call("work"), call("pay"), usage=usage)),
        takes(clock, 4, says(call("work", seconds=1), usage=usage)),
        takes(clock, 6, says("Done.", usage=usage)),
        approve=lambda call: False,
    )
    await run(one)
    stats = one.stats
    asked = stats.providers["openai"]
    assert (asked.turns, asked.failures) == (3, 0)
    assert (asked.input_tokens, asked.output_tokens) == (30, 9)
    assert (asked.latency.count, asked.latency.total, asked.latency.longest) == (3, 12.0, 6.0)
    assert asked.counters == one.machine.tally.by_provider["openai"]
    assert (asked.counters.tool_calls_total, asked.counters.tool_calls_invalid_args) == (4, 1)
    assert stats.tools["work"].outcomes == {"completed": 2, "invalid": 1}
    assert (stats.tools["work"].latency.count, stats.tools["work"].latency.mean) == (2, 3.0)
    assert stats.tools["pay"].outcomes == {"denied": 1}
    assert stats.tools["pay"].latency.count == 0
    await one.close()


async def test_each_provider_has_its_own_figures(clock):
    one = session(clock, "One.", "Two.", "Three.")
    await run(one)
    one.use("anthropic")
    await run(one)
    await run(one)
    assert {name: made.turns for name, made in one.stats.providers.items()} == {
        "openai": 1,
        "anthropic": 2,
    }
    await one.close()


async def test_a_limit_of_seconds_is_kept(clock):
    """The machine is told how long things took, so that it can stop."""
    steps = [says(call("work", seconds=20)), says(call("work", seconds=21)), "Never said."]
    one = session(clock, *steps, limits=RunLimits(seconds=30))
    events = [event async for event in one.send("Go.")]
    assert (events[-1].reason, events[-1].seconds) == ("limit", 41.0)
    await one.close()


async def test_refused_requests_are_counted(clock):
    class Refusing:
        async def ask(self, request, target, **options):
            clock.now += 1
            raise ModelError("no", status=self.status)
            yield

    one = Session(refusing := Refusing(), "openai", clock=clock)
    for refusing.status in (400, 422, 500):
        await run(one)
    asked = one.stats.providers["openai"]
    assert (asked.turns, asked.failures, asked.latency.total) == (0, 3, 3.0)
    assert asked.counters.tool_api_400_total == 2
    await one.close()


async def test_a_call_that_came_too_late_is_counted_once(clock):
    released = asyncio.Event()

    @tool(timeout=0.01)
    async def slow() -> str:
        """Does not stop when it is told to."""
        clock.now += 7
        try:
            await released.wait()
        except asyncio.CancelledError:
            return "late"
        return "never"

    tools = Toolset.of(slow)
    model = LocalModel(ScriptedModel([says(call("slow")), "Done."]))
    scheduler = Scheduler(tools, clock=clock)
    one = Session(model, "openai", tools, scheduler=scheduler, clock=clock)
    await run(one)
    await asyncio.sleep(0)
    assert one.stats.tools["slow"].outcomes == {"timed_out": 1}
    assert (one.stats.tools["slow"].latency.count, one.stats.tools["slow"].latency.total) == (1, 7)
    await one.close()


async def test_calls_made_before_the_session_are_not_its_own(clock):
    first = session(clock, says(call("work", seconds=1)), "Done.")
    await run(first)
    await first.close()
    later = session(clock, "Nothing to do.", conversation=first.conversation)
    await run(later)
    assert later.stats.tools == {}
    await later.close()


async def test_the_table_and_the_json_say_the_same(clock):
    one = session(clock, takes(clock, 2, says(call("work", seconds=3))), "Done.")
    await run(one)
    lines = [line.split() for line in one.stats.table().splitlines()]
    assert lines == [
        ["provider", "turns", "failed", "tokens", "in", "out", "mean", "s", "most", "s"],
        ["openai", "2", "0", "0", "0", "1.000", "2.000"],
        [],
        ["provider", "calls", "invalid", "repaired", "refused", "at", "limit"],
        ["openai", "1", "0", "0", "0", "0"],
        [],
        ["tool", "calls", "mean", "s", "most", "s"],
        ["work", "1", "completed", "3.000", "3.000"],
    ]
    told = json.loads(one.stats.json())
    assert told["providers"]["openai"]["turns"] == 2
    assert told["providers"]["openai"]["counters"]["tool_calls_total"] == 1
    assert told["tools"]["work"]["latency"] == {"count": 1, "total": 3.0, "longest": 3.0}
    await one.close()
