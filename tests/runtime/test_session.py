"""Sessions: what is heard of a run, and what is left of it wherever it is stopped."""

import asyncio
import json

import msgspec
import pytest

from canonicall.agent.counters import Tally
from canonicall.agent.inputs import Decided
from canonicall.blocks import Text, ToolResult
from canonicall.codec import encode_request
from canonicall.conversation import Conversation
from canonicall.decisions import CallDecided
from canonicall.facts.registry import provider_names
from canonicall.persisted import dump
from canonicall.request import Request
from canonicall.runtime.events import (
    CompleteEvent,
    StatusEvent,
    TextEvent,
    ToolCallEvent,
    fold_events,
)
from canonicall.runtime.model import LocalModel, ModelError
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.session import Session
from canonicall.store.database import Database
from canonicall.store.resuming import open_session
from canonicall.store.sessions import SessionStore, Stored
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset
from canonicall.verify import verify
from counting_loop import CountingLoop


@tool
async def weather(city: str) -> str:
    """The weather."""
    for _ in range(3):
        await asyncio.sleep(0)
    return f"sunny in {city}"


@tool
def clock(city: str) -> str:
    """The time."""
    return f"noon in {city}"


@tool(approval="always")
async def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


@tool(external=True)
def ask_person(question: str) -> str:
    """Asks a person."""


TOOLS = (weather, clock, pay, ask_person)
SCENARIO = (
    says("I will look.", call("weather", city="Paris"), call("clock", city="Rome")),
    says(call("pay", amount=3), call("weather")),
    "Done.",
)


def session(*steps, repeat=False, **options):
    toolset = Toolset.of(*TOOLS)
    options.setdefault("scheduler", Scheduler(toolset, grace=0.05))
    model = LocalModel(ScriptedModel(steps, repeat=repeat))
    return Session(model, "openai", toolset, **options)


async def heard(one, text="Go."):
    return [event async for event in one.send(text)]


async def test_the_whole_run_is_heard_in_order():
    one = session(*SCENARIO, approve=lambda call: True)
    events = await heard(one)
    assert isinstance(events[-1], CompleteEvent)
    assert (events[-1].reason, events[-1].text) == ("answered", "Done.")
    assert "".join(one.text for one in events if isinstance(one, TextEvent)) == "I will look.Done."
    phases = [(one.phase, one.call.name) for one in events if isinstance(one, ToolCallEvent)]
    assert phases[:2] == [("made", "weather"), ("made", "clock")]
    assert sorted(phases[2:4]) == [("ended", "clock"), ("ended", "weather")]
    await one.close()


async def test_events_are_lines_of_json_and_fold_to_the_conversation():
    one = session(*SCENARIO, approve=lambda call: True)
    events = await heard(one)
    lines = [msgspec.json.encode(event) for event in events]
    assert {json.loads(line)["type"] for line in lines} == {
        "text",
        "tool_call",
        "status",
        "complete",
    }
    assert dump(fold_events(events)) == dump(one.conversation)
    await one.close()


async def test_somebody_decides_later():
    one = session(says(call("pay", amount=3)), "Paid.")
    reason = ""
    async for event in one.send("Pay."):
        if isinstance(event, StatusEvent) and event.kind == "approval":
            one.decide(Decided(event.calls[0].id, "allow"))
        if isinstance(event, CompleteEvent):
            reason = event.reason
    assert reason == "answered"
    await one.close()


async def test_what_was_allowed_for_the_session_is_allowed_after_a_restart_and_in_a_fork(tmp_path):
    """Nobody is asked again: the decision is an entry of the stored conversation."""
    database = Database(tmp_path / "sessions.db")
    store = SessionStore(database)

    async def talk(id, amount, **options):
        model = LocalModel(ScriptedModel([says(call("pay", amount=amount)), "Paid."]))
        tools = Toolset.of(*TOOLS)
        one = await open_session(store, id, model, "openai", tools, now=lambda: 0.0, **options)
        kinds = [event.kind for event in await heard(one) if isinstance(event, StatusEvent)]
        await one.close()
        return one.conversation, kinds

    allow = {"approve": lambda call: Decided(call.id, "allow", scope="session")}
    assert "approval" in (await talk("first", 1, **allow))[1]
    await store.fork("first", Stored("second", "openai", parent="first"))
    for id in ("first", "second"):
        conversation, kinds = await talk(id, 2)
        assert "approval" not in kinds
        decided = [entry for entry in conversation.entries if isinstance(entry, CallDecided)]
        assert [(one.by, one.scope) for one in decided] == [
            ("approve", "session"),
            ("rule", "once"),
        ]
        paid = [one.result.text for one in conversation.ledger.values()]
        assert paid == ["paid 1", "paid 2"]
    database.close()


async def test_who_decided_is_on_record_even_if_nobody_said_so():
    one = session(says(call("pay", amount=3)), "Paid.")
    async for event in one.send("Pay."):
        if isinstance(event, StatusEvent) and event.kind == "approval":
            assert [call.name for call in one.undecided] == ["pay"]
            one.decide(Decided(event.calls[0].id, "allow"))
            assert one.undecided == ()
    decided = [entry for entry in one.conversation.entries if isinstance(entry, CallDecided)]
    assert [entry.by for entry in decided] == ["user"]
    await one.close()


async def test_an_external_result_is_supplied():
    one = session(says(call("ask_person", question="Why?")), "Because.")
    async for event in one.send("Ask."):
        if isinstance(event, StatusEvent) and event.kind == "external":
            (asked,) = event.calls
            one.supply(asked.id, ToolResult(content=(Text(text="because"),)))
    assert [str(x.outcome) for x in one.conversation.ledger.values()] == ["completed"]
    await one.close()


async def test_what_is_said_meanwhile_joins_the_run():
    one = session(says(call("weather", city="Paris")), "Sunny.", "And sunny.")
    events = []
    async for event in one.send("Paris?"):
        events.append(event)
        if isinstance(event, ToolCallEvent) and event.phase == "made":
            joined = [event async for event in one.send("And Rome?")]
    assert joined == events[-1:]
    assert (joined[0].reason, joined[0].text) == ("answered", "Sunny.")
    roles = [message.role for message in one.conversation.messages]
    assert roles == ["user", "assistant", "tool", "user", "assistant"]
    await one.close()


@pytest.mark.parametrize("ends", ["answered", "cancelled", "failed"])
async def test_every_send_that_joins_a_run_hears_its_end(ends):
    steps = {
        "answered": (says(call("pay", amount=3)), "Paid."),
        "failed": (says(call("pay", amount=3)),),
    }
    one = session(*steps.get(ends, steps["answered"]))
    first, waiting = [], asyncio.Event()

    async def begin():
        async for event in one.send("Pay."):
            first.append(event)
            if isinstance(event, StatusEvent) and event.kind == "approval":
                waiting.set()

    began = asyncio.ensure_future(begin())
    await waiting.wait()
    joined = [asyncio.ensure_future(heard(one, text)) for text in ("Well?", "Well??")]
    await asyncio.sleep(0)
    if ends == "cancelled":
        one.cancel()
    else:
        one.decide(Decided(one.undecided[0].id, "allow"))
    await began
    assert isinstance(first[-1], CompleteEvent)
    assert first[-1].reason == ends
    assert [await events for events in joined] == [first[-1:], first[-1:]]
    await one.close()


async def test_a_script_that_ends_is_an_error_that_is_told():
    one = session()
    events = await heard(one)
    assert [event.reason for event in events if isinstance(event, CompleteEvent)] == ["failed"]
    await one.close()


async def test_whoever_stops_listening_leaves_nothing_open():
    one = session(*SCENARIO)
    async for event in one.send("Go."):
        if isinstance(event, ToolCallEvent):
            break
    await asyncio.sleep(0.1)
    await one.close()
    assert not one.conversation.ledger.open


@pytest.mark.parametrize("heard_before", range(1, 5))
async def test_who_comes_after_one_that_stopped_listening_hears_only_the_own_run(heard_before):
    one = session("First.", "Second.", repeat=True)
    events = one.send("Go.")
    for _ in range(heard_before):
        await anext(events)
    await events.aclose()
    again = await heard(one, "Again.")
    assert again[0].entry.text == "Again."
    assert again[-1].reason == "answered"
    await one.close()


async def test_a_model_that_raises_anything_ends_the_run():
    class Broken:
        async def ask(self, request, target, **_):
            raise KeyError("choices")
            yield

    one = Session(Broken(), "openai")
    events = await heard(one)
    assert (events[-1].reason, events[-1].detail) == ("failed", "KeyError: 'choices'")
    await one.close()


async def test_an_empty_conversation_is_the_one_that_is_written_to():
    empty = Conversation()
    one = session("Hello.", conversation=empty)
    await heard(one)
    assert [message.role for message in empty.messages] == ["user", "assistant"]
    await one.close()


async def test_requests_that_a_provider_refused_are_counted():
    class Refused:
        async def ask(self, request, target, **_):
            raise ModelError("no", status=400)
            yield

    tally = Tally()
    for _ in range(2):
        one = Session(Refused(), "openai", tally=tally)
        await heard(one)
        await one.close()
    assert tally.by_provider["openai"].tool_api_400_total == 2


def run_cancelled_at(turn):
    """A run that is cancelled before the nth turn of its event loop; how many turns it has."""
    loop = CountingLoop(turn)
    made = {}

    async def work():
        made["session"] = session(*SCENARIO, approve=lambda call: True)
        loop.act = made["session"].cancel
        made["events"] = await heard(made["session"])
        await made["session"].close()

    try:
        loop.run_until_complete(work())
    finally:
        loop.close()
    return loop.turns, made["session"], made["events"]


TURNS, *_ = run_cancelled_at(-1)


@pytest.mark.parametrize("turn", range(2, TURNS + 1))
def test_wherever_a_run_is_cancelled_every_call_has_one_end(turn):
    """L10, at every await point: the history is fit for every provider, and the run has one end."""
    _, one, events = run_cancelled_at(turn)
    assert not one.conversation.ledger.open
    assert sum(isinstance(event, CompleteEvent) for event in events) == 1
    ends = [event.call.id for event in events if getattr(event, "phase", "") == "ended"]
    assert len(ends) == len(set(ends))
    assert dump(fold_events(events)) == dump(one.conversation)
    one.conversation.user("And now?")
    for name in provider_names():
        encoded = encode_request(Request(one.conversation, model="m"), name)
        assert list(verify(encoded.body, name)) == []


def test_there_are_many_places_to_cancel_at():
    assert TURNS > 15
