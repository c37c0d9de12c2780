"""Kimi K2: ids that hold the name, and all that its servers leave out."""

import pytest

from canonicall import Text, ToolCall, ToolResult
from canonicall.syntax.registry import get_syntax
from syntax.support import codes, read, said

BEGIN, ARGUMENTS, END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
SECTION, SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
LOOK = {"name": "look", "parameters": {"properties": {"at": {}}, "required": ["at"]}}
TURN = {"name": "turn", "parameters": {"properties": {"by": {}, "at": {}}, "required": ["by"]}}


def call(id: str, arguments: str = '{"at": 1}') -> str:
    return f"{BEGIN}{id}{ARGUMENTS}{arguments}{END}"


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("functions.look:0", "look"),
        ("functions.look:12", "look"),
        ("look:3", "look"),
        ("functions.look", "look"),
        ("api.tools.look:0", "api.tools.look"),
        ("functions.a:b:1", "a:b"),
    ],
)
def test_the_name_is_in_the_id_and_the_id_is_kept(id, name):
    parsed = read(f"{SECTION}{call(id)}{SECTION_END}", "kimi_k2")
    assert [(one.id, one.name) for one in parsed.calls] == [(id, name)]
    assert parsed.text == ""


@pytest.mark.parametrize(
    "text",
    [
        call("functions.look:0"),
        SECTION + call("functions.look:0"),
        call("functions.look:0") + SECTION_END,
        f"{SECTION}{call('functions.look:0')[: -len(END)]}{SECTION_END}",
        f"{SECTION}{call('functions.look:0')[: -len(END)]}",
        f"{SECTION}\n{call('functions.look:0')}\n{SECTION_END}\n<|im_end|>",
        call("functions.look:0").join(
            ["<|tool_call_section_begin|>", "<|tool_call_section_end|>"],
        ),
        call("functions.look:0") + END + END,
        f'{SECTION}{BEGIN} functions.look:0\n{ARGUMENTS} {{"at": 1}} {END}{SECTION_END}',
    ],
)
def test_frames_may_be_missing_or_spelled_otherwise(text):
    parsed = read(text, "kimi_k2")
    assert said(parsed.calls) == [("look", {"at": 1})]
    assert (parsed.text, parsed.findings) == ("", ())


def test_calls_end_a_thought():
    parsed = read(f"<think>hm {SECTION}{call('functions.look:0')}{SECTION_END}", "kimi_k2")
    assert (parsed.thinking, parsed.text) == ("hm", "")
    assert said(parsed.calls) == [("look", {"at": 1})]


def test_a_call_without_arguments():
    assert said(read(f"{SECTION}{BEGIN}functions.look:0{END}", "kimi_k2").calls) == [("look", {})]


@pytest.mark.parametrize("id", ["0", "call_ab12"])
def test_without_a_name_the_only_tool_that_fits_is_meant(id):
    parsed = read(SECTION + call(id) + SECTION_END, "kimi_k2", tools=[LOOK, TURN])
    assert [(one.id, one.name, one.args) for one in parsed.calls] == [(id, "look", {"at": 1})]
    assert codes(parsed) == ["name_guessed"]


@pytest.mark.parametrize(
    ("arguments", "tools"),
    [
        ('{"by": 1, "at": 2}', [TURN, {**TURN, "name": "spin"}]),
        ('{"what": 1}', [LOOK, TURN]),
        ('{"at": 1', [LOOK]),
        ('{"at": 1}', [{"name": "free"}]),
        ('{"at": 1}', None),
    ],
)
def test_without_a_name_and_without_one_tool_that_fits_it_is_text(arguments, tools):
    text = call("0", arguments)
    parsed = read(text, "kimi_k2", tools=tools)
    assert parsed.calls == ()
    assert arguments in parsed.text
    assert codes(parsed) == ["call_unreadable"]


def test_text_in_a_section_is_kept():
    text = f"{SECTION}hello{call('functions.look:0')[: -len(END)]} there {END}{SECTION_END}"
    parsed = read(text, "kimi_k2")
    assert said(parsed.calls) == [("look", {"at": 1})]
    assert parsed.text.split() == ["hello", "there"]
    assert codes(parsed) == ["text_in_call"]


def test_bad_calls_do_not_spoil_those_behind():
    text = f"{SECTION}{BEGIN}{ARGUMENTS}{{}}{END}{call('functions.look:1')}{SECTION_END}"
    assert said(read(text, "kimi_k2").calls) == [("look", {"at": 1})]


def test_ids_of_the_form_are_printed_and_others_are_made():
    syntax = get_syntax("kimi_k2")
    assert syntax.print_calls is not None
    calls = (
        ToolCall(id="functions.look:7", name="look", args={"at": 1}),
        ToolCall(id="call_1", name="turn", args={}),
    )
    assert syntax.print_calls(calls) == (
        f"{SECTION}{call('functions.look:7')}{call('functions.turn:1', '{}')}{SECTION_END}"
    )
    result = ToolResult(call_id="functions.look:7", content=(Text(text="a lake"),))
    assert syntax.print_results is not None
    assert syntax.print_results((result,)) == (
        "<|im_system|>tool<|im_middle|>## Return of functions.look:7\na lake<|im_end|>"
    )
