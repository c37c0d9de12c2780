"""One schema, one rule: what stays, what is said otherwise, what is left out."""

import pytest

from canonicall.facts.schema_rules import SchemaRule
from canonicall.schema.fitting import fit_schema

PLAIN = (
    *("type", "properties", "required", "items", "enum", "anyOf", "description", "minimum"),
    *("additionalProperties", "$ref", "$defs", "maxItems"),
)
NARROW = SchemaRule(keywords=PLAIN, type_lists="null")
ROOTED = SchemaRule(root_refused=("anyOf", "oneOf", "allOf", "not"))


def inner(schema, rule=NARROW):
    """What becomes of one parameter, and the kinds of change that took."""
    fitted = fit_schema({"type": "object", "properties": {"p": schema}}, rule)
    assert all(loss.pointer.startswith("/properties/p") for loss in fitted.losses)
    return fitted.schema["properties"]["p"], [loss.change for loss in fitted.losses]


def test_what_fits_is_the_same_object():
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": "date"}}}
    assert fit_schema(schema, SchemaRule()).schema is schema


@pytest.mark.parametrize("schema", [{}, {"description": "Any JSON."}])
def test_any_json_stays_any_json(schema):
    assert inner(schema) == (schema, [])


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"const": 3}, {"enum": [3]}),
        ({"type": ["string"]}, {"type": "string"}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
        (
            {"type": ["string", "integer", "null"], "minimum": 2, "description": "D"},
            {
                "anyOf": [{"type": "string"}, {"type": "integer", "minimum": 2}, {"type": "null"}],
                "description": "D",
            },
        ),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"enum": ["a"], "nullable": True}, {"enum": ["a", None]}),
        ({"$ref": "#/$defs/x", "nullable": True}, None),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        (
            {"allOf": [{"type": "object", "properties": {"a": {}}}, {"required": ["a"]}]},
            {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        ),
        ({"allOf": [{"type": "number"}, {"type": ["integer", "null"]}]}, {"type": "integer"}),
        ({"type": "array", "items": True}, None),
        (True, {}),
        ({"type": "string", "x-widget": "area"}, {"type": "string"}),
    ],
)
def test_the_same_in_other_words(schema, said):
    fitted, changes = inner(schema)
    if said is not None:
        assert (fitted, set(changes)) == (said, {"reworded"})
    else:
        assert "narrowed" not in changes


@pytest.mark.parametrize(
    ("schema", "left"),
    [
        ({"type": "string", "pattern": "^a"}, {"type": "string"}),
        ({"type": "number", "exclusiveMinimum": 0.5}, {"type": "number", "minimum": 0.5}),
        (
            {"oneOf": [{"type": "string"}, {"enum": ["a"]}]},
            {"anyOf": [{"type": "string"}, {"enum": ["a"]}]},
        ),
        ({"type": "string", "not": {"enum": ["a"]}}, {"type": "string"}),
        ({"if": {"type": "string"}, "then": {"minLength": 2}, "else": False}, {}),
        (False, {}),
        (
            {
                "type": "object",
                "properties": {"a": {}},
                "patternProperties": {"^x-": {"type": "string"}},
                "additionalProperties": False,
            },
            {"type": "object", "properties": {"a": {}}},
        ),
        (
            {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "null"}],
                "items": False,
            },
            {
                "type": "array",
                "items": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "maxItems": 2,
            },
        ),
        (
            {"type": "object", "allOf": [{"properties": {"a": {}}, "additionalProperties": False}]},
            {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        ),
    ],
)
def test_what_cannot_be_said_allows_more_never_less(schema, left):
    fitted, changes = inner(schema)
    assert fitted == left
    assert "narrowed" not in changes


def test_two_closed_parts_are_not_merged_into_one():
    """Each forbids what the other demands; merging their properties would allow it."""
    one = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    other = {"type": "object", "properties": {"b": {}}, "additionalProperties": False}
    fitted, changes = inner({"allOf": [one, other]})
    assert (fitted, changes) == (one, ["weakened"])


def test_what_is_left_out_is_told_where_the_rule_wants_it():
    told = SchemaRule(keywords=PLAIN, told=True)
    fitted, _ = inner(
        {"type": "string", "description": "A code.", "minLength": 3, "title": "T"}, told
    )
    assert fitted == {"type": "string", "description": "A code.\n\n{minLength: 3}"}


def test_properties_may_be_called_like_keywords():
    names = {name: {"type": "string"} for name in ("const", "examples", "$ref", "not", "oneOf")}
    schema = {"type": "object", "properties": names, "required": ["const", "$ref"]}
    assert fit_schema(schema, NARROW).schema is schema


def test_the_order_of_keys_is_kept():
    schema = {"description": "D", "type": "object", "properties": {"b": {"const": 1}, "a": {}}}
    fitted = fit_schema(schema, NARROW).schema
    assert (list(fitted), list(fitted["properties"])) == (list(schema), ["b", "a"])


def test_ignored_keywords_stay_but_are_said_again_where_that_is_possible():
    lax = SchemaRule(
        keywords=("type", "properties", "enum", "anyOf"), others="ignored", refs="none"
    )
    assert inner({"type": "string", "pattern": "^a"}, lax) == (
        {"type": "string", "pattern": "^a"},
        [],
    )
    assert inner({"const": "a", "title": "T"}, lax) == ({"enum": ["a"], "title": "T"}, ["reworded"])


@pytest.mark.parametrize(
    ("root", "said", "change"),
    [
        ({}, {"type": "object"}, "reworded"),
        ({"type": ["object", "null"]}, {"type": "object"}, "reworded"),
        ({"type": "string", "title": "T"}, {"type": "object", "title": "T"}, "weakened"),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {}}}}},
            None,
            "reworded",
        ),
        (
            {"allOf": [{"type": "object", "properties": {"a": {}}}, {"required": ["a"]}]},
            {"type": "object", "properties": {"a": {}}, "required": ["a"]},
            "reworded",
        ),
        (
            {
                "type": "object",
                "oneOf": [
                    {
                        "properties": {"a": {"type": "string"}, "k": {"const": 1}},
                        "required": ["a", "k"],
                    },
                    {"properties": {"b": {}, "k": {"const": 2}}, "required": ["b", "k"]},
                ],
            },
            {
                "type": "object",
                "properties": {"a": {}, "k": {"anyOf": [{"const": 1}, {"const": 2}]}, "b": {}},
                "required": ["k"],
            },
            "weakened",
        ),
        ({"type": "object", "not": {"required": ["a"]}}, {"type": "object"}, "weakened"),
        ({"type": None, "properties": {}}, {"type": "object", "properties": {}}, "reworded"),
    ],
)
def test_arguments_are_an_object(root, said, change):
    fitted = fit_schema(root, ROOTED)
    assert fitted.schema["type"] == "object"
    assert said is None or fitted.schema == said
    assert {loss.change for loss in fitted.losses} == {change}


def test_a_parameter_whose_name_cannot_be_declared_may_still_be_given():
    rule = SchemaRule(property_pattern="[a-z]+")
    properties = {"a": {"type": "string"}, "b c": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["a", "b c"]}
    fitted = fit_schema(schema | {"additionalProperties": False}, rule)
    assert fitted.schema == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
    }
    assert [(loss.change, loss.pointer) for loss in fitted.losses] == [
        ("weakened", "/properties/b c")
    ]


def test_a_root_without_properties_says_so():
    rule = SchemaRule(properties_required=True)
    for schema in ({}, {"type": "object"}):
        fitted = fit_schema(schema, rule)
        assert fitted.schema == {"type": "object", "properties": {}}
        assert {loss.change for loss in fitted.losses} == {"reworded"}
    inside = {"type": "object", "properties": {"a": {"type": "object"}}}
    assert fit_schema(inside, rule).schema is inside


def test_an_array_says_what_its_items_are():
    assert inner({"type": ["array", "null"]}, SchemaRule(items_required=True)) == (
        {"type": ["array", "null"], "items": {}},
        ["reworded"],
    )
    assert inner({"type": "array"}, SchemaRule(items_required=True)) == (
        {"type": "array", "items": {}},
        ["reworded"],
    )


def test_what_is_nested_too_deep_keeps_its_type():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "object", "properties": {"b": {"enum": [1]}}}},
    }
    fitted = fit_schema(schema, SchemaRule(max_depth=1))
    assert fitted.schema == {"type": "object", "properties": {"a": {"type": "object"}}}
    assert [(loss.change, loss.pointer) for loss in fitted.losses] == [
        ("weakened", "/properties/a")
    ]


def test_what_a_keyword_of_the_root_brings_is_refused_there_as_well():
    rule = SchemaRule(root_refused=("allOf", "not"))
    fitted = fit_schema({"properties": {}, "allOf": [{"not": {}}]}, rule)
    assert fitted.schema == {"type": "object", "properties": {}}
    assert "weakened" in {loss.change for loss in fitted.losses}
