"""Calls that waited when a session was left: decided and supplied later, by another process."""

import asyncio

import pytest

from canonicall.agent.inputs import Decided
from canonicall.blocks import Text, ToolResult
from canonicall.decisions import CallAsked, CallDecided
from canonicall.outcome import Outcome
from canonicall.persisted import dump, load
from canonicall.runtime.events import StatusEvent
from canonicall.runtime.model import LocalModel
from canonicall.runtime.session import Session
from canonicall.store.database import Database
from canonicall.store.resuming import open_session
from canonicall.store.sessions import SessionStore
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset

RAN = []


@tool(approval="always")
async def pay(amount: int) -> str:
    """Pays."""
    RAN.append(amount)
    return f"paid {amount}"


@tool(external=True)
def ask_person(question: str) -> str:
    """Asks a person."""


@tool(external=True, approval="always")
def ask_boss(question: str) -> str:
    """Asks somebody else."""


TOOLS = Toolset.of(pay, ask_person, ask_boss)
CALLS = says(call("pay", amount=3), call("ask_person", question="Why?"))


def scripted(*steps):
    return LocalModel(ScriptedModel(steps))


def answer(text):
    return ToolResult(content=(Text(text=text),))


async def left(*steps, leave="suspend", decide=None, **options):
    """A conversation whose session was left while calls waited."""
    RAN.clear()
    session = Session(scripted(*steps), "openai", TOOLS, **options)
    waited = asyncio.Event()

    async def talk():
        async for event in session.send("Go."):
            if isinstance(event, StatusEvent) and event.kind in ("approval", "external"):
                for one in session.undecided if decide else ():
                    session.decide(decide(one))
                waited.set()

    talking = asyncio.ensure_future(talk())
    await waited.wait()
    await asyncio.sleep(0)
    await getattr(session, leave)()
    await talking
    return load(dump(session.conversation)).conversation


async def resumed(conversation, *steps, decision="allow"):
    """The same conversation, gone on with in another session."""
    session = Session(scripted(*steps), "anthropic", TOOLS, conversation=conversation)
    asked = []
    async for event in session.resume():
        if isinstance(event, StatusEvent) and event.kind == "approval":
            asked += [(event.kind, one.name, one.args) for one in event.calls]
            for one in event.calls:
                session.decide(Decided(one.id, decision))
        elif isinstance(event, StatusEvent) and event.kind == "external":
            asked += [(event.kind, one.name, one.args) for one in event.calls]
            for one in event.calls:
                session.supply(one.id, answer("because"))
    await session.close()
    return asked, event


async def test_a_session_that_is_suspended_goes_on_where_it_was_left():
    conversation = await left(CALLS)
    assert len(conversation.ledger.open) == 2
    asked, end = await resumed(conversation, "All is done.")
    assert asked == [
        ("approval", "pay", {"amount": 3}),
        ("external", "ask_person", {"question": "Why?"}),
    ]
    assert [one.result.text for one in conversation.ledger.values()] == ["paid 3", "because"]
    assert RAN == [3]
    assert (end.reason, end.text) == ("answered", "All is done.")
    # It is on record once that they wait, however often they are told.
    assert sum(isinstance(entry, CallAsked) for entry in conversation.entries) == 2


async def test_arguments_that_were_edited_before_are_still_those():
    def edit(made):
        return Decided(made.id, "allow", edited=call("ask_boss", question="Why not?"))

    conversation = await left(says(call("ask_boss", question="Why?")), decide=edit)
    asked, _ = await resumed(conversation, "Done.")
    assert asked == [("external", "ask_boss", {"question": "Why not?"})]
    assert sum(isinstance(entry, CallDecided) for entry in conversation.entries) == 1


async def test_a_session_that_is_closed_leaves_nothing_waiting():
    conversation = await left(CALLS, leave="close")
    assert [one.outcome for one in conversation.ledger.values()] == [
        Outcome.NOT_RUN,
        Outcome.UNKNOWN,
    ]
    assert (await resumed(conversation))[1].reason == "idle"


async def test_where_nothing_waits_there_is_nothing_to_resume():
    conversation = await left(CALLS)
    await resumed(conversation, "Done.")
    before = len(conversation)
    asked, end = await resumed(conversation)
    assert (asked, end.reason, len(conversation)) == ([], "idle", before)


async def test_a_call_that_was_running_is_unknown():
    """It waits for nobody, and nobody knows how it ended."""
    conversation = await left(CALLS)
    first, _ = conversation.ledger.values()
    conversation.append(CallDecided(first.id, "allow"))
    asked, _ = await resumed(conversation, "Done.")
    assert [kind for kind, *_ in asked] == ["external"]
    ends = [one.outcome for one in conversation.ledger.values()]
    assert ends == [Outcome.UNKNOWN, Outcome.COMPLETED]


async def test_suspending_while_something_runs_is_closing():
    started = asyncio.Event()

    @tool
    async def endless() -> str:
        """Never ends."""
        started.set()
        await asyncio.Event().wait()

    tools = Toolset.of(endless, pay)
    model = scripted(says(call("endless"), call("pay", amount=3)))
    session = Session(model, "openai", tools)
    session.scheduler.grace = 0.01
    talking = asyncio.ensure_future(_all(session.send("Go.")))
    await started.wait()
    await session.suspend()
    assert (await talking)[-1].reason == "cancelled"
    assert not session.conversation.ledger.open


async def _all(events):
    return [event async for event in events]


@pytest.mark.parametrize("keeps_waiting", [True, False])
async def test_a_stored_session_keeps_what_waits_if_it_is_wanted(tmp_path, keeps_waiting):
    """After a crash: what waits is decided about then, or has the end that is true."""
    database = Database(tmp_path / "sessions.db")
    store = SessionStore(database)

    async def opened(*steps, **options):
        return await open_session(
            store, "a", scripted(*steps), "openai", TOOLS, now=lambda: 0.0, **options
        )

    first = await opened(CALLS)
    events = first.send("Go.")
    async for event in events:
        if isinstance(event, StatusEvent) and event.kind == "external":
            break
    again = await opened("Done.", keeps_waiting=keeps_waiting)
    if keeps_waiting:
        async for event in again.resume():
            for one in again.undecided:
                again.decide(Decided(one.id, "deny", "no"))
            if isinstance(event, StatusEvent) and event.kind == "external":
                again.supply(event.calls[0].id, answer("because"))
    ends = [(one.outcome, one.why) for one in again.conversation.ledger.values()]
    assert ends == (
        [(Outcome.DENIED, "no"), (Outcome.COMPLETED, "")]
        if keeps_waiting
        else [
            (Outcome.NOT_RUN, "the process ended before it started"),
            (Outcome.UNKNOWN, "the process ended before its result was supplied"),
        ]
    )
    await again.close()
    stored = (await store.load("a")).conversation
    assert dump(stored) == dump(again.conversation)
    await first.suspend()
    await events.aclose()
    database.close()
