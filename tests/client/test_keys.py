"""Several keys for one provider: in turn, and none while it is cooling down."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.client.config import ClientConfig, ProviderConfig
from canonicall.client.failure import Failure
from canonicall.client.keys import KeyPolicy, KeyPools, KeyRing
from canonicall.client.secrets import Secret, hide
from canonicall.facts.registry import get_profile
from canonicall.runtime.model import ModelError
from canonicall.testing.exchange import SimResponse
from canonicall.testing.script import says
from canonicall.testing.simulator import Simulator

from client_support import Clock, asked, client, kinds, question, simulator, target

KEYS = tuple(f"sk-test-key-number-{at}" for at in range(3))
SECRETS = tuple(map(Secret, KEYS))


def used(ring, *times):
    """The numbers of the keys that are taken at these times."""
    found = []
    for now in times:
        ring = ring.turned(now)
        found.append(ring.last)
    return found


def test_keys_take_turns():
    assert used(KeyRing.of(SECRETS), *[0.0] * 5) == [0, 1, 2, 0, 1]


def test_a_key_that_cools_down_is_passed_over_until_it_is_ready():
    ring = KeyRing.of(SECRETS).cooled(SECRETS[1], 10.0)
    assert used(ring, 0.0, 9.0, 9.9) == [0, 2, 0]
    assert used(ring, 10.0, 10.0) == [0, 1]
    assert (ring.ready(9.0), ring.ready(10.0)) == (2, 3)


def test_where_all_cool_down_the_one_that_is_ready_first_is_taken():
    ring = KeyRing.of(SECRETS)
    for secret, until in zip(SECRETS, (30.0, 10.0, 20.0), strict=True):
        ring = ring.cooled(secret, until)
    assert used(ring, 0.0, 0.0) == [1, 1]
    assert ring.cooled(SECRETS[0], 5.0) == ring


@given(
    st.lists(st.tuples(st.sampled_from(SECRETS), st.floats(0, 50)), max_size=10),
    st.floats(0, 60),
)
def test_no_key_is_used_that_cools_down_while_another_is_ready(cooled, now):
    ring = KeyRing.of(SECRETS)
    for secret, until in cooled:
        ring = ring.cooled(secret, until)
    for _ in range(4):
        ring = ring.turned(now)
        assert ring.ready_at[ring.last] <= now or not ring.ready(now)


@pytest.mark.parametrize(
    ("failure", "rest"),
    [
        (Failure(kind="rate_limited", message="", passing=True, wait=7.0), 7.0),
        (Failure(kind="rate_limited", message="", passing=True), 30.0),
        (Failure(kind="rate_limited", message=""), 3600.0),
        (Failure(kind="authentication", message="", status=403), 3600.0),
        (Failure(kind="overloaded", message="", passing=True, wait=7.0), None),
        (Failure(kind="refused", message="", status=400), None),
    ],
)
def test_how_long_a_key_cools_down(failure, rest):
    assert KeyPolicy().rest(failure) == rest


def of(providers=None, **environ):
    return ClientConfig(providers, environ=environ).of(get_profile("openai"))


def test_keys_come_from_code_or_from_numbered_variables():
    assert of({"openai": {"key": KEYS[0], "keys": KEYS[1:]}}).pool == SECRETS
    assert of({"openai": {"keys": [*KEYS, KEYS[0]]}}, OPENAI_API_KEY="another").pool == SECRETS
    assert of({"openai": {"keys": KEYS[0]}}).pool == SECRETS[:1]
    environ = {"OPENAI_API_KEY": KEYS[0], "OPENAI_API_KEY_2": KEYS[1], "OPENAI_API_KEY_4": "far"}
    assert of(**environ).pool == SECRETS[:2]
    assert of(OPENAI_API_KEY_2=KEYS[1]).pool == ()


def test_keys_come_from_variables_of_ones_own():
    named = {"openai": {"key_env": ["TEAM_A", "TEAM_B", "TEAM_C"]}}
    assert of(named, TEAM_A=KEYS[0], TEAM_C=KEYS[1], OPENAI_API_KEY="x").pool == SECRETS[:2]
    made = ClientConfig(named, environ={"TEAM_A": KEYS[0], "TEAM_C": KEYS[1]})
    assert made.present() == {"openai": ("TEAM_A", "TEAM_C")}


def test_no_key_is_shown():
    own = ProviderConfig(key=KEYS[0], keys=KEYS[1:])
    ring = KeyRing.of(SECRETS)
    pools = KeyPools()
    pools.next("openai", SECRETS, 0.0)
    shown = f"{own!r} {own} {ring!r} {ring} {pools!r} {ClientConfig({'openai': own})!r}"
    shown += hide(" ".join(KEYS), own.secrets)
    assert not any(key in shown for key in KEYS)


class Counting(Simulator):
    """Notes which key each request came with; some of them are over their limit."""

    def __init__(self, *given, limited=(), retry_after="", **options):
        super().__init__(*given, **options)
        self.came, self.limited, self.retry_after = [], limited, retry_after

    def answer(self, request):
        key = request.headers["authorization"].removeprefix("Bearer ")
        self.came.append(KEYS.index(key))
        if key in self.limited:
            error = {"message": f"Rate limit reached for {key}", "type": "tokens"}
            return SimResponse.json(429, {"error": error}, retry_after=self.retry_after)
        return super().answer(request)


def said(request):
    del request
    return says("Hello.")


def talking(served, clock, **more):
    return client(served, key=KEYS[0], keys=KEYS[1:], elapsed=clock, **more)


async def test_each_request_goes_out_with_the_next_key():
    served = Counting("openai", model=said)
    async with talking(served, Clock()) as model:
        for _ in range(4):
            await asked(model, question(), target("openai"))
    assert served.came == [0, 1, 2, 0]


async def test_a_key_over_its_limit_waits_and_another_takes_its_place_at_once():
    clock = Clock()
    served = Counting("openai", model=said, limited=KEYS[:1], retry_after="20")
    async with talking(served, clock) as model:
        for _ in range(2):
            await asked(model, question(), target("openai"))
        assert served.came == [0, 1, 2]
        assert kinds(model) == ["retrying", "answered", "answered"]
        assert "again with another key" in model.told[0].detail
        assert model.slept == []
        await asked(model, question(), target("openai"))
        clock.now = 20.0
        served.limited = ()
        for _ in range(3):
            await asked(model, question(), target("openai"))
    assert served.came == [0, 1, 2, 1, 2, 0, 1]
    assert not any(key in f"{model.told}" for key in KEYS)


async def test_a_key_that_is_rejected_is_not_used_for_long():
    clock = Clock()
    served = Counting("openai", model=said, keys=KEYS[1:])
    async with talking(served, clock) as model:
        for _ in range(3):
            await asked(model, question(), target("openai"))
            clock.now += 1000.0
        assert served.came == [0, 1, 2, 1]
        clock.now = 3600.0
        await asked(model, question(), target("openai"))
        await asked(model, question(), target("openai"))
    assert served.came == [0, 1, 2, 1, 2, 0, 1]


async def test_where_no_key_is_left_it_fails_as_with_one_key():
    served = Counting("openai", keys=["another"])
    async with talking(served, Clock()) as model:
        with pytest.raises(ModelError) as caught:
            await asked(model, question(), target("openai"))
    assert (caught.value.status, caught.value.kind) == (401, "authentication")
    assert sorted(served.came) == [0, 1, 2]
    assert not any(key in caught.value.message for key in KEYS)


async def test_where_all_are_over_their_limit_it_waits_as_it_is_told():
    served = Counting("openai", model=said, limited=KEYS, retry_after="3")
    async with talking(served, Clock(), attempts=2) as model:
        with pytest.raises(ModelError, match="HTTP 429"):
            await asked(model, question(), target("openai"))
    assert served.came[:3] == [0, 1, 2]
    assert len(served.came) == 4
    assert model.slept == [3.25]


async def test_one_key_is_asked_again_as_ever():
    served = simulator("openai", "Hello.", faults=["rate_limited"])
    async with client(served) as model:
        await asked(model, question(), target("openai"))
    assert kinds(model) == ["retrying", "answered"]
    assert len(model.slept) == 1
