"""Tool definitions and every form of tool choice."""

import pytest

from canonicall.blocks import Native
from canonicall.conversation import Conversation
from canonicall.errors import MalformedBody
from canonicall.findings import Report
from canonicall.request import Request, Tool, ToolChoice
from canonicall.transcript.turns import Transcript
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)
from wire.support import written

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@pytest.mark.parametrize(
    ("wire", "tool"),
    [
        ({"name": "f", "input_schema": SCHEMA}, Tool("f", parameters=SCHEMA)),
        (
            {
                "name": "f",
                "description": "d",
                "input_schema": SCHEMA,
                "strict": True,
                "eager_input_streaming": True,
                "cache_control": {"type": "ephemeral", "ttl": "1h"},
            },
            Tool(
                "f",
                "d",
                SCHEMA,
                strict=True,
                cache="1h",
                native=Native("anthropic", {"eager_input_streaming": True}),
            ),
        ),
        (
            {"type": "web_search_20250305", "name": "web_search", "user_location": None},
            Tool(
                "web_search",
                kind="server",
                native=Native(
                    "anthropic",
                    {"type": "web_search_20250305", "name": "web_search", "user_location": None},
                ),
            ),
        ),
        (
            {"type": "mcp_toolset", "mcp_server_name": "s", "cache_control": {"type": "ephemeral"}},
            Tool(
                "s",
                kind="server",
                cache="default",
                native=Native("anthropic", {"type": "mcp_toolset", "mcp_server_name": "s"}),
            ),
        ),
        (
            {"type": "browser_toolset_20260801"},
            Tool(
                "browser_toolset_20260801",
                kind="server",
                native=Native("anthropic", {"type": "browser_toolset_20260801"}),
            ),
        ),
    ],
)
def test_definitions_both_ways(wire, tool):
    assert decode_tools([wire], []) == (tool,)
    assert encode_tools([tool], {}, TARGET) == ([wire], [])


def test_a_tool_that_is_loaded_later_keeps_no_mark():
    """Claude refuses the two together; a deferred tool is no part of the cached prefix."""
    later = {"name": "f", "input_schema": SCHEMA, "defer_loading": True}
    (tool,) = decode_tools([later | {"cache_control": {"type": "ephemeral"}}], [])
    request = Request(Conversation(), (tool, Tool("g", parameters=SCHEMA)))
    body, findings = written(request, Transcript((), {}, {}, Report()), TARGET)
    assert body["tools"] == [later, {"name": "g", "input_schema": SCHEMA}]
    assert ("cache_mark_dropped", "tools[0]") in [(one.code, one.where) for one in findings]


def test_not_all_tools_are_loaded_later():
    """Claude refuses a list in which nothing is there at once."""
    later = {"name": "f", "input_schema": SCHEMA, "defer_loading": True}
    wire, (finding,) = encode_tools(decode_tools([later, later | {"name": "g"}], []), {}, TARGET)
    assert [one["defer_loading"] for one in wire] == [False, False]
    assert (finding.code, finding.where) == ("fields_dropped", "tools")


def test_the_type_custom_is_the_usual_case():
    (tool,) = decode_tools([{"type": "custom", "name": "f", "input_schema": SCHEMA}], [])
    assert tool == Tool("f", parameters=SCHEMA)


def test_a_tool_without_parameters_still_has_a_schema():
    wire, _ = encode_tools([Tool("f")], {}, TARGET)
    assert wire == [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]


def test_names_are_the_targets_own():
    wire, _ = encode_tools([Tool("a.b"), Tool("c")], {"a.b": "a_b"}, TARGET)
    assert [one["name"] for one in wire] == ["a_b", "c"]


def test_a_tool_another_provider_runs_is_dropped_and_reported():
    foreign = Tool("search", kind="server", native=Native("gemini", {"googleSearch": {}}))
    wire, findings = encode_tools([Tool("f"), foreign], {}, TARGET)
    assert [one["name"] for one in wire] == ["f"]
    assert [(one.code, one.where, one.action) for one in findings] == [
        ("tool_dropped", "tools[1]", "dropped")
    ]


def test_a_freeform_tool_gets_one_text_parameter():
    wire, findings = encode_tools([Tool("sh", "d", kind="custom")], {}, TARGET)
    assert wire == [
        {
            "name": "sh",
            "description": "d",
            "input_schema": {
                "type": "object",
                "properties": {"input": {"type": "string"}},
                "required": ["input"],
            },
        }
    ]
    assert [one.code for one in findings] == ["tool_converted"]


@pytest.mark.parametrize(
    ("tools", "where"),
    [
        ({}, "$.tools"),
        (["f"], "$.tools[0]"),
        ([{"name": 1}], "$.tools[0].name"),
        ([{"name": "f", "input_schema": []}], "$.tools[0].input_schema"),
    ],
)
def test_wrong_kinds_are_refused_with_their_path(tools, where):
    with pytest.raises(MalformedBody) as error:
        decode_tools(tools, [])
    assert error.value.where == where


CHOICES = [
    ({"type": "auto"}, ToolChoice("auto")),
    ({"type": "any"}, ToolChoice("required")),
    ({"type": "none"}, ToolChoice("none")),
    ({"type": "tool", "name": "f"}, ToolChoice("required", ("f",))),
    ({"type": "auto", "disable_parallel_tool_use": True}, ToolChoice("auto", parallel=False)),
    ({"type": "auto", "disable_parallel_tool_use": False}, ToolChoice("auto", parallel=True)),
    (
        {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
        ToolChoice("required", ("f",), parallel=False),
    ),
]


@pytest.mark.parametrize(("wire", "choice"), CHOICES)
def test_choices_both_ways(wire, choice):
    assert decode_choice(wire) == choice
    assert encode_choice(choice, {}) == wire


def test_no_choice_and_an_unknown_one():
    assert decode_choice(None) is None
    assert decode_choice({"type": "of_tomorrow"}) is None
    with pytest.raises(MalformedBody, match="tool_choice"):
        decode_choice("auto")


def test_none_never_has_the_parallel_switch():
    assert encode_choice(ToolChoice("none", parallel=False), {}) == {"type": "none"}


def test_the_parallel_switch_alone_forces_nothing():
    wire = {"type": "auto", "disable_parallel_tool_use": True}
    assert encode_choice(ToolChoice(parallel=False), {}) == wire


def test_a_named_choice_uses_the_wire_name():
    wire = encode_choice(ToolChoice("required", ("a.b",)), {"a.b": "a_b"})
    assert wire == {"type": "tool", "name": "a_b"}
