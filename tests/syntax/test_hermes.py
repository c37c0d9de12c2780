"""Hermes and its heirs: the same tags, other frames."""

import pytest

from syntax.support import read, said

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


@pytest.mark.parametrize("name", ["hermes", "granite4", "reka_edge", "ernie45", "trinity"])
def test_words_and_calls(name):
    parsed = read(f"<think>hm</think>I look.\n{CALL}\n{CALL}", name)
    assert said(parsed.calls) == [("f", {"a": 1})] * 2
    assert (parsed.thinking, parsed.text) == ("hm", "I look.\n")
    assert parsed.findings == ()


def test_hermes_thinks_on_a_scratch_pad():
    parsed = read(f"<scratch_pad>\nhm\n</scratch_pad>\n{CALL}<|im_end|>", "hermes")
    assert (parsed.thinking, parsed.text) == ("hm", "")


def test_granite_writes_arguments_as_text_at_times():
    text = '<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"b\\"}"}</tool_call>'
    assert said(read(text, "granite4").calls) == [("f", {"a": "b"})]


def test_ernie_frames_its_words():
    text = "so\n</think>\n\n<response>\nHello.\n</response>\n"
    parsed = read(text, "ernie45", starts_in_thinking=True)
    assert (parsed.thinking, parsed.text.strip()) == ("so", "Hello.")


def test_trinity_calls_while_it_thinks():
    """For others it is a draft."""
    text = f"<think>hm\n{CALL}\nso</think>Done."
    parsed = read(text, "trinity")
    assert (said(parsed.calls), parsed.thinking) == ([("f", {"a": 1})], "hm")
    assert parsed.text.split() == ["so", "Done."]
    assert read(text, "hermes").calls == ()


def test_calls_between_the_tags_of_the_list_of_tools():
    inside = '{"name": "f", "arguments": {"a": 1}}'
    parsed = read(f"Ok. <tools>\n{inside}\n{inside}\n</tools>", "hermes")
    assert (said(parsed.calls), parsed.text) == ([("f", {"a": 1})] * 2, "Ok. ")
    definition = '{"name": "f", "description": "does f", "parameters": {"type": "object"}}'
    text = f'<tools>{{"type": "function", "function": {definition}}}</tools>'
    assert read(text, "hermes").text == text
