"""Canonical ids against answers computed without this code, and seed edge cases of the prefixes.

The known answers were computed in a shell:
    printf '%s' 'kimi|functions.read_file:0|read_file|turn_1|0' | sha256sum
and the hex digest turned into base64url, first 24 characters.
"""

import re

import pytest

from canonicall import (
    canonical_tool_id,
    is_canonical_tool_id,
    normalize_to_anthropic_tool_id,
    normalize_to_history_tool_id,
    normalize_to_openai_tool_id,
)

KNOWN_ANSWERS = [
    ("kimi", "functions.read_file:0", "read_file", "turn_1", 0, "4O-o6Ny_IMk371rhamS2NVX3"),
    ("openai", "call_abc123", "get_weather", "turn_7", 2, "usiRWgexoxO5aKbvMLyE9Aob"),
    ("gemini", "", "search", "turn_2", 1, "w4p2mZ2eLdBInASdgy82rdC8"),
    ("gemini", "", "", "turn_2", 1, "ZfQWU0peGD3K9KTBsGL5LyJy"),
    ("xai", "call_0", "", "turn_3", 0, "DXVUsGguOvjmJJcNBSG3ya4f"),
    # Hashed as  mistral|a\|b|c\\d|turn_1|0  : separators inside fields are escaped.
    ("mistral", "a|b", "c\\d", "turn_1", 0, "HiKGdngoE9x3zwO_vynti64f"),
    ("zai", "call_-8062", "суть", "ход", 3, "uf7henS1GOtGGzXXwlDcFn0m"),
    ("", "", "", "", 0, "iSYmLwZQig4mS8E9NA_Y-rkp"),
]


def canonical(provider="kimi", raw="functions.f:0", name="f", turn="t", index=0):
    return canonical_tool_id(
        provider_name=provider, raw_id=raw, tool_name=name, turn_key=turn, call_index=index
    )


@pytest.mark.parametrize(("provider", "raw", "name", "turn", "index", "suffix"), KNOWN_ANSWERS)
def test_known_answers(provider, raw, name, turn, index, suffix):
    assert canonical(provider, raw, name, turn, index) == f"hist_tool_{suffix}"


def test_a_missing_raw_id_or_name_counts_as_empty():
    assert canonical(raw=None) == canonical(raw="")
    assert canonical(name=None) == canonical(name="")
    assert canonical(raw=None, name=None) == canonical(raw="", name="")


def test_every_field_takes_part():
    """A provider that reuses a raw id still gets a new id for every call."""
    ids = {
        canonical(),
        canonical(provider="xai"),
        canonical(raw="functions.f:1"),
        canonical(name="g"),
        canonical(turn="u"),
        canonical(index=1),
    }
    assert len(ids) == 6


def test_canonical_ids_pass_unchanged():
    once = canonical()
    assert canonical(raw=once, provider="other", turn="other") == once


def test_the_alphabet_suits_the_strictest_provider():
    """Anthropic accepts ^[a-zA-Z0-9_-]+$; OpenAI Chat has refused more than 40 characters."""
    for field in ("functions.read_file:0", "日本", "a|b", ""):
        id = canonical(raw=field)
        assert re.fullmatch(r"hist_tool_[A-Za-z0-9_-]{24}", id)
        assert len(normalize_to_openai_tool_id(id)) <= 40
        assert is_canonical_tool_id(id)


@pytest.mark.parametrize(
    ("given", "openai", "history", "anthropic"),
    [
        ("hist_tool_abc123", "call_abc123", "hist_tool_abc123", "toolu_abc123"),
        ("call_abc123", "call_abc123", "hist_tool_abc123", "toolu_abc123"),
        ("toolu_abc123", "call_abc123", "hist_tool_abc123", "toolu_abc123"),
        ("abc123", "call_abc123", "hist_tool_abc123", "toolu_abc123"),
        ("", "call_", "hist_tool_", "toolu_"),
        ("hist_tool_", "call_", "hist_tool_", "toolu_"),
        ("call_", "call_", "hist_tool_", "toolu_"),
        ("toolu_", "call_", "hist_tool_", "toolu_"),
        ("hist_tool_abc_123_def", "call_abc_123_def", "hist_tool_abc_123_def", "toolu_abc_123_def"),
        ("call_abc_123_def", "call_abc_123_def", "hist_tool_abc_123_def", "toolu_abc_123_def"),
        ("call_call_x", "call_call_x", "hist_tool_call_x", "toolu_call_x"),
        ("Call_x", "call_Call_x", "hist_tool_Call_x", "toolu_Call_x"),
        (" call_x", "call_ call_x", "hist_tool_ call_x", "toolu_ call_x"),
    ],
)
def test_prefix_transformers(given, openai, history, anthropic):
    """Only the prefix changes: no trimming, no validation, no error on unknown forms."""
    assert normalize_to_openai_tool_id(given) == openai
    assert normalize_to_history_tool_id(given) == history
    assert normalize_to_anthropic_tool_id(given) == anthropic
