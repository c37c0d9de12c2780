"""What goes wrong on the way: what is tried again, what is passed on, what is told."""

import asyncio
import logging

import pytest

from batches import each
from canonicall.client.transport import Timeouts
from canonicall.events import BlockEnded, MessageStarted, StreamEnded
from canonicall.request import Tool
from canonicall.runtime.model import ModelError
from canonicall.runtime.session import Session
from canonicall.testing.faults import Fault
from canonicall.testing.script import call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset

from client_support import KEY, Direct, asked, client, kinds, refused, simulator, target
from client_support import question as request

FORMATS = [
    "openai",
    "openai/openai-responses",
    "anthropic",
    "gemini",
    "bedrock",
    "cohere",
    "ollama",
]
TOOL = Tool(
    "weather", "The weather.", {"type": "object", "properties": {"city": {"type": "string"}}}
)
LONG = says("I will look at the weather now, as you asked.", call("weather", city="Llanfairpwll"))


async def how_it_ended(model, question, goal):
    """Why there is no whole reply, whether some of it had come or nothing."""
    try:
        events, reply = await asked(model, question, goal)
    except ModelError as error:
        return error.message
    assert reply.message.partial
    return events[-1].why


@each("place", FORMATS)
@each("fault", ["rate_limited", "overloaded", "server_error"])
async def test_a_failure_that_passes_is_not_noticed(place, fault):
    served = simulator(place, "Hello.", faults=[fault, fault])
    async with client(served) as model:
        events, reply = await asked(model, request(), target(place))
    assert reply.message.text == "Hello."
    assert sum(isinstance(one, MessageStarted) for one in events) <= 1
    assert kinds(model) == ["retrying", "retrying", "answered"]
    assert model.told[-1].attempts == 3


async def test_the_provider_says_how_long_to_wait():
    async with client(simulator("openai", "Hello.", faults=["rate_limited"])) as model:
        await asked(model, request(), target("openai"))
    assert model.slept == [1.0 + 0.5 * 0.5]  # Retry-After: 1, and a little chance.


async def test_delays_grow_where_it_does_not():
    async with client(simulator("openai", "Hello.", faults=["overloaded"] * 2)) as model:
        await asked(model, request(), target("openai"))
    assert model.slept == [0.375, 0.75]


async def test_after_the_last_attempt_the_error_is_told():
    served = simulator("anthropic", faults=["overloaded"] * 3)
    async with client(served) as model:
        error = await refused(model, "anthropic")
    assert (error.status, error.kind) == (529, "overloaded")
    assert "anthropic:claude-haiku-4-5: HTTP 529 (overloaded_error): Overloaded" in error.message
    assert len(served.seen) == 3


@pytest.mark.parametrize("place", FORMATS)
async def test_an_error_in_a_stream_that_has_begun_is_a_partial_reply(place):
    """What was passed on stays; it is not asked for again, and no call of it is whole."""
    served = simulator(place, LONG, faults=["error_in_200"])
    async with client(served, transport=Direct()) as model:
        events, reply = await asked(model, request(TOOL), target(place))
    assert not events[-1].complete
    assert reply.message.partial
    assert len(served.seen) == 1
    assert all(one.truncated for one in reply.calls)


@pytest.mark.parametrize("place", FORMATS)
async def test_a_stream_that_is_cut_is_a_partial_reply_and_never_a_whole_call(place):
    served = simulator(place, LONG, faults=["cut_stream"])
    async with client(served) as model:
        events, reply = await asked(model, request(TOOL), target(place))
    assert isinstance(events[-1], StreamEnded)
    assert not events[-1].complete
    assert "broke" in events[-1].why
    assert reply.message.partial
    assert all(one.truncated for one in reply.calls)
    whole = [one.block for one in events if isinstance(one, BlockEnded)]
    assert not any(getattr(block, "name", "") == "weather" for block in whole)
    assert model.told[-1].complete is False


@pytest.mark.parametrize("place", FORMATS)
async def test_a_stream_that_is_cut_before_its_first_words_is_asked_for_again(place):
    """Ollama's first line has words already, and so have the short streams of Gemini."""
    served = simulator(place, says(""), "Hello.", faults=["cut_stream"])
    async with client(served) as model:
        _, reply = await asked(model, request(), target(place))
    assert reply.message.text == "Hello."
    assert kinds(model) == ["retrying", "answered"]


@pytest.mark.parametrize("place", FORMATS)
async def test_a_stream_that_stalls_ends_in_time(place):
    served = simulator(place, LONG, faults=["stalled_stream"])
    waits = Timeouts(between_bytes=0.05)
    async with client(served, timeouts=waits, attempts=1) as model:
        told = await how_it_ended(model, request(TOOL), target(place))
    assert "nothing more came within 0.05 s" in told


async def test_an_answer_that_takes_too_long_in_all_is_not_asked_for_again():
    served = simulator("openai", LONG, faults=["slow_stream"] * 3)
    async with client(served, timeouts=Timeouts(total=0.02)) as model:
        error = await refused(model, "openai")
    assert error.kind == "timeout"
    assert "timeouts.total" in error.message
    assert len(served.seen) <= 1


async def test_tool_calls_of_a_cut_stream_are_not_run():
    ran = []

    @tool
    async def weather(city: str) -> str:
        """The weather."""
        ran.append(city)
        return "sunny"

    served = simulator("openai", LONG, "Sorry, once more: sunny.", faults=["cut_stream"])
    async with client(served) as model:
        session = Session(model, target("openai"), Toolset.of(weather))
        events = [event async for event in session.send("How is the weather?")]
    assert not ran
    assert not session.conversation.ledger.open
    assert events[-1].reason in ("cut", "answered")


@pytest.mark.parametrize("place", FORMATS)
async def test_a_wrong_key_is_told_without_showing_it(place, caplog):
    caplog.set_level(logging.DEBUG)
    if place == "bedrock":
        served = simulator(place, keys=["Bearer right"])
    else:
        served = simulator(place, keys=["right"])
    async with client(served) as model:
        error = await refused(model, place)
    assert error.kind == "authentication"
    assert "Check the key" in error.message
    assert len(model.told) == 0
    assert KEY not in f"{error!r} {error} {caplog.text}"


async def test_a_wait_can_be_cancelled():
    waiting = asyncio.Event()

    async def sleep(seconds):
        waiting.set()
        await asyncio.Event().wait()

    async with client(simulator("openai", faults=["overloaded"])) as model:
        object.__setattr__(model, "_means", _with_sleep(model._means, sleep))
        asking = asyncio.ensure_future(asked(model, request(), target("openai")))
        await waiting.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


def test_faults_of_the_simulators_are_all_looked_at():
    """Those that are not in this file are in test_model.py, or are none of the client's business."""
    here = {
        *("cut_stream", "error_in_200", "slow_stream", "stalled_stream"),
        *("rate_limited", "overloaded", "server_error"),
    }
    elsewhere = {"reused_ids", "index_zero", "late_names", "leaked_calls"}
    of_the_machine = {"cut_arguments", "bad_arguments", "empty_reply"}
    of_threads = {"thread_unsupported"}
    """The client sends whole conversations, so it has no threads."""
    assert here | elsewhere | of_the_machine | of_threads == {fault.value for fault in Fault}


def _with_sleep(means, sleep):
    from msgspec.structs import replace  # noqa: PLC0415

    return replace(means, sleep=sleep)
