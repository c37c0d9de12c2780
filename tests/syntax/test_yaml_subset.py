"""The part of YAML that models write as arguments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.syntax.yaml_subset import Bare, yaml_map


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: x y\nb: 2", {"a": "x y", "b": "2"}),
        ("\n  a: 1  # why\n  # a comment\n  b: 'it''s'\n", {"a": "1", "b": "it's"}),
        ('a: "x\\n\\"y\\""', {"a": 'x\n"y"'}),
        ("'a key': 1\n\"b\": 2", {"a key": "1", "b": "2"}),
        ("a:\n  b: 1\n  c:\n    d: 2\ne: 3", {"a": {"b": "1", "c": {"d": "2"}}, "e": "3"}),
        ("a:\n- 1\n- x\nb: 2", {"a": ["1", "x"], "b": "2"}),
        ("a:\n  - b: 1\n    c: 2\n  - b: 3", {"a": [{"b": "1", "c": "2"}, {"b": "3"}]}),
        ("a:\n  - - 1\n    - 2\n  -\n    b: 3\n  -", {"a": [["1", "2"], {"b": "3"}, None]}),
        ("a: |\n  x\n    y\n\n  z\nb: 1", {"a": "x\n  y\n\nz\n", "b": "1"}),
        ("a: |-\n  x\n  # no comment", {"a": "x\n# no comment"}),
        ("a: >\n  x\n  y\n\n  z\n", {"a": "x y\nz\n"}),
        (
            "a: [1, two, 'three']\nb: {\"c\": true}\nc: []",
            {"a": ["1", "two", "three"], "b": {"c": True}, "c": []},
        ),
        ("a: https://example.com:80/x", {"a": "https://example.com:80/x"}),
        ("a: one\n  two\nb:", {"a": "one two", "b": None}),
        ("a: |", {"a": ""}),
    ],
)
def test_maps(text, expected):
    assert yaml_map(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "words",
        "- a\n- b",
        "[invalid: yaml:",
        "a: [",
        "a: {b",
        "a: &anchor x",
        "a: *alias",
        "a: !tag x",
        "a: 1\n   b: 2\n  c: 3\nd",
        "a: 'open",
        "a: 1\nno key",
    ],
)
def test_what_is_no_map_or_needs_more_is_not_read(text):
    assert yaml_map(text) is None


def test_bare_scalars_are_told_from_texts_in_quotes():
    found = yaml_map("a: 01\nb: '01'")
    assert found is not None
    assert isinstance(found["a"], Bare)
    assert not isinstance(found["b"], Bare)


def test_endless_nesting_is_not_read():
    assert yaml_map("a: 1\n" + "b:\n  - " + "- " * 5000 + "x") is None


@given(st.text(alphabet="ab:-|>#'\"[]{} \n\t\\,~", max_size=60))
def test_nothing_raises(text):
    found = yaml_map(text)
    assert found is None or isinstance(found, dict)
