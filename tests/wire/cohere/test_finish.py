"""Finish reasons and token figures of Cohere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.reply import Usage
from canonicall.wire.cohere.finish import decode_finish, decode_usage, encode_finish, encode_usage


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ("COMPLETE", "stop"),
        ("STOP_SEQUENCE", "stop_sequence"),
        ("MAX_TOKENS", "length"),
        ("ERROR", "error"),
    ],
)
def test_words_go_both_ways(raw, finish):
    assert decode_finish(raw, has_calls=False) == finish
    assert encode_finish(finish) == raw


@pytest.mark.parametrize(
    ("finish", "raw"),
    [
        ("filter", "ERROR"),
        ("context_overflow", "MAX_TOKENS"),
        ("refusal", "ERROR"),
        ("", "COMPLETE"),
    ],
)
def test_words_that_only_go_out(finish, raw):
    assert encode_finish(finish) == raw


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ("COMPLETE", "tool_calls"),
        ("STOP_SEQUENCE", "tool_calls"),
        ("NEW", "tool_calls"),
        ("MAX_TOKENS", "length"),
        ("TIMEOUT", "error"),
    ],
)
def test_calls_overrule_the_word_unless_something_went_wrong(raw, finish):
    assert decode_finish(raw, has_calls=True) == finish


def test_calls_are_believed_where_there_are_some():
    assert decode_finish("TOOL_CALL", has_calls=True) == "tool_calls"
    assert decode_finish("TOOL_CALL", has_calls=False) == "stop"
    assert encode_finish("tool_calls") == "TOOL_CALL"


def test_what_the_model_read_counts_not_what_was_billed():
    figures = {
        "billed_units": {"input_tokens": 8, "output_tokens": 50},
        "tokens": {"input_tokens": 1394, "output_tokens": 55, "reasoning_tokens": 38},
        "cached_tokens": 1360,
    }
    usage = decode_usage(figures)
    assert usage == Usage(1394, 55, 1360, reasoning_tokens=38, native=figures)
    assert encode_usage(usage) == figures


@pytest.mark.parametrize(
    ("figures", "read"),
    [
        ({"billed_units": {"input_tokens": 8}}, 8),
        ({"tokens": {"input_tokens": 8.0}}, 8),
        ({"tokens": [], "billed_units": None}, 0),
        ({}, 0),
    ],
)
def test_figures_that_are_missing_count_nothing(figures, read):
    assert decode_usage(figures).input_tokens == read


counts = st.integers(0, 1000)


@given(counts, counts, counts, counts)
def test_figures_survive_without_the_providers_own(read, output, cached, reasoning):
    usage = Usage(read, output, cached, reasoning_tokens=reasoning)
    again = decode_usage(encode_usage(usage))
    assert (again.input_tokens, again.output_tokens) == (read, output)
    assert (again.cache_read_tokens, again.reasoning_tokens) == (cached, reasoning)
