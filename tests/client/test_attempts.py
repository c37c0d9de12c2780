"""The attempts loop by itself: forms that are nothing but bytes, and hosts that answer by a list."""

import json

import pytest

from canonicall.client.attempts import Again, Attempts, NoReply
from canonicall.client.breaker import BreakerPolicy, LocalBreakers
from canonicall.client.config import ClientConfig, ProviderConfig
from canonicall.client.failure import AttemptFailed, of_cut, of_transport
from canonicall.client.keys import KeyPools
from canonicall.client.retrying import RetryPolicy
from canonicall.client.secrets import Secret
from canonicall.client.sending import Means
from canonicall.client.transport import TooMuch
from canonicall.errors import ReplyTooLarge
from canonicall.facts.registry import get_target

ONE, TWO, THREE = (get_target(f"openai:model-{name}") for name in ("one", "two", "three"))
BUSY, LIMITED, REFUSED, WRONG_KEY = 503, 429, 400, 401
BROKEN, LARGE = "broken", "large"
OK = 200


class Answer:
    def __init__(self, status):
        self.status, self.headers = status, {"content-type": "application/json"}

    async def chunks(self):
        yield json.dumps({"error": {"message": "No.", "type": "x"}}).encode()

    def close(self):
        pass


class Form:
    """Bytes that name their target; fits the protocol."""

    stream, compacts, headers = False, False, None

    def __init__(self, world, target, data=b"{}", following=None):
        self.world, self.target, self.data, self.following = world, target, data, following

    def diagnostics(self):
        return None

    def notice(self):
        return None

    def accepted(self):
        self.world.accepted.append(self.data)

    async def refused(self, failure):
        return Again(failure, self.following)

    async def read(self, response, sent):
        if self.world.reads == BROKEN:
            self.world.reads = ""
            raise AttemptFailed(of_cut(self.target, "nothing came."))
        if self.world.reads == LARGE:
            raise AttemptFailed(
                of_transport(self.target, TooMuch(ReplyTooLarge("too large", limit=1)))
            )
        yield b"first"
        yield b"second"


class World:
    """Hosts that answer with these statuses, one after another, then with 200."""

    def __init__(self, *statuses, keys=1, reads=""):
        self.statuses, self.reads = list(statuses), reads
        self.asked, self.waits, self.told, self.accepted = [], [], [], []
        config = ClientConfig(
            {"openai": ProviderConfig(keys=tuple(Secret(f"sk-{n}") for n in range(keys)))},
            retry=RetryPolicy(attempts=3),
        )
        self.breakers = LocalBreakers(BreakerPolicy(failures=1))
        self.means = Means(
            self, config, self.sleep, lambda: 0.5, lambda: 0.0, lambda: 0.0, KeyPools()
        )

    async def sleep(self, seconds):
        self.waits.append(seconds)

    async def post(self, url, headers, body, timeouts, *, proxy=""):
        self.asked.append((body, headers["authorization"]))
        return Answer(self.statuses.pop(0) if self.statuses else OK)

    async def form(self, target):
        return Form(self, target, target.model.encode())

    def attempts(self, *chain, form=None, **options):
        made = form or self.form
        return Attempts(self.means, self.breakers, chain, made, self.told.append, **options)

    @property
    def bodies(self):
        return [body for body, _ in self.asked]

    @property
    def kinds(self):
        return [one.kind for one in self.told]


async def test_a_failure_that_may_pass_is_waited_for():
    world = World(BUSY, BUSY)
    opened = await world.attempts(ONE, TWO).open()
    assert (opened.target, opened.first, len(world.waits)) == (ONE, b"first", 2)
    assert world.kinds == ["retrying", "retrying"]


async def test_who_hurries_asks_the_next_and_waits_for_the_last():
    world = World(BUSY, BUSY)
    opened = await world.attempts(ONE, TWO, hurries=True).open()
    assert (opened.target, len(world.waits)) == (TWO, 1)
    assert world.kinds == ["switched", "retrying"]


async def test_who_hurries_waits_for_the_target_of_the_turn():
    world = World(BUSY)
    opened = await world.attempts(ONE, TWO, hurries=True, bound=ONE).open()
    assert (opened.target, len(world.waits)) == (ONE, 1)


async def test_another_key_is_tried_at_once_and_each_key_once():
    world = World(WRONG_KEY, WRONG_KEY, keys=2)
    opened = await world.attempts(ONE, TWO).open()
    assert (opened.target, world.waits) == (TWO, [])
    assert len({key for _, key in world.asked[:2]}) == 2
    assert world.kinds == ["retrying", "switched"]


async def test_a_refusal_is_answered_with_the_next_form_then_with_the_next_target():
    world = World(REFUSED, REFUSED)

    async def form(target):
        return Form(world, target, b"1", following=Form(world, target, b"2"))

    opened = await world.attempts(ONE, TWO, form=form).open()
    assert world.bodies == [b"1", b"2", b"1"]
    assert (opened.target, world.accepted) == (TWO, [b"1"])
    assert world.told[-1].refused_by == "openai"


async def test_a_request_that_is_too_long_is_made_shorter_for_the_same_target():
    world, cuts = World(REFUSED, REFUSED), []

    async def shorten(failure):
        cuts.append(failure.kind)
        return True

    opened = await world.attempts(ONE, TWO, shorten=shorten).open()
    assert (opened.target, cuts, world.waits) == (ONE, ["refused", "refused"], [])


async def test_a_reply_that_breaks_before_its_first_content_is_asked_for_again():
    world = World(reads=BROKEN)
    opened = await world.attempts(ONE).open()
    assert (opened.target, len(world.asked)) == (ONE, 2)


async def test_a_reply_that_is_too_large_is_not_asked_of_others():
    world = World(reads=LARGE)
    attempts = world.attempts(ONE, TWO)
    with pytest.raises(NoReply) as error:
        await attempts.open()
    assert ([one.kind for one in error.value.failures], len(world.asked)) == (
        ["reply_too_large"],
        1,
    )


async def test_a_chain_goes_on_behind_a_reply_that_was_cut():
    world = World()
    attempts = world.attempts(ONE, TWO)
    first = await attempts.open()
    attempts.answered(None, complete=False)
    second = await attempts.open()
    assert (first.target, second.target, attempts.has_more) == (ONE, TWO, False)
    with pytest.raises(NoReply):
        await attempts.open()
    attempts.end_chain(ONE)
    assert (await attempts.open()).target == ONE


async def test_breakers_hear_of_failures_and_of_replies_that_have_ended():
    world = World(*[BUSY] * 3)
    attempts = world.attempts(ONE, TWO)
    assert (await attempts.open()).target == TWO
    assert world.breakers.of(ONE).state(0.0) == "open"
    attempts.answered(None, complete=True)
    assert (await world.attempts(ONE, TWO).open()).target == TWO
    assert world.kinds[-1] == "skipped"
    assert (await world.attempts(ONE).open()).target == ONE


async def test_a_target_that_is_tried_is_let_go_where_its_reply_is_not_read():
    world = World(*[BUSY] * 3)
    with pytest.raises(NoReply):
        await world.attempts(ONE).open()
    attempts = world.attempts(ONE)
    world.breakers._circuits = {key: one.asked(99.0) for key, one in world.breakers.known.items()}
    await attempts.open()
    attempts.close()
    assert world.breakers.of(ONE).allows(99.0)
