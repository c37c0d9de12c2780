"""Phi-4 mini and FireFunction: a word and a list."""

import pytest

from syntax.support import read, said

LIST = '[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]'


@pytest.mark.parametrize("name", ["phi4_mini", "firefunction_v2"])
def test_the_word_and_a_list(name):
    parsed = read(f"Ok. functools{LIST} Done.", name)
    assert said(parsed.calls) == [("f", {"a": 1}), ("g", {})]
    assert parsed.text.split() == ["Ok.", "Done."]


def test_the_word_alone_is_prose():
    text = "Import functools and functools[partial]; see functools."
    assert read(text, "phi4_mini").text == text


def test_the_opening_bracket_is_missing_at_times():
    text = 'functools{"name": "f", "arguments": {}}]'
    parsed = read(text, "phi4_mini")
    assert said(parsed.calls) == [("f", {})]
    assert parsed.text == ""


def test_the_same_list_between_tokens():
    parsed = read(f"Ok. <|tool_call|>{LIST}<|/tool_call|><|end|>", "phi4_mini")
    assert said(parsed.calls) == [("f", {"a": 1}), ("g", {})]
    assert parsed.text == "Ok. "
