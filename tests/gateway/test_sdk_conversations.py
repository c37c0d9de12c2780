"""The official SDKs before every back: calls at once, results, an answer, and a second question."""

from collections.abc import Iterator

import msgspec
import pytest

from batches import sampled
from canonicall.testing.server import serve
from canonicall.testing.simulator import Exchange
from gateway_backs import BACKS, BOTH, MORE, alias, models, thinking_world
from gateway_support import World
from sdk_fronts import FRONTS, Conversing, Said

SEAL = "c2ltMX"
"""How the seals of simulators begin."""
WAYS = {"whole": False, "streamed": True}


class Served:
    """A gateway on a port, and a client of each SDK."""

    def __init__(self, world: World, url: str) -> None:
        self.world = world
        self.clients = {name: front.connect(url) for name, front in FRONTS.items()}

    def begin(self, front: str, *, streamed: bool = False) -> Conversing:
        return FRONTS[front](self.clients[front], streamed=streamed)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    world = thinking_world()
    with serve(world.gateway(models())) as server:
        made = Served(world, server.url)
        yield made
        for client in made.clients.values():
            client.close()


def results_of(said: Said) -> list[str]:
    return [f"{name} of {args['city']}" for _, name, args in said.calls]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("back", sampled(BACKS, every=6))
@pytest.mark.parametrize("front", [name for name in FRONTS if name != "chained"])
def test_two_calls_at_once_their_results_and_one_more(
    served: Served, front: str, back: str, way: str
) -> None:
    seen = served.world.of(back.partition("/")[0]).seen
    before = len(seen)
    model = alias(back)
    conversing = served.begin(front, streamed=WAYS[way])

    first = conversing.ask(model, BOTH)
    assert [(name, args) for _, name, args in first.calls] == [
        ("get_weather", {"city": "Paris"}),
        ("local_time", {"city": "Paris"}),
    ]
    answer = conversing.answer(model, first, results_of(first))
    assert answer.text == "It is so: get_weather of Paris; local_time of Paris."
    third = conversing.ask(model, MORE)
    assert [(name, args) for _, name, args in third.calls] == [("get_weather", {"city": "Oslo"})]
    last = conversing.answer(model, third, results_of(third))
    assert last.text == "It is so: get_weather of Oslo."

    ids = [id for said in (first, third) for id, _, _ in said.calls]
    # Gemini's own calls may have none: the SDK gives results by their place then.
    assert len(set(ids)) == 3 or (front == "gemini" and back == "gemini/gemini")
    asked = seen[before:]
    assert [one.status for one in asked] == [200] * 4
    assert_thoughts_came_back(asked[-1])


def assert_thoughts_came_back(asked: Exchange) -> None:
    """The thoughts before both turns with calls are in what the back got, as far as it reads any:
    sealed ones with their seals, which the simulator has checked, others with their words."""
    target, sent = asked.target, msgspec.json.encode(asked.body).decode()
    words = [text in sent for text in ("Two tools know that.", "One more tool.")]
    if target.signature_sentinel is not None:
        assert target.signature_sentinel not in sent
        assert sent.count(SEAL) >= 2
    elif target.reasoning == "signed" and "details" not in target.reasoning_field:
        assert sent.count(SEAL) >= 2
        assert all(words)
    elif target.reasoning == "open":
        assert all(words)
    elif target.reasoning == "none":
        assert not any(words)
