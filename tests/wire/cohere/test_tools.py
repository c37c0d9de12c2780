"""Tools and tool choice of Cohere."""

import pytest
from msgspec.structs import replace

from canonicall import decode_request
from canonicall.blocks import Native
from canonicall.errors import MalformedBody
from canonicall.request import Tool, ToolChoice
from canonicall.wire.cohere import TARGET
from canonicall.wire.cohere.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)
from canonicall.wire.offering import offered_tools

F, G = Tool("fff"), Tool("ggg")


def test_a_tool_that_is_no_function_is_left_out_and_named():
    tools = [{"type": "new_kind", "a": 1}]
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": tools}
    request = decode_request(body, "cohere")
    assert request.tools == ()
    assert [(one.code, one.where) for one in request.findings] == [("tool_dropped", "$.tools[0]")]


def test_tools_come_back_as_they_were():
    given = [
        {
            "type": "function",
            "function": {
                "name": "fff",
                "description": "d",
                "parameters": {"type": "object"},
                "new": 1,
            },
        },
    ]
    tools = decode_tools(given, strict=True)
    assert [(tool.name, tool.kind, tool.strict) for tool in tools] == [("fff", "function", True)]
    assert encode_tools(tools, {}) == (given, [])


def test_a_tool_without_parameters_gets_the_empty_schema_and_its_wire_name():
    entries, _ = encode_tools([Tool("my.tool")], {"my.tool": "my_tool"})
    assert entries == [
        {
            "type": "function",
            "function": {"name": "my_tool", "parameters": {"type": "object", "properties": {}}},
        }
    ]


def test_tools_that_cohere_lacks_are_converted_or_dropped():
    foreign = Tool("search", kind="server", native=Native("anthropic", {"type": "web_search"}))
    entries, findings = encode_tools([Tool("sh", kind="custom"), foreign], {})
    assert [entry["function"]["parameters"]["required"] for entry in entries] == [["input"]]
    assert [f.code for f in findings] == ["tool_converted", "tool_dropped"]


@pytest.mark.parametrize(
    ("wire", "choice"),
    [("REQUIRED", ToolChoice("required")), ("NONE", ToolChoice("none")), (None, None)],
)
def test_every_choice_cohere_has_goes_both_ways(wire, choice):
    findings = []
    assert decode_choice(wire, findings) == choice
    assert encode_choice(choice, TARGET) == (wire, findings) == (wire, [])


@pytest.mark.parametrize("mode", ["required", "none"])
def test_a_choice_in_the_small_letters_of_others_is_understood(mode):
    findings = []
    choice = decode_choice(mode, findings)
    assert (choice, findings) == (ToolChoice(mode), [])
    assert encode_choice(choice, TARGET)[0] == mode.upper()


@pytest.mark.parametrize("value", ["any", {"type": "function"}, 1])
def test_an_unknown_choice_is_reported(value):
    findings = []
    assert decode_choice(value, findings) is None
    assert [(f.code, f.where) for f in findings] == [("unknown_choice", "$.tool_choice")]


@pytest.mark.parametrize(
    ("choice", "wire", "count"),
    [
        (ToolChoice("auto"), None, 0),
        (ToolChoice("auto", parallel=False), None, 1),
        (ToolChoice(parallel=True), None, 0),
        (ToolChoice("required", ("fff",)), "REQUIRED", 1),
        (ToolChoice("auto", ("fff", "ggg")), None, 1),
        (ToolChoice("required", ("fff",), parallel=False), "REQUIRED", 2),
    ],
)
def test_what_a_choice_cannot_say_is_reported(choice, wire, count):
    written, findings = encode_choice(choice, TARGET)
    assert written == wire
    assert [f.code for f in findings] == ["choice_weakened"] * count


def test_a_model_without_choices_gets_none():
    target = replace(TARGET, choice_modes=())
    written, findings = encode_choice(ToolChoice("required"), target)
    assert written is None
    assert [f.code for f in findings] == ["choice_weakened"]
    assert offered_tools((F,), ToolChoice("none"), target) == ()


def test_a_named_tool_is_the_only_one_offered():
    assert offered_tools((F, G), ToolChoice("required", ("ggg",)), TARGET) == (G,)
    assert offered_tools((F, G), ToolChoice("required", ("x",)), TARGET) == (F, G)
    assert offered_tools((F, G), ToolChoice("none"), TARGET) == (F, G)
    assert offered_tools((F, G), None, TARGET) == (F, G)


@pytest.mark.parametrize(
    ("tools", "where"),
    [
        ({}, "$.tools"),
        ([1], "$.tools[0]"),
        ([{"function": {"name": 1}}], "$.tools[0].function.name"),
        ([{"function": {"parameters": []}}], "$.tools[0].function.parameters"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(tools, where):
    with pytest.raises(MalformedBody) as caught:
        decode_tools(tools)
    assert caught.value.where == where
