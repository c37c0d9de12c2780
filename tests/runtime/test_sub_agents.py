"""Agents as tools of others: what the outer one is told is what really happened below."""

import asyncio

import pytest

from canonicall.agent.inputs import Decided
from canonicall.blocks import Text
from canonicall.decisions import CallDecided
from canonicall.events import BlockStarted, MessageStarted, TextAdded
from canonicall.outcome import Outcome
from canonicall.runtime.agent import Agent
from canonicall.runtime.model import LocalModel
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.session import Session
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.context import ToolContext
from canonicall.tools.functions import tool
from canonicall.tools.stopped import ToolStopped
from canonicall.tools.toolset import Toolset


def scripted(*steps):
    return LocalModel(ScriptedModel(steps))


@tool(approval="always")
async def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


@tool(external=True)
def ask_person(question: str) -> str:
    """Asks a person."""


class Hanging:
    """A model that says something and never ends."""

    def __init__(self, *words):
        self.words = words
        self.has_spoken = asyncio.Event()

    async def ask(self, request, target, *, notice=None):
        yield MessageStarted(None)
        yield BlockStarted(0, Text(text=""))
        for word in self.words:
            yield TextAdded(0, word)
        self.has_spoken.set()
        await asyncio.Event().wait()


async def until_stopped(context):
    stopped = asyncio.Event()
    context.on_cancel(stopped.set)
    await stopped.wait()


async def cancelled(inner, *, when):
    """The call of an inner agent that is cancelled from above as soon as `when` has happened."""
    tools = Toolset.of(inner.as_tool("scout", "Finds things out."))
    scheduler = Scheduler(tools, grace=5)
    outer = Session(
        scripted(says(call("scout", task="Look."))), "openai", tools, scheduler=scheduler
    )
    running = asyncio.ensure_future(_to_its_end(outer))
    await when.wait()
    outer.cancel()
    await running
    (one,) = outer.conversation.ledger.values()
    return one


async def _to_its_end(session):
    events = [event async for event in session.send("Go.")]
    await session.close()
    return events


async def outer_call(inner):
    tools = Toolset.of(inner.as_tool("scout", "Finds things out."))
    outer = Session(scripted(says(call("scout", task="Look.")), "Well."), "openai", tools)
    await asyncio.wait_for(_to_its_end(outer), 10)
    (one,) = outer.conversation.ledger.values()
    return one


async def test_one_that_has_acted_is_unknown_when_it_is_cancelled():
    started = asyncio.Event()

    @tool
    async def act(context: ToolContext) -> str:
        """Acts."""
        started.set()
        await until_stopped(context)
        return "acted"

    inner = Agent(scripted(says("I begin.", call("act"))), "gemini", tools=[act])
    one = await cancelled(inner, when=started)
    assert one.outcome is Outcome.UNKNOWN
    assert one.why == "the user cancelled"
    assert one.result.text == "I begin."


async def test_one_that_has_only_looked_was_not_run():
    """What changes nothing has no effects that the outer one would have to check."""
    started = asyncio.Event()

    @tool(read_only=True)
    async def look(context: ToolContext) -> str:
        """Looks."""
        started.set()
        await until_stopped(context)
        return "seen"

    inner = Agent(scripted(says(call("look"))), "gemini", tools=[look])
    assert (await cancelled(inner, when=started)).outcome is Outcome.NOT_RUN


async def test_words_that_were_said_before_are_kept():
    model = Hanging("I ", "think")
    one = await cancelled(Agent(model, "gemini"), when=model.has_spoken)
    assert (one.outcome, one.result.text) == (Outcome.UNKNOWN, "I think")


async def test_one_that_fails_gives_an_error():
    one = await outer_call(Agent(scripted(), "gemini"))
    assert (one.outcome, one.result.error) == (Outcome.FAILED, True)
    assert "the script has 0 replies" in one.result.text


@pytest.mark.parametrize("made", [call("pay", amount=3), call("ask_person", question="Why?")])
async def test_nobody_waits_for_ever_for_a_decision_below(made):
    """Nobody hears what an inner agent asks, so it is denied, and the agent goes on."""
    sessions = []

    class Recorded(Agent):
        def session(self, **options):
            sessions.append(super().session(**options))
            return sessions[-1]

    inner = Recorded(scripted(says(made), "It was denied."), "gemini", tools=[pay, ask_person])
    assert (await outer_call(inner)).result.text == "It was denied."
    (inside,) = sessions[0].conversation.ledger.values()
    assert inside.outcome is Outcome.DENIED
    decided = [one for one in sessions[0].conversation.entries if isinstance(one, CallDecided)]
    assert [one.by for one in decided] == ["agent"]


async def test_an_approver_of_the_inner_agent_is_asked():
    inner = Agent(
        scripted(says(call("pay", amount=3)), "Paid."),
        "gemini",
        tools=[pay],
        approve=lambda call: Decided(call.id, "allow"),
    )
    assert (await outer_call(inner)).result.text == "Paid."


@pytest.mark.parametrize(
    ("outcome", "partial", "ends"),
    [
        (Outcome.NOT_RUN, None, Outcome.NOT_RUN),
        (Outcome.UNKNOWN, "half", Outcome.UNKNOWN),
        (Outcome.NOT_RUN, "half", Outcome.UNKNOWN),
    ],
)
async def test_any_tool_can_say_that_it_stopped(outcome, partial, ends):
    """What has given output had started: then it cannot be said that it was not run."""

    @tool
    async def careful() -> str:
        """Gives up."""
        raise ToolStopped("it gave up", outcome=outcome, partial=partial)

    session = Session(scripted(says(call("careful")), "Well."), "openai", Toolset.of(careful))
    await _to_its_end(session)
    (one,) = session.conversation.ledger.values()
    assert (one.outcome, one.why) == (ends, "it gave up")
    assert (one.result.text if one.result else None) == partial
