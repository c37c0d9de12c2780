"""Tools and the choice among them, both ways."""

import pytest
from msgspec.structs import replace

from canonicall.blocks import Native
from canonicall.errors import MalformedBody
from canonicall.request import Tool, ToolChoice
from canonicall.wire.openai_responses import FORMAT, TARGET
from canonicall.wire.openai_responses.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
CUSTOM = Tool(name="run", kind="custom")


@pytest.mark.parametrize(
    ("wire", "tool"),
    [
        (
            {
                "type": "function",
                "name": "f",
                "description": "d",
                "parameters": SCHEMA,
                "strict": True,
            },
            Tool(name="f", description="d", parameters=SCHEMA, strict=True),
        ),
        (
            {"type": "function", "name": "f", "parameters": SCHEMA, "async": True},
            Tool(name="f", parameters=SCHEMA, native=Native(FORMAT, {"async": True})),
        ),
        (
            {"type": "custom", "name": "run", "format": {"type": "text"}},
            Tool(name="run", kind="custom", native=Native(FORMAT, {"format": {"type": "text"}})),
        ),
        (
            {"type": "web_search", "search_context_size": "low"},
            Tool(
                name="web_search",
                kind="server",
                native=Native(FORMAT, {"type": "web_search", "search_context_size": "low"}),
            ),
        ),
        (
            {"type": "mcp", "server_label": "s"},
            Tool(
                name="s", kind="server", native=Native(FORMAT, {"type": "mcp", "server_label": "s"})
            ),
        ),
    ],
)
def test_tools_in_both_directions(wire, tool):
    assert decode_tools([wire]) == ((tool,), [])
    assert encode_tools([tool], {}, TARGET) == ([wire], [])


def test_a_tool_written_as_for_chat_completions_is_read_and_reported():
    nested = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
    tools, findings = decode_tools([nested])
    assert tools == (Tool(name="f", parameters=SCHEMA),)
    assert [(one.code, one.where) for one in findings] == [("tool_nested", "$.tools[0].function")]


def test_a_tool_without_parameters_declares_an_empty_object():
    (wire,), _ = encode_tools([Tool(name="f")], {}, TARGET)
    assert wire["parameters"] == {"type": "object", "properties": {}}


def test_tools_have_their_wire_names():
    (wire,), _ = encode_tools([Tool(name="a.b")], {"a.b": "a_b"}, TARGET)
    assert wire["name"] == "a_b"


def test_tools_of_other_providers_are_left_out_with_a_finding():
    foreign = Tool(name="bash", kind="server", native=Native("anthropic", {"type": "bash"}))
    wire, findings = encode_tools([foreign, Tool(name="f")], {}, TARGET)
    assert [tool["name"] for tool in wire] == ["f"]
    assert [(one.code, one.where, one.action, one.fault) for one in findings] == [
        ("tool_dropped", "tools[0]", "dropped", "render")
    ]


def test_a_free_tool_becomes_a_function_where_there_are_none():
    free = replace(CUSTOM, native=Native(FORMAT, {"format": {"type": "text"}}))
    (wire,), findings = encode_tools([free], {}, replace(TARGET, custom_tools=False))
    assert wire == {
        "type": "function",
        "name": "run",
        "parameters": {
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
        },
    }
    assert [one.code for one in findings] == ["tool_converted"]


def test_a_tool_is_loaded_later_only_where_something_can_search_for_it():
    later = Tool("f", native=Native(FORMAT, {"defer_loading": True}))
    search = Tool("tool_search", kind="server", native=Native(FORMAT, {"type": "tool_search"}))
    (wire, _), findings = encode_tools([later, search], {}, TARGET)
    assert wire["defer_loading"] is True
    assert findings == []
    (wire,), findings = encode_tools([later], {}, TARGET)
    assert "defer_loading" not in wire
    assert [one.code for one in findings] == ["fields_dropped"]


@pytest.mark.parametrize(
    ("tools", "where"),
    [
        ({}, "$.tools"),
        (["x"], "$.tools[0]"),
        ([{"type": "function", "name": 1}], "$.tools[0].name"),
        ([{"type": "function", "name": "f", "parameters": []}], "$.tools[0].parameters"),
    ],
)
def test_wrong_shapes_are_refused_with_their_path(tools, where):
    with pytest.raises(MalformedBody) as caught:
        decode_tools(tools)
    assert caught.value.where == where


FUNCTION = {"type": "function", "name": "f"}
SOME = {"type": "allowed_tools", "mode": "auto", "tools": [FUNCTION]}
MANY = {
    "type": "allowed_tools",
    "mode": "required",
    "tools": [FUNCTION, {"type": "custom", "name": "run"}],
}


@pytest.mark.parametrize(
    ("wire", "choice"),
    [
        ("auto", ToolChoice("auto")),
        ("required", ToolChoice("required")),
        ("none", ToolChoice("none")),
        (FUNCTION, ToolChoice("required", ("f",))),
        ({"type": "custom", "name": "run"}, ToolChoice("required", ("run",))),
        (SOME, ToolChoice("auto", ("f",))),
        (MANY, ToolChoice("required", ("f", "run"))),
    ],
)
def test_choices_in_both_directions(wire, choice):
    assert decode_choice(wire, None) == (choice, [])
    assert encode_choice(choice, [CUSTOM], {}, TARGET) == {"tool_choice": wire}


def test_one_required_tool_of_a_list_is_that_tool():
    wire = {"type": "allowed_tools", "mode": "required", "tools": [FUNCTION]}
    choice, _ = decode_choice(wire, None)
    assert encode_choice(choice, [], {}, TARGET) == {"tool_choice": FUNCTION}


@pytest.mark.parametrize("parallel", [True, False])
def test_the_parallel_switch_alone_forces_nothing(parallel):
    choice, _ = decode_choice(None, parallel)
    assert choice == ToolChoice(parallel=parallel)
    assert encode_choice(choice, [], {}, TARGET) == {"parallel_tool_calls": parallel}


def test_nothing_said_is_no_choice():
    assert decode_choice(None, None) == (None, [])


@pytest.mark.parametrize(
    "hosted",
    [
        {"type": "web_search_preview"},
        {"type": "mcp", "server_label": "s"},
        {"type": "apply_patch"},
        {"type": "allowed_tools", "mode": "auto", "tools": [FUNCTION, {"type": "mcp"}]},
        {"type": "allowed_tools", "mode": "auto", "tools": []},
    ],
)
def test_hosted_tools_cannot_be_chosen_in_canonical_words(hosted):
    assert decode_choice(hosted, None) == (None, [])


def test_a_choice_written_as_for_chat_completions_is_read_and_reported():
    choice, findings = decode_choice({"type": "function", "function": {"name": "f"}}, None)
    assert choice == ToolChoice("required", ("f",))
    assert [one.code for one in findings] == ["tool_nested"]


def test_a_chosen_tool_has_its_wire_name():
    fields = encode_choice(ToolChoice("required", ("a.b",)), [], {"a.b": "a_b"}, TARGET)
    assert fields == {"tool_choice": {"type": "function", "name": "a_b"}}
