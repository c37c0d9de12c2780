"""Tools and tool choice of Converse."""

import pytest

from canonicall.blocks import Native, ToolCall
from canonicall.errors import MalformedBody
from canonicall.request import Tool, ToolChoice
from canonicall.transcript.turns import Turn
from canonicall.wire.bedrock import TARGET
from canonicall.wire.bedrock.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
F, G = Tool("f"), Tool("g")
CALLED = (Turn("assistant", (ToolCall(id="t", name="h"),)),)


def test_tools_come_back_as_they_were():
    given = [
        {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": SCHEMA}}},
        {"cachePoint": {"type": "default", "ttl": "1h"}},
        {"toolSpec": {"name": "g", "inputSchema": {"json": SCHEMA}, "strict": True}},
        {"systemTool": {"name": "nova_grounding"}},
        {"cachePoint": {"type": "default"}},
    ]
    tools = decode_tools(given)
    assert [(t.name, t.kind, t.strict, t.cache) for t in tools] == [
        ("f", "function", None, "1h"),
        ("g", "function", True, None),
        ("nova_grounding", "server", None, "default"),
    ]
    assert encode_tools(tools, {}, TARGET) == (given, [])


def test_a_tool_without_parameters_gets_the_empty_schema():
    entries, _ = encode_tools([Tool("f")], {}, TARGET)
    assert entries == [
        {"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object", "properties": {}}}}}
    ]


def test_a_tool_is_written_under_its_wire_name():
    entries, _ = encode_tools([Tool("my.tool")], {"my.tool": "my_tool"}, TARGET)
    assert entries[0]["toolSpec"]["name"] == "my_tool"


def test_a_freeform_tool_gets_one_text_parameter():
    entries, findings = encode_tools([Tool("sh", kind="custom")], {}, TARGET)
    assert entries[0]["toolSpec"]["inputSchema"]["json"]["required"] == ["input"]
    assert [f.code for f in findings] == ["tool_converted"]


def test_a_server_tool_of_another_format_is_dropped():
    tool = Tool("web_search", kind="server", native=Native("anthropic", {"type": "web_search"}))
    entries, findings = encode_tools([tool], {}, TARGET)
    assert entries == []
    assert [f.code for f in findings] == ["tool_dropped"]


@pytest.mark.parametrize(
    ("wire", "choice"),
    [
        ({"auto": {}}, ToolChoice("auto")),
        ({"any": {}}, ToolChoice("required")),
        ({"tool": {"name": "f"}}, ToolChoice("required", ("f",))),
        (None, None),
    ],
)
def test_every_choice_converse_has_goes_both_ways(wire, choice):
    findings = []
    assert decode_choice(wire, findings) == choice
    assert (encode_choice(choice, {}), findings) == (wire, [])


def test_an_unknown_choice_is_reported():
    findings = []
    assert decode_choice({"some": {}}, findings) is None
    assert [(f.code, f.where) for f in findings] == [("unknown_choice", "$.toolConfig.toolChoice")]
    with pytest.raises(MalformedBody):
        decode_choice("auto", findings)


def test_a_named_choice_uses_the_wire_name():
    wire = encode_choice(ToolChoice("required", ("my.tool",)), {"my.tool": "my_tool"})
    assert wire == {"tool": {"name": "my_tool"}}


def test_a_wrong_schema_is_refused_with_its_path():
    with pytest.raises(MalformedBody) as caught:
        decode_tools([{"toolSpec": {"name": "f", "inputSchema": {"json": []}}}])
    assert caught.value.where == "$.toolConfig.tools[0].toolSpec.inputSchema.json"
