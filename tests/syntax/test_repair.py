"""JSON that models get wrong."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.syntax.repair import repaired_object, repaired_value
from canonicall.testing.strategies import json_objects, json_values


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        ("{'a': 'b'}", {"a": "b"}),
        ("{'a': 'say \"hi\"'}", {"a": 'say "hi"'}),
        ("{'a': 'it\\'s'}", {"a": "it's"}),
        ('{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ('{"a": {"b": [1', {"a": {"b": [1]}}),
        ('{"a": "open', {"a": "open"}),
        ('{"a": "two\nlines\tand\x01"}', {"a": "two\nlines\tand\x01"}),
        ('{"a": "line\\\nline"}', {"a": "line\nline"}),
        ('{a: 1, b_c: "d"}', {"a": 1, "b_c": "d"}),
        ('{"a": "use "strict"; now"}', {"a": 'use "strict"; now'}),
        ("{'a': 'it's'}", {"a": "it's"}),
        ('{"a": "costs \\$5"}', {"a": "costs $5"}),
        ('{"a": "\\d+ in C:\\Users"}', {"a": "\\d+ in C:\\Users"}),
        ('{"a": "\\u00e9\\n"}', {"a": "é\n"}),
    ],
)
def test_known_faults_are_mended(raw, meant):
    assert repaired_object(raw) == meant


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "no json",
        "[1]",
        '{"a": 4.2.3}',
        '{"a": "b" "c": 1}',
        '{"a": "b"[{}}}',
        '{"a": b//c}',
        "{" * 5000,
    ],
)
def test_what_cannot_be_told_stays_unreadable(raw):
    assert repaired_object(raw) is None


@pytest.mark.parametrize(
    ("raw", "whole"),
    [
        ('{"a": 1, "b": ', {"a": 1}),
        ('{"a": 1, "b', {"a": 1}),
        ('{"a": 1, ', {"a": 1}),
        ('{"a": "hal', {"a": "hal"}),
        ('{"a": [1, {"b": 2', {"a": [1, {"b": 2}]}),
        ("{", {}),
    ],
)
def test_of_cut_text_counts_what_is_whole(raw, whole):
    assert repaired_object(raw, cut=True) == whole


@given(json_values())
def test_good_json_is_what_it_was(value):
    assert repaired_value(msgspec.json.encode(value).decode()) == value


@given(json_objects().map(repr))
def test_what_python_writes_is_read_unless_its_escapes_are_not_json(text):
    value = repaired_object(text)
    if not any(escape in text for escape in ("\\x", "\\U")):
        assert value == eval(text)  # noqa: S307


@given(st.text("{}[]\"'\\,: \nabTrue1", max_size=40), st.booleans())
def test_garbage_never_raises(raw, cut):
    repaired_value(raw, cut=cut)


@pytest.mark.parametrize(
    "raw", ["{'a': 1", "{'a': 'b", "{'a': 'b}", "{'a': 1}{'b': 2}", "{'a': 1} x"]
)
def test_what_has_to_be_closed_is_not_closed_for_it(raw):
    """Nor is anything left out behind it."""
    assert repaired_object(raw) is not None
    assert repaired_object(raw, closed=True) is None


@pytest.mark.parametrize("raw", ["{'a': 1}", "{'a': 1}}", "{a: 1,} ", "{'a': 1}\n```"])
def test_what_is_closed_is_read_all_the_same(raw):
    assert repaired_object(raw, closed=True) == {"a": 1}
