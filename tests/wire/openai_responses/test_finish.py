"""How a response ended and what it cost."""

import pytest

from canonicall.reply import Usage
from canonicall.wire.openai_responses.finish import (
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
    finish_word,
    status_fields,
)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"status": "completed"}, "completed"),
        ({}, "completed"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "content_filter",
        ),
        ({"status": "incomplete", "incomplete_details": None}, "incomplete"),
        ({"status": "failed", "error": {"code": "server_error"}}, "failed"),
        (
            {"status": "failed", "error": {"code": "context_length_exceeded"}},
            "context_length_exceeded",
        ),
        ({"error": {"message": "no"}}, "failed"),
        ({"status": "completed", "error": {"code": "server_error"}}, "failed"),
        ({"status": "in_progress"}, "in_progress"),
    ],
)
def test_the_word_of_a_response(body, word):
    assert finish_word(body) == word


@pytest.mark.parametrize(
    ("word", "plain", "with_calls"),
    [
        ("completed", "stop", "tool_calls"),
        ("max_output_tokens", "length", "length"),
        ("content_filter", "filter", "filter"),
        ("failed", "error", "error"),
        ("context_length_exceeded", "context_overflow", "context_overflow"),
        ("steered", "", "tool_calls"),
        ("in_progress", "", ""),
        ("queued", "", ""),
        ("cancelled", "", ""),
        ("incomplete", "", ""),
    ],
)
def test_words_become_canonical(word, plain, with_calls):
    assert decode_finish(word, has_calls=False) == plain
    assert decode_finish(word, has_calls=True) == with_calls


@pytest.mark.parametrize(
    ("finish", "word"),
    [
        ("stop", "completed"),
        ("tool_calls", "completed"),
        ("stop_sequence", "completed"),
        ("refusal", "completed"),
        ("paused", "completed"),
        ("", "completed"),
        ("length", "max_output_tokens"),
        ("context_overflow", "max_output_tokens"),
        ("filter", "content_filter"),
        ("error", "failed"),
        ("malformed_call", "failed"),
    ],
)
def test_canonical_words_become_the_wires(finish, word):
    assert encode_finish(finish) == word


@pytest.mark.parametrize("word", ["completed", "max_output_tokens", "content_filter", "failed"])
def test_the_fields_of_a_status_say_its_word(word):
    assert finish_word(status_fields(word)) == word


def test_usage_in_both_directions():
    wire = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 14,
    }
    usage = decode_usage(wire)
    assert usage == Usage(9, 5, 4, 2, 3, wire)
    assert encode_usage(usage) == wire
    assert encode_usage(Usage(9, 5, 4, 2, 3)) == wire


def test_figures_of_another_provider_are_not_copied():
    usage = Usage(9, 5, native={"input_tokens": 9, "output_tokens": 5})
    assert encode_usage(usage)["total_tokens"] == 14


def test_a_providers_own_figures_come_back():
    wire = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "cost": 0.1}
    assert encode_usage(decode_usage(wire)) == wire


def test_no_usage_stays_none():
    assert decode_usage(None) is None
    assert encode_usage(None) is None
