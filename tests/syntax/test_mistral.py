"""Mistral: lists, names with arguments, ids."""

import pytest

from batches import each
from canonicall import Text, ToolCall, ToolResult
from canonicall.syntax.registry import get_syntax
from syntax.support import codes, read, said

ALL = ("mistral", "mistral_v11", "mistral_pre_v11")
CALL = ToolCall(id="abcdefghi", name="f", args={"a": 1})
RESULT = ToolResult(call_id="abcdefghi", content=(Text(text="fine"),))


@each("syntax", ALL)
@each(
    ("text", "id"),
    [
        ('[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}, "id": "abcdefghi"}]', "abcdefghi"),
        ("[TOOL_CALLS] [{'name': 'f', 'arguments': {'a': 1}}]", ""),
        ('[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}][/TOOL_CALLS]', ""),
        ('[TOOL_CALLS]{"name": "f", "arguments": {"a": 1}}', ""),
        ('[TOOL_CALLS]f[ARGS]{"a": 1}', ""),
        ('[TOOL_CALLS]f{"a": 1}</s>', ""),
        ('[TOOL_CALLS]f {"a": 1}[/TOOL_CALLS]', ""),
        ('[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{"a": 1}', "abcdefghi"),
    ],
)
def test_every_version_is_read(syntax, text, id):
    parsed = read(text, syntax)
    assert [(one.name, one.id) for one in parsed.calls] == [("f", id)]
    assert parsed.calls[0].args == {"a": 1}
    assert parsed.text == ""


def test_calls_in_a_row():
    parsed = read('hi [TOOL_CALLS]f[ARGS]{"a": "[TOOL_CALLS]"}[TOOL_CALLS]g[ARGS]{} bye', "mistral")
    assert said(parsed.calls) == [("f", {"a": "[TOOL_CALLS]"}), ("g", {})]
    assert parsed.text.split() == ["hi", "bye"]


def test_calls_in_a_row_behind_one_marker():
    text = '[TOOL_CALLS]f[ARGS]{"a": "g[ARGS]{}"}g[CALL_ID]abcdefghi[ARGS]{}\nh[ARGS]{}[/TOOL_CALLS] bye'
    parsed = read(text, "mistral")
    assert said(parsed.calls) == [("f", {"a": "g[ARGS]{}"}), ("g", {}), ("h", {})]
    assert [one.id for one in parsed.calls] == ["", "abcdefghi", ""]
    assert (parsed.text.strip(), codes(parsed)) == ("bye", [])


def test_the_last_of_several_may_be_cut():
    parsed = read('[TOOL_CALLS]f[ARGS]{"a": 1}g[ARGS]{"b": ', "mistral")
    assert [(one.name, one.truncated) for one in parsed.calls] == [("f", False), ("g", True)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("g[ARGS", []),
        ("g[1] is first", []),
        ("g{}", []),
        ("two words[ARGS]{}", []),
        ("g[ARGS]nothing", ["call_unreadable"]),
    ],
)
def test_words_behind_a_call_are_no_name(words, found):
    parsed = read(f'[TOOL_CALLS]f[ARGS]{{"a": 1}}{words}', "mistral")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert (parsed.text, codes(parsed)) == (words, found)


def test_calls_in_a_thought_are_drafts():
    text = "[THINK]maybe [TOOL_CALLS]f[ARGS]{}[/THINK][TOOL_CALLS]g[ARGS]{}"
    parsed = read(text, "mistral")
    assert said(parsed.calls) == [("g", {})]
    assert parsed.thinking == "maybe [TOOL_CALLS]f[ARGS]{}"


@pytest.mark.parametrize(
    "text",
    [
        "[TOOL_CALLS]no call at all[/TOOL_CALLS]",
        "[TOOL_CALLS] [not valid]",
        '[TOOL_CALLS][ARGS]{"a": 1}',
        '[TOOL_CALLS]two words[ARGS]{"a": 1}',
        "[TOOL_CALLS]f[ARGS]",
        "[TOOL_CALLS]f",
        "[TOOL_CALLS]",
    ],
)
def test_what_is_no_call_stays_text(text):
    parsed = read(text, "mistral")
    assert (parsed.calls, parsed.text) == ((), text)
    assert codes(parsed) == ["call_unreadable"]


@pytest.mark.parametrize(
    ("syntax", "calls", "results"),
    [
        ("mistral", '[TOOL_CALLS]f[ARGS]{"a": 1}', "[TOOL_RESULTS]fine[/TOOL_RESULTS]"),
        (
            "mistral_v11",
            '[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{"a": 1}',
            "[TOOL_RESULTS]abcdefghi[TOOL_CONTENT]fine[/TOOL_RESULTS]",
        ),
        (
            "mistral_pre_v11",
            '[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}, "id": "abcdefghi"}]',
            '[TOOL_RESULTS] {"content": "fine", "call_id": "abcdefghi"}[/TOOL_RESULTS]',
        ),
    ],
)
def test_how_it_looks(syntax, calls, results):
    declared = get_syntax(syntax)
    assert declared.print_calls is not None
    assert declared.print_results is not None
    assert declared.print_calls((CALL,)) == calls
    assert declared.print_results((RESULT,)) == results


def test_results_that_are_json_stand_for_themselves():
    print_results = get_syntax("mistral_pre_v11").print_results
    assert print_results is not None
    result = ToolResult(call_id="abcdefghi", content=(Text(text='{"ok": true}'),))
    assert print_results((result,)).startswith('[TOOL_RESULTS] {"content": {"ok": true}, ')
