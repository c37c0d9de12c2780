"""Strict mode: what it can say exactly, and what making a schema strict costs."""

import pytest

from canonicall.facts.schema_rules import SchemaRule, StrictRule
from canonicall.schema.fitting import fit_schema
from canonicall.schema.strict import Counts, counted

COMPLETE = SchemaRule(
    strict=StrictRule(
        keywords=(
            *("type", "properties", "required", "additionalProperties", "items", "enum", "const"),
            *("anyOf", "$ref", "$defs", "description", "format", "minItems"),
        ),
        formats=("date",),
        ref_alone=True,
        all_required=True,
        typed=True,
        min_items=(0, 1),
    ),
    told=True,
)
CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]} | {
    "additionalProperties": False
}


def strict(schema, rule=COMPLETE):
    fitted = fit_schema(schema, rule, strict=True)
    assert fit_schema(fitted.schema, rule, strict=True).schema is fitted.schema
    return fitted.schema, [(loss.change, loss.pointer) for loss in fitted.losses]


def test_a_strict_schema_is_left_alone():
    assert fit_schema(CLOSED, COMPLETE, strict=True).schema is CLOSED


def test_an_object_is_closed_all_the_way_down():
    schema = {"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]}
    fitted, losses = strict(schema)
    assert fitted["additionalProperties"] is False
    assert fitted["properties"]["a"] == {"type": "object", "additionalProperties": False}
    assert losses == [("narrowed", "/properties/a"), ("narrowed", "")]


@pytest.mark.parametrize(
    ("schema", "nullable"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["x"]}, {"type": ["string", "null"], "enum": ["x", None]}),
        ({"anyOf": [{"type": "string"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"$ref": "#/$defs/D"}, {"anyOf": [{"$ref": "#/$defs/D"}, {"type": "null"}]}),
        (
            {"type": "string", "const": "x"},
            {"anyOf": [{"type": "string", "const": "x"}, {"type": "null"}]},
        ),
    ],
)
def test_a_property_that_may_be_missing_is_null(schema, nullable):
    root = CLOSED | {"properties": CLOSED["properties"] | {"b": schema}, "$defs": {"D": CLOSED}}
    fitted, losses = strict(root)
    assert fitted["properties"]["b"] == nullable
    assert fitted["required"] == ["a", "b"]
    assert losses == [("narrowed", "/properties/b")]


def test_any_json_has_to_be_text():
    fitted, losses = strict(CLOSED | {"properties": {"a": {"description": "Any."}}})
    assert fitted["properties"]["a"] == {"type": "string", "description": "Any."}
    assert losses == [("narrowed", "/properties/a")]


def test_formats_and_limits_that_are_not_taken_are_told():
    dates = {"type": "array", "items": {"type": "string", "format": "uri"}, "minItems": 3}
    fitted, losses = strict(CLOSED | {"properties": {"a": dates}})
    assert fitted["properties"]["a"] == {
        "type": "array",
        "items": {"type": "string", "description": '{format: "uri"}'},
        "minItems": 1,
        "description": "{minItems: 3}",
    }
    assert losses == [("weakened", "/properties/a"), ("weakened", "/properties/a/items")]


@pytest.mark.parametrize(("format", "change"), [("int32", "reworded"), ("uri", "weakened")])
def test_a_format_that_nobody_checks_is_a_note(format, change):
    schema = CLOSED | {"properties": {"a": {"type": "string", "format": format}}}
    assert strict(schema)[1] == [(change, "/properties/a")]


def test_a_reference_stands_alone():
    schema = CLOSED | {"properties": {"a": {"$ref": "#/$defs/D", "description": "D"}}}
    fitted, losses = strict(schema | {"$defs": {"D": CLOSED}})
    assert fitted["properties"]["a"] == {"anyOf": [{"$ref": "#/$defs/D"}], "description": "D"}
    assert losses == [("reworded", "/properties/a")]


@pytest.mark.parametrize(
    ("values", "kind"), [(["a"], "string"), ([1, 1.5], "number"), (["a", None], ["string", "null"])]
)
def test_listed_values_name_their_type(values, kind):
    fitted, losses = strict(CLOSED | {"properties": {"a": {"enum": values}}})
    assert fitted["properties"]["a"] == {"type": kind, "enum": values}
    assert losses == [("reworded", "/properties/a")]


def test_listed_values_of_several_types_are_options_where_lists_of_types_are_not_taken():
    rule = SchemaRule(type_lists="null", strict=COMPLETE.strict)
    fitted, losses = strict(CLOSED | {"properties": {"a": {"enum": [True, 0]}}}, rule)
    options = [{"type": "boolean"}, {"type": "integer"}]
    assert fitted["properties"]["a"] == {"anyOf": options, "enum": [True, 0]}
    assert losses == [("reworded", "/properties/a")] * 2


def test_objects_may_be_open_and_schemas_may_say_nothing():
    rule = SchemaRule(strict=StrictRule(closed=False, any_json=True))
    schema = {"type": "object", "properties": {"a": {}}, "additionalProperties": True}
    assert fit_schema(schema, rule, strict=True).schema is schema


def test_where_a_schema_is_cut_an_array_has_items_still():
    rule = SchemaRule(items_required=True, strict=StrictRule(max_depth=1))
    inner = {"type": "array", "items": {"type": "number"}}
    fitted, losses = strict(CLOSED | {"properties": {"a": inner}}, rule)
    assert fitted["properties"]["a"] == {"type": "array", "items": {"type": "string"}}
    assert ("weakened", "/properties/a") in losses


def test_counting():
    schema = CLOSED | {
        "properties": {
            "a": {"enum": [1, 2, 3]},
            "b": {
                "anyOf": [{"type": ["string", "null"]}, {"type": "object", "properties": {"c": {}}}]
            },
        }
    }
    assert counted(schema) == Counts(optional=2, unions=2, properties=3, values=3, characters=3)


def test_counting_of_listed_values():
    schema = CLOSED | {"properties": {"ab": {"enum": ["cd", [], {}]}, "e": {"const": {"f": 1}}}}
    counts = counted(schema)
    assert (counts.values, counts.structured, counts.characters) == (3, 3, 5)
