"""The loop between a model and its tools, in a session with providers as strict as the real ones.

Parallel calls and their ids, arguments that are wrong and corrected, Claude's strict pairing, and
what happens when there have been enough turns.
"""

import asyncio

import pytest

from canonicall.agent.counters import Tally
from canonicall.agent.limits import RunLimits
from canonicall.codec.decode import decode_request
from canonicall.testing.script import call, says
from canonicall.tools.functions import tool
from scenarios.runtime_support import PLACES, answers, heard, outcomes, statuses, talking

CITIES = ("Paris", "Rome", "Oslo")
each_place = pytest.mark.parametrize("place", PLACES)


def tools_of(ran, finishing=()):
    """A tool that notes what it ran for; its calls end in the order of `finishing`."""
    done = {city: asyncio.Event() for city in CITIES}

    @tool
    async def weather(city: str) -> str:
        """The weather of a city."""
        ran.append(city)
        if city in finishing[1:]:
            await done[finishing[finishing.index(city) - 1]].wait()
        done[city].set()
        return f"sunny in {city}"

    return [weather]


def look(*cities):
    return says("I will look.", *(call("weather", city=city) for city in cities))


def is_forbidden(request):
    """Whether a model that keeps to the rules calls no tool.

    Converse has no choice `none`, and refuses a history of calls without tools: there it is told
    with what became of its calls.
    """
    if not request.tools or (request.tool_choice and request.tool_choice.mode == "none"):
        return True
    told = [one.result.text for one in request.conversation.ledger.values() if one.result]
    return bool(told) and "not available any more" in told[-1]


def sent(session, at=-1):
    """What the model was told at this request, as its provider reads it."""
    exchange = session.served.seen[at]
    return decode_request(exchange.body, exchange.target.format).conversation


@each_place
async def test_parallel_calls_each_get_the_result_of_their_own_id(place):
    """The tools end in reverse; the provider sees each result with its call, in call order."""
    tools = tools_of([], finishing=CITIES[::-1])
    async with talking(place, look(*CITIES), look("Oslo", "Paris"), "Done.", tools=tools) as one:
        events = await heard(one)
    assert events[-1].text == "Done."
    assert statuses(one) == [200] * 3
    told = sent(one).ledger.values()
    assert [(made.call.args["city"], made.result.text) for made in told] == [
        (city, f"sunny in {city}") for city in (*CITIES, "Oslo", "Paris")
    ]
    ids = [made.call.id for made in told]
    assert len(set(ids)) == len(ids)


@each_place
async def test_invalid_arguments_are_told_and_corrected(place):
    """No call without its city is run; what is missing is named, and then it goes on."""
    ran = []
    empty = says(call("weather"), call("weather", city="Rome"))
    async with talking(place, empty, look("Paris"), "Done.", tools=tools_of(ran)) as one:
        events = await heard(one)
    assert (events[-1].reason, events[-1].text) == ("answered", "Done.")
    assert sorted(ran) == ["Paris", "Rome"]
    assert outcomes(one) == ["invalid", "completed", "completed"]
    refused = next(iter(sent(one).ledger.values())).result.text
    assert "city" in refused
    assert statuses(one) == [200] * 3


@each_place
async def test_a_model_that_never_corrects_its_arguments_comes_to_an_end_in_words(place):
    """`{}` for ever: the attempts are counted, then tools are forbidden and words are asked for."""
    ran = []

    def model(request):
        return says("I cannot.") if is_forbidden(request) else says(call("weather"))

    async with talking(place, *[model] * 10, tools=tools_of(ran)) as one:
        events = await heard(one)
    assert (events[-1].reason, events[-1].text) == ("corrections_exhausted", "I cannot.")
    assert not ran
    assert set(outcomes(one)) == ({"invalid", "not_run"} if place == "bedrock" else {"invalid"})
    assert set(statuses(one)) == {200}
    assert len(statuses(one)) <= 5


def strict_pairs(body):
    """How often each `tool_use` is answered at the head of the very next message, in its order."""
    messages = body["messages"]
    for at, message in enumerate(messages):
        blocks = message["content"] if isinstance(message["content"], list) else []
        uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if uses:
            following = messages[at + 1]["content"]
            heads = [block.get("tool_use_id") for block in following[: len(uses)]]
            assert messages[at + 1]["role"] == "user"
            yield uses, heads


@pytest.mark.parametrize("fault", [None, "reused_ids", "bad_arguments", "leaked_calls"])
async def test_anthropic_gets_every_result_right_behind_its_call(fault):
    """`tool_use` and `tool_result` stand in strict pairs, whatever the host did to the calls."""
    steps = (look(*CITIES), look("Rome"), "Done.", "Bye.")
    async with talking("anthropic", *steps, tools=tools_of([]), faults=[fault] * 2) as one:
        await heard(one)
        await heard(one, "And now?")
    assert statuses(one) == [200] * 4
    pairs = list(strict_pairs(one.served.seen[-1].body))
    assert [len(uses) for uses, _ in pairs] == [3, 1]
    for uses, heads in pairs:
        assert uses == heads
    ids = [id for uses, _ in pairs for id in uses]
    assert len(set(ids)) == len(ids)


@each_place
async def test_after_the_last_turn_words_are_forced(place):
    """A model that would call for ever is asked once more, with tools forbidden, and answers."""

    def model(request):
        if is_forbidden(request):
            return says("That is all I know.")
        return look(CITIES[len(request.conversation.ledger)])

    tally = Tally()
    limits = RunLimits(turns=2)
    ran = []
    async with talking(place, *[model] * 5, tools=tools_of(ran), limits=limits, tally=tally) as one:
        events = await heard(one)
    assert (events[-1].reason, events[-1].text) == ("limit", "That is all I know.")
    assert ran == ["Paris", "Rome"]
    reminded = place == "bedrock"
    assert statuses(one) == [200] * (4 if reminded else 3)
    assert outcomes(one) == ["completed", "completed", *["not_run"] * reminded]
    assert tally.by_provider[one.machine.target.provider].tool_loop_max_iterations == 1


@each_place
async def test_a_model_that_calls_after_the_last_turn_is_not_obeyed_and_spoils_nothing(place):
    """It is told so once. Its calls are not run but have an end: the next request is accepted."""
    ran = []
    steps = (look("Paris"), look("Rome", "Oslo"), look("Rome"), "Hello again.")
    async with talking(place, *steps, tools=tools_of(ran), limits=RunLimits(turns=1)) as one:
        events = await heard(one)
        assert events[-1].reason == "limit"
        assert outcomes(one) == ["completed", "not_run", "not_run", "not_run"]
        again = await heard(one, "Are you there?")
    assert again[-1].text == "Hello again."
    assert ran == ["Paris"]
    assert answers(one)[0] == "sunny in Paris"
    assert statuses(one) == [200] * 4
