"""Older drafts mean the same when they are read as 2020-12: an outside validator of each says so."""

import jsonschema_rs
import pytest

from batches import each
from canonicall.facts.schema_rules import SchemaRule
from canonicall.schema.fitting import fit_schema

MODERN = SchemaRule(draft="2020-12")
VALUES = [[], [1], ["a"], ["a", 1], ["a", 1, 2], 0, 1, 2, 5, {}, {"a": 1}, {"a": 1, "b": 2}, "a"]


@pytest.mark.parametrize(
    ("validator", "old", "new"),
    [
        (
            jsonschema_rs.Draft4Validator,
            {"minimum": 1, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": False},
            {"exclusiveMinimum": 1, "maximum": 5},
        ),
        (
            jsonschema_rs.Draft7Validator,
            {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False},
            {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        ),
        (
            jsonschema_rs.Draft7Validator,
            {"items": {"type": "string"}, "additionalItems": False},
            None,
        ),
        (
            jsonschema_rs.Draft7Validator,
            {"dependencies": {"a": ["b"], "b": {"required": ["a"]}}},
            {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"b": {"required": ["a"]}}},
        ),
    ],
)
def test_an_older_draft_is_read_as_the_newest(validator, old, new):
    schema = {"type": "object", "properties": {"p": old}}
    fitted = fit_schema(schema, MODERN)
    said = fitted.schema["properties"]["p"]
    assert new is None or said == new
    assert {loss.change for loss in fitted.losses} == {"reworded"}
    before, after = validator(old), jsonschema_rs.Draft202012Validator(said)
    assert [before.is_valid(value) for value in VALUES] == [
        after.is_valid(value) for value in VALUES
    ]


@pytest.mark.parametrize("draft", ["draft-07", "any"])
def test_lists_of_items_stay_where_they_may_be_valid(draft):
    schema = {"type": "object", "properties": {"p": {"items": [{"type": "string"}]}}}
    assert fit_schema(schema, SchemaRule(draft=draft)).schema is schema


def test_what_no_draft_takes_is_left_out_whichever_it_is():
    schema = {"type": "object", "properties": {"p": {"type": "text", "minimum": 1}}}
    fitted = fit_schema(schema, SchemaRule(draft="any")).schema
    assert fitted["properties"]["p"] == {"minimum": 1}


@each(
    "wrong",
    [
        {"required": "a"},
        {"required": ["a", "a"]},
        {"required": True},
        {"type": "strnig"},
        {"type": []},
        {"properties": []},
        {"minLength": -1},
        {"minItems": 1.5},
        {"pattern": "(unclosed"},
        {"patternProperties": {"[": {}}},
        {"enum": "a"},
        {"anyOf": []},
        {"anyOf": {}},
        {"multipleOf": 0},
        {"description": 3},
        {"additionalProperties": "no"},
        {"examples": "x"},
        {"readOnly": "yes"},
        {"contentEncoding": 64},
        {"$anchor": "1 a"},
    ],
)
def test_a_keyword_that_holds_the_wrong_thing_is_left_out(wrong):
    """One slip, and a provider that checks refuses the whole schema."""
    schema = {"type": "object", "properties": {"p": {"title": "T", **wrong}}}
    fitted = fit_schema(schema, MODERN)
    assert fitted.schema["properties"]["p"] == {"title": "T"}
    assert [loss.change for loss in fitted.losses] == ["weakened"]
    jsonschema_rs.meta.validate(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **fitted.schema}
    )


def test_numbers_that_came_as_text_are_numbers():
    schema = {
        "type": "object",
        "properties": {"p": {"minItems": "2", "maximum": "1.5", "minLength": "x"}},
    }
    fitted = fit_schema(schema, MODERN)
    assert fitted.schema["properties"]["p"] == {"minItems": 2, "maximum": 1.5}
