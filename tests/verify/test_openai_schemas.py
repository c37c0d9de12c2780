"""Schemas of functions at OpenAI: what is refused always, and what strict mode refuses."""

import pytest

from batches import each
from canonicall.facts.schema_rules import SchemaRule
from canonicall.facts.target import Target
from canonicall.verify import verify

CHECKED = SchemaRule(checked=True)
CHAT = Target(format="openai-chat", schemas=CHECKED)
RESPONSES = Target(format="openai-responses", schemas=CHECKED)
LENIENT = Target(format="openai-chat")
HELLO = {"role": "user", "content": "Hello"}
STRING = {"type": "string"}


def closed(**properties):
    """An object as strict mode wants it."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def chat(schema, strict=None):
    function = {"name": "get", "parameters": schema, "strict": strict}
    return {"messages": [HELLO], "tools": [{"type": "function", "function": function}]}


def responses(schema, strict=None):
    tool = {"type": "function", "name": "get", "parameters": schema, "strict": strict}
    return {"input": [HELLO], "tools": [tool]}


def found(schema, strict=None):
    """What is refused, the same in both formats: code, place in the schema, words."""
    here = [
        (one.code, one.where.removeprefix("$.tools[0].function.parameters"), one.error)
        for one in verify(chat(schema, strict), CHAT)
    ]
    there = [
        (one.code, one.where.removeprefix("$.tools[0].parameters"), one.error)
        for one in verify(responses(schema, strict), RESPONSES)
    ]
    assert here == there
    return here


ALWAYS = [
    ({}, "bad_tool_schema", "", "got 'type: null'"),
    (True, "bad_tool_schema", "", "got 'type: null'"),
    ({"type": "array", "items": STRING}, "bad_tool_schema", "", "got 'type: \"array\"'"),
    ({"type": ["object"]}, "bad_tool_schema", "", "must be a JSON Schema of 'type: \"object\"'"),
    (
        {"type": "object", "properties": {}, "anyOf": [{}]},
        "bad_tool_schema",
        "",
        "not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
    ),
    ({"type": "object"}, "bad_tool_schema", "", "In context=(), object schema missing properties."),
    (
        {"type": "object", "properties": {"a": {"type": "array"}}},
        "bad_tool_schema",
        ".properties.a",
        "In context=('properties', 'a'), array schema missing items.",
    ),
    (
        {"type": "object", "properties": {"a": {"type": ["string", "array"]}}},
        "bad_tool_schema",
        ".properties.a",
        "In context=('properties', 'a', 'type', '1'), array schema missing items.",
    ),
    (
        {"type": "object", "properties": {"a": "text"}},
        "invalid_schema",
        ".properties.a",
        "Invalid schema for function 'get': 'text' is not of type 'object', 'boolean'.",
    ),
]


@each("strict", [None, False, True])
@each(("schema", "code", "where", "words"), ALWAYS)
def test_refused_strict_or_not(schema, code, where, words, strict):
    ((its_code, its_where, error),) = found(schema, strict)
    assert (its_code, its_where) == (code, where)
    assert words in error


STRICT = [
    (
        {"type": "object", "properties": {}},
        "",
        "'additionalProperties' is required to be supplied and to be false.",
    ),
    (
        {**closed(a=STRING, b=STRING), "required": ["a"]},
        "",
        (
            "In context=(), 'required' is required to be supplied and to be an array including every "
            "key in properties. Missing 'b'."
        ),
    ),
    ({**closed(a=STRING), "required": ["a", "b"]}, "", "Extra required key 'b' supplied."),
    (
        closed(a={"type": ["object", "null"], "properties": {}}),
        ".properties.a",
        "In context=('properties', 'a'), 'additionalProperties' is required",
    ),
    *(
        (closed(a={"type": "string", word: value}), ".properties.a", f"'{word}' is not permitted.")
        for word, value in {
            "allOf": [STRING],
            "oneOf": [STRING],
            "not": STRING,
            "if": STRING,
            "dependentRequired": {},
            "uniqueItems": True,
            "propertyNames": STRING,
        }.items()
    ),
    (closed(a={}), ".properties.a", "schema must have a 'type' key."),
    (closed(a={"const": 1}), ".properties.a", "schema must have a 'type' key."),
    (closed(a={**STRING, "format": "uri"}), ".properties.a", "'uri' is not a valid format."),
    (
        {**closed(a={"$ref": "#/$defs/A", "title": "A"}), "$defs": {"A": STRING}},
        ".properties.a",
        "context=('properties', 'a'), $ref cannot have keywords {'title'}.",
    ),
    (
        {**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"type": "object"}}},
        ".$defs.A",
        "In context=('$defs', 'A'), 'additionalProperties' is required",
    ),
]


@pytest.mark.parametrize(("schema", "where", "words"), STRICT)
def test_refused_when_strict(schema, where, words):
    ((code, its_where, error),) = found(schema, True)
    assert (code, its_where) == ("strict_schema", where)
    assert error.startswith("Invalid schema for function 'get': ")
    assert words in error
    assert found(schema, False) == []


@pytest.mark.parametrize(
    "schema",
    [
        closed(),
        closed(a={"type": ["string", "null"]}, b={"anyOf": [STRING, {"type": "null"}]}),
        closed(a={**STRING, "format": "date", "pattern": "^a$", "default": "a", "title": "A"}),
        closed(a={"type": "array", "items": closed(), "minItems": 1, "maxItems": 9}),
        closed(allOf=STRING, oneOf=STRING, required=STRING),
        {**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": closed(next={"$ref": "#"})}},
        {**closed(a=STRING), "$defs": {"Unused": {"type": "object"}}},
    ],
)
def test_strict_takes(schema):
    assert found(schema, True) == []


def test_a_reference_to_nowhere_is_named():
    ((code, where, error),) = found(closed(a={"$ref": "#/$defs/A"}), True)
    assert (code, where) == ("invalid_schema", ".properties.a.$ref")
    assert "reference to component '#/$defs/A' which was not found in the schema." in error


def nested(levels):
    schema = closed()
    for _ in range(levels - 1):
        schema = closed(a=schema)
    return schema


def wide(count):
    return closed(**{f"p{at}": STRING for at in range(count)})


def choices(count, length=1):
    return closed(a={**STRING, "enum": [f"{at:0{length}}" for at in range(count)]})


@pytest.mark.parametrize(
    ("fits", "too_much", "words"),
    [
        (nested(10), nested(11), "11 levels of nesting exceeds limit of 10."),
        (wide(5_000), wide(5_001), "5001 parameters exceeds limit of 5000."),
        (choices(1_000), choices(1_001), ""),
        (choices(900, 130), choices(900, 140), ""),
    ],
    ids=["levels", "properties", "choices", "characters"],
)
def test_strict_schemas_have_a_size(fits, too_much, words):
    assert found(fits, True) == []
    ((code, where, error),) = found(too_much, True)
    assert (code, where) == ("schema_too_complex", "")
    assert words in error
    assert found(too_much, False) == []


def test_hosts_that_read_definitions_less_closely_take_more():
    """They speak the format, and take `strict` without looking at the schema."""
    for schema, *_ in STRICT:
        assert not verify(chat(schema, True), LENIENT)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "schema",
    [
        nested(2_000),
        {**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}},
        {"type": "object", "properties": {"a": {"$ref": "#/x"}}, "x": {"required": 5, "enum": 1}},
        {**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"properties": [], "type": {}}}},
    ],
    ids=["deep", "circle", "beside", "definitions"],
)
def test_nothing_makes_the_judge_raise(schema, strict):
    assert {code for code, *_ in found(schema, strict)} <= {
        *("strict_schema", "invalid_schema", "schema_too_complex", "bad_tool_schema"),
    }
