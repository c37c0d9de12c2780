"""Edge cases of running tools by the number of their row, from 22: see `test_runtime_integrity.py`."""

import asyncio
import itertools
import threading

import pytest

from canonicall.agent.inputs import Decided
from canonicall.blocks import Message, Text, Thinking
from canonicall.codec import encode_request
from canonicall.conversation import Conversation
from canonicall.facts.registry import get_target
from canonicall.persisted import dump, load
from canonicall.request import Request
from canonicall.runtime.events import StatusEvent, ToolCallEvent
from canonicall.runtime.model import LocalModel
from canonicall.store.database import Database
from canonicall.store.resuming import open_session
from canonicall.store.sessions import SessionStore, Stored
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset
from canonicall.verify import verify
from scenarios.runtime_support import (
    PLACES,
    cut_everywhere,
    heard,
    noting,
    outcomes,
    statuses,
    talking,
)

each_place = pytest.mark.parametrize("place", PLACES)


@tool(approval="always")
async def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


@each_place
async def test_row_22_an_answer_that_is_asked_for_again_runs_no_tool_twice(place):
    """Wherever it broke: what came of the dead attempt is not run beside that of the next."""
    runs = []
    async for one, events, ran in cut_everywhere(place, is_quiet=False):
        runs.append(ran)
        whole = [x for x in one.conversation.ledger.values() if not x.call.truncated]
        assert len(whole) <= 1
        assert events[-1].text == "Done."
        assert set(statuses(one)) == {200}
    assert runs[0] == runs[-1] == ["a"]
    assert all(ran in ([], ["a"]) for ran in runs)


@each_place
async def test_row_23_a_reply_of_nothing_leaves_nothing_empty_behind(place):
    """No empty message, no empty list of calls, and the next request is accepted."""
    async with talking(place, "Never said.", "Here.", faults=["empty_reply"]) as one:
        await heard(one)
        await heard(one, "Hello?")
    assert set(statuses(one)) == {200}
    assert "'tool_calls': []" not in str(one.served.seen[-1].body)


@pytest.mark.parametrize(
    "goal", ["anthropic:claude-opus-4-6", "bedrock:anthropic.claude-opus-4-6-v1"]
)
@pytest.mark.parametrize(
    "blocks",
    [
        (Text(text="I was about to"),),
        (Thinking(text="unsigned"),),
        (Thinking(text="unsigned"), Text(text="Yes. ")),
    ],
)
def test_row_23_a_history_that_ends_with_the_assistant_is_no_prefill(goal, blocks):
    """Newer models of Claude refuse to go on with their own words."""
    made = Conversation()
    made.user("Go.")
    made.append(Message("assistant", blocks, partial=True))
    target = get_target(goal)
    assert list(verify(encode_request(Request(made), target).body, target)) == []


@each_place
async def test_row_24_the_refused_part_of_a_batch_is_answered_too(place):
    """Denied, unknown, invalid and run: four calls, four answers, in one batch."""
    ran = []
    batch = says(call("pay", amount=3), call("nowhere"), call("write"), call("write", path="a"))
    async with talking(
        place, batch, "I see.", tools=[noting(ran), pay], approve=lambda call: False
    ) as one:
        events = await heard(one)
    assert events[-1].text == "I see."
    assert outcomes(one) == ["denied", "invalid", "invalid", "completed"]
    assert ran == ["a"]
    assert statuses(one) == [200, 200]


async def test_row_24_a_mixed_batch_of_approvals_is_resumed_without_running_anything(tmp_path):
    """One ran, one was denied, one was waiting when the process ended: each says what is true."""
    ran = []
    tools = Toolset.of(noting(ran), pay)
    database = Database(tmp_path / "s.db")
    store = SessionStore(database)
    now = itertools.count(1.0).__next__
    batch = says(call("write", path="a"), call("pay", amount=1), call("pay", amount=2))
    model = LocalModel(ScriptedModel([batch]))
    one = await open_session(store, "a", model, "openai", tools, now=now)
    waiting, running = [], one.send("Go.")
    async for event in running:
        if isinstance(event, StatusEvent) and event.kind == "approval":
            waiting += event.calls
            one.decide(Decided(waiting[0].id, "deny", reason="too dear"))
        if isinstance(event, ToolCallEvent) and event.phase == "ended":
            break
    # What the disk holds at this moment is what a process that ended here would leave behind.
    await store.fork("a", Stored("b", "openai", parent="a"))
    assert [made.call.id for made in (await store.load("b")).conversation.ledger.open] == [
        waiting[1].id
    ]
    await running.aclose()
    await one.close()
    model = LocalModel(ScriptedModel(["I see."]))
    resumed = await open_session(store, "b", model, "openai", tools, now=now)
    assert outcomes(resumed) == ["completed", "denied", "not_run"]
    resumed.decide(Decided(waiting[1].id, "allow"))
    events = await heard(resumed, "And?")
    await resumed.close()
    assert events[-1].text == "I see."
    assert outcomes(resumed) == ["completed", "denied", "not_run"]
    assert ran == ["a"]
    stored = (await store.load("b")).conversation
    assert dump(stored) == dump(resumed.conversation)
    database.close()


async def test_row_25_a_late_result_is_kept_and_overwrites_nothing():
    """The tool does not listen: what it did is unknown, and stays so when it ends after all."""
    started, release, late = threading.Event(), threading.Event(), asyncio.Event()

    @tool
    def stubborn() -> str:
        """Does not look at the flag."""
        started.set()
        release.wait(5)
        return "done all the same"

    def keep(first, entries):
        if "done all the same" in str(entries):
            late.set()

    batch = says(call("write", path="a"), call("stubborn"))
    tools = [noting([]), stubborn]
    async with talking("openai", batch, "I see.", tools=tools, grace=0.0, keep=keep) as one:
        async for event in one.send("Go."):
            if isinstance(event, ToolCallEvent) and event.call.name == "write":
                await asyncio.to_thread(started.wait, 10)
            if isinstance(event, ToolCallEvent) and event.phase == "ended":
                one.cancel()
        assert outcomes(one) == ["completed", "unknown"]
        release.set()
        await asyncio.wait_for(late.wait(), 10)
        await heard(one, "What happened?")
    assert statuses(one) == [200, 200]
    for conversation in (one.conversation, load(dump(one.conversation)).conversation):
        ends = [str(made.outcome) for made in conversation.ledger.values()]
        assert ends == ["completed", "unknown"]
        assert "late_result" in last_call(conversation).markers


def last_call(conversation):
    return list(conversation.ledger.values())[-1]


@each_place
async def test_row_32_a_history_of_calls_goes_to_an_agent_without_tools(place):
    """It is accepted, and the model reads what was called and what came of it."""
    made = Conversation()
    made.user("Write a file.")
    (written,) = made.assistant([call("write", path="a-file")]).calls
    made.result(written.id, "wrote it well")
    made.assistant("Written.")
    async with talking(place, "It was written.", conversation=made) as one:
        events = await heard(one, "What was done?")
    assert events[-1].text == "It was written."
    assert statuses(one) == [200]
    told = str(one.served.seen[0].body)
    assert "a-file" in told
    assert "wrote it well" in told
