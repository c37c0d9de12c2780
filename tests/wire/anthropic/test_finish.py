"""Stop reasons and token counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.reply import Usage
from canonicall.wire.anthropic.finish import (
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
)

PAIRS = [
    ("end_turn", "stop"),
    ("max_tokens", "length"),
    ("model_context_window_exceeded", "context_overflow"),
    ("stop_sequence", "stop_sequence"),
    ("refusal", "refusal"),
    ("pause_turn", "paused"),
]


@pytest.mark.parametrize(("wire", "finish"), PAIRS)
def test_stop_reasons_both_ways(wire, finish):
    assert decode_finish(wire, has_calls=False) == finish
    assert encode_finish(finish) == wire


def test_calls_are_believed_where_there_are_some():
    assert decode_finish("tool_use", has_calls=True) == "tool_calls"
    assert decode_finish("tool_use", has_calls=False) == "stop"
    assert encode_finish("tool_calls") == "tool_use"


@pytest.mark.parametrize("wire", ["end_turn", "stop_sequence", "tool_use", None, "of_tomorrow"])
def test_calls_count_more_than_the_word_for_a_plain_end(wire):
    assert decode_finish(wire, has_calls=True) == "tool_calls"


@pytest.mark.parametrize(
    "wire", ["max_tokens", "model_context_window_exceeded", "refusal", "pause_turn"]
)
def test_a_reply_that_was_cut_or_stopped_stays_so_with_calls(wire):
    assert decode_finish(wire, has_calls=True) == decode_finish(wire, has_calls=False)


@pytest.mark.parametrize("wire", [None, "", "of_tomorrow"])
def test_unknown_words_have_no_meaning(wire):
    assert decode_finish(wire, has_calls=False) == ""


@pytest.mark.parametrize(
    ("finish", "wire"),
    [
        ("filter", "refusal"),
        ("error", "end_turn"),
        ("malformed_call", "end_turn"),
        ("", "end_turn"),
    ],
)
def test_words_of_other_formats_have_a_nearest_one(finish, wire):
    assert encode_finish(finish) == wire


def test_input_is_everything_that_was_read():
    wire = {
        "input_tokens": 10,
        "cache_read_input_tokens": 200,
        "cache_creation_input_tokens": 30,
        "output_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 3},
    }
    assert decode_usage(wire) == Usage(240, 5, 200, 30, 3, native=wire)


@pytest.mark.parametrize(
    "wire",
    [{}, {"input_tokens": None, "output_tokens": None, "output_tokens_details": None}],
)
def test_missing_figures_are_zero(wire):
    """A null says as little as a missing figure."""
    assert decode_usage(wire) == Usage(native={})


def test_own_figures_come_back_whole_unless_they_changed():
    wire = {"input_tokens": 1, "output_tokens": 2, "service_tier": "standard"}
    usage = decode_usage(wire)
    written = encode_usage(usage, usage.native)
    assert {name: figure for name, figure in written.items() if figure is not None} == wire
    assert decode_usage(written) == usage
    changed = Usage(input_tokens=7, native=wire)
    assert encode_usage(changed, wire)["input_tokens"] == 7


counts = st.integers(0, 10**9)


@given(counts, counts, counts, counts, counts)
def test_counts_survive(fresh, output, read, written, thought):
    usage = Usage(fresh + read + written, output, read, written, thought)
    back = decode_usage(encode_usage(usage))
    assert (back.input_tokens, back.output_tokens) == (usage.input_tokens, output)
    assert (back.cache_read_tokens, back.cache_write_tokens) == (read, written)
    assert back.reasoning_tokens == thought
