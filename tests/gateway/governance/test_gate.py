"""Who is let in, and how much. Time is a number here."""

import pytest

from canonicall.gateway.config import KeySettings
from canonicall.gateway.exchange import Refused
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.keys import new_key

KEY, HASH = new_key(bytes(32))
OTHER, OTHER_HASH = new_key(bytes(31) + b"\x01")


def gate(*, share=1, open_to_all=False, revoked=(), **settings):
    keys = {"team": KeySettings(hash=HASH, **settings), "other": KeySettings(hash=OTHER_HASH)}
    return Gate(keys, open_to_all=open_to_all, share=share, revoked=revoked)


async def refused(gate, now=0.0, shown=KEY, model="m"):
    with pytest.raises(Refused) as caught:
        await gate.admit(shown, model, now)
    assert KEY not in str(caught.value)
    return caught.value


async def test_a_known_key_is_let_in_under_its_name():
    permit = await gate(models=("m*",)).admit(KEY, "m1", 0.0)
    assert permit.key == "team"
    assert (permit.allows("m2"), permit.allows("x")) == (True, False)


@pytest.mark.parametrize("shown", ["", "wrong", KEY + "x"])
async def test_others_are_not(shown):
    error = await refused(gate(), shown=shown)
    assert (error.status, error.kind, error.retry_after) == (401, "authentication", None)


async def test_where_no_key_is_configured_it_says_so():
    closed = Gate({}, open_to_all=False)
    assert "None is configured" in (await refused(closed)).message


async def test_an_open_gate_takes_any_key_or_none():
    everybody = Gate({}, open_to_all=True)
    for shown in ("", "sk-anything"):
        permit = await everybody.admit(shown, "m", 0.0)
        assert (permit.key, permit.allows("x")) == ("", True)
        permit.release(10, 0.0)


async def test_an_open_gate_still_holds_a_known_key_to_its_limits():
    assert (await refused(gate(open_to_all=True, revoked=[HASH]))).status == 401


async def test_expired_and_revoked_keys():
    assert "expired" in (await refused(gate(expires="1970-01-01"), now=86_400.0)).message
    assert "revoked" in (await refused(gate(revoked=[HASH]))).message


async def test_a_model_that_the_key_may_not_use():
    error = await refused(gate(models=("fast",)), model="slow")
    assert (error.status, error.kind) == (403, "permission")
    assert error.message.endswith("for the model 'slow'. It may be used for: fast.")
    assert (await gate(models=("fast",)).admit(KEY, None, 0.0)).key == "team"


async def test_a_key_revoked_while_it_runs():
    one = gate()
    running = await one.admit(KEY, "m", 0.0)
    assert one.revoke("team") == HASH
    assert (await refused(one)).status == 401
    running.release(5, 1.0)
    assert (await one.admit(OTHER, "m", 0.0)).key == "other"
    assert one.revoke("nobody") is None


async def test_requests_per_minute():
    one = gate(requests_per_minute=2)
    (await one.admit(KEY, "m", 10.0)).release(0, 10.0)
    (await one.admit(KEY, "m", 40.0)).release(0, 40.0)
    error = await refused(one, now=41.5)
    assert (error.status, error.kind) == (429, "rate_limited")
    assert error.retry_after == 29.5
    await one.admit(KEY, "m", 71.0)
    assert (await one.admit(OTHER, "m", 41.5)).key == "other"


async def test_what_is_refused_costs_nothing():
    one = gate(requests_per_minute=1, models=("m",))
    for _ in range(5):
        await refused(one, model="x")
    await one.admit(KEY, "m", 0.0)
    for at in range(60):
        await refused(one, now=float(at))
    await one.admit(KEY, "m", 61.0)


async def test_tokens_are_booked_when_they_are_known():
    one = gate(tokens_per_minute=100)
    first, second = await one.admit(KEY, "m", 0.0), await one.admit(KEY, "m", 0.0)
    first.release(150, 5.0)
    assert (await refused(one, now=6.0)).retry_after == 60.0
    second.release(50, 30.0)
    assert (await refused(one, now=60.0)).retry_after == 6.0
    await one.admit(KEY, "m", 66.0)


async def test_so_many_at_once():
    one = gate(concurrent=2)
    first = await one.admit(KEY, "m", 0.0)
    await one.admit(KEY, "m", 0.0)
    assert (await refused(one)).retry_after == 1.0
    first.release(0, 0.0)
    first.release(0, 0.0)
    await one.admit(KEY, "m", 0.0)
    assert (await refused(one)).status == 429


async def test_workers_share_a_limit():
    (part, _) = await gate(share=4, requests_per_minute=100, concurrent=3).spending(0.0)
    assert (part.concurrent, part.requests_per_minute, part.tokens_per_minute) == (1, 25, 0)


async def test_a_reload_gives_nobody_a_fresh_minute():
    old = gate(requests_per_minute=2, tokens_per_minute=100, concurrent=1)
    running = await old.admit(KEY, "m", 0.0)
    new = gate(requests_per_minute=2, tokens_per_minute=100, concurrent=1).after(old)
    assert "open" in (await refused(new)).message
    running.release(100, 1.0)
    assert "tokens" in (await refused(new, now=2.0)).message
    await new.admit(KEY, "m", 62.0)


async def test_a_reload_with_other_limits_holds_them_against_what_is_spent():
    old = gate(requests_per_minute=5)
    for _ in range(3):
        await old.admit(KEY, "m", 0.0)
    assert (await refused(gate(requests_per_minute=3).after(old))).retry_after == 61.0
    await gate(requests_per_minute=4).after(old).admit(KEY, "m", 0.0)


async def test_a_reload_does_not_forget_what_was_revoked():
    old = gate()
    old.revoke("team")
    assert (await refused(gate().after(old))).status == 401
    assert [state for _, state in gate().after(old).keys(0.0)] == ["revoked", "active"]


async def test_a_key_that_is_new_after_a_reload_begins_at_nothing():
    old = Gate({"other": KeySettings(hash=OTHER_HASH)}, open_to_all=False)
    assert (await gate(requests_per_minute=1).after(old).admit(KEY, "m", 0.0)).key == "team"


async def test_a_key_that_is_gone_for_a_while_has_no_fresh_minute_either():
    old = gate(requests_per_minute=1)
    await old.admit(KEY, "m", 0.0)
    without = Gate({"other": KeySettings(hash=OTHER_HASH)}, open_to_all=False).after(old)
    assert (await refused(gate(requests_per_minute=1).after(without), now=5.0)).status == 429


async def test_what_is_spent_can_be_read():
    one = gate(requests_per_minute=9, tokens_per_minute=50, concurrent=3)
    (await one.admit(KEY, "m", 0.0)).release(7, 1.0)
    await one.admit(KEY, "m", 30.0)
    (mine, _) = await one.spending(30.0)
    assert (mine.key, mine.running, mine.requests, mine.tokens) == ("team", 1, 2, 7)
    (later, _) = await one.spending(1000.0)
    assert (later.running, later.requests, later.tokens) == (1, 0, 0)
