"""Done reasons and token figures of Ollama."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.reply import Usage
from canonicall.wire.ollama.finish import decode_finish, decode_usage, encode_finish, encode_usage


@pytest.mark.parametrize(("raw", "finish"), [("stop", "stop"), ("length", "length")])
def test_words_go_both_ways(raw, finish):
    assert decode_finish(raw, has_calls=False) == finish
    assert encode_finish(finish) == raw


@pytest.mark.parametrize(
    ("finish", "raw"),
    [("tool_calls", "stop"), ("context_overflow", "length"), ("filter", "stop"), ("", "stop")],
)
def test_words_that_only_go_out(finish, raw):
    assert encode_finish(finish) == raw


@pytest.mark.parametrize(
    ("raw", "finish"), [("stop", "tool_calls"), ("", "tool_calls"), ("length", "length")]
)
def test_calls_overrule_the_word_unless_something_went_wrong(raw, finish):
    assert decode_finish(raw, has_calls=True) == finish


@pytest.mark.parametrize(
    ("body", "usage"),
    [
        ({"eval_count": 2}, Usage(0, 2, native={"eval_count": 2})),
        ({"prompt_eval_count": None, "eval_count": "x"}, Usage(native={"eval_count": "x"})),
        ({"prompt_eval_count": None}, None),
        ({}, None),
    ],
)
def test_figures_that_are_missing_count_nothing(body, usage):
    assert decode_usage(body) == usage


def test_the_providers_own_figures_are_written_where_they_say_the_same():
    usage = Usage(0, 2, native={"eval_count": 2})
    assert encode_usage(usage) == {"eval_count": 2}


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_figures_survive_without_the_providers_own(read, output):
    again = decode_usage(encode_usage(Usage(read, output, native={"prompt_tokens": read})))
    assert (again.input_tokens, again.output_tokens) == (read, output)
