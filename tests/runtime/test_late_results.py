"""Results that come when nobody waits any more: told when they come, recorded, and no more."""

import asyncio
import threading
from contextlib import aclosing, asynccontextmanager

from canonicall.cli.approvals import Approvals
from canonicall.cli.listeners import Screen
from canonicall.cli.reading import Interrupts
from canonicall.cli.talking import Talk
from canonicall.outcome import Outcome
from canonicall.runtime.events import CompleteEvent, StatusEvent, ToolCallEvent
from canonicall.runtime.model import LocalModel
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.session import Session
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset


class Stubborn:
    """A session with a tool that does not stop when it is asked to, and ends when it is let."""

    def __init__(self):
        self.started = asyncio.Event()
        self._may_end = threading.Event()
        loop = asyncio.get_running_loop()

        @tool
        def stubborn() -> str:
            """Does not listen."""
            loop.call_soon_threadsafe(self.started.set)
            self._may_end.wait()
            return "after all"

        tools = Toolset.of(stubborn)
        self.session = Session(
            LocalModel(ScriptedModel([says(call("stubborn")), "And on."])),
            "openai",
            tools,
            scheduler=Scheduler(tools, grace=0.01),
        )

    async def cancelled(self):
        """The events of a run that is cancelled while the tool runs."""
        events = []
        async for event in self.session.send("Go."):
            events.append(event)
            if isinstance(event, ToolCallEvent) and event.phase == "made":
                await self.started.wait()
                self.session.cancel()
        return events

    def let_end(self):
        self._may_end.set()


@asynccontextmanager
async def a_stubborn_one():
    one = Stubborn()
    try:
        yield one
    finally:
        one.let_end()
        await one.session.close()


class Ear:
    """Somebody who listens to a session."""

    def __init__(self, session, **options):
        self.events = []
        self._has_heard_late = asyncio.Event()
        self.until_closed = asyncio.ensure_future(self._listen(session, options))

    async def _listen(self, session, options):
        was_late = False
        async for event in session.listen(**options):
            self.events.append(event)
            if was_late:
                self._has_heard_late.set()
            was_late = getattr(event, "phase", "") == "late"

    async def late(self):
        """Until a late result is heard, and that it was written."""
        await asyncio.wait_for(self._has_heard_late.wait(), 10)


async def test_a_late_result_is_heard_when_it_comes():
    """Before anybody says anything again, by whoever listens to the session."""
    async with a_stubborn_one() as stubborn:
        session = stubborn.session
        ear = Ear(session, only_between=True)
        await asyncio.sleep(0)
        during = await stubborn.cancelled()
        ends = [one.outcome for one in during if getattr(one, "phase", "") == "ended"]
        assert ends == ["unknown"]
        assert ear.events == []
        stubborn.let_end()
        await ear.late()
        late, written = ear.events
        assert (late.phase, late.outcome, late.result.text) == ("late", "unknown", "after all")
        assert written.entry.results[0].text == "after all"
        events = [event async for event in session.send("And now?")]
        assert not [one for one in events if getattr(one, "phase", "") == "late"]
        assert events[-1].reason == "answered"
    await ear.until_closed


async def test_a_late_result_is_recorded_and_overwrites_nothing():
    async with a_stubborn_one() as stubborn:
        conversation = stubborn.session.conversation
        ear = Ear(stubborn.session)
        await stubborn.cancelled()
        (before,) = conversation.ledger.values()
        stubborn.let_end()
        await ear.late()
    (one,) = conversation.ledger.values()
    assert (one.outcome, one.result, one.why) == (Outcome.UNKNOWN, before.result, before.why)
    kept = [conversation.entries[at].results[0].text for at in one.set_aside]
    assert kept == ["after all"]


async def test_whoever_listens_hears_everything():
    async with a_stubborn_one() as stubborn:
        ear = Ear(stubborn.session)
        await asyncio.sleep(0)
        sent = await stubborn.cancelled()
        stubborn.let_end()
        await ear.late()
    await ear.until_closed
    assert ear.events[: len(sent)] == sent
    assert [type(one) for one in ear.events[len(sent) :]] == [ToolCallEvent, StatusEvent]


async def test_listening_to_a_closed_session_ends():
    async with a_stubborn_one() as stubborn:
        await stubborn.session.close()
        assert [event async for event in stubborn.session.listen()] == []


async def test_whoever_went_away_leaves_nothing_for_the_next():
    """Events of a run whose reader left are not taken for those of the next run."""
    async with a_stubborn_one() as stubborn:
        session = stubborn.session
        async with aclosing(session.send("Go.")) as events:
            async for event in events:
                if isinstance(event, ToolCallEvent):
                    break
            await stubborn.started.wait()
        assert session.machine.is_idle
        events = [event async for event in session.send("And now?")]
        assert [one.reason for one in events if isinstance(one, CompleteEvent)] == ["answered"]
        assert events[-1].text == "And on."


async def test_a_talk_shows_a_late_result_when_it_comes(capsys):
    """Between two turns, once, and as what it is."""
    async with a_stubborn_one() as stubborn:
        talk = Talk(Screen(streams=True), Approvals("deny"), Interrupts())
        overhearing = asyncio.ensure_future(talk.overhear(stubborn.session))
        ear = Ear(stubborn.session)
        saying = asyncio.ensure_future(talk.say(stubborn.session, "Go."))
        await stubborn.started.wait()
        stubborn.session.cancel()
        assert (await saying).complete.reason == "cancelled"
        assert "late" not in capsys.readouterr().err
        stubborn.let_end()
        await ear.late()
    await overhearing
    shown = capsys.readouterr().err
    assert shown == "  [stubborn] late, it had ended as unknown: after all\n"
