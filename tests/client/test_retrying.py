"""What is tried again, and after how long: no clock, no chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.client.retrying import RetryPolicy, is_passing, is_passing_error, retry_after

NOW = 1445412480.0  # Wed, 21 Oct 2015 07:28:00 GMT


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 529])
def test_what_may_pass_is_tried_again(status):
    assert is_passing(status, {})


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422, 501])
def test_what_stays_is_not(status):
    assert not is_passing(status, {})


def test_a_quota_that_is_used_up_is_no_rate_limit():
    assert not is_passing(429, {}, "insufficient_quota You exceeded your current quota")


def test_the_provider_has_the_last_word():
    assert is_passing(400, {"x-should-retry": "true"})
    assert not is_passing(503, {"x-should-retry": "false"})


@pytest.mark.parametrize(
    "kind",
    [
        "overloaded_error",
        "rate_limit_error",
        "server_error",
        "api_error",
        "UNAVAILABLE",
        "RESOURCE_EXHAUSTED",
        "INTERNAL",
        "throttlingException",
        "internalServerException",
        "serviceUnavailableException",
        "modelStreamErrorException",
    ],
)
def test_errors_in_streams_that_may_pass(kind):
    assert is_passing_error(kind)


@pytest.mark.parametrize(
    "kind", ["invalid_request_error", "validationException", "", "tool_use_failed"]
)
def test_errors_in_streams_that_stay(kind):
    assert not is_passing_error(kind)


def test_the_code_of_an_error_in_a_stream_counts_before_its_words():
    assert is_passing_error("error", 502)
    assert not is_passing_error("server_error", 400)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 99 Oct 99999999 07:28:30 GMT"}, None),
        ({}, None),
    ],
)
def test_how_long_a_provider_says_to_wait(headers, seconds):
    assert retry_after(headers, NOW) == seconds


@given(st.text(max_size=40))
def test_any_header_is_read_without_an_error(text):
    told = retry_after({"retry-after": text, "retry-after-ms": text}, NOW)
    assert told is None or told >= 0


def test_delays_double_up_to_the_longest_and_then_end():
    policy = RetryPolicy(attempts=6, first_delay=1, longest_delay=5)
    assert [policy.delay(n, lambda: 1.0) for n in range(1, 7)] == [1, 2, 4, 5, 5, None]


@given(st.floats(0, 1, exclude_max=True), st.integers(1, 100))
def test_chance_moves_a_delay_by_half_of_it_at_most(luck, attempt):
    policy = RetryPolicy(attempts=1000)
    full = policy.delay(attempt, lambda: 1.0)
    assert full / 2 <= policy.delay(attempt, lambda: luck) <= full


@given(st.floats(0, 60), st.floats(0, 1, exclude_max=True))
def test_what_the_provider_told_is_never_cut_short(told, luck):
    assert RetryPolicy().delay(1, lambda: luck, told=told) >= told


def test_a_provider_that_wants_too_much_patience_counts_as_failed():
    assert RetryPolicy(longest_wait=60).delay(1, lambda: 0.0, told=61) is None
