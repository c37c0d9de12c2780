"""Calls and results of chat messages, in every shape that hosts have."""

import pytest
from msgspec.structs import replace

from canonicall import Text, ToolCall, ToolResult
from canonicall.transcript.turns import Turn
from canonicall.wire.openai_chat import TARGET
from canonicall.wire.openai_chat.messages import encode_turn
from wire.openai_chat.forms import decode, decoded, encode, native


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"id": "c", "function": {"name": "f", "arguments": "{}"}}, {"raw": "{}"}),
        (
            {"id": "c", "index": 3, "function": {"name": "f", "arguments": {"a": 1}}},
            {"args": {"a": 1}},
        ),
        ({"id": "c", "function": {"name": "f", "arguments": None}}, {"args": {}}),
        ({"id": "c", "function": {"name": "f"}}, {"args": {}}),
        ({"id": None, "function": {"name": "f"}}, {"id": "", "args": {}}),
        ({"id": "", "function": {"name": "f"}}, {"id": "", "args": {}}),
        ({"id": "null", "function": {"name": "f"}}, {"id": "", "args": {}}),
        ({"function": {"name": "f"}}, {"id": "", "args": {}}),
        (
            {"id": "c", "function": {"name": "f"}, "custom": {"name": "", "input": ""}},
            {"args": {}},
        ),
        (
            {"id": "c", "function": {"name": "f", "output": None, "x": 1}, "y": 2},
            {"args": {}, "native": native(y=2, function={"x": 1})},
        ),
    ],
)
def test_calls_are_read_as_they_come(call, expected):
    """Hosts leave out types, ids and arguments; no arguments are an empty object."""
    message = decoded({"role": "assistant", "tool_calls": [call]})
    assert message.blocks == (ToolCall(**{"id": "c", "name": "f", **expected}),)


def test_a_legacy_call_and_its_result():
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    result = {"role": "function", "name": "f", "content": "42"}
    (asked, answered), findings = decode(call, result)
    (block,) = asked.blocks
    assert (block.id, block.name, block.raw) == ("", "f", "{}")
    assert answered.blocks == (ToolResult(name="f", content=(Text(text="42"),), is_complete=True),)
    assert findings == [
        ("legacy_function", "$.messages[0].function_call"),
        ("legacy_function", "$.messages[1]"),
    ]
    written = encode(replace(block, id="call_1"))
    assert written["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]


@pytest.mark.parametrize("empty", [None, {}, {"name": "", "arguments": ""}])
def test_an_empty_legacy_call_is_none(empty):
    assert decoded({"role": "assistant", "content": "a", "function_call": empty}).calls == ()


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (ToolCall(raw='{"a": 1}', args={"a": 1}), '{"a": 1}'),
        (ToolCall(raw='{"a": 1}'), '{"a": 1}'),
        (ToolCall(args={"a": 1, "é": [None]}), '{"a":1,"é":[null]}'),
        (ToolCall(raw="", args={}), "{}"),
        (ToolCall(raw="null", args={}), "{}"),
        (ToolCall(raw="[1]"), '{"_raw":"[1]"}'),
        (ToolCall(raw='{"a": '), '{"_raw":"{\\"a\\": "}'),
        (ToolCall(), "{}"),
    ],
)
def test_arguments_are_the_text_of_an_object(call, arguments):
    """DashScope and Ollama refuse anything else in the history."""
    (written,) = encode(call)["tool_calls"]
    assert written["function"]["arguments"] == arguments


def test_a_custom_call_is_a_function_call_where_there_are_none():
    call = ToolCall(id="c", name="g", raw='say "hi"', kind="custom")
    (written,) = encode(call, target=replace(TARGET, custom_tools=False))["tool_calls"]
    assert written["function"] == {"name": "g", "arguments": '{"input":"say \\"hi\\""}'}


def test_a_result_names_its_tool_where_the_target_wants_it():
    result = ToolResult(call_id="c", name="f", content=(Text(text="42"),))
    assert "name" not in encode(result, role="tool")
    named = encode(result, role="tool", target=replace(TARGET, result_names_tool=True))
    assert named == {"role": "tool", "tool_call_id": "c", "name": "f", "content": "42"}


def test_each_result_of_a_turn_is_a_message():
    turn = Turn("tool", (ToolResult(call_id="a", content=()), ToolResult(call_id="b", content=())))
    assert [one["tool_call_id"] for one in encode_turn(turn, TARGET)] == ["a", "b"]


MIXED = [
    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
    {"type": "text", "text": "Now."},
]


def test_a_call_of_another_format_in_the_content_is_a_call():
    (message,), findings = decode({"role": "assistant", "content": MIXED})
    assert message.blocks == (ToolCall(id="toolu_1", name="f", args={"a": 1}), Text(text="Now."))
    assert findings == [("foreign_part", "$.messages[0].content[0]")]


def test_a_call_in_both_shapes_is_one_call():
    call = {"id": "toolu_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    (message,), findings = decode({"role": "assistant", "content": MIXED, "tool_calls": [call]})
    assert message.blocks == (Text(text="Now."), ToolCall(id="toolu_1", name="f", raw="{}"))
    assert [code for code, _ in findings] == ["foreign_part", "call_twice"]


def test_a_result_of_another_format_in_the_content_is_a_result():
    part = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42", "is_error": True}
    (message,), findings = decode({"role": "user", "content": [part]})
    content = (Text(text="42"),)
    assert message.blocks == (
        ToolResult(call_id="toolu_1", content=content, error=True, is_complete=True),
    )
    assert findings == [("foreign_part", "$.messages[0].content[0]")]
