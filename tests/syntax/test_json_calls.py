"""Calls that are JSON: what is a call, what is not, and what becomes of broken ones."""

import pytest

from batches import each
from canonicall.events import ArgumentsAdded, BlockStarted
from canonicall.syntax.scanner import TextScanner
from syntax.support import codes, read, said


def tagged(inside: str) -> str:
    return f"<tool_call>{inside}</tool_call>"


@each(
    "inside",
    [
        '{"name": "f", "arguments": {"a": 1}}',
        '\n{"name": "f", "arguments": {"a": 1}}\n',
        '{"arguments": {"a": 1}, "name": "f"}',
        '{"name": "f", "parameters": {"a": 1}}',
        '{"name": "f", "arguments": "{\\"a\\": 1}"}',
        '{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}',
        '{"function": {"arguments": "{\\"a\\": 1}", "name": "f"}, "id": "call_1"}',
        '[{"name": "f", "arguments": {"a": 1}}]',
        "{'name': 'f', 'arguments': {\"a\": 1}}",
        '{name: "f", arguments: {"a": 1}}',
        '{"name": "g", "name": "f", "arguments": {"a": 1}}',
        '{"name": "f" "arguments": {"a": 1}}',
        '{"tool": "f", "args": {"a": 1}}',
        '{"tool_name": "f", "tool_input": {"a": 1}}',
        '{"function": "f", "arguments": {"a": 1}}',
        '{"input": {"a": 1}, "name": "f"}',
        '```json\n{"name": "f", "arguments": {"a": 1}}\n```\n',
        '```\n[{"name": "f", "arguments": {"a": 1}}]\n```',
        "f(a=1)",
        "\n[f(a=1)]\n",
    ],
)
def test_forms_of_a_call(inside):
    parsed = read(tagged(inside), "hermes")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text == ""


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        ('{"name": "f", "a": 1, "b": [2]}', ["arguments_repaired"]),
        ('{"a": 1, "b": [2], "name": "f"}', ["arguments_repaired"]),
        ('{"f": {"a": 1, "b": [2]}}', []),
        ('[{"f": {"a": 1, "b": [2]}}]', []),
    ],
)
def test_forms_that_only_the_tool_tells(inside, found):
    """Without its schema, members beside the name are no part of the call, nor is a name a key."""
    tool = {"name": "f", "parameters": {"properties": {"a": {}, "b": {}}}}
    parsed = read(tagged(inside), "hermes", tools=[tool])
    assert (said(parsed.calls), codes(parsed)) == ([("f", {"a": 1, "b": [2]})], found)
    assert all(not one.args for one in read(tagged(inside), "hermes").calls)


def test_members_that_the_tool_does_not_have_are_no_arguments():
    tool = {"name": "f", "parameters": {"properties": {"a": {}}}}
    parsed = read(tagged('{"name": "f", "a": 1, "why": "so"}'), "hermes", tools=[tool])
    assert said(parsed.calls) == [("f", {})]
    assert codes(parsed) == ["fields_dropped"] * 2


def test_the_usual_members_count_first():
    inside = '{"tool": "x", "input": "words", "name": "f", "arguments": {"a": 1}}'
    parsed = read(tagged(inside), "hermes")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert set(codes(parsed)) == {"fields_dropped"}


@pytest.mark.parametrize("between", ["\n", ", ", "; ", "", ",\n\n"])
def test_several_calls_in_one_block(between):
    one, two = '{"name": "f", "arguments": {}}', '{"name": "g", "arguments": {"b": []}}'
    parsed = read(tagged(one + between + two), "hermes")
    assert said(parsed.calls) == [("f", {}), ("g", {"b": []})]
    assert parsed.findings == ()


@pytest.mark.parametrize(
    "arguments", ["", ', "arguments": null', ', "arguments": ""', ', "arguments": {}']
)
def test_no_arguments_are_none(arguments):
    assert said(read(tagged(f'{{"name": "f"{arguments}}}'), "hermes").calls) == [("f", {})]


@pytest.mark.parametrize(
    ("written", "raw"), [('"just text"', "just text"), ("42", "42"), ("[1]", "[1]")]
)
def test_arguments_that_are_no_object_are_kept_as_text(written, raw):
    (call,) = read(tagged(f'{{"name": "f", "arguments": {written}}}'), "hermes").calls
    assert (call.args, call.raw) == (None, raw)


@pytest.mark.parametrize(
    "inside",
    [
        "",
        "{}",
        "[]",
        "not json",
        '{"name": 1}',
        '{"arguments": {}}',
        '{"name": "f", "arguments": not json}',
        '{"name": ""}',
    ],
)
def test_what_is_no_call_stays_text_with_its_tags(inside):
    parsed = read("Look: " + tagged(inside), "hermes")
    assert parsed.calls == ()
    assert parsed.text == "Look: " + tagged(inside)
    assert codes(parsed) == ["call_unreadable"]


def test_markers_and_brackets_inside_of_strings_are_text():
    value = "a </tool_call> <tool_call> }] {"
    parsed = read(tagged(f'{{"name": "f", "arguments": {{"a": "{value}"}}}}'), "hermes")
    assert said(parsed.calls) == [("f", {"a": value})]
    assert parsed.text == ""


def test_ids_of_the_model_are_kept():
    (call,) = read(tagged('{"id": "functions.f:0", "name": "f", "arguments": {}}'), "hermes").calls
    assert call.id == "functions.f:0"


def test_other_members_are_left_out_and_told():
    parsed = read(tagged('{"name": "f", "thought": "why not", "arguments": {}}'), "hermes")
    assert said(parsed.calls) == [("f", {})]
    assert codes(parsed) == ["fields_dropped"]
    assert "why not" in parsed.findings[0].why


def test_a_missing_closing_tag_changes_nothing():
    one, two = '{"name": "f", "arguments": {}}', '{"name": "g", "arguments": {}}'
    parsed = read(f"<tool_call>{one}\n<tool_call>{two}\nThat is all.", "hermes")
    assert said(parsed.calls) == [("f", {}), ("g", {})]
    assert parsed.text.strip() == "That is all."
    assert parsed.findings == ()


@pytest.mark.parametrize("closer", ["", "<", "</tool", "</tool_call"])
def test_a_closing_tag_that_was_cut_is_no_text(closer):
    parsed = read('<tool_call>{"name": "f", "arguments": {}}\n' + closer, "hermes")
    assert said(parsed.calls) == [("f", {})]
    assert parsed.text == ""
    assert not parsed.calls[0].truncated


def test_brackets_missing_before_the_closing_tag_are_mended():
    parsed = read(tagged('{"name": "f", "arguments": {"a": [1') + " ok", "hermes")
    assert said(parsed.calls) == [("f", {"a": [1]})]
    assert not parsed.calls[0].truncated
    assert codes(parsed) == ["arguments_repaired"]
    assert parsed.text.strip() == "ok"
    parsed = read(tagged('{"name": "f", "arguments": {}') + tagged('{"name": "g"}'), "hermes")
    assert said(parsed.calls) == [("f", {}), ("g", {})]


def test_brackets_too_many_are_left_out():
    parsed = read(tagged('{"name": "f", "arguments": {}}}]'), "hermes")
    assert said(parsed.calls) == [("f", {})]
    assert parsed.text == ""
    assert codes(parsed) == ["text_in_call", "text_in_call"]


def test_what_stands_behind_the_arguments_is_text():
    parsed = read(tagged('{"name": "f", "arguments": {} and more}'), "hermes")
    assert said(parsed.calls) == [("f", {})]
    assert parsed.text == "and more}"
    parsed = read(tagged('{"name": "f", "arguments": {}, "half'), "hermes")
    assert said(parsed.calls) == [("f", {})]
    assert parsed.text == '"half</tool_call>'


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ('{"name": "f"', {}),
        ('{"name": "f", "argu', {}),
        ('{"name": "f", "arguments": ', {}),
        ('{"name": "f", "arguments": {"a": 1, "b', {"a": 1}),
        ('{"name": "f", "arguments": {"a": "hal', {"a": "hal"}),
        ('{"name": "f", "arguments": "{\\"a\\": 1, ', {"a": 1}),
        ('[{"name": "f", "arguments": {"a": {"b": 2}', {"a": {"b": 2}}),
    ],
)
def test_a_call_that_was_cut_is_kept_and_marked(text, args):
    (call,) = read("<tool_call>" + text, "hermes").calls
    assert (call.name, call.args, call.truncated) == ("f", args, True)


@pytest.mark.parametrize(
    "text", ["<tool_call>", '<tool_call>{"na', '<tool_call>{"name": "f', "<tool_"]
)
def test_a_call_that_was_cut_before_its_name_is_text(text):
    assert read(text, "hermes").text == text


def test_a_second_object_that_is_no_call_is_text():
    parsed = read(tagged('{"name": "f", "arguments": {}} {"x": 1}'), "hermes")
    assert said(parsed.calls) == [("f", {})]
    assert parsed.text == '{"x": 1}'


def test_objects_in_objects_without_end_are_no_call():
    assert read("<tool_call>" + '{"function": ' * 3000, "hermes").calls == ()


def test_tools_that_were_not_offered_are_called_with_a_finding():
    text = tagged('{"name": "g", "arguments": {}}')
    parsed = read(text, "hermes", tools=[{"name": "f"}])
    assert said(parsed.calls) == [("g", {})]
    assert codes(parsed) == ["tool_unknown"]


def test_arguments_stream_as_they_come_and_the_name_when_they_begin():
    scanner = TextScanner("hermes")
    scanner.feed('<tool_call>{"name": "f", ')
    assert scanner.feed('"arguments": ') == []
    started, added = scanner.feed('{"a": "x')
    assert isinstance(started, BlockStarted)
    assert added == ArgumentsAdded(0, '{"a": "x')
    assert scanner.feed("yz") == [ArgumentsAdded(0, "yz")]


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        (
            '{"name": "f", "arguments": {"a": 1, // don\'t "x" }\n "b": "http://x"}}',
            ["arguments_repaired"],
        ),
        (
            '{"name": "f", "arguments": {"a": 1, /* ] </tool_call> */ "b": "http://x"}}',
            ["arguments_repaired"],
        ),
        (
            '{"name": "f", // it\'s this\n "arguments": {"a": 1, "b": "http://x"}}',
            ["text_in_call"],
        ),
        ('{"name": "f", "arguments": {"a": 1, "b": "http://x"} /* so */}', ["text_in_call"]),
    ],
)
def test_comments_mean_nothing(inside, found):
    parsed = read(f"{tagged(inside)} Ok.", "hermes")
    assert said(parsed.calls) == [("f", {"a": 1, "b": "http://x"})]
    assert (parsed.text, codes(parsed)) == (" Ok.", found)


@pytest.mark.parametrize("begin", ["// ", "/* ", "// x" * 100, "/"])
def test_what_only_begins_like_a_comment_does_not_swallow_the_call(begin):
    parsed = read(tagged(f'{{"name": "f", "arguments": {{"a": 1, {begin}') + " Ok.", "hermes")
    assert [call.name for call in parsed.calls] == ["f"]
    assert parsed.text == " Ok."
