"""Laws of sessions: one end for every call wherever a run is cancelled, results in call order."""

import asyncio
import itertools
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.blocks import ToolCall, ToolResult
from canonicall.codec import encode_request
from canonicall.facts.registry import get_target, provider_names
from canonicall.outcome import MAY_HAVE_RUN
from canonicall.persisted import dump
from canonicall.request import Params, Request
from canonicall.runtime.agent import Agent
from canonicall.runtime.events import CompleteEvent, fold_events
from canonicall.runtime.model import LocalModel
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.session import Session
from canonicall.store.database import Database
from canonicall.store.resuming import open_session
from canonicall.store.sessions import SessionStore
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset
from canonicall.transcript.render import render
from canonicall.verify import verify
from counting_loop import CountingLoop
from scenarios.runtime_support import asking, heard, simulator, target


@tool
async def step(name: str) -> str:
    """Does one thing."""
    await asyncio.sleep(0)
    return f"did {name}"


@tool(sequential=True)
async def alone(name: str) -> str:
    """Does one thing while nothing else is done."""
    await asyncio.sleep(0)
    return f"did {name}"


SCENARIO = (
    says("I will.", call("step", name="a"), call("alone", name="b"), call("step", name="c")),
    says(call("step"), call("step", name="d")),
    "Done.",
)


def cancelled_at(turn, run):
    """Runs `run`, which is cancelled before the nth turn of its event loop."""
    loop = CountingLoop(turn)
    try:
        sessions, events = loop.run_until_complete(run(loop))
    finally:
        loop.close()
    return loop.turns, sessions, events


async def of_an_agent_and_its_sub_agent(loop):
    """Both sessions; the inner one is a call of the outer one."""
    sessions = []

    class Recorded(Agent):
        def session(self, **options):
            sessions.append(super().session(**options))
            return sessions[-1]

    asked = ScriptedModel(SCENARIO)
    inner = Recorded(LocalModel(asked), "gemini", tools=[step, alone])
    calls = says(call("scout", task="Look."), call("step", name="e"))
    tools = Toolset.of(inner.as_tool("scout", "Finds things out."), step)
    outer = Session(
        LocalModel(ScriptedModel([calls, "Well."])),
        "anthropic",
        tools,
        scheduler=Scheduler(tools, grace=0.05),
    )
    asked_until_then = []

    def act():
        asked_until_then.append(len(asked.requests))
        outer.cancel()

    loop.act = act
    events = await heard(outer)
    await outer.close()
    # What was stopped above does not go on below.
    assert asked_until_then in ([], [len(asked.requests)])
    # What the outer one was told is what happened below.
    told = {one.name: str(one.outcome) for one in outer.conversation.ledger.values()}.get("scout")
    for inside in sessions:
        last = list(inside.conversation.messages)[-1]
        has_answered = last.text == "Done." and not last.partial
        assert told != "completed" or has_answered
        acted = any(one.outcome in MAY_HAVE_RUN for one in inside.conversation.ledger.values())
        assert told != "not_run" or not acted
    left = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*left, return_exceptions=True)
    return [outer, *sessions], events


async def of_a_model_that_does_not_stream(loop):
    """The provider is a simulator, asked for whole replies."""
    tools = Toolset.of(step, alone)
    async with asking(simulator("anthropic", *SCENARIO), {}) as model:
        session = Session(model, target("anthropic"), tools, params=Params(stream=False))
        loop.act = session.cancel
        events = await heard(session)
        await session.close()
    return [session], events


async def of_a_stored_session(loop, folder):
    """What is on disk behind the end is what the session had, and opens without an open call."""
    database = Database(folder / "sessions.db")
    store = SessionStore(database)
    open_again = partial(
        open_session, store, "a", target="openai", tools=Toolset.of(step, alone), now=lambda: 0.0
    )
    session = await open_again(model=LocalModel(ScriptedModel(SCENARIO)))
    loop.turns, loop.act = 0, session.cancel
    events = await heard(session)
    await session.close()
    assert dump((await store.load("a")).conversation) == dump(session.conversation)
    again = await open_again(model=LocalModel(ScriptedModel(["Again."])))
    loop.act = None
    await heard(again, "And?")
    await again.close()
    database.close()
    return [session, again], events


def every_call_has_one_end(sessions, events):
    """Nothing is open, no end is told twice, and every provider would take what comes next."""
    assert sum(isinstance(event, CompleteEvent) for event in events) == 1
    ends = [event.call.id for event in events if getattr(event, "phase", "") == "ended"]
    assert len(ends) == len(set(ends))
    for session in sessions:
        conversation = session.conversation
        assert session.machine.is_idle
        assert not conversation.ledger.open
        conversation.user("And now?")
        for name in provider_names():
            encoded = encode_request(Request(conversation, model="m"), name)
            assert list(verify(encoded.body, name)) == []


MODES = {
    "sub-agent": of_an_agent_and_its_sub_agent,
    "whole replies": of_a_model_that_does_not_stream,
}


@pytest.mark.parametrize("mode", MODES)
def test_wherever_it_is_cancelled_every_call_has_one_end(mode):
    """L10 for a sub-agent and for a model that does not stream, at every turn of the loop."""
    turns, sessions, events = cancelled_at(-1, MODES[mode])
    assert events[-1].reason == "answered"
    assert turns > 15
    for turn in range(2, turns + 1):
        _, sessions, events = cancelled_at(turn, MODES[mode])
        assert dump(fold_events(events)) == dump(sessions[0].conversation)
        every_call_has_one_end(sessions, events)


def test_wherever_a_stored_session_is_cancelled_its_file_has_every_end(tmp_path):
    """L10 with a store. How many turns a run has depends on the disk: it is tried until it ends."""
    for turn in itertools.count(1):
        folder = tmp_path / str(turn)
        _, sessions, events = cancelled_at(turn, partial(of_a_stored_session, folder=folder))
        every_call_has_one_end(sessions[1:], events)
        if events[-1].reason == "answered":
            assert turn > 15
            return


async def ended_in(order):
    """A session whose parallel calls end in this order."""
    turns = [asyncio.Event() for _ in order]
    turns[0].set()

    @tool
    async def wait(number: int) -> str:
        """Waits until it is its turn to end."""
        at = order.index(number)
        await turns[at].wait()
        if at + 1 < len(order):
            turns[at + 1].set()
        return f"result {number}"

    batch = says(*(call("wait", number=number) for number in range(len(order))))
    tools = Toolset.of(wait)
    model = LocalModel(ScriptedModel([batch, "Done."]))
    scheduler = Scheduler(tools, at_once=len(order))
    session = Session(model, "openai", tools, scheduler=scheduler)
    events = await heard(session)
    await session.close()
    ended = [
        event.call.args["number"] for event in events if getattr(event, "phase", "") == "ended"
    ]
    return session, ended


@given(st.integers(1, 8).flatmap(lambda count: st.permutations(range(count))))
def test_results_stand_in_call_order_whatever_order_tools_end_in(order):
    """L11, through the scheduler and to three providers."""
    session, ended = asyncio.run(ended_in(order))
    assert ended == list(order)
    expected = [f"result {number}" for number in range(len(order))]
    assert [one.result.text for one in session.conversation.ledger.values()] == expected
    for goal in ("openai", "anthropic", "gemini"):
        blocks = [
            block
            for turn in render(session.conversation, get_target(goal)).turns
            for block in turn.blocks
        ]
        results = [block for block in blocks if isinstance(block, ToolResult)]
        assert [result.text for result in results] == expected
        calls = [block.id for block in blocks if isinstance(block, ToolCall)]
        assert [result.call_id for result in results] == calls
