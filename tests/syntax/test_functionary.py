"""Functionary: tags with the name in them, and recipients."""

import pytest

from canonicall import Text, ToolCall, ToolResult
from canonicall.syntax.registry import get_syntax
from syntax.support import codes, read, said

TOOLS = [{"name": "f"}, {"name": "python"}]


def test_tags_with_the_name():
    text = 'hi <function=f>{"a": "</function>"}</function><function=g> {} </function><|eom_id|>'
    parsed = read(text, "functionary_v31")
    assert said(parsed.calls) == [("f", {"a": "</function>"}), ("g", {})]
    assert parsed.text.strip() == "hi"


@pytest.mark.parametrize(
    "text", ["<function=f>text", "<function= f>{}", "<function=>{}", "<function=f"]
)
def test_other_tags_stay_text(text):
    parsed = read(text, "functionary_v31")
    assert (parsed.calls, parsed.text) == ((), text)
    assert codes(parsed) == ["call_unreadable"]


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        ("<|python_tag|>print('\u00e9')\n", "functionary_v31"),
        ("<|python_tag|>print('\u00e9')\n<|eom_id|>", "functionary_v31"),
        (">>>python\nprint('\u00e9')\n<|eot_id|>", "functionary_v32"),
        ("python\nprint('\u00e9')\n", "functionary_v32"),
    ],
)
def test_code_is_for_python_where_it_was_offered(text, syntax):
    parsed = read(text, syntax, tools=TOOLS)
    assert said(parsed.calls) == [("python", {"code": "print('\u00e9')\n"})]
    assert parsed.text == ""


def test_code_is_text_where_nothing_was_offered():
    assert read("<|python_tag|>print(1)", "functionary_v31").text == "<|python_tag|>print(1)"
    assert read(">>>python\nprint(1)", "functionary_v32").text == ">>>python\nprint(1)"


@pytest.mark.parametrize(
    "text",
    [
        'all\nhi\n>>>f\n{"a": 1}<|eot_id|>',
        '>>>all\nhi>>>f\n{"a": 1}',
        'all\nhi>>>f\n\n {"a": 1}\n',
    ],
)
def test_recipients(text):
    parsed = read(text, "functionary_v32", tools=TOOLS)
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text.strip() == "hi"


def test_a_reply_begins_with_the_bare_name():
    parsed = read('f\n{"a": ">>>"}>>>f\n{}', "functionary_v32", tools=TOOLS)
    assert said(parsed.calls) == [("f", {"a": ">>>"}), ("f", {})]
    assert parsed.text == ""


@pytest.mark.parametrize("text", ["f\nis a letter", ">>> f\n{}", "a >>> b", "x all\n"])
def test_other_text_stays_text_and_is_nothing_remarkable(text):
    parsed = read(text, "functionary_v32", tools=TOOLS)
    assert (parsed.calls, parsed.text, parsed.findings) == ((), text, ())


def test_a_recipient_that_was_not_offered_is_text_and_said_to_be():
    parsed = read(">>>g\n{}", "functionary_v32", tools=TOOLS)
    assert (parsed.calls, parsed.text) == ((), ">>>g\n{}")
    assert [finding.code for finding in parsed.findings] == ["call_not_offered"]


def test_how_it_looks():
    calls = (ToolCall(name="f", args={"a": 1}), ToolCall(name="g", args={}))
    results = (ToolResult(content=(Text(text="fine"),)),)
    tags, lines = get_syntax("functionary_v31"), get_syntax("functionary_v32")
    assert tags.print_calls is not None
    assert tags.print_results is not None
    assert lines.print_calls is not None
    assert lines.print_results is not None
    assert tags.print_calls(calls) == '<function=f>{"a": 1}</function><function=g>{}</function>'
    assert lines.print_calls(calls) == '>>>f\n{"a": 1}>>>g\n{}'
    head = "<|start_header_id|>{}<|end_header_id|>\n\nfine<|eot_id|>"
    assert tags.print_results(results) == head.format("ipython")
    assert lines.print_results(results) == head.format("tool")
