"""Google's schema dialect as JSON Schema, and back only as long as it says the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall.wire.gemini import TARGET
from canonicall.wire.gemini.schemas import is_dialect, plain_parameters, spelled_out
from canonicall.wire.gemini.tools import decode_tools, encode_tools


def plain(schema):
    """`schema` as the only property of a function, made plain."""
    made = plain_parameters({"type": "OBJECT", "properties": {"p": schema}})
    assert made.keys() == {"type", "properties"}
    return made["properties"]["p"]


def declared(schema, change=None):
    """The declaration that comes back for one with `schema` as its `parameters`."""
    (tool,) = decode_tools(
        [{"functionDeclarations": [{"name": "f", "parameters": schema}]}], findings := []
    )
    assert findings == []
    tool = tool if change is None else replace(tool, parameters=change)
    (entry,), _ = encode_tools((tool,), {}, TARGET)
    return tool, entry["functionDeclarations"][0]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": 1}, {"type": "string"}),
        ({"type": "Integer"}, {"type": "integer"}),
        ({"type": "TYPE_UNSPECIFIED", "title": "t"}, {"title": "t"}),
        ({"type": 0}, {}),
        ({"type": "string"}, {"type": "string"}),
        ({"type": "ARRAY", "items": {"type": "NUMBER"}}, {"type": "array", "items": {"type": "number"}}),
        ({"any_of": [{"type": "STRING"}, {"type": 7}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": "ARRAY", "min_items": "1"}, {"type": "array", "minItems": 1}),
        ({"type": "INTEGER", "enum": ["101", "x"]}, {"type": "integer", "enum": [101, "x"]}),
        ({"type": "NUMBER", "enum": ["1.5"]}, {"type": "number", "enum": [1.5]}),
        ({"type": "STRING", "description": None}, {"type": "string"}),
        ({"ref": "#/defs/Pet"}, {"$ref": "#/$defs/Pet"}),
        (
            {"type": "OBJECT", "properties": {"type": {"type": "STRING"}}, "propertyOrdering": ["type"]},
            {"type": "object", "properties": {"type": {"type": "string"}}, "propertyOrdering": ["type"]},
        ),
    ],
)  # fmt: skip
def test_the_dialect_becomes_json_schema(schema, expected):
    assert plain(schema) == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "STRING"}, {"type": ["string", "null"]}),
        ({"type": "STRING", "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        (
            {"anyOf": [{"type": "STRING"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        ({"ref": "#/defs/A"}, {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}),
        ({"type": "NULL"}, {"type": "null"}),
        ({}, {}),
    ],
)
def test_nullable_allows_null(schema, expected):
    assert plain({**schema, "nullable": True}) == expected
    assert "nullable" not in plain({**schema, "nullable": False})


def test_arguments_are_an_object_and_never_null():
    assert plain_parameters({"nullable": True, "properties": {}}) == {
        "type": "object",
        "properties": {},
    }


DIALECT = {
    "type": "OBJECT",
    "properties": {"unit": {"type": "STRING", "enum": ["C", "F"], "nullable": True}},
    "required": ["unit"],
}


def test_a_schema_in_the_dialect_comes_back_as_it_was():
    tool, declaration = declared(DIALECT)
    assert tool.parameters["properties"]["unit"]["type"] == ["string", "null"]
    assert declaration == {"name": "f", "parameters": DIALECT}


def test_types_come_back_as_words():
    numbers = {"type": 6, "properties": {"a": {"type": 5, "items": {"type": 3}}}}
    words = {"type": "OBJECT", "properties": {"a": {"type": "ARRAY", "items": {"type": "INTEGER"}}}}
    assert spelled_out(numbers) == words
    assert declared(numbers)[1]["parameters"] == words


def test_a_schema_that_was_changed_is_sent_as_json_schema():
    changed = {"type": "object", "properties": {"unit": {"type": "string"}}}
    assert declared(DIALECT, changed)[1] == {"name": "f", "parametersJsonSchema": changed}


@pytest.mark.parametrize(
    "keyword",
    [
        {"const": "C"},
        {"type": ["string", "null"]},
        {"oneOf": [{"type": "string"}]},
        {"enum": [1, 2]},
        {"additionalProperties": False},
        {"ref": "#/defs/A"},
        {"items": True},
    ],
)
def test_what_the_dialect_does_not_know_is_sent_as_json_schema(keyword):
    """The API refuses it in `parameters`: "Unknown name ... Cannot find field." """
    schema = {"type": "object", "properties": {"unit": keyword}}
    tool, declaration = declared(schema)
    assert declaration == {"name": "f", "parametersJsonSchema": tool.parameters}


def test_a_schema_too_deep_for_anybody_ends_somewhere():
    schema = {"type": "OBJECT"}
    for _ in range(400):
        schema = {"type": "OBJECT", "properties": {"p": schema}}
    assert plain_parameters(schema)["type"] == "object"
    assert not is_dialect(schema)


schemas = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["STRING", "string", "NUMBER", 3, "BOOLEAN"])},
        optional={"nullable": st.booleans(), "description": st.text(max_size=3)},
    ),
    lambda inner: st.one_of(
        st.builds(lambda one: {"type": "ARRAY", "items": one}, inner),
        st.builds(lambda many: {"anyOf": many}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(
            lambda named: {"type": "OBJECT", "properties": named},
            st.dictionaries(st.sampled_from(["type", "items", "a"]), inner, max_size=3),
        ),
    ),
    max_leaves=8,
)


@given(schemas)
def test_plain_schemas_are_plain_and_their_source_comes_back(inner):
    schema = {"type": "OBJECT", "properties": {"p": inner}}
    made = plain_parameters(schema)
    assert plain_parameters(made) == made
    assert declared(schema)[1]["parameters"] == spelled_out(schema)
