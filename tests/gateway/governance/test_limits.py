"""What every implementation of `Limiter` has to keep. Another one is another row of `MADE`."""

import asyncio
import os
import sys
from contextlib import contextmanager
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonicall.gateway.governance.limits import KeyLimits, KeyUse, LimitReached
from canonicall.gateway.governance.windows import LocalLimiter

TEAM, OTHER = ("sha256:" + 64 * one for one in "01")
NOW = 1_700_000_000.0
FREE = KeyLimits()


@contextmanager
def local():
    yield LocalLimiter()


@contextmanager
def shared():
    from canonicall.gateway.governance.shared_memory import SharedLimiter  # noqa: PLC0415

    made = SharedLimiter(2)
    made.enter(1)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def shared_on_a_disk():
    """Not every system has files that are in memory alone."""
    with mock.patch.object(os, "memfd_create", new=None, create=True):
        del os.memfd_create
        with shared() as made:
            yield made


MADE = {"local": local}
if sys.platform != "win32":
    MADE |= {"shared": shared, "shared on a disk": shared_on_a_disk}


@pytest.fixture(params=MADE.values(), ids=MADE.keys())
def limiter(request):
    with request.param() as made:
        made.know([TEAM, OTHER])
        yield made


async def test_a_request_runs_until_it_ends_and_its_tokens_are_counted_then(limiter):
    assert await limiter.spent(TEAM, NOW) == KeyUse()
    assert await limiter.begin(TEAM, FREE, NOW) is None
    assert await limiter.begin(TEAM, FREE, NOW + 1) is None
    assert await limiter.spent(TEAM, NOW + 1) == KeyUse(running=2, requests=2)
    limiter.end(TEAM, 30, NOW + 2)
    assert await limiter.spent(TEAM, NOW + 2) == KeyUse(running=1, requests=2, tokens=30)
    limiter.end(TEAM, 12, NOW + 3)
    assert await limiter.spent(TEAM, NOW + 3) == KeyUse(requests=2, tokens=42)


async def test_keys_do_not_count_for_each_other(limiter):
    limits = KeyLimits(concurrent=1, requests_per_minute=1, tokens_per_minute=1)
    assert await limiter.begin(TEAM, limits, NOW) is None
    limiter.end(TEAM, 100, NOW)
    assert await limiter.begin(OTHER, limits, NOW) is None
    assert await limiter.spent(OTHER, NOW) == KeyUse(running=1, requests=1)


async def test_so_many_at_once(limiter):
    limits = KeyLimits(concurrent=2)
    assert await limiter.begin(TEAM, limits, NOW) is None
    assert await limiter.begin(TEAM, limits, NOW) is None
    assert await limiter.begin(TEAM, limits, NOW) == LimitReached("concurrent", 2, None)
    # A limit may be lower after a reload.
    assert await limiter.begin(TEAM, KeyLimits(concurrent=1), NOW) == LimitReached(
        "concurrent", 2, None
    )
    limiter.end(TEAM, 0, NOW)
    assert await limiter.begin(TEAM, limits, NOW) is None


async def test_so_many_requests_in_a_minute(limiter):
    limits = KeyLimits(requests_per_minute=2)
    for second in (0.0, 30.0):
        assert await limiter.begin(TEAM, limits, NOW + second) is None
        limiter.end(TEAM, 0, NOW + second)
    assert await limiter.begin(TEAM, limits, NOW + 31.5) == LimitReached("requests", 2, 29.5)
    assert await limiter.begin(TEAM, limits, NOW + 61.0) is None


async def test_tokens_may_exceed_the_limit_once_and_then_there_is_no_room(limiter):
    limits = KeyLimits(tokens_per_minute=100)
    assert await limiter.begin(TEAM, limits, NOW) is None
    assert await limiter.begin(TEAM, limits, NOW) is None
    limiter.end(TEAM, 150, NOW + 5)
    assert await limiter.begin(TEAM, limits, NOW + 6) == LimitReached("tokens", 150, 60.0)
    limiter.end(TEAM, 0, NOW + 7)
    assert await limiter.begin(TEAM, limits, NOW + 66) is None


async def test_what_is_refused_is_not_counted(limiter):
    limits = KeyLimits(concurrent=1, requests_per_minute=1)
    assert await limiter.begin(TEAM, limits, NOW) is None
    for second in range(60):
        assert await limiter.begin(TEAM, limits, NOW + second) is not None
    assert await limiter.spent(TEAM, NOW + 59) == KeyUse(running=1, requests=1)
    limiter.end(TEAM, 0, NOW + 60)
    assert await limiter.begin(TEAM, limits, NOW + 61) is None


async def test_a_provider_that_reports_less_than_nothing_gives_nothing_back(limiter):
    await limiter.begin(TEAM, FREE, NOW)
    limiter.end(TEAM, -500, NOW)
    assert await limiter.spent(TEAM, NOW) == KeyUse(requests=1)


async def test_to_know_more_keys_or_fewer_changes_no_count(limiter):
    await limiter.begin(TEAM, FREE, NOW)
    limiter.know([OTHER])
    limiter.know(["sha256:" + 64 * "2", TEAM])
    limiter.end(TEAM, 9, NOW + 1)
    assert await limiter.spent(TEAM, NOW + 1) == KeyUse(requests=1, tokens=9)
    assert await limiter.spent("sha256:" + 64 * "2", NOW) == KeyUse()


async def test_what_is_revoked_is_told_once_to_all_who_share_it(limiter):
    assert await limiter.newly_revoked() == set()
    await limiter.revoke(TEAM)
    await limiter.revoke(OTHER)
    assert await limiter.newly_revoked() == ({TEAM, OTHER} if limiter.is_shared else set())
    assert await limiter.newly_revoked() == set()


STEPS = st.lists(st.tuples(st.floats(0.0, 20.0), st.integers(0, 40)), min_size=1, max_size=40)


@pytest.mark.parametrize("make", MADE.values(), ids=MADE.keys())
@settings(max_examples=30)
@given(STEPS, st.integers(1, 5), st.integers(1, 100))
def test_in_no_minute_more_begins_than_the_limits_say(make, steps, requests, tokens):
    """Whoever waits as long as was said is let in, and nobody before there is room."""
    limits = KeyLimits(requests_per_minute=requests, tokens_per_minute=tokens)

    async def let_in(limiter):
        now, began, spent = NOW, [], []
        for step, cost in steps:
            now += step
            reached = await limiter.begin(TEAM, limits, now)
            if reached is not None:
                now += reached.wait
                again = await limiter.begin(TEAM, limits, now)
                assert again is None or again.limit != reached.limit
                if again is not None:
                    now += again.wait
                    assert await limiter.begin(TEAM, limits, now) is None
            assert sum(used for at, used in spent if now - at < 60.0) < tokens
            limiter.end(TEAM, cost, now)
            began.append(now)
            spent.append((now, cost))
        return began

    with make() as limiter:
        limiter.know([TEAM])
        began = asyncio.run(let_in(limiter))
    for first, beyond in zip(began, began[requests:], strict=False):
        assert beyond - first >= 60.0
