"""Finish reasons and token counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall.reply import Usage
from canonicall.wire.gemini.finish import decode_finish, decode_usage, encode_finish, encode_usage


@each(
    ("raw", "word", "with_calls"),
    [
        ("STOP", "stop", "tool_calls"),
        ("MAX_TOKENS", "length", "length"),
        ("SAFETY", "filter", "filter"),
        ("RECITATION", "filter", "filter"),
        ("SPII", "filter", "filter"),
        ("IMAGE_SAFETY", "filter", "filter"),
        ("MALFORMED_FUNCTION_CALL", "malformed_call", "malformed_call"),
        ("UNEXPECTED_TOOL_CALL", "malformed_call", "malformed_call"),
        ("TOO_MANY_TOOL_CALLS", "malformed_call", "malformed_call"),
        ("OTHER", "error", "error"),
        ("CONTINUATION", "paused", "paused"),
        ("FINISH_REASON_UNSPECIFIED", "", "tool_calls"),
        ("SOMETHING_NEW", "", "tool_calls"),
        (None, "", "tool_calls"),
        (1, "stop", "tool_calls"),
        (2, "length", "length"),
        (3, "filter", "filter"),
        (0, "", "tool_calls"),
        (9, "", "tool_calls"),
        (True, "", "tool_calls"),
    ],
)
def test_reasons_are_read(raw, word, with_calls):
    assert decode_finish(raw, has_calls=False) == word
    assert decode_finish(raw, has_calls=True) == with_calls


@pytest.mark.parametrize("word", ["stop", "length", "filter", "malformed_call", "error", "paused"])
def test_words_of_this_format_come_back(word):
    assert decode_finish(encode_finish(word), has_calls=False) == word


@pytest.mark.parametrize(
    ("word", "raw"),
    [
        ("tool_calls", "STOP"),
        ("stop_sequence", "STOP"),
        ("context_overflow", "MAX_TOKENS"),
        ("refusal", "SAFETY"),
        ("", None),
    ],
)
def test_words_of_other_formats_are_written(word, raw):
    assert encode_finish(word) == raw


def test_thoughts_count_as_output_and_tool_prompts_as_input():
    raw = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "toolUsePromptTokenCount": 7,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 5,
        "totalTokenCount": 132,
        "serviceTier": "standard",
    }
    usage = decode_usage(raw)
    assert usage == Usage(
        input_tokens=107,
        output_tokens=25,
        cache_read_tokens=40,
        reasoning_tokens=5,
        native=raw,
    )
    assert usage.input_tokens + usage.output_tokens == raw["totalTokenCount"]
    assert encode_usage(usage) == raw


def test_counts_that_are_no_numbers_count_nothing():
    assert decode_usage({"promptTokenCount": "x", "thoughtsTokenCount": True}).input_tokens == 0


@given(*[st.integers(0, 10**6)] * 4)
def test_counts_of_other_formats_come_back(read, cached, thought, said):
    usage = Usage(read, thought + said, cached, 0, thought, native={"prompt_tokens": read})
    raw = encode_usage(usage)
    again = decode_usage(raw)
    assert raw["totalTokenCount"] == read + thought + said
    assert (again.input_tokens, again.output_tokens) == (read, thought + said)
    assert (again.cache_read_tokens, again.reasoning_tokens) == (cached, thought)
