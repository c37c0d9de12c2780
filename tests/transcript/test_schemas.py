"""The schemas of tools on their way to a target: findings, strict tools, and nothing done twice."""

import msgspec
import pytest

from canonicall import InvalidValue, Policy, Tool, UntranslatableSchema
from canonicall.facts.schema_rules import SchemaRule, StrictRule
from canonicall.transcript import schemas
from canonicall.transcript.schemas import fitted_tools

NARROW = SchemaRule(keywords=("type", "properties", "required", "additionalProperties", "enum"))
CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}
TWICE = {
    "type": "object",
    "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"pattern": "x"}},
}


def test_tools_that_fit_are_the_same_tuple():
    tools = (Tool("a", parameters=CLOSED), Tool("b"), Tool("c", kind="custom"))
    assert fitted_tools(tools, NARROW, Policy()) == (tools, [])
    assert fitted_tools(tools, NARROW, Policy())[0] is tools


def test_changes_of_one_kind_are_one_finding():
    tools = (Tool("a", parameters=CLOSED), Tool("b", parameters=TWICE))
    fitted, findings = fitted_tools(tools, NARROW, Policy())
    assert fitted[0] is tools[0]
    assert [(one.code, one.where) for one in findings] == [
        ("schema_reworded", "tools[1].parameters#/properties/a"),
        ("schema_weakened", "tools[1].parameters#/properties/c"),
    ]
    assert "1 other place" in findings[0].why


def test_a_loss_is_refused_by_policy_but_other_words_are_not():
    fitted_tools(
        (Tool("a", parameters={"type": "object", "properties": {"x": {"const": 1}}}),),
        NARROW,
        Policy(schemas="refuse"),
    )
    with pytest.raises(
        UntranslatableSchema, match=r"tools\[0\].parameters#/properties/c"
    ) as raised:
        fitted_tools((Tool("b", parameters=TWICE),), NARROW, Policy(schemas="refuse"))
    assert raised.value.tool == "b"


def strict_rule(**limits):
    keywords = ("type", "properties", "required", "additionalProperties", "enum", "anyOf")
    return SchemaRule(strict=StrictRule(keywords=keywords, **limits))


@pytest.mark.parametrize(
    ("limits", "properties"),
    [
        ({"max_tools": 2}, {}),
        ({"max_optional": 2}, {"a": {"type": "string"}}),
        ({"max_unions": 2}, {"a": {"type": ["string", "null"]}}),
        ({"max_fields": 2}, {"a": {"type": "string"}}),
    ],
)
def test_limits_of_a_request_end_strictness_not_the_offer(limits, properties):
    schema = CLOSED | {"properties": properties}
    tools = tuple(Tool(f"t{n}", parameters=schema, strict=True) for n in range(4))
    fitted, findings = fitted_tools(tools, strict_rule(**limits), Policy())
    assert [tool.strict for tool in fitted] == [True, True, False, False]
    assert [(one.code, one.where) for one in findings] == [
        ("strict_dropped", "tools[2].strict"),
        ("strict_dropped", "tools[3].strict"),
    ]


@pytest.mark.parametrize(
    ("limits", "properties"),
    [
        ({"max_properties": 1}, {"a": {"type": "string"}, "b": {"type": "string"}}),
        ({"max_values": 1}, {"a": {"enum": [1, 2]}}),
        ({"max_optional_each": 1}, {"a": {"type": "string"}, "b": {"type": "string"}}),
        ({"some_required": True}, {"a": {"type": "string"}}),
        (
            {"max_depth": 1},
            {"a": CLOSED | {"properties": {"b": {"type": "string", "enum": ["x"]}}}},
        ),
    ],
)
def test_limits_of_a_schema_end_strictness(limits, properties):
    tools = (Tool("a", parameters=CLOSED | {"properties": properties}, strict=True),)
    fitted, findings = fitted_tools(tools, strict_rule(**limits), Policy())
    assert fitted[0].strict is False
    assert fitted[0].parameters is tools[0].parameters
    assert [one.code for one in findings] == ["strict_dropped"]


def test_a_strict_tool_is_made_to_fit_by_policy_only():
    tools = (Tool("a", parameters={"type": "object", "properties": {}}, strict=True),)
    fitted, findings = fitted_tools(tools, strict_rule(), Policy(strict_tools="made"))
    assert (fitted[0].strict, fitted[0].parameters) == (True, CLOSED)
    assert [one.code for one in findings] == ["schema_narrowed"]
    with pytest.raises(UntranslatableSchema):
        fitted_tools(tools, strict_rule(), Policy(schemas="refuse"))


def test_a_strict_tool_without_a_schema_says_that_it_has_no_parameters():
    tools = (Tool("a", strict=True), Tool("b"))
    fitted, findings = fitted_tools(tools, strict_rule(), Policy())
    assert (fitted[0].strict, fitted[0].parameters) == (True, CLOSED | {"required": []})
    assert fitted[1] is tools[1]
    assert [(one.code, one.where) for one in findings] == [
        ("schema_reworded", "tools[0].parameters")
    ]


def test_where_nothing_is_known_of_strict_mode_the_flag_stays():
    tools = (Tool("a", parameters={"type": "object"}, strict=True),)
    assert fitted_tools(tools, SchemaRule(), Policy()) == (tools, [])


def test_what_was_fitted_before_is_not_fitted_again_and_cannot_be_spoilt():
    schemas._known.cache_clear()
    tools = (Tool("b", parameters=TWICE),)
    first, _ = fitted_tools(tools, NARROW, Policy())
    first[0].parameters["properties"].clear()
    again, findings = fitted_tools(tools, NARROW, Policy())
    assert again[0].parameters["properties"].keys() == {"a", "b", "c"}
    assert len(findings) == 2
    assert schemas._known.cache_info()[:2] == (1, 1)


def test_values_that_json_has_no_form_for_are_refused_with_their_place():
    tools = (Tool("b"), Tool("b", parameters=TWICE | {"default": object()}))
    with pytest.raises(InvalidValue, match=r"tools\[1\].parameters.default"):
        fitted_tools(tools, NARROW, Policy())


def test_a_schema_that_is_deeper_than_anybody_reads_is_refused_with_its_place():
    schema = {"type": "object"}
    for _ in range(5_000):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(InvalidValue, match=r"tools\[0\].parameters"):
        fitted_tools((Tool("b", parameters=schema),), NARROW, Policy())


def test_a_schema_that_contains_itself_is_cut():
    schema = {"type": "object", "properties": {}}
    schema["properties"] |= {"a": schema, "b": schema}
    fitted, findings = fitted_tools((Tool("b", parameters=schema),), NARROW, Policy())
    msgspec.json.encode(fitted[0].parameters)
    assert "schema_weakened" in [one.code for one in findings]
