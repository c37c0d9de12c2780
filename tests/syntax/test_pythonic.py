"""Calls in Python's form: pythonic, llama4_pythonic, lfm2, olmo3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall.blocks import ToolCall
from canonicall.errors import InvalidValue
from canonicall.syntax.parsing import parse
from syntax.readings import (
    any_keys,
    arguments_with,
    codes,
    names,
    plain_keys,
    printed,
    printed_results,
    read,
    reads_its_own_print,
    said,
    tool,
)

LFM = "<|tool_call_start|>[{}]<|tool_call_end|>"
MARKERS = ("<|tool_call_end|>", "</function_calls>", "<|python_end|>", ")]", "f(a=1)", "<think>")
SYNTAXES = ("pythonic", "llama4_pythonic", "lfm2", "olmo3")


def value(literal: str) -> object:
    """What is read where this literal is an argument."""
    (call,) = read(LFM.format(f"f(a={literal})"), "lfm2").calls
    assert not call.truncated
    assert call.args is not None
    return call.args["a"]


@each(
    ("literal", "expected"),
    [
        ("1", 1),
        ("-2.5e3", -2500.0),
        ("07", 7),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("True", True),
        ("false", False),
        ("None", None),
        ("null", None),
        ("'x'", "x"),
        ('""', ""),
        ('"""a "quoted" line\nand more"""', 'a "quoted" line\nand more'),
        (r'"tab\tquote\" \x41 \u00e9 \U0001f600 back\\slash"', 'tab\tquote" A é 😀 back\\slash'),
        (r'"\ud83d\ude00 \ud83d"', "😀 \\ud83d"),
        (r'"C:\path \d+ \u12"', r"C:\path \d+ \u12"),
        ('"she said "hi" to me"', 'she said "hi" to me'),
        ("[1, 'two', {'three': True}]", [1, "two", {"three": True}]),
        ("{'a': None, 'b': [1.5]}", {"a": None, "b": [1.5]}),
        ("{'red', 'blue'}", ["red", "blue"]),
        ("(1, 2)", [1, 2]),
        ("other(1, 2)", "other(1, 2)"),
        ("word", "word"),
        ("{}", {}),
    ],
)
def test_literals_are_read_and_nothing_is_evaluated(literal, expected):
    assert value(literal) == expected


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_several_calls_are_read_in_order(syntax):
    calls = [("get_weather", {"city": "Rome", "days": 3}), ("stop", {})]
    parsed = read(printed(syntax, *calls), syntax)
    assert said(parsed) == calls
    assert not parsed.findings


def test_a_bare_list_behind_words_counts_where_its_tools_were_offered():
    text = 'Sure. [f(a="x")] Done.'
    assert said(read(text, "pythonic", [tool("f")])) == [("f", {"a": "x"})]
    assert read(text, "pythonic", [tool("f")]).text.split() == ["Sure.", "Done."]
    assert not read(text, "pythonic", [tool("g")]).calls
    assert read(text, "pythonic", [tool("g")]).text == text
    assert not read(text, "pythonic").calls


@pytest.mark.parametrize(
    "text", ["[1, 2, 3]", "[see below]", "[f(1, 2)]", '[f("x")]', "[f(a=)]", "[f(a == 1)]", "[]"]
)
def test_lists_that_are_no_calls_stay_text(text):
    parsed = read(text, "pythonic", [tool("f")])
    assert parsed.text == text
    assert not parsed.calls


def test_a_marked_block_that_cannot_be_read_stays_text_and_says_so():
    text = LFM.format("f('positional')")
    parsed = read(f"{text} and {LFM.format('g(a=1)')}", "lfm2")
    assert parsed.text.startswith(text)
    assert said(parsed) == [("g", {"a": 1})]
    assert codes(parsed) == ["call_unreadable"]


def test_a_cut_call_is_kept_and_marked():
    parsed = read('[f(a=1), g(b="lo', "pythonic", [tool("f"), tool("g")])
    assert said(parsed) == [("f", {"a": 1}), ("g", {"b": "lo"})]
    assert [call.truncated for call in parsed.calls] == [False, True]


def test_a_call_cut_before_its_first_value_is_kept_without_arguments():
    parsed = read(LFM[:19] + "[f(a=", "lfm2")
    assert said(parsed) == [("f", {})]
    assert parsed.calls[0].truncated


def test_a_name_that_is_cut_is_text():
    assert read("<|tool_call_start|>[get_wea", "lfm2").text == "<|tool_call_start|>[get_wea"


def test_a_missing_bracket_is_added_with_a_finding():
    parsed = read('[f(a="x"]', "pythonic", [tool("f")])
    assert said(parsed) == [("f", {"a": "x"})]
    assert not parsed.calls[0].truncated
    assert codes(parsed) == ["arguments_repaired"]


def test_arguments_that_go_wrong_end_the_call_and_the_rest_is_text():
    parsed = read(LFM.format('f(a=1, "x")'), "lfm2")
    assert said(parsed) == [("f", {"a": 1})]
    assert parsed.calls[0].truncated
    assert '"x")' in parsed.text


def test_lfm2_reads_json_as_well():
    text = LFM.format('{"name": "f", "arguments": {"a": [1]}}')
    assert said(read(text, "lfm2")) == [("f", {"a": [1]})]


def test_thoughts_and_frames_are_no_words():
    text = "<think>Hm [f()]</think>Well.<|tool_call_start|>[f()]<|tool_call_end|><|im_end|>"
    parsed = read(text, "lfm2")
    assert parsed.thinking == "Hm [f()]"
    assert parsed.text == "Well."
    assert said(parsed) == [("f", {})]


def test_llama4_marks_its_lists_or_not():
    for text in ("<|python_start|>[f(a=1)]<|python_end|><|eot|>", "[f(a=1)]"):
        parsed = read(text, "llama4_pythonic")
        assert said(parsed) == [("f", {"a": 1})]
        assert not parsed.text


def test_lfm2_prints_results_as_its_template_does():
    text = "<|tool_response_start|>sunny<|tool_response_end|>"
    assert printed_results("lfm2", ("f", "sunny")) == text


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_what_python_cannot_name_is_not_printed(syntax):
    for call in (("f", {"a b": 1}), ("two words", {})):
        with pytest.raises(InvalidValue, match="cannot be said"):
            printed(syntax, call)


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(
    calls=st.lists(st.tuples(names, arguments_with(plain_keys, *MARKERS)), min_size=1, max_size=3)
)
def test_what_was_printed_is_read_as_it_was(syntax, calls):
    reads_its_own_print(syntax, calls)


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(args=arguments_with(any_keys, *MARKERS))
def test_what_is_printed_at_all_is_read_as_it_was(syntax, args):
    reads_its_own_print(syntax, [("f", args)], may_refuse=True)


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(
    st.lists(
        st.sampled_from(
            [*MARKERS, "<|tool_call_start|>", "<function_calls>", "[", "]", "f", "(", ")"]
        )
        | st.sampled_from(
            ["=", ",", "'", '"', '"""', "{", "}", "\\", "u00", "\ud800", "a", "1", " "]
        ),
        max_size=12,
    ).map("".join)
)
def test_any_text_is_read_the_same_in_any_pieces(syntax, text):
    parsed = read(text, syntax, [tool("f")])
    assert all(isinstance(call, ToolCall) for call in parsed.calls)


@pytest.mark.parametrize(
    ("behind", "words", "found"),
    [
        ("[f(a=1)]<|tool_call_end|>", "", ["call_repeated"]),
        ("[f(a=1)]<|tool_call_end|> Done.", " Done.", ["call_repeated"]),
        ("[f(a=1)] Done.", "[f(a=1)] Done.", []),
        ("[f(a=2)]", "[f(a=2)]", []),
        ("[f(a=1)", "[f(a=1)", []),
    ],
)
def test_lfm_calls_that_are_repeated_are_called_once(behind, words, found):
    parsed = read(LFM.format("f(a=1)") + behind, "lfm2")
    assert (said(parsed), parsed.text, codes(parsed)) == ([("f", {"a": 1})], words, found)


def test_a_list_that_is_not_closed_is_nothing_remarkable():
    parsed = read("[f(a=1)", "pythonic", [tool("f", a="integer")])
    assert (said(parsed), parsed.text, codes(parsed)) == ([("f", {"a": 1})], "", [])


@pytest.mark.parametrize(
    ("text", "syntax", "words"),
    [
        ("[f(a=1), g(a=2)] x", "pythonic", "g(a=2)] x"),
        ("[f(a=1), f(2)] x", "pythonic", "f(2)] x"),
        ("<|tool_call_start|>[f(a=1), f(2)]<|tool_call_end|> x", "lfm2", "f(2)] x"),
        ("<function_calls>\nf(a=1)\nf(2)\n</function_calls>", "olmo3", "f(2)\n"),
    ],
)
def test_what_stands_behind_a_call_and_is_none_is_not_lost(text, syntax, words):
    parsed = read(text, syntax, [tool("f", a="integer")])
    assert said(parsed) == [("f", {"a": 1})]
    assert parsed.text == words
    assert "call_unreadable" in codes(parsed)


@pytest.mark.parametrize(
    "code",
    [
        "f(a=1)\ng()",
        "print(f(a=1))\nprint( g() )",
        "[f(a=1), g()]",
        "f(a=1); g()",
    ],
)
@pytest.mark.parametrize("syntax", ["pythonic", "auto"])
def test_lines_of_code_in_a_fence_that_says_so(code, syntax):
    tools = [tool("f"), tool("g")]
    text = f"Sure.\n```tool_code\n{code}\n```\nDone."
    parsed = parse(text, syntax=syntax, tools=tools)
    assert said(parsed) == [("f", {"a": 1}), ("g", {})]
    assert parsed.text.split() == ["Sure.", "Done."]
    assert parse(text.replace("tool_code", "python"), tools=tools).calls == ()


def test_other_code_in_such_a_fence_is_text():
    text = "```tool_code\nx = f(1)\n```"
    parsed = read(text, "pythonic", [tool("f")])
    assert (parsed.calls, parsed.text) == ((), text)


@pytest.mark.parametrize("between", ["", "\n", "<think>hm</think>"])
def test_a_list_behind_another_is_not_behind_words(between):
    parsed = read(f"[f(a=1)]{between}[g()]", "pythonic")
    assert (said(parsed), parsed.text) == ([("f", {"a": 1}), ("g", {})], "")
    assert said(read("[f(a=1)] and [g()]", "pythonic")) == [("f", {"a": 1})]
