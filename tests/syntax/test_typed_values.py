"""Bare text and schemas: which JSON value is meant."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall.syntax.typed_values import (
    escaped,
    json_of,
    json_or_text,
    member_names,
    member_schema,
    resolved,
    types_of,
)


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, ("string",)),
        ({"type": ["string", "integer", "null"]}, ("null", "integer", "string")),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, ("null", "string")),
        ({"type": "string", "nullable": True}, ("null", "string")),
        ({"enum": ["a", 1]}, ("integer", "string")),
        ({"const": True}, ("boolean",)),
        ({"$ref": "#/$defs/point"}, ("object",)),
        ({"$ref": "#/$defs/itself"}, ()),
        ({"properties": {}}, ("object",)),
        ({"type": "varchar"}, ("string",)),
        ({"type": "thing"}, ()),
        (None, ()),
        (True, ()),
    ],
)
def test_types_that_a_schema_allows(schema, types):
    root = {"$defs": {"point": {"type": "object"}, "itself": {"$ref": "#/$defs/itself"}}}
    assert types_of(schema, root) == types


@each(
    ("raw", "types", "value"),
    [
        ("123", (), "123"),
        ("null", ("string",), "null"),
        ("Null", ("null", "string"), None),
        ("None", ("null", "string"), "None"),
        ("None", ("null", "integer"), None),
        (" 42 ", ("integer",), 42),
        ("+7", ("integer",), 7),
        ("3.0", ("integer",), 3),
        ("3.5", ("integer",), "3.5"),
        ("123456789012345678901234567890", ("integer",), 123456789012345678901234567890),
        ("1e3", ("number",), 1000.0),
        ("1", ("boolean",), True),
        ("1", ("integer", "boolean"), 1),
        ("yes", ("boolean",), "yes"),
        ("{'a': None}", ("object",), {"a": None}),
        ('[{\\"a\\": 1}]', ("array",), [{"a": 1}]),
        ('"[1]"', ("array",), [1]),
        ("[1", ("array",), "[1"),
        ("[1]", ("object",), "[1]"),
        ("", ("integer",), ""),
    ],
)
def test_value_of_a_text(raw, types, value):
    read = json.loads(json_of(raw, types)[0])
    assert (type(read), read) == (type(value), value)


def test_only_mended_values_are_called_mended():
    assert json_of("[1]", ("array",)) == ("[1]", False)
    assert json_of("[1,]", ("array",)) == ("[1]", True)


def test_values_that_say_they_are_json():
    assert json_or_text(' {"a": 1} ')[0] == '{"a": 1}'
    assert json_or_text("{not json")[0] == '"{not json"'


def test_schemas_of_members_and_items():
    schema = {"anyOf": [{"items": {"type": "integer"}}, {"properties": {"a": {"type": "null"}}}]}
    assert member_schema(schema, None, {}) == {"type": "integer"}
    assert member_schema(schema, "a", {}) == {"type": "null"}
    assert member_schema(schema, "b", {}) is None


@given(st.lists(st.text()))
def test_pieces_may_be_escaped_one_by_one(pieces):
    written = "".join(map(escaped, pieces))
    assert json.loads(f'"{written}"') == "".join(pieces)


@given(st.text(), st.permutations(["null", "integer", "number", "boolean", "object", "string"]))
def test_any_text_is_some_value(raw, types):
    """Whatever was said, JSON comes out of it."""
    json.loads(json_of(raw, tuple(types))[0])


def test_the_names_of_an_object_are_those_of_all_that_it_is_made_of():
    root = {
        "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {}}}],
        "properties": {"a": {}},
        "$defs": {"base": {"properties": {"c": {}}}},
    }
    assert set(member_names(root, root)) == {"a", "b", "c"}
    assert member_names(None, root) == ()


def test_a_reference_is_followed_to_what_it_means():
    root = {
        "$defs": {
            "one": {"$ref": "#/$defs/two"},
            "two": {"type": "string"},
            "loop": {"$ref": "#/$defs/loop"},
        }
    }
    assert resolved({"$ref": "#/$defs/one"}, root) == {"type": "string"}
    assert resolved({"type": "null"}, root) == {"type": "null"}
    assert resolved({"$ref": "#/$defs/none"}, root) is None
    resolved({"$ref": "#/$defs/loop"}, root)
