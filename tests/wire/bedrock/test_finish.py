"""Stop reasons and token figures of Converse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.reply import Usage
from canonicall.wire.bedrock.finish import decode_finish, decode_usage, encode_finish, encode_usage


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("stop_sequence", "stop_sequence"),
        ("content_filtered", "filter"),
        ("malformed_tool_use", "malformed_call"),
        ("model_context_window_exceeded", "context_overflow"),
    ],
)
def test_words_go_both_ways(raw, finish):
    assert decode_finish(raw, has_calls=False) == finish
    assert encode_finish(finish) == raw


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ("guardrail_intervened", "filter"),
        ("malformed_model_output", "malformed_call"),
        ("refusal", "refusal"),
        ("new_word", ""),
    ],
)
def test_words_that_only_come_in(raw, finish):
    assert decode_finish(raw, has_calls=False) == finish


@pytest.mark.parametrize(
    ("finish", "raw"),
    [
        ("refusal", "content_filtered"),
        ("error", "malformed_model_output"),
        ("paused", "end_turn"),
        ("", "end_turn"),
    ],
)
def test_words_that_only_go_out(finish, raw):
    assert encode_finish(finish) == raw


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ("end_turn", "tool_calls"),
        ("stop_sequence", "tool_calls"),
        ("new_word", "tool_calls"),
        ("max_tokens", "length"),
        ("guardrail_intervened", "filter"),
        ("malformed_tool_use", "malformed_call"),
        ("model_context_window_exceeded", "context_overflow"),
    ],
)
def test_calls_overrule_the_word_unless_something_went_wrong(raw, finish):
    assert decode_finish(raw, has_calls=True) == finish


def test_calls_are_believed_where_there_are_some():
    assert decode_finish("tool_use", has_calls=True) == "tool_calls"
    assert decode_finish("tool_use", has_calls=False) == "stop"
    assert encode_finish("tool_calls") == "tool_use"


def test_what_the_cache_held_was_read_too():
    figures = {
        "inputTokens": 2,
        "outputTokens": 5,
        "cacheReadInputTokens": 100,
        "cacheWriteInputTokens": 10,
    }
    usage = decode_usage(figures)
    assert usage == Usage(112, 5, 100, 10, native=figures)
    assert encode_usage(usage) == figures


counts = st.integers(0, 1000)


@given(counts, counts, counts, counts)
def test_figures_survive_without_the_providers_own(new, read, written, output):
    usage = Usage(new + read + written, output, read, written)
    again = decode_usage(encode_usage(usage))
    assert (again.input_tokens, again.output_tokens) == (new + read + written, output)
    assert (again.cache_read_tokens, again.cache_write_tokens) == (read, written)


def test_figures_that_are_no_numbers_count_nothing():
    assert decode_usage({"inputTokens": "many", "outputTokens": None}).input_tokens == 0
