"""The limiter that workers share, with real processes; test_limits.py has what all of them keep."""

import json
import os
import subprocess
import sys
from copy import copy
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("workers need a system that forks", allow_module_level=True)

from canonicall.gateway.config import KeySettings
from canonicall.gateway.exchange import Refused
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.keys import new_key
from canonicall.gateway.governance.shared_memory import SharedLimiter, SharedMemoryError

PROGRAM = Path(__file__).with_name("shared_memory_workers.py")
PATIENCE = 60
KEY, HASH = new_key(bytes(32))
OTHER, OTHER_HASH = new_key(bytes(31) + b"\x01")


@pytest.fixture
def limiter():
    made = SharedLimiter(2)
    yield made
    made.close()


def gate(limiter, worker, **settings):
    """The gate of a worker, which may be given more keys."""
    limiter = copy(limiter)
    limiter.enter(worker)
    others = settings.pop("others", {})
    keys = {"team": KeySettings(hash=HASH, **settings), **others}
    made = Gate(keys, open_to_all=False, share=2)
    made.limit_by(limiter)
    return made


async def is_let_in(gate, now, shown=KEY):
    """The permit, or None."""
    try:
        return await gate.admit(shown, "m", now)
    except Refused:
        return None


def workers(what):
    """What comes of real processes that share a limiter."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), what],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_processes_at_the_same_time_let_in_exactly_the_limit():
    limit, let_in, known = workers("count")
    assert let_in == known == limit


def test_one_that_is_killed_at_any_moment_leaves_no_lock_and_nothing_running():
    seen, is_let_in_later, requests = workers("kill")
    # What ran in it counts until another takes its place.
    assert seen == [[False, 0]] * 5
    assert is_let_in_later
    assert requests == 1


def test_each_worker_learns_once_what_any_has_revoked():
    assert workers("revoke") == [2, sorted([HASH, OTHER_HASH]), []]


async def test_limits_are_whole_and_spending_is_that_of_all(limiter):
    one = gate(limiter, 0, requests_per_minute=3, tokens_per_minute=100, concurrent=2)
    two = gate(limiter, 1, requests_per_minute=3, tokens_per_minute=100, concurrent=2)
    first, second = (await is_let_in(one, 10.0)), (await is_let_in(two, 10.0))
    assert (await is_let_in(one, 10.0)) is None
    first.release(30, 11.0)
    second.release(40, 12.0)
    second.release(40, 12.0)
    for each in (one, two):
        (spent,) = await each.spending(12.0)
        assert (spent.running, spent.requests, spent.tokens) == (0, 2, 70)
        assert (spent.concurrent, spent.requests_per_minute) == (2, 3)
    (await is_let_in(two, 13.0)).release(0, 13.0)
    with pytest.raises(Refused, match=r"requests per minute \(3\)") as caught:
        await one.admit(KEY, "m", 14.0)
    assert caught.value.retry_after == 57.0
    assert await is_let_in(one, 71.0)


async def test_a_reload_keeps_to_the_counters_and_gives_new_keys_a_row(limiter):
    old = gate(limiter, 0, requests_per_minute=1)
    running = await is_let_in(old, 10.0)
    others = {"other": KeySettings(hash=OTHER_HASH, requests_per_minute=1)}
    new = Gate({"team": KeySettings(hash=HASH, requests_per_minute=1), **others}, open_to_all=False)
    new.after(old)
    elsewhere = gate(limiter, 1, requests_per_minute=1, others=others)
    assert await is_let_in(elsewhere, 10.0, OTHER)
    assert (await is_let_in(new, 10.0, OTHER)) is None
    assert (await is_let_in(new, 10.0)) is None
    running.release(5, 11.0)
    assert [one.running for one in await new.spending(11.0)] == [0, 1]


def test_where_there_is_no_place_for_it_that_is_told(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(SharedMemoryError, match="Let TMPDIR be a folder that can be written"):
        SharedLimiter(2)
