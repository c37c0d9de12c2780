"""Inkling: messages with a marker for what they are."""

import pytest

from canonicall import Text, ToolCall, ToolResult
from canonicall.syntax.registry import get_syntax
from syntax.support import codes, read, said

MESSAGE, END = "<|message_model|>", "<|end_message|>"
JSON, TEXT = "<|content_invoke_tool_json|>", "<|content_invoke_tool_text|>"
BODY = '{"name":"f","args":{"a":1}}'
TOOLS = [{"name": "f"}]


def test_thoughts_words_and_calls_are_messages():
    text = (
        f"<|content_thinking|>hm{END}{MESSAGE}<|content_text|>I look.{END}"
        f"{MESSAGE}f{JSON}{BODY}{END}{MESSAGE}{JSON}{BODY}{END}<|content_model_end_sampling|>"
    )
    parsed = read(text, "inkling")
    assert (parsed.thinking, parsed.text) == ("hm", "I look.")
    assert said(parsed.calls) == [("f", {"a": 1})] * 2
    assert parsed.findings == ()


@pytest.mark.parametrize("text", [f"f{JSON}{BODY}{END}", f"{JSON}{BODY}", f"{MESSAGE}{JSON}{BODY}"])
def test_a_header_may_lack_its_message_or_be_missing(text):
    parsed = read(text, "inkling", tools=TOOLS)
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert (parsed.text, parsed.findings) == ("", ())


def test_a_header_of_no_tool_is_words():
    parsed = read(f"g{JSON}{BODY}{END}", "inkling", tools=TOOLS)
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text == "g"


def test_the_name_in_the_call_counts():
    parsed = read(f"{MESSAGE}g{JSON}{BODY}{END}", "inkling")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert codes(parsed) == ["fields_dropped"]


def test_a_call_ends_a_thought():
    parsed = read(f"<|content_thinking|>hm {JSON}{BODY}{END}", "inkling")
    assert (parsed.thinking, said(parsed.calls)) == ("hm", [("f", {"a": 1})])


@pytest.mark.parametrize("head", [MESSAGE, ""])
def test_text_may_be_given_to_a_tool(head):
    parsed = read(f'{head}f{TEXT}say "x"\n\u00e9{END}', "inkling", tools=TOOLS)
    assert said(parsed.calls) == [("f", {"text": 'say "x"\n\u00e9'})]


def test_text_that_was_cut_is_marked():
    parsed = read(f"{MESSAGE}f{TEXT}sa", "inkling")
    assert said(parsed.calls) == [("f", {"text": "sa"})]
    assert parsed.calls[0].truncated


def test_text_for_nobody_is_words():
    parsed = read(f"{MESSAGE}{TEXT}hello{END}", "inkling")
    assert (parsed.calls, parsed.text) == ((), "hello")


def test_what_is_no_call_stays_text_and_those_behind_count():
    parsed = read(f"{MESSAGE}f{JSON}{{no{END}{MESSAGE}f{JSON}{BODY}{END}", "inkling")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text == f"{MESSAGE}f{JSON}{{no"


def test_how_it_looks():
    syntax = get_syntax("inkling")
    assert syntax.print_calls is not None
    assert syntax.print_results is not None
    call = ToolCall(name="f", args={"b": [1, None], "a": "\u00e9"})
    assert syntax.print_calls((call,)) == (
        f'{MESSAGE}f{JSON}{{"name":"f","args":{{"a":"\u00e9","b":[1,null]}}}}{END}'
    )
    result = ToolResult(name="f", content=(Text(text="fine"),))
    assert syntax.print_results((result,)) == f"<|message_tool|>f<|content_text|>fine{END}"
