"""The back changes in the midst of a conversation: by another name, by weight, by fallback."""

import asyncio
from itertools import pairwise

import pytest
from msgspec.structs import replace

from canonicall.gateway.config import Choice, ModelSettings
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.testing import Simulator, says
from canonicall.testing.faults import Entry, Fault
from canonicall.testing.server import serve
from canonicall.testing.simulator import Exchange
from front_bodies import request_of
from gateway_backs import (
    BACKS,
    BOTH,
    MORE,
    alias,
    models,
    target_of,
    thinking_model,
    thinking_world,
)
from gateway_support import World, ask
from sdk_fronts import FRONTS

HOPS = 6
"""As many backs as one conversation goes through."""
ROUTES = [BACKS[at : at + HOPS + 1] for at in range(0, len(BACKS), HOPS)]
FAULTS = (Fault.RATE_LIMITED, Fault.SERVER_ERROR, Fault.ERROR_IN_200)


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.deep)])
@pytest.mark.parametrize("front", FRONTS)
def test_every_turn_goes_to_another_back_and_every_hop_verifies(front: str, every: int) -> None:
    """Each call is answered at another back than the one that made it, which is then asked on."""
    world = thinking_world()
    with serve(world.gateway(models())) as server, FRONTS[front].connect(server.url) as client:
        for route in ROUTES[::every]:
            conversing = FRONTS[front](client)
            for hop, (back, after) in enumerate(pairwise(route)):
                conversing.streamed = hop % 2 == 1
                said = conversing.ask(alias(back), BOTH)
                assert [name for _, name, _ in said.calls] == ["get_weather", "local_time"]
                answer = conversing.answer(alias(after), said, [f"{hop}.1", f"{hop}.2"])
                assert answer.text == f"It is so: {hop}.1; {hop}.2."
    assert not refused(world)


def refused(world: World) -> list[Exchange]:
    return [one for sim in world.simulators.values() for one in sim.seen if one.status != 200]


def chain(*backs: str) -> dict[str, ModelSettings]:
    first, *others = map(target_of, backs)
    return {"m": ModelSettings(choices=(Choice(target=first),), fallbacks=tuple(others))}


def failing_first(provider: str, *faults: Fault | None) -> World:
    """A world in which one provider fails so at first."""

    def make(name: str) -> Simulator:
        return Simulator(name, model=thinking_model, faults=faults if name == provider else ())

    return World(make)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("front", FRONTS)
def test_who_fails_is_replaced_and_the_session_stays_with_the_other(
    front: str, fault: Fault
) -> None:
    """In the middle of a turn: after it has failed for good, with all its retries."""
    world = failing_first("anthropic", None, fault, fault, fault)
    gateway = world.gateway(
        chain("anthropic/anthropic", "gemini/gemini", "openai/openai-responses")
    )
    means = gateway.state.backs.means
    gateway.state.backs.means = replace(means, sleep=lambda _: asyncio.sleep(0))
    with serve(gateway) as server, FRONTS[front].connect(server.url) as client:
        # In a stream the error would come behind thoughts that the client has seen.
        conversing = FRONTS[front](client, streamed=fault is not Fault.ERROR_IN_200)
        said = conversing.ask("m", BOTH)
        answer = conversing.answer("m", said, ["one", "two"])
        assert answer.text == "It is so: one; two."
        more = conversing.ask("m", MORE)
        last = conversing.answer("m", more, ["three"])
        assert last.text == "It is so: three."
    asked = {name: [one.status for one in sim.seen] for name, sim in world.simulators.items()}
    failed = asked["anthropic"][1]
    assert failed == 200 if fault is Fault.ERROR_IN_200 else failed >= 429
    # Nobody was asked again who had failed: Gemini took over and kept the session.
    assert asked == {"anthropic": [200, failed, failed, failed], "gemini": [200, 200, 200]}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_that_passes_does_not_end_a_turn(fault: Fault) -> None:
    """The provider that made the calls gets their results."""
    world = failing_first("anthropic", None, fault)
    gateway = world.gateway(chain("anthropic/anthropic", "gemini/gemini"))
    means = gateway.state.backs.means
    gateway.state.backs.means = replace(means, sleep=lambda _: asyncio.sleep(0))
    with serve(gateway) as server, FRONTS["messages"].connect(server.url) as client:
        conversing = FRONTS["messages"](client)
        said = conversing.ask("m", BOTH)
        answer = conversing.answer("m", said, ["one", "two"])
    assert answer.text == "It is so: one; two."
    assert list(world.simulators) == ["anthropic"]


async def test_a_session_stays_with_a_fallback_that_is_forwarded_to() -> None:
    world = failing_first("vllm", Fault.SERVER_ERROR)
    gateway = world.gateway(chain("vllm/openai-chat", "groq/openai-chat"))
    for streamed in (True, False):
        path, body = request_of("openai-chat", "m", "Hello", streamed=streamed, tools=False)
        answer = await ask(gateway, path, body)
        assert answer.headers["x-canonicall-forwarded"] == "true"
        assert answer.headers["x-canonicall-target"].startswith("groq:")
    assert len(world.of("vllm").seen) == 1
    await gateway.close()


def test_a_stream_that_breaks_in_its_words_is_gone_on_with_by_the_next() -> None:
    def words(request: Request) -> Reply:
        return says("The beginning of a long answer, which goes on for a while, and ends here.")

    cut: list[Entry] = [Fault.CUT_STREAM] * len(FRONTS)
    world = World(lambda name: Simulator(name, model=words, faults=cut * (name == "cohere")))
    backs = chain("cohere/cohere", "openai/openai-chat")
    for name, front in FRONTS.items():
        with serve(world.gateway(backs)) as server, front.connect(server.url) as client:
            said = front(client, streamed=True).ask("m", "Go on.")
            assert said.text.startswith("The beginning"), name
            assert said.text.endswith("ends here."), name


@pytest.mark.parametrize("front", FRONTS)
def test_sessions_are_shared_by_weight_and_each_stays_where_it_is(front: str) -> None:
    choices = (Choice(target=target_of("anthropic/anthropic"), weight=3.0),)
    choices += (Choice(target=target_of("cohere/cohere")),)
    world = thinking_world()
    models = {"m": ModelSettings(choices=choices)}
    with serve(world.gateway(models)) as server, FRONTS[front].connect(server.url) as client:
        for number in range(24):
            conversing = FRONTS[front](client, thinks=False)
            conversing.ask("m", f"Session {number}")
            before = {name: len(sim.seen) for name, sim in world.simulators.items()}
            conversing.ask("m", BOTH)
            now = {name: len(sim.seen) for name, sim in world.simulators.items()}
            moved = [name for name in now if now[name] != before.get(name, 0)]
            said = world.of(moved[0]).seen[-1].body["messages"]
            assert f"Session {number}" in str(said[0])
            assert len(moved) == 1
            assert before[moved[0]]
    shares = {name: len(sim.seen) for name, sim in world.simulators.items()}
    assert shares["anthropic"] > shares["cohere"] > 0
    assert not any(count % 2 for count in shares.values())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("openai/openai-responses:gpt-5.2", "openai/openai-responses:gpt-4.1"),
        ("gemini/gemini:gemini-3-pro-preview", "gemini/gemini:gemini-3-flash-preview"),
        ("anthropic/anthropic:claude-opus-5-5", "anthropic/anthropic:claude-opus-4-6"),
    ],
)
@pytest.mark.parametrize("front", FRONTS)
def test_another_model_of_the_same_provider_goes_on(front: str, one: str, other: str) -> None:
    """Where only the provider can tell whose thoughts it does not read, it is asked once more."""
    world = thinking_world()
    with serve(world.gateway()) as server, FRONTS[front].connect(server.url) as client:
        conversing = FRONTS[front](client)
        said = conversing.ask(one, BOTH)
        answer = conversing.answer(other, said, ["one", "two"])
        assert answer.text == "It is so: one; two."
        said = conversing.ask(other, MORE)
        assert conversing.answer(one, said, ["three"]).text == "It is so: three."
