"""Llama 3: JSON, bare or behind its tag, and lines of code for built-in tools."""

import pytest

from syntax.support import codes, read, said

CALL = '{"name": "f", "parameters": {"a": 1}}'


@pytest.mark.parametrize(
    "before", ["", "<|python_tag|>", "Let me see. <|python_tag|>", "Let me see: "]
)
@pytest.mark.parametrize("end", ["", "<|eom_id|>", "<|eot_id|>"])
def test_bare_or_behind_the_tag(before, end):
    parsed = read(before + CALL + end, "llama3_json")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text == before.partition("<")[0]


def test_several_joined_by_semicolons():
    assert said(read(f"{CALL}; {CALL} \n; {CALL}", "llama3_json").calls) == [("f", {"a": 1})] * 3
    parsed = read(f"{CALL}; and that is it", "llama3_json")
    assert parsed.text == "; and that is it"


def test_several_in_a_list():
    assert said(read(f"[{CALL}, {CALL}]<|eot_id|>", "llama3_json").calls) == [("f", {"a": 1})] * 2
    assert read('["a", {"b": 1}]', "llama3_json").text == '["a", {"b": 1}]'


@pytest.mark.parametrize(
    "text",
    [
        f"Write `{CALL}` to call it.",
        f"For example:\n```json\n{CALL}\n```\nDone.",
        "I used {searchTool} for [this].",
        'It said {"name": "Ada", "age": 36}, and {"name": "f"}.',
        '{"parameters": {}}',
    ],
)
def test_examples_and_other_json_in_prose_are_text(text):
    parsed = read(text, "llama3_json")
    assert (parsed.calls, parsed.text, parsed.findings) == ((), text, ())


def test_calls_between_words():
    parsed = read(f"First: {CALL}; {CALL} then\n{CALL} and {{so}} on.", "llama3_json")
    assert said(parsed.calls) == [("f", {"a": 1})] * 3
    assert parsed.text.split() == ["First:", "then", "and", "{so}", "on."]


def test_behind_the_tag_an_unknown_tool_is_called_and_bare_it_is_not():
    tools = [{"name": "g"}]
    parsed = read("<|python_tag|>" + CALL, "llama3_json", tools=tools)
    assert (len(parsed.calls), codes(parsed)) == (1, ["tool_unknown"])
    parsed = read(CALL, "llama3_json", tools=tools)
    assert (parsed.text, codes(parsed)) == (CALL, ["call_not_offered"])


@pytest.mark.parametrize(
    ("code", "args"),
    [
        ('query="weather in Paris"', {"query": "weather in Paris"}),
        (
            "query='it\\'s', n=3, deep=[1, {\"a\": None}]",
            {"query": "it's", "n": 3, "deep": [1, {"a": None}]},
        ),
        ("on=True, off=None", {"on": True, "off": None}),
        ("when=now", {"when": "now"}),
        ("", {}),
    ],
)
def test_built_in_tools_are_called_by_a_line_of_code(code, args):
    parsed = read(f"<|python_tag|>brave_search.call({code})<|eom_id|>", "llama3_builtin")
    assert said(parsed.calls) == [("brave_search", args)]
    assert parsed.text == ""
    assert parsed.findings == ()


def test_a_line_of_code_that_was_cut():
    (call,) = read('<|python_tag|>f.call(a="x", b="half', "llama3_builtin").calls
    assert (call.args, call.truncated) == ({"a": "x", "b": "half"}, True)
    (call,) = read('<|python_tag|>f.call(a="x"', "llama3_builtin").calls
    assert (call.args, call.truncated) == ({"a": "x"}, True)


def test_other_code_is_text():
    text = "<|python_tag|>print(1 + 1)"
    parsed = read(text, "llama3_builtin")
    assert (parsed.text, codes(parsed)) == (text, ["call_unreadable"])
