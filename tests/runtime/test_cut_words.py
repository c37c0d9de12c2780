"""Words that a model had said when it was cancelled, or failed: kept, at every moment, for every
provider."""

import asyncio

from msgspec.structs import replace

from batches import each
from canonicall.blocks import Text, Thinking, ToolCall
from canonicall.codec import encode_request
from canonicall.events import ArgumentsAdded, MessageStarted, TextAdded
from canonicall.facts.registry import provider_names
from canonicall.folding import events_of
from canonicall.outcome import Outcome
from canonicall.persisted import dump
from canonicall.request import Request
from canonicall.runtime.events import CompleteEvent, StatusEvent, TextEvent, fold_events
from canonicall.runtime.middleware import ToolMiddleware
from canonicall.runtime.model import ModelError
from canonicall.runtime.session import Session
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset
from canonicall.verify import verify
from counting_loop import CountingLoop


@tool
async def weather(city: str) -> str:
    """The weather."""
    await asyncio.sleep(0)
    return f"sunny in {city}"


class Slow:
    """A model that streams, with a turn of the loop before every piece."""

    def __init__(self, *steps):
        self._model = ScriptedModel(steps)

    async def ask(self, request, target, *, notice=None):
        for event in events_of(self._model(request)):
            for piece in pieces(event):
                await asyncio.sleep(0)
                yield piece


def pieces(event):
    """An event, its words or arguments in two pieces."""
    if not isinstance(event, TextAdded | ArgumentsAdded):
        return [event]
    half = len(event.text) // 2
    return [replace(event, text=event.text[:half]), replace(event, text=event.text[half:])]


THOUGHT = Thinking(text="Two cities.")
SCENARIO = (
    says(THOUGHT, "I will look.", call("weather", city="Paris"), call("weather", city="Rome")),
    "Both are sunny.",
)


def cancelled_at(turn, **options):
    """A run that is cancelled before the nth turn of its event loop."""
    loop = CountingLoop(turn)

    async def work():
        session = Session(Slow(*SCENARIO), "openai", Toolset.of(weather), **options)
        loop.act = session.cancel
        events = [event async for event in session.send("Go.")]
        await session.close()
        return session.conversation, events

    try:
        conversation, events = loop.run_until_complete(work())
    finally:
        loop.close()
    return loop.turns, conversation, events


TURNS, *_ = cancelled_at(-1)


def told(events, *, thinking):
    pieces = [one for one in events if isinstance(one, TextEvent) and one.thinking == thinking]
    return "".join(one.text for one in pieces)


def kept(conversation, kind):
    messages = [one for one in conversation.messages if one.role == "assistant"]
    return "".join(
        block.text for one in messages for block in one.blocks if isinstance(block, kind)
    )


@each("turn", range(2, TURNS + 1))
def test_what_was_heard_is_in_the_history_wherever_it_is_cancelled(turn):
    """L10 at every await point of a stream, and nothing that was read is missing."""
    _, conversation, events = cancelled_at(turn)
    assert kept(conversation, Text) == told(events, thinking=False)
    assert kept(conversation, Thinking) == told(events, thinking=True)
    assert sum(isinstance(event, CompleteEvent) for event in events) == 1
    assert not conversation.ledger.open
    assert not any(one.call.truncated for one in conversation.ledger.values())
    assert dump(fold_events(events)) == dump(conversation)
    conversation.user("And now?")
    for name in provider_names():
        encoded = encode_request(Request(conversation, model="m"), name)
        assert list(verify(encoded.body, name)) == []


def test_the_words_are_marked_as_cut():
    cut = [
        message
        for turn in range(2, TURNS + 1)
        for message in cancelled_at(turn)[1].messages
        if message.partial
    ]
    assert {message.text for message in cut} >= {"I will", "I will look.", "Both ar"}
    assert all(message.role == "assistant" for message in cut)


def test_a_call_that_was_complete_is_one_that_was_not_run():
    """The first of two calls has ended when the second is cut; that one is told, and not kept."""
    seen = set()
    for turn in range(2, TURNS + 1):
        _, conversation, events = cancelled_at(turn)
        said = [one.detail for one in events if isinstance(one, StatusEvent) and one.kind == "cut"]
        ledger = conversation.ledger.values()
        if said:
            seen.add((tuple(said), tuple((one.call.args["city"], one.outcome) for one in ledger)))
    assert seen == {
        (("1 of 1 calls were not complete, and are not kept",), ()),
        (
            ("1 of 2 calls were not complete, and are not kept",),
            (("Paris", Outcome.NOT_RUN),),
        ),
    }


def test_the_policy_can_say_that_cut_words_are_dropped():
    for turn in range(2, TURNS + 1):
        _, conversation, _ = cancelled_at(turn, keeps_cut_words=False)
        assert not any(message.partial for message in conversation.messages)


class Loud(ToolMiddleware):
    """Changes what the model says."""

    def process_response(self, reply):
        blocks = tuple(
            replace(block, text=block.text.upper()) if isinstance(block, Text) else block
            for block in reply.message.blocks
        )
        return replace(reply, message=replace(reply.message, blocks=blocks))


def test_middleware_sees_cut_words_too():
    said = {
        message.text
        for turn in range(2, TURNS + 1)
        for message in cancelled_at(turn, middleware=[Loud()])[1].messages
        if message.partial
    }
    assert "I WILL" in said
    assert "I will" not in said


async def test_what_an_earlier_attempt_said_is_not_part_of_the_reply():
    """A model that starts again does not leave both beginnings behind."""
    has_spoken = asyncio.Event()

    class Restarted:
        async def ask(self, request, target, *, notice=None):
            for words in ("First try", "Second"):
                for event in list(events_of(says(words)))[:3]:
                    yield event
            has_spoken.set()
            await asyncio.Event().wait()

    session = Session(Restarted(), "openai")
    running = asyncio.ensure_future(_all(session.send("Go.")))
    await has_spoken.wait()
    session.cancel()
    events = await running
    assert [one.text for one in session.conversation.messages] == ["Go.", "Second"]
    assert (events[-1].reason, events[-1].text) == ("cancelled", "Second")
    await session.close()


async def test_nothing_is_kept_of_a_model_that_said_nothing():
    has_begun = asyncio.Event()

    class Silent:
        async def ask(self, request, target, *, notice=None):
            yield MessageStarted(None)
            has_begun.set()
            await asyncio.Event().wait()

    session = Session(Silent(), "openai")
    running = asyncio.ensure_future(_all(session.send("Go.")))
    await has_begun.wait()
    session.cancel()
    await running
    assert [one.role for one in session.conversation.messages] == ["user"]
    await session.close()


async def _all(events):
    return [event async for event in events]


def test_a_call_is_never_made_of_half_a_call():
    for turn in range(2, TURNS + 1):
        _, conversation, _ = cancelled_at(turn)
        calls = [block for one in conversation.messages for block in one.blocks]
        calls = [block for block in calls if isinstance(block, ToolCall)]
        assert all(one.args in ({"city": "Paris"}, {"city": "Rome"}) for one in calls)


class Failing(Slow):
    """A model that fails behind so many pieces of its first reply."""

    def __init__(self, behind, error, *steps):
        super().__init__(*steps)
        self._behind, self._error = behind, error

    async def ask(self, request, target, *, notice=None):
        left = self._behind
        async for piece in super().ask(request, target, notice=notice):
            if not left:
                if self._error is not None:
                    raise self._error
                return
            left -= 1
            yield piece


def failed_behind(behind, error, **options):
    """A run whose model fails; its conversation and its events."""

    async def work():
        model = Failing(behind, error, *SCENARIO)
        session = Session(model, "openai", Toolset.of(weather), **options)
        events = await _all(session.send("Go."))
        await session.close()
        return session, events

    return asyncio.run(work())


PIECES = sum(len(pieces(event)) for event in events_of(SCENARIO[0])) - 1
"""Of the first reply; behind the last one it is whole."""
FAILURES = [ModelError("Overloaded", status=529), ValueError("surprise"), None]


@each("error", FAILURES, ids=["provider", "exception", "no end"])
@each("behind", range(PIECES + 1))
def test_what_was_heard_is_in_the_history_wherever_the_model_fails(behind, error):
    session, events = failed_behind(behind, error)
    conversation = session.conversation
    assert kept(conversation, Text) == told(events, thinking=False)
    assert kept(conversation, Thinking) == told(events, thinking=True)
    assert [one.reason for one in events if isinstance(one, CompleteEvent)] == ["failed"]
    assert all(one.partial for one in conversation.messages if one.role == "assistant")
    assert {one.outcome for one in conversation.ledger.values()} <= {Outcome.NOT_RUN}
    assert not conversation.ledger.open
    assert dump(fold_events(events)) == dump(conversation)
    assert session.stats.providers["openai"].failures == 1
    conversation.user("And now?")
    for name in provider_names():
        encoded = encode_request(Request(conversation, model="m"), name)
        assert list(verify(encoded.body, name)) == []


def test_a_failure_behind_a_whole_call_leaves_it_not_run():
    """The last call of a reply without an end is not known to be whole; the one before it is."""
    session, events = failed_behind(PIECES, FAILURES[0])
    (one,) = session.conversation.ledger.values()
    assert (one.call.args, one.outcome) == ({"city": "Paris"}, Outcome.NOT_RUN)
    assert events[-1].turns == 1


def test_the_policy_drops_the_words_before_a_failure_too():
    session, _ = failed_behind(PIECES, FAILURES[0], keeps_cut_words=False)
    assert [one.role for one in session.conversation.messages] == ["user"]
