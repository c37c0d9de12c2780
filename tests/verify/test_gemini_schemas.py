"""Schemas of function declarations: `parameters` by the message `Schema`, and JSON Schema."""

import pytest

from canonicall.facts.target import IdRule, NameRule, Target
from canonicall.verify import verify

TARGET = Target(
    format="gemini",
    ids=IdRule(style="echoed"),
    names=NameRule(pattern="[A-Za-z_][A-Za-z0-9_.:-]*"),
    max_tools=512,
)
PLACE = "tools[0].functionDeclarations[0].parameters"
STRING = {"type": "STRING"}


def found(schema, key="parameters", **fields):
    declaration = {"name": "get", key: schema, **fields}
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
        "tools": [{"functionDeclarations": [declaration]}],
    }
    report = verify(body, TARGET)
    assert all(one.source for one in report)
    return [(one.code, one.where.removeprefix(f"$.{PLACE}"), one.error) for one in report]


def of(**properties):
    return {"type": "OBJECT", "properties": properties}


REFUSED = [
    (of(a={"const": 1}), ".properties.a", 'Unknown name "const" at', ": Cannot find field."),
    (
        of(a={"type": ["string", "null"]}),
        ".properties.a.type",
        'Unknown name "type" at',
        "Proto field is not repeating, cannot start list.",
    ),
    (of(a={"type": "enum"}), ".properties.a.type", "Invalid value at", 'v1beta.Type), "enum"'),
    (
        of(a={**STRING, "enum": ["a", 3]}),
        ".properties.a.enum[1]",
        "Invalid value at",
        "enum[1]' (TYPE_STRING), 3",
    ),
    (
        of(a={**STRING, "enum": [True]}),
        ".properties.a.enum[0]",
        "Invalid value at",
        "(TYPE_STRING), true",
    ),
    (
        of(a={"type": "ARRAY"}),
        ".properties.a.items",
        "* GenerateContentRequest.tools[0].function_declarations[0].parameters",
        ".properties[a].items: missing field.",
    ),
    (
        of(properties={"type": "array", "items": {"type": "array"}}),
        ".properties.properties.items.items",
        "* GenerateContentRequest",
        ".properties[properties].items.items: missing field.",
    ),
    (
        of(a={"type": "INTEGER", "enum": ["1"]}),
        ".properties.a.enum",
        "* GenerateContentRequest",
        ".properties[a].enum: only allowed for STRING type",
    ),
    (
        of(a={"anyOf": [{"enum": ["1"]}]}),
        ".properties.a.anyOf[0].enum",
        "* GenerateContentRequest",
        ".properties[a].anyOf[0].enum: only allowed for STRING type",
    ),
    (
        of(a={**STRING, "enum": ["x", ""]}),
        ".properties.a.enum[1]",
        "* GenerateContentRequest",
        ".properties[a].enum[1]: cannot be empty",
    ),
    (
        {**of(a=STRING), "required": ["a", "b"]},
        ".required[1]",
        "* GenerateContentRequest",
        ".parameters.required[1]: property is not defined",
    ),
    ({"type": "STRING"}, "", "* GenerateContentRequest", "has to be of type OBJECT"),
]


@pytest.mark.parametrize(("schema", "where", "start", "end"), REFUSED)
def test_parameters_refused(schema, where, start, end):
    ((code, its_where, error),) = found(schema)
    assert (code, its_where) == ("bad_tool_schema", where)
    assert start in error
    assert error.endswith(end)


@pytest.mark.parametrize(
    "schema",
    [
        of(),
        {"type": 6, "properties": {"a": {"type": 1, "enum": ["x"]}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        of(a={"type": "INTEGER", "format": "enum", "enum": ["101"]}),
        of(a={"type": "ARRAY", "items": STRING, "minItems": "1", "max_items": 2}),
        of(a={"anyOf": [STRING, {"type": "NULL"}], "nullable": True}),
        of(a={**STRING, "default": "x", "example": "y", "pattern": "^x$"}),
        of(const=STRING, oneOf=STRING, type=STRING),
    ],
)
def test_parameters_taken(schema):
    assert found(schema) == []


@pytest.mark.parametrize("name", ["a-b", "1a", "a.b", "", "x" * 65])
def test_parameters_have_plain_names(name):
    assert found(of(**{name: STRING})) == [("bad_parameter_name", f".properties.{name}", "")]
    assert found(of(a=of(**{name: STRING}))) == []


def test_each_schema_is_given_once():
    ((code, _, error),) = found(of(), response=of(), responseJsonSchema={})
    assert code == "bad_tool_schema"
    assert "response and response_json_schema are mutually exclusive" in error


@pytest.mark.parametrize("key", ["parametersJsonSchema", "parameters_json_schema"])
def test_json_schema_describes_an_object(key):
    assert [code for code, *_ in found({"type": "string"}, key)] == ["bad_tool_schema"]
    everything = {
        "type": "object",
        "properties": {"a-b": {"type": ["string", "null"], "const": 1}, "c": {"type": "array"}},
        "$defs": {"A": {"oneOf": [{}]}},
        "additionalProperties": False,
    }
    assert found(everything, key) == []


def test_nothing_makes_the_judge_raise():
    deep = of()
    for _ in range(2_000):
        deep = of(a=deep)
    assert found(deep) == []
    wrong = {"type": {}, "properties": [], "required": {"a": 1}, "enum": 1, "anyOf": 5, "items": 1}
    assert found(wrong) == []
    nested = []
    for _ in range(2_000):
        nested = [nested]
    assert len(found(of(a={**STRING, "enum": [nested]}))) == 1
