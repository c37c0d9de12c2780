"""Finish reasons and usage, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import reply as words
from canonicall.reply import Usage
from canonicall.wire.openai_chat.finish import (
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
)


@pytest.mark.parametrize(
    ("raw", "alone", "with_calls"),
    [
        ("stop", "stop", "tool_calls"),
        ("tool_calls", "stop", "tool_calls"),
        ("function_call", "stop", "tool_calls"),
        ("length", "length", "length"),
        ("model_length", "length", "length"),
        ("MAX_TOKENS", "length", "length"),
        ("content_filter", "filter", "filter"),
        ("sensitive", "filter", "filter"),
        ("refusal", "refusal", "refusal"),
        ("error", "error", "error"),
        ("insufficient_system_resource", "error", "error"),
        ("network_error", "error", "error"),
        ("model_context_window_exceeded", "context_overflow", "context_overflow"),
        ("malformed_function_call", "malformed_call", "malformed_call"),
        ("stop_sequence", "stop_sequence", "tool_calls"),
        ("eos", "stop", "tool_calls"),
        ("bored", "", "tool_calls"),
        ("", "", "tool_calls"),
        (None, "", "tool_calls"),
    ],
)
def test_a_finish_is_read(raw, alone, with_calls):
    assert decode_finish(raw, has_calls=False) == alone
    assert decode_finish(raw, has_calls=True) == with_calls


@pytest.mark.parametrize(
    ("raw", "native", "finish"),
    [
        ("tool_calls", "length", "length"),
        ("tool_calls", "max_output_tokens", "length"),
        ("stop", "MALFORMED_FUNCTION_CALL", "malformed_call"),
        ("tool_calls", "STOP", "tool_calls"),
        ("content_filter", "length", "filter"),
        (None, None, "tool_calls"),
    ],
)
def test_the_reason_of_the_models_own_provider_counts(raw, native, finish):
    assert decode_finish(raw, has_calls=True, native=native) == finish


@pytest.mark.parametrize("finish", ["stop", "length", "filter", "error", "tool_calls", ""])
def test_a_finish_of_this_format_comes_back(finish):
    assert decode_finish(encode_finish(finish), has_calls=finish == "tool_calls") == finish


def test_every_canonical_word_can_be_written():
    known = [value for name, value in vars(words).items() if name.isupper()]
    assert len(known) > 8
    assert all(encode_finish(word) for word in known)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 4}}, {"cache_read_tokens": 4}),
        ({"prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6}, {"cache_read_tokens": 4}),
        ({"cached_tokens": 4}, {"cache_read_tokens": 4}),
        ({"num_cached_tokens": 4}, {"cache_read_tokens": 4}),
        ({"cache_read_input_tokens": 4}, {"cache_read_tokens": 4}),
        ({"prompt_tokens_details": {"cache_write_tokens": 4}}, {"cache_write_tokens": 4}),
        ({"cache_creation_input_tokens": 4}, {"cache_write_tokens": 4}),
        ({"completion_tokens_details": {"reasoning_tokens": 2}}, {"reasoning_tokens": 2}),
        ({"reasoning_tokens": 2}, {"reasoning_tokens": 2}),
        ({"prompt_tokens_details": None, "completion_tokens_details": None}, {}),
    ],
)
def test_every_name_of_a_figure(fields, expected):
    raw = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, **fields}
    assert decode_usage(raw) == Usage(
        **{"input_tokens": 10, "output_tokens": 5, **expected}, native=raw
    )


def test_reasoning_that_is_counted_beside_the_completion_is_added_to_it():
    """xAI does; the total shows it."""
    raw = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 18,
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    assert decode_usage(raw).output_tokens == 8


@pytest.mark.parametrize("nothing", [None, {}])
def test_no_usage_is_none(nothing):
    assert decode_usage(nothing) is None


COUNTS = st.integers(0, 9)


@given(st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS))
def test_a_usage_comes_back(usage):
    raw = encode_usage(usage)
    back = decode_usage(raw)
    assert Usage(*(getattr(back, name) for name in Usage.__struct_fields__[:5])) == usage
    assert encode_usage(back) is raw


def test_the_figures_of_another_format_are_not_sent():
    usage = Usage(2, 3, native={"input_tokens": 2, "output_tokens": 3})
    assert encode_usage(usage)["prompt_tokens"] == 2
