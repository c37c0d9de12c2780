"""Arguments for a tool, made from its schema and from what the user said."""

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall.testing.sample_values import sample_arguments


def one(schema, said=""):
    """The value of a single required field."""
    whole = {"type": "object", "properties": {"field": schema}, "required": ["field"]}
    return sample_arguments(whole, said)["field"]


@each(
    ("schema", "said", "value"),
    [
        ({"type": "string"}, "The weather in Paris?", "Paris"),
        ({"type": "string"}, "Please go to New York.", "New York"),
        ({"type": "string"}, "Look for 'red shoes' in Rome", "red shoes"),
        ({"type": "string"}, "What files are here? Read src/notes.md, please.", "src/notes.md"),
        ({"type": "string"}, "A big town, e.g. Rome", "Rome"),
        ({"type": "string"}, "what?", "field"),
        ({"type": "integer"}, "Give me 7 of them", 7),
        ({"type": "integer", "maximum": 5}, "Give me 7 of them", 5),
        ({"type": "number"}, "It costs 2.5", 2.5),
        ({"type": "number", "minimum": 3}, "Some", 3),
        ({"type": "boolean"}, "", True),
        ({"type": "null"}, "", None),
        ({"type": ["null", "integer"]}, "", 1),
        ({"enum": ["celsius", "fahrenheit"]}, "In Fahrenheit please", "fahrenheit"),
        ({"enum": ["celsius", "fahrenheit"]}, "", "celsius"),
        ({"const": 4}, "", 4),
        ({"type": "string", "default": "en"}, "Paris", "en"),
        ({"type": "string", "format": "date"}, "", "2026-01-31"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "", 1),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, "3 and 4", [3, 4]),
        (True, "", "field"),
    ],
)
def test_a_field_is_filled_with_what_was_said(schema, said, value):
    assert one(schema, said) == value


def test_required_fields_come_and_others_stay_away():
    properties = {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "string"}}
    schema = {"type": "object", "properties": properties}
    assert list(sample_arguments({**schema, "required": ["b"]})) == ["b"]
    assert list(sample_arguments(schema)) == ["a", "b", "c"]
    assert sample_arguments({"type": "string"}) == {}
    assert sample_arguments(None) == {}


def test_references_are_followed():
    schema = {
        "type": "object",
        "properties": {"who": {"$ref": "#/$defs/person"}},
        "required": ["who"],
        "$defs": {
            "person": {"type": "object", "properties": {"age": {"type": "integer"}}},
            "loop": {"$ref": "#/$defs/loop"},
        },
    }
    assert sample_arguments(schema, "He is 40") == {"who": {"age": 40}}
    schema["properties"]["who"] = {"$ref": "#/$defs/loop"}
    assert sample_arguments(schema) == {"who": "who"}


@pytest.mark.parametrize(
    "node",
    [
        {"type": "array", "minItems": 20, "items": {"$ref": "#/$defs/node"}},
        {
            "type": "object",
            "properties": {name: {"$ref": "#/$defs/node"} for name in "abcdefghij"},
            "required": list("abcdefghij"),
        },
    ],
    ids=["array", "object"],
)
def test_a_schema_that_asks_for_ever_more_gets_an_end(node):
    schema = {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {"node": node},
    }
    assert len(str(sample_arguments(schema))) < 100_000


@pytest.mark.parametrize("said", ["9" * 400, "-" + "9" * 400, "1e999", "0" * 50 + "." + "1" * 50])
def test_numbers_beyond_all_measure_do_no_harm(said):
    assert isinstance(one({"type": "integer"}, said), int)
    assert isinstance(one({"type": "number"}, said), int | float)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": []},
        {"properties": {"a": 1}, "required": [None, [], 7]},
        {"properties": {"a": {"type": 7}}, "required": "a"},
        {"properties": {"a": {"type": "integer", "minimum": "x", "maximum": []}}},
        {"properties": {"a": {"type": "array", "minItems": -1, "items": [1]}}},
        {"properties": {"a": {"enum": {}, "anyOf": 3, "$ref": 4}}},
        {"properties": {"a": {"$ref": "#/properties/a/enum/0", "enum": [1]}}},
    ],
)
def test_a_schema_that_is_none_gives_something(schema):
    assert isinstance(sample_arguments({"type": "object", **schema}, "Say 5"), dict)


_TYPES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number", "minimum": 2},
        {"type": "integer", "minimum": -5, "maximum": 5},
        {"type": "boolean"},
        {"type": "null"},
        {"enum": ["a", 2, None]},
    ]
)
_SCHEMAS = st.recursive(
    _TYPES,
    lambda inner: (
        st.builds(lambda one: {"type": "array", "items": one}, inner)
        | st.builds(
            lambda fields: {"type": "object", "properties": fields, "required": list(fields)},
            st.dictionaries(st.text(max_size=4), inner, max_size=3),
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), _SCHEMAS, min_size=1, max_size=4), st.text())
def test_what_is_made_fits_its_schema(fields, said):
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    assert jsonschema_rs.is_valid(schema, sample_arguments(schema, said))
