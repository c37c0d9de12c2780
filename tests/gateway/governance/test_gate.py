"""Who is let in, and how much. Time is a number here."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.gateway.config import KeySettings
from canonicall.gateway.exchange import Refused
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.keys import new_key
from canonicall.gateway.governance.windows import Window

KEY, HASH = new_key(bytes(32))
OTHER, OTHER_HASH = new_key(bytes(31) + b"\x01")


def gate(*, share=1, open_to_all=False, revoked=(), **settings):
    keys = {"team": KeySettings(hash=HASH, **settings), "other": KeySettings(hash=OTHER_HASH)}
    return Gate(keys, open_to_all=open_to_all, share=share, revoked=revoked)


def refused(gate, now=0.0, shown=KEY, model="m"):
    with pytest.raises(Refused) as caught:
        gate.admit(shown, model, now)
    assert KEY not in str(caught.value)
    return caught.value


def test_a_known_key_is_let_in_under_its_name():
    permit = gate(models=("m*",)).admit(KEY, "m1", 0.0)
    assert permit.key == "team"
    assert (permit.allows("m2"), permit.allows("x")) == (True, False)


@pytest.mark.parametrize("shown", ["", "wrong", KEY + "x"])
def test_others_are_not(shown):
    error = refused(gate(), shown=shown)
    assert (error.status, error.kind, error.retry_after) == (401, "authentication", None)


def test_where_no_key_is_configured_it_says_so():
    closed = Gate({}, open_to_all=False)
    assert "None is configured" in refused(closed).message


def test_an_open_gate_takes_any_key_or_none():
    everybody = Gate({}, open_to_all=True)
    for shown in ("", "sk-anything"):
        permit = everybody.admit(shown, "m", 0.0)
        assert (permit.key, permit.allows("x")) == ("", True)
        permit.release(10, 0.0)


def test_an_open_gate_still_holds_a_known_key_to_its_limits():
    assert refused(gate(open_to_all=True, revoked=[HASH])).status == 401


def test_expired_and_revoked_keys():
    assert "expired" in refused(gate(expires="1970-01-01"), now=86_400.0).message
    assert "revoked" in refused(gate(revoked=[HASH])).message


def test_a_model_that_the_key_may_not_use():
    error = refused(gate(models=("fast",)), model="slow")
    assert (error.status, error.kind) == (403, "permission")
    assert error.message.endswith("for the model 'slow'. It may be used for: fast.")
    assert gate(models=("fast",)).admit(KEY, None, 0.0).key == "team"


def test_a_key_revoked_while_it_runs():
    one = gate()
    running = one.admit(KEY, "m", 0.0)
    assert one.revoke("team") == HASH
    assert refused(one).status == 401
    running.release(5, 1.0)
    assert one.admit(OTHER, "m", 0.0).key == "other"
    assert one.revoke("nobody") is None


def test_requests_per_minute():
    one = gate(requests_per_minute=2)
    one.admit(KEY, "m", 10.0).release(0, 10.0)
    one.admit(KEY, "m", 40.0).release(0, 40.0)
    error = refused(one, now=41.5)
    assert (error.status, error.kind) == (429, "rate_limited")
    assert error.retry_after == 29.5
    one.admit(KEY, "m", 71.0)
    assert one.admit(OTHER, "m", 41.5).key == "other"


def test_what_is_refused_costs_nothing():
    one = gate(requests_per_minute=1, models=("m",))
    for _ in range(5):
        refused(one, model="x")
    one.admit(KEY, "m", 0.0)
    for at in range(60):
        refused(one, now=float(at))
    one.admit(KEY, "m", 61.0)


def test_tokens_are_booked_when_they_are_known():
    one = gate(tokens_per_minute=100)
    first, second = one.admit(KEY, "m", 0.0), one.admit(KEY, "m", 0.0)
    first.release(150, 5.0)
    assert refused(one, now=6.0).retry_after == 60.0
    second.release(50, 30.0)
    assert refused(one, now=60.0).retry_after == 6.0
    one.admit(KEY, "m", 66.0)


def test_so_many_at_once():
    one = gate(concurrent=2)
    first = one.admit(KEY, "m", 0.0)
    one.admit(KEY, "m", 0.0)
    assert refused(one).retry_after == 1.0
    first.release(0, 0.0)
    first.release(0, 0.0)
    one.admit(KEY, "m", 0.0)
    assert refused(one).status == 429


def test_workers_share_a_limit():
    assert gate(share=4, requests_per_minute=100, concurrent=3).spending(0.0)[0].concurrent == 1
    assert gate(share=4, requests_per_minute=100).spending(0.0)[0].requests_per_minute == 25
    assert gate(share=4).spending(0.0)[0].requests_per_minute == 0


def test_a_reload_gives_nobody_a_fresh_minute():
    old = gate(requests_per_minute=2, tokens_per_minute=100, concurrent=1)
    running = old.admit(KEY, "m", 0.0)
    new = gate(requests_per_minute=2, tokens_per_minute=100, concurrent=1).after(old)
    assert "open" in refused(new).message
    running.release(100, 1.0)
    assert "tokens" in refused(new, now=2.0).message
    new.admit(KEY, "m", 62.0)


def test_a_reload_with_other_limits_holds_them_against_what_is_spent():
    old = gate(requests_per_minute=5)
    for _ in range(3):
        old.admit(KEY, "m", 0.0)
    assert refused(gate(requests_per_minute=3).after(old)).retry_after == 61.0
    gate(requests_per_minute=4).after(old).admit(KEY, "m", 0.0)


def test_a_reload_does_not_forget_what_was_revoked():
    old = gate()
    old.revoke("team")
    assert refused(gate().after(old)).status == 401
    assert [state for _, state in gate().after(old).keys(0.0)] == ["revoked", "active"]


def test_a_key_that_is_new_after_a_reload_begins_at_nothing():
    old = Gate({"other": KeySettings(hash=OTHER_HASH)}, open_to_all=False)
    assert gate(requests_per_minute=1).after(old).admit(KEY, "m", 0.0).key == "team"


def test_what_is_spent_can_be_read():
    one = gate(requests_per_minute=9, tokens_per_minute=50, concurrent=3)
    one.admit(KEY, "m", 0.0).release(7, 1.0)
    one.admit(KEY, "m", 30.0)
    (mine, _) = one.spending(30.0)
    assert (mine.key, mine.running, mine.requests, mine.tokens) == ("team", 1, 2, 7)
    (later, _) = one.spending(1000.0)
    assert (later.running, later.requests, later.tokens) == (1, 0, 0)


STEPS = st.lists(st.floats(0.0, 20.0, allow_nan=False), min_size=1, max_size=60)


@given(STEPS, st.integers(1, 10))
def test_in_no_minute_more_is_let_in_than_the_limit(steps, limit):
    window, now, let_in = Window(), 1_700_000_000.0, []
    for step in steps:
        now += step
        if not window.wait(limit, now):
            window.add(1, now)
            let_in.append(now)
    for first, beyond in zip(let_in, let_in[limit:], strict=False):
        assert beyond - first >= 60.0


@given(st.lists(st.tuples(st.floats(0.0, 2.0), st.floats(0.0, 0.9))), st.integers(1, 10))
def test_callers_that_come_a_moment_late_do_not_shorten_the_minute(steps, limit):
    """Workers read their clock, and may then have to wait for another that read it later."""
    window, now, let_in = Window(), 1_700_000_000.0, []
    for step, late in steps * 40:
        now += step
        if not window.wait(limit, now - late):
            window.add(1, now - late)
            let_in.append(now)
    for first, beyond in zip(let_in, let_in[limit:], strict=False):
        assert beyond - first >= 60.0 - 0.9


@given(STEPS, st.lists(st.integers(0, 50), min_size=60, max_size=60), st.integers(1, 100))
def test_whoever_waits_as_told_is_let_in_and_not_a_second_before(steps, amounts, limit):
    window, now = Window(), 1_700_000_000.0
    for step, amount in zip(steps, amounts, strict=False):
        now += step
        window.add(amount, now)
    wait = window.wait(limit, now)
    assert 0.0 <= wait <= 61.0
    if wait > 1.0:
        assert window.wait(limit, now + wait - 1.0) > 0.0
    assert window.wait(limit, now + wait) == 0.0


def test_a_clock_that_is_set_back_holds_nobody_longer_than_a_minute():
    window = Window()
    window.add(1, 1_000_000.0)
    assert window.wait(1, 10.0) == 61.0
    assert window.wait(1, 71.0) == 0.0


def test_waits_grow_shorter_as_time_goes_on():
    window = Window()
    window.add(1, 100.5)
    waits = [window.wait(1, 100.5 + at) for at in range(61)]
    assert all(later < earlier for earlier, later in pairwise(waits))
