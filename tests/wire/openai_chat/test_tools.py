"""Tool definitions and every form of the choice."""

import pytest
from msgspec.structs import replace

from canonicall import Native
from canonicall.request import Tool, ToolChoice
from canonicall.wire.openai_chat import FORMAT, TARGET
from canonicall.wire.openai_chat.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
MARKED = replace(TARGET, cache_marks=4)


def native(**fields) -> Native:
    return Native(FORMAT, fields)


PAIRS = {
    "function": (
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        Tool("f", "d", SCHEMA),
    ),
    "bare": ({"type": "function", "function": {"name": "f"}}, Tool("f")),
    "strict": (
        {"type": "function", "function": {"name": "f", "strict": False}},
        Tool("f", strict=False),
    ),
    "marked": (
        {
            "type": "function",
            "function": {"name": "f"},
            "cache_control": {"type": "ephemeral", "ttl": "5m"},
        },
        Tool("f", cache="5m"),
    ),
    "custom": (
        {"type": "custom", "custom": {"name": "g", "description": "d", "format": {"type": "text"}}},
        Tool("g", "d", kind="custom", native=native(custom={"format": {"type": "text"}})),
    ),
    "with more fields": (
        {"type": "function", "function": {"name": "f", "x": 1}, "y": 2},
        Tool("f", native=native(function={"x": 1}, y=2)),
    ),
    "server": (
        {"type": "openrouter:web_search", "parameters": {"max_uses": 1}},
        Tool(
            "openrouter:web_search",
            kind="server",
            native=native(type="openrouter:web_search", parameters={"max_uses": 1}),
        ),
    ),
    "builtin of Kimi": (
        {"type": "builtin_function", "function": {"name": "$web_search"}},
        Tool(
            "builtin_function",
            kind="server",
            native=native(type="builtin_function", function={"name": "$web_search"}),
        ),
    ),
    "server with a field of its own": (
        {"type": "web_search", "web_search": {"name": "search"}},
        Tool(
            "search", kind="server", native=native(type="web_search", web_search={"name": "search"})
        ),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_tool_means_the_same_in_both_forms(name):
    wire, tool = PAIRS[name]
    findings: list = []
    assert decode_tools({"tools": [wire]}, findings) == (tool,)
    assert encode_tools([tool], {}, MARKED) == ([wire], [])
    assert findings == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"functions": [{"name": "f", "description": "d"}]}, "legacy_function"),
        ({"tools": [{"type": "function", "name": "f", "description": "d"}]}, "flat_tool"),
    ],
)
def test_other_spellings_of_a_function(body, code):
    findings: list = []
    assert decode_tools(body, findings) == (Tool("f", "d"),)
    assert [finding.code for finding in findings] == [code]


def test_a_function_without_its_type_is_one():
    """Mistral's SDK leaves it out."""
    assert decode_tools({"tools": [{"function": {"name": "f"}}]}, []) == (Tool("f"),)


def test_no_mark_where_the_target_takes_none():
    (wire,), _ = encode_tools([Tool("f", cache="1h")], {}, TARGET)
    assert wire == {"type": "function", "function": {"name": "f"}}


def test_a_server_tool_of_another_format_is_dropped():
    tool = Tool("search", kind="server", native=Native("anthropic", {"type": "web_search"}))
    wire, findings = encode_tools([tool, Tool("f")], {}, TARGET)
    assert [one["function"]["name"] for one in wire] == ["f"]
    assert [(one.code, one.where, one.action) for one in findings] == [
        ("tool_dropped", "tools[0]", "dropped")
    ]


def test_a_custom_tool_is_a_function_where_there_are_none():
    target = replace(TARGET, custom_tools=False)
    (wire,), findings = encode_tools([Tool("g", "d", kind="custom")], {"g": "h"}, target)
    assert wire["function"]["name"] == "h"
    assert wire["function"]["parameters"]["required"] == ["input"]
    assert [one.code for one in findings] == ["tool_converted"]


@pytest.mark.parametrize(
    ("wire", "mode", "names"),
    [
        ("auto", "auto", ()),
        ("none", "none", ()),
        ("required", "required", ()),
        ("any", "required", ()),
        ({"type": "any"}, "required", ()),
        ({"type": "auto"}, "auto", ()),
        ({"type": "function", "function": {"name": "f"}}, "required", ("f",)),
        ({"function": {"name": "f"}}, "required", ("f",)),
        ({"type": "function", "name": "f"}, "required", ("f",)),
        ({"type": "tool", "name": "f"}, "required", ("f",)),
        ({"type": "custom", "custom": {"name": "g"}}, "required", ("g",)),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [
                        {"type": "function", "function": {"name": "f"}},
                        {"type": "custom", "custom": {"name": "g"}},
                    ],
                },
            },
            "required",
            ("f", "g"),
        ),
        ({"type": "allowed_tools", "mode": "none", "tools": ["f"]}, "none", ()),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
            "auto",
            ("f",),
        ),
    ],
)
def test_every_form_of_the_choice_is_read(wire, mode, names):
    findings: list = []
    assert decode_choice({"tool_choice": wire}, findings) == ToolChoice(mode, names)
    assert findings == []


@pytest.mark.parametrize(
    ("wire", "mode", "names"),
    [("auto", "auto", ()), ("none", "none", ()), ({"name": "f"}, "required", ("f",))],
)
def test_the_legacy_choice_is_read(wire, mode, names):
    assert decode_choice({"function_call": wire}, []) == ToolChoice(mode, names)


def test_the_parallel_switch_alone_forces_nothing():
    choice = decode_choice({"parallel_tool_calls": False}, [])
    assert choice == ToolChoice(None, parallel=False)
    assert encode_choice(choice, [Tool("f")], {}, TARGET) == {"parallel_tool_calls": False}


def test_no_choice_is_none():
    assert decode_choice({"tool_choice": None, "parallel_tool_calls": None}, []) is None
    assert encode_choice(None, [Tool("f")], {}, TARGET) == {}


@pytest.mark.parametrize("wire", ["perhaps", {"type": "perhaps"}, {"type": ["auto"]}])
def test_a_choice_that_cannot_be_read_is_reported(wire):
    findings: list = []
    assert decode_choice({"tool_choice": wire}, findings) is None
    assert [(one.code, one.where) for one in findings] == [("unknown_choice", "$.tool_choice")]


FUNCTION_F = {"type": "function", "function": {"name": "f"}}
CUSTOM_G = {"type": "custom", "custom": {"name": "g"}}


def allowed(mode, *tools) -> dict:
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": list(tools)}}


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        (ToolChoice("auto"), "auto"),
        (ToolChoice("none"), "none"),
        (ToolChoice("none", ("f",)), "none"),
        (ToolChoice("required"), "required"),
        (ToolChoice("required", ("f",)), FUNCTION_F),
        (ToolChoice("required", ("g",)), CUSTOM_G),
        (ToolChoice("required", ("f", "g")), allowed("required", FUNCTION_F, CUSTOM_G)),
        (ToolChoice("auto", ("f",)), allowed("auto", FUNCTION_F)),
    ],
)
def test_a_choice_is_written(choice, wire):
    tools = [Tool("f"), Tool("g", kind="custom")]
    assert encode_choice(choice, tools, {}, TARGET) == {"tool_choice": wire}


def test_a_custom_tool_is_named_as_what_it_was_offered_as():
    choice, tools = ToolChoice("required", ("g",)), [Tool("g", kind="custom")]
    written = encode_choice(choice, tools, {"g": "h"}, replace(TARGET, custom_tools=False))
    assert written == {"tool_choice": {"type": "function", "function": {"name": "h"}}}
