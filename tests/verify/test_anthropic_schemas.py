"""Schemas of tools in the Messages API: the root, names, validity, strict tools."""

import pytest

from canonicall.facts.schema_rules import SchemaRule
from canonicall.facts.target import Target
from canonicall.verify import verify

TARGET = Target(format="anthropic", max_tools=100, schemas=SchemaRule(checked=True))
COMPATIBLE = Target(format="anthropic", max_tools=100)
STRING = {"type": "string"}
PLACE = "$.tools[0].input_schema"


def closed(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def body(*schemas, **fields):
    tools = [
        {"name": f"get_{at}", "input_schema": schema, **fields} for at, schema in enumerate(schemas)
    ]
    messages = [{"role": "user", "content": "Hello"}]
    return {"model": "m", "max_tokens": 9, "messages": messages, "tools": tools}


def found(*schemas, target=TARGET, **fields):
    report = verify(body(*schemas, **fields), target)
    assert all(one.source and one.repair for one in report)
    return [(one.code, one.where.removeprefix(PLACE), one.error) for one in report]


ROOTS = [
    (None, ": Field required"),
    (True, ": Input does not match the expected shape."),
    ({"$ref": "https://example.com/schemas/input.json"}, ".type: Field required"),
    ({}, ".type: Field required"),
    ({"type": "string"}, ".type: Input should be 'object'"),
    ({"type": ["object"]}, ".type: Input should be 'object'"),
    (
        {"type": "object", "anyOf": [{}]},
        ": input_schema does not support oneOf, allOf, or anyOf at the top level",
    ),
]


@pytest.mark.parametrize("target", [TARGET, COMPATIBLE], ids=["Claude", "compatible"])
@pytest.mark.parametrize(("schema", "words"), ROOTS)
def test_the_root_is_an_object(schema, words, target):
    assert found(schema, target=target) == [
        ("bad_tool_schema", "", f"tools.0.custom.input_schema{words}")
    ]


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"required": "a"}, ".required"),
        ({"properties": {"a": {"type": "str"}}}, ".properties.a.type"),
        ({"properties": {"a": {"exclusiveMinimum": True}}}, ".properties.a.exclusiveMinimum"),
        ({"properties": {"a": {"items": [STRING]}}}, ".properties.a.items"),
        ({"$defs": []}, ".$defs"),
    ],
)
def test_a_schema_is_valid_by_draft_2020_12(schema, where):
    ((code, its_where, error),) = found({"type": "object", **schema})
    assert (code, its_where) == ("invalid_schema", where)
    assert error.startswith("tools.0.custom.input_schema: JSON schema is invalid. It must match")
    assert found({"type": "object", **schema}, target=COMPATIBLE) == []


@pytest.mark.parametrize("name", ["filter[id]", "a b", "", "x" * 65, "$top"])
def test_parameters_have_plain_names(name):
    """Only parameters: what is inside them may be called anything."""
    ((code, where, error),) = found({"type": "object", "properties": {name: STRING}})
    assert (code, where) == ("bad_parameter_name", f".properties.{name}")
    assert error == (
        "tools.0.custom.input_schema.properties: Property keys should match pattern "
        "'^[a-zA-Z0-9_.-]{1,64}$'"
    )
    inner = {"type": "object", "properties": {name: STRING}}
    assert found({"type": "object", "properties": {"a": inner, "a.b-c": STRING}}) == []


STRICT = [
    (
        {"type": "object", "properties": {}},
        "",
        "For 'object' type, 'additionalProperties' must be explicitly set to false",
    ),
    (
        {"type": "object", "additionalProperties": True},
        "",
        (
            "For 'object' type, 'additionalProperties: true' is not supported. Please set "
            "'additionalProperties' to false"
        ),
    ),
    (
        closed(a={"type": "integer", "minimum": 1, "maximum": 2}),
        ".properties.a",
        "For 'integer' type, properties maximum, minimum are not supported",
    ),
    (
        closed(a={**STRING, "maxLength": 5}),
        ".properties.a",
        "For 'string' type, property 'maxLength' is not supported",
    ),
    (
        closed(a={"type": "array", "items": STRING, "maxItems": 2}),
        ".properties.a",
        "For 'array' type, property 'maxItems' is not supported",
    ),
    (
        closed(a={"type": "array", "items": STRING, "minItems": 2}),
        ".properties.a",
        "For 'array' type, 'minItems' values other than 0 or 1 are not supported",
    ),
    (
        closed(a=True),
        ".properties.a",
        "For 'object' type, property 'properties' is not supported",
    ),
    (
        closed(a={"type": "array", "items": {}}),
        ".properties.a.items",
        "Empty schema ({}) that accepts any JSON value is not supported.",
    ),
    (closed(a={"oneOf": [STRING]}), ".properties.a", "Schema type 'oneOf' is not supported"),
    (
        {
            **closed(a={"$ref": "#/$defs/Node"}),
            "$defs": {"Node": closed(next={"$ref": "#/$defs/Node"})},
        },
        "",
        (
            "Invalid schema: Circular reference detected in schema definitions: Node -> Node. "
            "Self-referencing or mutually-referencing definitions are not supported."
        ),
    ),
]


@pytest.mark.parametrize(("schema", "where", "words"), STRICT)
def test_refused_when_strict(schema, where, words):
    assert found(schema, strict=True) == [("strict_schema", where, f"tools.0.custom: {words}")]
    assert found(schema) == []
    assert found(schema, strict=True, target=COMPATIBLE) == []


def test_what_is_documented_without_words_has_none():
    assert found(closed(a={"enum": [{"a": 1}]}), strict=True) == [
        ("strict_schema", ".properties.a", "")
    ]
    outside = closed(a={"$ref": "https://example.com/a.json"})
    assert found(outside, strict=True) == [("strict_schema", ".properties.a.$ref", "")]


def test_a_reference_to_nowhere_is_named():
    assert found(closed(a={"$ref": "#/$defs/A"}), strict=True) == [
        (
            "invalid_schema",
            ".properties.a.$ref",
            "tools.0.custom: Reference to non-existent definition: #/$defs/A",
        )
    ]


@pytest.mark.parametrize(
    "schema",
    [
        closed(),
        {**closed(a=STRING, b=STRING), "required": ["a"]},
        closed(a={"type": ["string", "null"]}, b={"anyOf": [STRING, {"const": 1}]}),
        closed(a={"allOf": [STRING, {"enum": ["x"]}]}, b={**STRING, "format": "uri"}),
        closed(a={"type": "array", "items": STRING, "minItems": 1}),
        closed(minimum=STRING, oneOf=STRING),
        {**closed(a={"$ref": "#/$defs/A"}, b={"$ref": "#/$defs/A"}), "$defs": {"A": closed()}},
    ],
)
def test_strict_takes(schema):
    assert found(schema, strict=True) == []


def optional(count):
    return {**closed(**{f"p{at}": STRING for at in range(count)}), "required": []}


UNION = closed(a={"type": ["string", "null"]})


@pytest.mark.parametrize(
    ("fits", "too_much", "code", "words"),
    [
        (
            [closed()] * 20,
            [closed()] * 21,
            "too_many_strict_tools",
            "Too many strict tools (21). The maximum number of strict tools supported is 20.",
        ),
        (
            [optional(2)] * 12,
            [optional(2)] * 12 + [optional(1)],
            "schema_too_complex",
            "Schemas contains too many optional parameters (25)",
        ),
        (
            [UNION] * 16,
            [UNION] * 17,
            "schema_too_complex",
            "Schemas contains too many parameters with union types (17 parameters",
        ),
    ],
    ids=["tools", "optional", "unions"],
)
def test_strict_tools_have_limits_together(fits, too_much, code, words):
    assert found(*fits, strict=True) == []
    ((its_code, where, error),) = found(*too_much, strict=True)
    assert (its_code, where) == (code, "$.tools")
    assert error.startswith(words)
    assert found(*too_much) == []


def test_one_strict_schema_has_a_limit_of_its_own():
    """Recorded: 24 optional parameters pass in twelve schemas and not in one."""
    assert found(optional(23), optional(1), strict=True) == []
    ((code, where, error),) = found(optional(24), strict=True)
    assert (code, where) == ("schema_too_complex", "")
    assert error.startswith("Schema is too complex for compilation.")
    assert found(optional(24)) == []


def test_nothing_makes_the_judge_raise():
    deep = closed()
    for _ in range(2_000):
        deep = closed(a=deep)
    assert found(deep, strict=True) == []
    beside = {**closed(a={"$ref": "#/x"}), "x": {"required": 5, "enum": 1, "minItems": {}}}
    assert {code for code, *_ in found(beside, strict=True)} <= {"strict_schema"}
