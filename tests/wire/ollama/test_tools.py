"""Tools of Ollama, and a tool choice that it does not have."""

import pytest

from canonicall import decode_request
from canonicall.blocks import Native
from canonicall.errors import MalformedBody
from canonicall.request import Tool, ToolChoice
from canonicall.wire.offering import offered_tools
from canonicall.wire.ollama import TARGET
from canonicall.wire.ollama.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)

F, G = Tool("f"), Tool("g")


def test_a_tool_that_is_no_function_is_left_out_and_named():
    tools = [{"type": "new_kind", "a": 1}]
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": tools}
    request = decode_request(body, "ollama")
    assert request.tools == ()
    assert [(one.code, one.where) for one in request.findings] == [("tool_dropped", "$.tools[0]")]


def test_tools_come_back_as_they_were():
    given = [
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": "d",
                "parameters": {"type": "object"},
                "new": 1,
            },
        },
    ]
    tools = decode_tools(given)
    assert [(tool.name, tool.kind) for tool in tools] == [("f", "function")]
    assert encode_tools(tools, {}) == (given, [])


def test_a_tool_without_parameters_gets_the_empty_schema_and_its_wire_name():
    entries, _ = encode_tools([Tool("my.tool")], {"my.tool": "my_tool"})
    assert entries == [
        {
            "type": "function",
            "function": {"name": "my_tool", "parameters": {"type": "object", "properties": {}}},
        }
    ]


def test_tools_that_ollama_lacks_are_converted_or_dropped():
    foreign = Tool("search", kind="server", native=Native("anthropic", {"type": "web_search"}))
    entries, findings = encode_tools([Tool("sh", kind="custom"), foreign], {})
    assert [entry["function"]["parameters"]["required"] for entry in entries] == [["input"]]
    assert [f.code for f in findings] == ["tool_converted", "tool_dropped"]


def test_a_choice_on_the_wire_is_reported():
    findings = []
    assert decode_choice(None, findings) is None
    assert findings == []
    assert decode_choice("required", findings) is None
    assert [(f.code, f.where) for f in findings] == [("unknown_choice", "$.tool_choice")]


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        (None, 0),
        (ToolChoice("auto"), 0),
        (ToolChoice(parallel=True), 0),
        (ToolChoice(parallel=False), 1),
        (ToolChoice("required"), 1),
        (ToolChoice("none"), 1),
        (ToolChoice("auto", ("f",)), 1),
        (ToolChoice("required", ("f",)), 2),
    ],
)
def test_what_a_choice_cannot_say_is_reported(choice, count):
    written, findings = encode_choice(choice, TARGET)
    assert written is None
    assert [f.code for f in findings] == ["choice_weakened"] * count


def test_fewer_tools_say_what_a_choice_cannot():
    assert offered_tools((F, G), None, TARGET) == (F, G)
    assert offered_tools((F, G), ToolChoice("none"), TARGET) == ()
    assert offered_tools((F, G), ToolChoice("auto", ("g",)), TARGET) == (G,)
    assert offered_tools((F, G), ToolChoice("auto", ("x",)), TARGET) == (F, G)


@pytest.mark.parametrize(
    ("tools", "where"),
    [
        ({}, "$.tools"),
        ([1], "$.tools[0]"),
        ([{"function": [1]}], "$.tools[0].function"),
        ([{"function": {"parameters": []}}], "$.tools[0].function.parameters"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(tools, where):
    with pytest.raises(MalformedBody) as caught:
        decode_tools(tools)
    assert caught.value.where == where
