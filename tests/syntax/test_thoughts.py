"""Thoughts that the prompt has opened, said or not, and thoughts that are opened twice."""

import pytest

from batches import each
from canonicall import Text, Thinking, get_syntax, parse, syntax_names
from syntax.readings import codes, read

HERMES_CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
KNOWN = [name for name in syntax_names() if get_syntax(name).prompt_opens_thinking]


@each("name", KNOWN)
def test_the_end_of_a_thought_that_the_prompt_opened_is_no_text(name):
    """What came before was told as words, and stays so; the finding says what to do."""
    (_, close), *_ = get_syntax(name).thinking
    parsed = read(f"I wonder.\n{close}\n\nHello.", name)
    assert [type(one) for one in parsed.reply.message.blocks] == [Text, Text]
    assert parsed.text.split() == ["I", "wonder.", "Hello."]
    assert codes(parsed) == ["thought_unopened"]
    assert parsed.findings[0].where == "text[10]"


@each("name", KNOWN)
def test_it_is_a_thought_where_that_was_said(name):
    (_, close), *_ = get_syntax(name).thinking
    parsed = read(f"I wonder.\n{close}\n\nHello.", name, starts_in_thinking=True)
    assert (parsed.thinking, parsed.text, codes(parsed)) == ("I wonder.", "Hello.", [])


@pytest.mark.parametrize(
    "text",
    [
        "<think>a</think>b </think> c",
        f"{HERMES_CALL}b </think> c",
        f"b {HERMES_CALL}</think>",
    ],
)
def test_behind_a_thought_or_a_call_it_is_text(text):
    parsed = read(text, "hermes")
    assert "</think>" in parsed.text
    assert codes(parsed) == []


CODER_CALL = "<tool_call>\n<function=f>\n</function>\n</tool_call>"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"<think>a{CODER_CALL}\n</think>\nb", []),
        (f"<think>a{CODER_CALL}c</think>\nb", ["thought_unopened"]),
        (f"a{CODER_CALL}</think>\nb", ["thought_unopened"]),
    ],
)
@pytest.mark.parametrize("syntax", ["qwen3_coder_xml", "step35"])
def test_the_end_of_a_thought_that_a_call_has_ended_is_no_text(text, found, syntax):
    parsed = read(text, syntax)
    assert len(parsed.calls) == 1
    assert "</think>" not in parsed.text
    assert parsed.text.endswith("b")
    assert codes(parsed) == found


def test_the_same_where_no_syntax_was_named():
    call = "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
    call += "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
    parsed = parse(f"<think>a{call}</think>b")
    assert (parsed.thinking, len(parsed.calls), parsed.text) == ("a", 1, "b")


@pytest.mark.parametrize("line", ["\n", ""])
def test_where_no_syntax_was_named_what_follows_a_marker_tells_drafts_from_calls(line):
    """The marker is that of models that draft calls in their thoughts, and of some that call."""
    call = CODER_CALL.replace("<tool_call>\n", f"<tool_call>{line}")
    tools = [{"name": "f"}]
    parsed = parse(f"<think>a{call}", tools=tools)
    assert (parsed.thinking, len(parsed.calls), parsed.syntax) == ("a", 1, "qwen3_coder_xml")
    assert parse(f"a{call}", tools=tools, starts_in_thinking=True).thinking == "a"
    assert parse(f"<think>a{HERMES_CALL}", tools=tools).calls == ()


def test_a_thought_that_a_call_has_ended_ends_but_once():
    parsed = read(f"<think>a{CODER_CALL}</think>b </think> c", "qwen3_coder_xml")
    assert (parsed.text, codes(parsed)) == ("b </think> c", [])


@pytest.mark.parametrize("name", ["deepseek_v31", "cogito_deepseek", "mistral"])
def test_it_is_text_where_models_open_their_thoughts_themselves(name):
    parsed = read("Write </think> here.", name)
    assert (parsed.text, codes(parsed)) == ("Write </think> here.", [])


def test_it_is_text_where_no_syntax_was_named():
    parsed = parse("Write </think> here.")
    assert (parsed.text, codes(parsed)) == ("Write </think> here.", [])


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("<think>\na</think>b", True),
        ("\n<think>a</think>b", True),
        ("<think><think>a</think>b", False),
        ("<think>\n<think>\na</think>b", False),
    ],
)
def test_a_thought_that_is_opened_again_is_one_thought(text, starts):
    parsed = read(text, "hermes", starts_in_thinking=starts)
    assert parsed.reply.message.blocks == (Thinking(text="a"), Text(text="b"))
    assert codes(parsed) == []


def test_the_marker_in_the_midst_of_a_thought_is_part_of_it():
    parsed = read("<think>a <think> b</think>c", "hermes")
    assert parsed.thinking == "a <think> b"


def test_there_is_one_such_end_at_most():
    parsed = read("a</think>b </think> c", "hermes")
    assert (parsed.text, codes(parsed)) == ("a\nb </think> c", ["thought_unopened"])
