"""Calls printed as bare JSON: only by their form, in few places, of offered tools."""

import pytest

from batches import each
from canonicall.events import BlockEnded, BlockStarted
from canonicall.folding import fold
from canonicall.syntax.parsing import parse
from canonicall.syntax.scanner import TextScanner
from syntax.support import codes, events_of_pieces, read, said

OFFERED = [{"name": "f"}, {"name": "g"}]
CALL = '{"name": "f", "arguments": {"a": 1}}'


@each(
    "text",
    [
        CALL,
        f"\n {CALL}\n",
        f"[{CALL}]",
        f"<think>hm</think>\n{CALL}",
        f"```json\n{CALL}\n```",
        f"```json\n[{CALL}]\n```",
        f"```\n{CALL}\n```",
        f'{{"tool_calls": [{CALL}]}}',
        f'{{"toolCalls": [{CALL}]}}',
        f'{{"tool_call": {CALL}}}',
        '{"function": "f", "arguments": {"a": 1}}',
        '{"tool_name": "f", "parameters": {"a": 1}, "tool_call_id": "1"}',
        '{"functionCall": {"name": "f", "args": {"a": 1}}}',
        '{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}',
    ],
)
@each("tools", [None, OFFERED])
def test_what_is_a_call(text, tools):
    parsed = read(text, "json_plain", tools=tools)
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text == ""
    assert parsed.findings == ()


@pytest.mark.parametrize(
    "text",
    [
        f"Use it like this: {CALL}",
        f"First.\n{CALL}",
        f"```python\n{CALL}\n```",
        f"Use `{CALL}` for it.",
        '{"answer": 42}',
        '{"name": "Ada", "age": 36}',
        '{"name": "f"}',
        '{"text": "hello"}',
        '{"role": "assistant", "content": "hello"}',
        '[{"id": 1}, {"id": 2}]',
        "[1, 2]",
        "[a link](x)",
        "{curly} words",
        '```json\n{"answer": {"a": [1]}}\n```',
        "```json\nnull\n```",
        '{"tool_calls": []}',
        '{"name": "f", "description": "does f", "parameters": {"type": "object"}}',
    ],
)
def test_what_is_text(text):
    parsed = read(text, "json_plain")
    assert parsed.calls == ()
    assert parsed.text == text
    assert parsed.findings == ()


@pytest.mark.parametrize("syntax", ["json_plain", "xlam"])
def test_behind_words_the_tools_that_were_offered_are_called(syntax):
    parsed = read(f"I look it up.\n{CALL}\nOr this: [{CALL}].", syntax, tools=OFFERED)
    assert said(parsed.calls) == [("f", {"a": 1})] * 2
    assert parsed.text.split() == ["I", "look", "it", "up.", "Or", "this:", "."]
    assert parsed.findings == ()
    code = f"```python\n{CALL}\n```"
    assert read(code, syntax, tools=OFFERED).text == code


def test_only_tools_that_were_offered_are_called():
    text = CALL.replace('"f"', '"h"')
    parsed = read(text, "json_plain", tools=OFFERED)
    assert parsed.calls == ()
    assert parsed.text == text
    assert codes(parsed) == ["call_not_offered"]
    assert said(read('{"name": "f"}', "json_plain", tools=OFFERED).calls) == [("f", {})]


def test_an_unknown_tool_among_others_is_text():
    parsed = read(
        f'[{CALL}, {{"name": "h", "arguments": {{}}}}, {CALL}]', "json_plain", tools=OFFERED
    )
    assert said(parsed.calls) == [("f", {"a": 1})] * 2
    assert parsed.text == '{"name": "h", "arguments": {}}'


def test_a_message_of_chat_completions_printed_as_text():
    text = """{"role": "assistant", "content": "Let me look.", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}},
        {"id": "call_2", "type": "function", "function": {"name": "g", "arguments": "{}"}}]}"""
    parsed = read(text, "json_plain")
    assert said(parsed.calls) == [("f", {"a": 1}), ("g", {})]
    assert [call.id for call in parsed.calls] == ["call_1", "call_2"]
    assert parsed.text == "Let me look."
    whole = f'{{"id": "x", "object": "chat.completion", "choices": [{{"index": 0, "message": {text}}}]}}'
    assert said(read(whole, "json_plain").calls) == [("f", {"a": 1}), ("g", {})]


def test_a_message_of_anthropic_printed_as_text():
    text = """{"content": [{"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "123", "name": "calc", "input": {"x": 5}},
        {"type": "text", "text": "Now."}], "stop_reason": "tool_use"}"""
    parsed = read(text, "json_plain")
    assert said(parsed.calls) == [("calc", {"x": 5})]
    assert parsed.calls[0].id == "123"
    assert parsed.text.split() == ["Let", "me", "look.", "Now."]


def test_text_behind_the_calls_is_kept():
    parsed = read(f"{CALL}\nThat should do, or not?", "json_plain")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text == "That should do, or not?"
    parsed = read(f"Here:\n```json\n{CALL}\n```\nDone.", "json_plain")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text.split() == ["Here:", "Done."]
    assert read(f"{CALL}, or so", "json_plain").text == ", or so"


def test_an_answer_in_json_is_told_as_soon_as_it_is_no_call():
    scanner = TextScanner("json_plain")
    assert len(scanner.feed('{"title":')) == 1
    assert scanner.feed(' "')
    assert scanner.feed("A long text")


def test_a_call_that_was_cut():
    (call,) = read('{"name": "f", "arguments": {"a": 1, "b": "x', "json_plain").calls
    assert (call.args, call.truncated) == ({"a": 1, "b": "x"}, True)
    text = '{"name": "f"'
    assert read(text, "json_plain").text == text
    (call,) = read(text, "json_plain", tools=OFFERED).calls
    assert call.truncated


def test_a_list_where_a_call_is_required():
    text = '[{"name": "f", "parameters": {"a": 1}}, {"name": "g", "parameters": {}}]'
    assert said(read(text, "json_array_required").calls) == [("f", {"a": 1}), ("g", {})]
    assert read(CALL, "json_array_required").text == CALL


@pytest.mark.parametrize(
    "text",
    [
        f"[{CALL}]",
        f"<think>hm</think>[{CALL}]",
        f"```json\n[{CALL}]\n```",
        f"[TOOL_CALLS][{CALL}]",
        f"<tool_call>[{CALL}]</tool_call>",
    ],
)
def test_xlam(text):
    parsed = read(text, "xlam")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text == ""


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"[{CALL}]",
        f"[TOOL_CALLS] [{CALL}][/TOOL_CALLS]",
        f"Ok. <tool_call>{CALL}</tool_call>",
    ],
)
def test_templates_of_ollama(text):
    assert said(read(text, "ollama_template_generic", tools=OFFERED).calls) == [("f", {"a": 1})]


def test_a_model_without_a_syntax_calls_nothing():
    assert read(CALL, "generic_none").text == CALL


def test_an_object_that_is_refused_behind_a_call_is_not_begun():
    """It was told as a call that never ended."""
    call = '{"name": "f", "arguments": {"a": 1}}'
    refused = '{"x": 1, "name": "f", "arguments": {"a": 2}}'
    events = events_of_pieces(f"[{call}, {refused}]", "json_plain", tools=[{"name": "f"}])
    begun = [event.index for event in events if isinstance(event, BlockStarted)]
    assert begun == [event.index for event in events if isinstance(event, BlockEnded)]
    reply = fold(events)
    assert [one.args for one in reply.calls] == [{"a": 1}]
    assert refused in reply.message.text


@pytest.mark.parametrize("label", ["tool_call", "tool_calls", "function_call"])
def test_a_fence_that_says_what_it_holds(label):
    """Also where no syntax was named."""
    text = f"I look.\n```{label}\n{CALL}\n```\nDone."
    for parsed in (read(text, "json_plain", tools=OFFERED), parse(text, tools=OFFERED)):
        assert said(parsed.calls) == [("f", {"a": 1})]
        assert parsed.text.split() == ["I", "look.", "Done."]
    assert parse(text, tools=[{"name": "h"}]).calls == ()


@pytest.mark.parametrize("tag", ["tool_use", "tools", "function", "functions", "function_calls"])
def test_tags_that_a_prompt_made_up(tag):
    text = f"I look. <{tag}>\n{CALL}\n</{tag}> Done."
    for parsed in (read(text, "json_in_tags", tools=OFFERED), parse(text, tools=OFFERED)):
        assert (parsed.syntax, said(parsed.calls)) == ("json_in_tags", [("f", {"a": 1})])
        assert parsed.text.split() == ["I", "look.", "Done."]
    definition = '{"name": "f", "description": "does f", "parameters": {}}'
    for inside in (CALL.replace('"f"', '"h"'), definition, "words"):
        other = f"<{tag}>{inside}</{tag}>"
        assert parse(other, tools=OFFERED).text == other
    assert parse(text).calls == ()


def test_calls_behind_calls_are_not_behind_words():
    parsed = read(f"{CALL}\n\n<think>hm</think>{CALL}\n[{CALL}]", "json_plain")
    assert (said(parsed.calls), parsed.text) == ([("f", {"a": 1})] * 3, "")
    assert len(read(f"{CALL} and {CALL}", "json_plain").calls) == 1
