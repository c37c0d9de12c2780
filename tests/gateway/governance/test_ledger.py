"""What workers know together of their keys. Time is a number here; processes are real."""

import os
import signal
import sys

import pytest

if sys.platform == "win32":
    pytest.skip("workers need a system that forks", allow_module_level=True)

from canonicall.gateway.exchange import Refused
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.keys import new_key
from canonicall.gateway.governance.ledger import Ledger
from canonicall.gateway.settings import KeySettings

KEY, HASH = new_key(bytes(32))
OTHER, OTHER_HASH = new_key(bytes(31) + b"\x01")


@pytest.fixture
def ledger():
    made = Ledger(2)
    yield made
    made.close()


def gate(ledger, worker, **settings):
    """The gate of a worker, which may be given more keys."""
    ledger.enter(worker)
    others = settings.pop("others", {})
    keys = {"team": KeySettings(hash=HASH, **settings), **others}
    made = Gate(keys, open_to_all=False, share=2)
    made.count_in(ledger)
    return made


def is_let_in(gate, now, shown=KEY):
    """The permit, or None."""
    try:
        return gate.admit(shown, "m", now)
    except Refused:
        return None


def in_process(work):
    """Do it in a process of its own; its number."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        code = work()
    finally:
        os._exit(code)


def test_processes_at_the_same_time_let_in_exactly_the_limit(ledger):
    limit = 150

    def work(worker):
        mine = gate(ledger, worker, requests_per_minute=limit)
        return sum(is_let_in(mine, 100.0) is not None for _ in range(limit))

    processes = [in_process(lambda worker=worker: work(worker)) for worker in (0, 1)]
    let_in = [os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in processes]
    assert sum(let_in) == limit
    assert gate(ledger, 0).spending(100.0)[0].requests == limit


def test_one_that_is_killed_at_any_moment_leaves_no_lock_and_nothing_running(ledger):
    def work():
        mine = gate(ledger, 1)
        while True:
            mine.admit(KEY, "m", 100.0)

    survivor = gate(ledger, 0, concurrent=1)
    for _ in range(5):
        process = in_process(work)
        while survivor.spending(100.0)[0].running == 0:
            pass
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        assert is_let_in(survivor, 100.0) is None
        gate(ledger, 1)
        assert survivor.spending(100.0)[0].running == 0
    assert is_let_in(survivor, 1000.0)
    assert survivor.spending(1000.0)[0].requests == 1


def test_limits_are_whole_and_spending_is_that_of_all(ledger):
    one = gate(ledger, 0, requests_per_minute=3, tokens_per_minute=100, concurrent=2)
    two = gate(ledger, 1, requests_per_minute=3, tokens_per_minute=100, concurrent=2)
    first, second = is_let_in(one, 10.0), is_let_in(two, 10.0)
    assert is_let_in(one, 10.0) is None
    first.release(30, 11.0)
    second.release(40, 12.0)
    second.release(40, 12.0)
    for each in (one, two):
        (spent,) = each.spending(12.0)
        assert (spent.running, spent.requests, spent.tokens) == (0, 2, 70)
        assert (spent.concurrent, spent.requests_per_minute) == (2, 3)
    is_let_in(two, 13.0).release(0, 13.0)
    with pytest.raises(Refused, match=r"requests per minute \(3\)") as caught:
        one.admit(KEY, "m", 14.0)
    assert caught.value.retry_after == 57.0
    assert is_let_in(one, 71.0)


def test_a_reload_keeps_to_the_ledger_and_gives_new_keys_a_row(ledger):
    old = gate(ledger, 0, requests_per_minute=1)
    running = is_let_in(old, 10.0)
    others = {"other": KeySettings(hash=OTHER_HASH, requests_per_minute=1)}
    new = Gate({"team": KeySettings(hash=HASH, requests_per_minute=1), **others}, open_to_all=False)
    new.after(old)
    elsewhere = gate(ledger, 1, requests_per_minute=1, others=others)
    assert is_let_in(elsewhere, 10.0, OTHER)
    assert is_let_in(new, 10.0, OTHER) is None
    assert is_let_in(new, 10.0) is None
    running.release(5, 11.0)
    assert [one.running for one in new.spending(11.0)] == [0, 1]


def test_each_worker_learns_once_what_any_has_revoked(ledger):
    def work():
        ledger.revoke(OTHER_HASH)
        return len(ledger.newly_revoked())

    ledger.revoke(HASH)
    process = in_process(work)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 2
    assert ledger.newly_revoked() == {HASH, OTHER_HASH}
    assert ledger.newly_revoked() == set()
