"""Circuit breakers: the machine by itself, and chains that pass over an endpoint that is open."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.client.breaker import BreakerPolicy, Circuit, LocalBreakers
from canonicall.runtime.model import ModelError

from client_support import Clock, asked, client, kinds, question, simulator, target

POLICY = BreakerPolicy(failures=2, rest=10.0, longest_rest=35.0)


def failed(circuit, *times, told=None):
    for now in times:
        circuit = circuit.failed(now, POLICY, told=told)
    return circuit


def test_it_opens_after_failures_in_a_row_and_not_before():
    once = failed(Circuit(), 1.0)
    assert once.state(1.0) == "closed"
    assert once.replied() == Circuit()
    assert failed(once.replied(), 2.0).state(2.0) == "closed"
    twice = failed(once, 2.0)
    assert [twice.state(now) for now in (2.0, 11.9, 12.0)] == ["open", "open", "half_open"]


def test_half_open_lets_one_through_at_a_time():
    half = failed(Circuit(), 0.0, 0.0)
    assert not half.allows(9.0)
    assert half.allows(10.0)
    probed = half.asked(10.0)
    assert not probed.allows(10.0)
    assert probed.let_go().allows(10.0)
    assert probed.replied() == Circuit()


def test_each_time_it_fails_again_it_rests_for_twice_as_long_up_to_a_bound():
    circuit, now, rests = failed(Circuit(), 0.0), 0.0, []
    for _ in range(4):
        circuit = circuit.asked(now).failed(now, POLICY)
        rests.append(circuit.open_until - now)
        now = circuit.open_until
    assert rests == [10.0, 20.0, 35.0, 35.0]


def test_what_the_provider_says_is_believed():
    assert failed(Circuit(), 0.0, told=100.0).open_until == 100.0
    assert failed(Circuit(), 0.0, told=1.0).state(0.0) == "closed"


def test_what_was_asked_before_it_opened_does_not_keep_it_open():
    opened = failed(Circuit(), 0.0, 0.0)
    assert failed(opened, 5.0, 6.0).open_until == opened.open_until


def test_without_a_threshold_it_never_opens():
    circuit = Circuit()
    for now in range(100):
        circuit = circuit.failed(float(now), BreakerPolicy(failures=0), told=1000.0)
        assert circuit.allows(float(now))


STEPS = st.lists(st.sampled_from(["ask", "reply", "fail", "let_go", "wait"]), max_size=60)


@given(STEPS)
def test_whatever_happens_it_is_asked_again_in_the_end(steps):
    """No order of events shuts an endpoint out for ever, or lets two try it at a time."""
    circuit, now = Circuit(), 0.0
    for step in steps:
        if step == "wait":
            now += 7.0
        elif step == "ask" and circuit.allows(now):
            circuit = circuit.asked(now)
            assert circuit.state(now) != "half_open" or not circuit.allows(now)
        elif step == "reply":
            circuit = circuit.replied()
        elif step == "fail":
            circuit = circuit.failed(now, POLICY)
        elif step == "let_go":
            circuit = circuit.let_go()
        assert circuit.open_until <= now + POLICY.longest_rest
    assert circuit.let_go().allows(now + POLICY.longest_rest)


@pytest.mark.parametrize(
    ("kind", "state"), [("overloaded", "open"), ("refused", "closed"), ("authentication", "closed")]
)
def test_only_what_says_something_of_the_endpoint_counts(kind, state):
    breakers = LocalBreakers(POLICY)
    for _ in range(3):
        breakers.failed(target("openai"), kind, 0.0)
    assert breakers.of(target("openai")).state(0.0) == state
    assert breakers.of(target("openai", "gpt-5.2-mini")).state(0.0) == "closed"


def chain(clock, *simulators, fallbacks):
    """No retries, so that each question is one request."""
    return client(*simulators, fallbacks=fallbacks, attempts=1, breaker=POLICY, elapsed=clock)


async def test_a_chain_passes_over_what_is_open_and_tries_it_again_later():
    clock = Clock()
    first = simulator("anthropic", "I am back.", faults=["overloaded"] * 2)
    second = simulator("openai", *["Here."] * 3)
    goal = target("anthropic")
    async with chain(clock, first, second, fallbacks=[target("openai")]) as model:
        for _ in range(3):
            _, reply = await asked(model, question(), goal)
            assert reply.message.text == "Here."
        assert kinds(model) == [*["switched", "answered"] * 2, "skipped", "answered"]
        skipped = model.told[4]
        assert (skipped.failures, skipped.seconds) == (2, 10.0)
        assert "anthropic:claude-haiku-4-5: not asked after 2 failures" in skipped.detail
        assert model.circuit(goal) == "open"
        clock.now = 10.0
        assert model.circuit(goal) == "half_open"
        _, reply = await asked(model, question(), goal)
        assert reply.message.text == "I am back."
        assert model.circuit(goal) == "closed"
    assert [one.status for one in first.seen] == [529, 529, 200]


async def test_where_all_are_open_they_are_asked_all_the_same():
    clock = Clock()
    first = simulator("anthropic", "I am back.", faults=["overloaded"] * 2)
    second = simulator("openai", faults=["server_error"] * 2)
    async with chain(clock, first, second, fallbacks=[target("openai")]) as model:
        for _ in range(2):
            with pytest.raises(ModelError, match=r"anthropic.* \| openai"):
                await asked(model, question(), target("anthropic"))
        assert model.circuit(target("openai")) == "open"
        _, reply = await asked(model, question(), target("anthropic"))
    assert reply.message.text == "I am back."


async def test_whoever_tries_it_and_goes_away_leaves_it_to_the_next():
    clock = Clock()
    first = simulator("openai", *["A long answer of many words."] * 2, faults=["overloaded"] * 2)
    async with chain(clock, first, fallbacks=[]) as model:
        for _ in range(2):
            with pytest.raises(ModelError):
                await asked(model, question(), target("openai"))
        clock.now = 10.0
        async with aclosing(model.ask(question(), target("openai"))) as events:
            await anext(events)
            assert not model._breakers.of(target("openai")).allows(clock.now)
        assert model._breakers.of(target("openai")).allows(clock.now)


async def test_only_one_tries_what_is_half_open():
    clock = Clock()
    first = simulator("anthropic", *["Back."] * 2, faults=["overloaded"] * 2)
    second = simulator("openai", *["Here."] * 5)
    async with chain(clock, first, second, fallbacks=[target("openai")]) as model:
        for _ in range(2):
            await asked(model, question(), target("anthropic"))
        clock.now = 10.0
        both = [asked(model, question(), target("anthropic")) for _ in range(2)]
        replies = [reply for _, reply in await asyncio.gather(*both)]
    assert sorted(one.message.text for one in replies) == ["Back.", "Here."]
