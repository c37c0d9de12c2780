"""Conversations that change the provider with every turn, while something goes wrong in each.

Sessions over HTTP against strict simulators. After every turn the answer is right, every call has
its one end and the history is fit for every provider; the counters say what was injected.
"""

from collections import Counter
from itertools import pairwise

import pytest
from msgspec import Struct
from msgspec.structs import asdict

from canonicall.blocks import Opaque, Origin, Thinking, ToolCall
from canonicall.codec import encode_request
from canonicall.facts.registry import provider_names
from canonicall.outcome import Outcome
from canonicall.request import Params, Reasoning, Request
from canonicall.runtime.session import Session
from canonicall.testing.faults import Fault
from canonicall.testing.simulator import Simulator
from canonicall.verify import verify
from scenarios.fault_support import Planned, Refusing, answering, right_answer, tools_that_tell

from client_support import PLACES, Port, client, target

SEALING = ("anthropic", "bedrock", "gemini", "openai-responses")
"""The formats whose simulators know their own signatures."""
BEYOND_REPAIR = ("gemini", "ollama")
"""Formats whose simulators cannot pass on arguments that are no JSON: there they are not put right,
the model is told and calls again."""
REFUSERS = [
    *("anthropic/anthropic", "bedrock/bedrock", "gemini/gemini", "openai/openai-responses"),
    *("openai/openai-chat", "cohere/cohere", "ollama/ollama"),
]
"""One of each format; each refuses something in a conversation of its own."""
STRIDE = 5
"""From place to place, so that no two turns in a row have the same provider."""
FAULTS = 9
"""How many different ones a conversation has, besides the refusal."""
ENOUGH = 50
"""More refusals than anybody asks for in one turn."""
CALLS = 3
"""How many calls lead to an answer where nothing goes wrong."""


@pytest.fixture(scope="module", autouse=True)
def port():
    yield
    Port.stop()


class Effect(Struct, frozen=True):
    """What one injected thing adds to a sound turn."""

    total: int = 0
    invalid: int = 0
    repaired: int = 0
    refused: int = 0
    retries: int = 0
    cuts: int = 0


CORRECTED = Effect(total=1, invalid=1)

PLANS = {
    "reused_ids": [[Fault.REUSED_IDS]] * 3,
    "index_zero": [[Fault.INDEX_ZERO]] * 3,
    "late_names": [[Fault.LATE_NAMES]] * 3,
    "cut_words": [[Fault.CUT_STREAM]],
    "rate_limited": [[Fault.RATE_LIMITED]],
    "cut_call": [[], [Fault.CUT_STREAM]],
    "overloaded": [[], [Fault.OVERLOADED], [Fault.OVERLOADED]],
    "bad_arguments": [[Fault.BAD_ARGUMENTS]],
    "cut_arguments": [[Fault.CUT_ARGUMENTS]],
    "leaked_calls": [[Fault.LEAKED_CALLS]] * 2,
    "refused": [],
    "sound": [],
}
ROTATING = [name for name in PLANS if name not in ("refused", "sound")]
EFFECTS = {
    "cut_words": Effect(cuts=1),
    "rate_limited": Effect(retries=1),
    "overloaded": Effect(retries=2),
    "cut_arguments": CORRECTED,
    "refused": Effect(refused=1),
}


class Talk:
    """One conversation, who it is held with, and what was injected."""

    def __init__(self, model, served, plan):
        self.model, self.served, self.plan = model, served, plan
        self.ran = []
        self.session = Session(
            model,
            target(PLACES[0]),
            tools_that_tell(self.ran),
            params=Params(max_tokens=4000, reasoning=Reasoning(enabled=True, budget=2000)),
        )
        self.expected = {}

    async def turn(self, place, fault, city):
        goal = target(place)
        if fault == "refused":
            self.force_refusal(goal)
        known, told = set(self.session.conversation.ledger), len(self.model.told)
        self.session.use(goal)
        self.plan.left = list(PLANS[fault])
        last = await self.said(f"How is it in {city}?")
        if last.reason == "cut":
            last = await self.said("Go on.")
        assert (last.reason, last.text) == ("answered", right_answer(city)), last.detail
        assert not self.plan.left
        assert sorted(self.ran) == sorted(
            (f"sunny in {city}", f"noon in {city}", f"sunny in {city}East")
        )
        self.ran.clear()
        ledger = self.session.conversation.ledger
        made = [one for id, one in ledger.items() if id not in known]
        notices = self.model.told[told:]
        self.judge(goal, effect(fault, goal, made, notices), made, notices)

    async def said(self, text):
        return [event async for event in self.session.send(text)][-1]

    def force_refusal(self, goal):
        """A step that somebody else signed in this target's name; elsewhere, a rule unheard of."""
        if goal.format not in SEALING:
            self.served[goal.provider].refusals = ["Nope."]
            return
        kind = "encrypted" if goal.format == "openai-responses" else "signature"
        seal = (Opaque(domain=goal.domain, kind=kind, value="bm90IG91cnM="),)
        on_call = goal.format == "gemini"
        made = ToolCall(
            id="forged", name="clock", args={"city": "Rome"}, opaque=seal if on_call else ()
        )
        before = [] if on_call else [Thinking(text="I will look.", opaque=seal)]
        talk = self.session.conversation
        talk.user("What time is it in Rome?")
        talk.assistant([*before, made], origin=Origin(goal.provider, goal.format, model=goal.model))
        talk.result("forged", "noon in Rome")

    def judge(self, goal, added, made, notices):
        """What happened in a turn is what was injected, and nothing besides."""
        kinds = Counter(notice.kind for notice in notices)
        cuts = sum(notice.kind == "answered" and not notice.complete for notice in notices)
        assert (kinds["retrying"], cuts) == (added.retries, added.cuts)
        assert kinds["recovered"] == added.refused
        outcomes = Counter(one.outcome for one in made)
        refused = outcomes[Outcome.INVALID] + outcomes[Outcome.TRUNCATED]
        assert (outcomes[Outcome.COMPLETED], refused) == (CALLS, added.invalid)
        assert len(made) == CALLS + added.total
        before = self.expected.get(goal.provider, Effect())
        sums = {name: value + asdict(added)[name] for name, value in asdict(before).items()}
        sums["total"] += CALLS
        self.expected[goal.provider] = Effect(**sums)

    def check_history(self):
        conversation = self.session.conversation.fork()
        assert not conversation.ledger.open
        conversation.user("Go on.")
        tools = tuple(self.session.machine.tools.offered.values())
        for name in provider_names():
            encoded = encode_request(Request(conversation, tools, model="model"), name)
            assert list(verify(encoded.body, name)) == [], name

    def check_counters(self):
        stats = self.session.stats.providers
        assert stats.keys() == self.expected.keys()
        for name, expected in self.expected.items():
            counters = stats[name].counters
            assert counters == self.session.machine.tally.by_provider[name]
            assert asdict(counters) == {
                "tool_calls_total": expected.total,
                "tool_calls_invalid_args": expected.invalid,
                "tool_calls_repaired": expected.repaired,
                "tool_api_400_total": expected.refused,
                "tool_loop_max_iterations": 0,
            }, name
            assert stats[name].failures == 0


def effect(fault, goal, made, notices):
    """What the fault does to a turn in this format."""
    if fault == "bad_arguments":
        return CORRECTED if goal.format in BEYOND_REPAIR else Effect(repaired=1)
    if fault == "cut_call":
        # Where nothing was passed on yet it is asked for again; else what came is no whole call.
        if any(notice.kind == "retrying" for notice in notices):
            return Effect(retries=1)
        cut = sum(one.outcome is Outcome.TRUNCATED for one in made)
        assert cut <= 1
        return Effect(total=cut, invalid=cut, cuts=1)
    return EFFECTS.get(fault, Effect())


def turns(number):
    """The places and faults of a conversation.

    Most faults once, in every conversation somewhere else; then a refusal. It is one only: from
    then on the place is asked in another form, also after somebody else had a turn.
    """
    for step in range(number * FAULTS, (number + 1) * FAULTS):
        yield PLACES[step * STRIDE % len(PLACES)], ROTATING[step % len(ROTATING)]
    yield REFUSERS[number], "refused"
    yield "mistral/openai-chat", "sound"
    yield REFUSERS[number], "sound"


@pytest.mark.parametrize("number", range(len(REFUSERS)))
async def test_whatever_goes_wrong_the_answer_is_right_and_the_counters_are(number):
    plan = Planned()
    served = {name: Refusing(name, model=answering, faults=plan) for name in provider_names()}
    async with client(*served.values(), recover="always") as model:
        talk = Talk(model, served, plan)
        for at, (place, fault) in enumerate(turns(number)):
            await talk.turn(place, fault, f"Town{at}")
            talk.check_history()
        talk.check_counters()
        await talk.session.close()


@pytest.mark.parametrize("refusals", [1, 2, 3])
async def test_a_refusal_of_what_the_model_wrote_is_counted_as_often_as_it_came(refusals):
    """Groq checks the calls of its models: asked again they may be right, or not until the end."""
    served = Refusing("groq", model=answering)
    served.refusals = ["Tool call validation failed: parameters did not match schema"] * refusals
    async with client(served, attempts=3) as model:
        session = Session(model, target("groq"), tools_that_tell([]))
        events = [event async for event in session.send("How is it in Town?")]
        await session.close()
    assert events[-1].reason == ("answered" if refusals < 3 else "failed")
    assert session.stats.providers["groq"].counters.tool_api_400_total == refusals


@pytest.mark.parametrize("fallback_refuses", [False, True])
async def test_refusals_that_lead_to_a_fallback_are_counted_where_they_came_from(fallback_refuses):
    """Another provider in every turn, and each refuses until somebody else is asked."""
    served = {name: Refusing(name, model=answering) for name in provider_names()}
    refused = Counter()
    async with client(*served.values(), fallbacks=[target("mistral")]) as model:
        session = Session(model, target("openai"), tools_that_tell([]))
        for at, name in enumerate(name for name in served if name != "mistral"):
            refusing = (name, "mistral") if fallback_refuses else (name,)
            for one in refusing:
                served[one].refusals = ["Nope."] * ENOUGH
            session.use(target(name))
            events = [event async for event in session.send(f"How is it in Town{at}?")]
            assert events[-1].reason == ("failed" if fallback_refuses else "answered")
            for one in refusing:
                refused[one] += ENOUGH - len(served[one].refusals)
                assert 0 < len(served[one].refusals) < ENOUGH
                served[one].refusals = []
        await session.close()
    counted = {
        name: one.counters.tool_api_400_total for name, one in session.stats.providers.items()
    }
    assert {name: count for name, count in counted.items() if count} == refused


async def test_a_wrong_key_is_no_refusal_of_the_request():
    """Gemini answers it with 400, as others do what is wrong with a request."""
    async with client(Simulator("gemini", keys=["another"])) as model:
        session = Session(model, target("gemini"), tools_that_tell([]))
        events = [event async for event in session.send("How is it in Town?")]
        await session.close()
    assert events[-1].reason == "failed"
    assert session.stats.providers["gemini"].counters.tool_api_400_total == 0


def test_every_place_and_format_has_its_turns_and_no_provider_two_in_a_row():
    held = [list(turns(number)) for number in range(len(REFUSERS))]
    assert {place for one in held for place, _ in one} == set(PLACES)
    assert {target(place).format for place in REFUSERS} == {target(one).format for one in PLACES}
    assert {fault for one in held for _, fault in one} == PLANS.keys()
    for one in held:
        providers = [place.partition("/")[0] for place, _ in one]
        assert all(a != b for a, b in pairwise(providers))
