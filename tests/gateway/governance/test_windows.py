"""A minute slides, in slots of a second. Time is a number here."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from canonicall.gateway.governance.windows import Window

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
