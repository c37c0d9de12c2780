"""One pair of tags around all calls."""

import pytest

from syntax.support import read, said

LIST = '[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]'
LINES = '\n{"name": "f", "arguments": {"a": 1}}\n{"name": "g", "arguments": {}}\n'
TAGS = ("<tool_calls>", "</tool_calls>")


@pytest.mark.parametrize("inside", [LIST, LINES, f"\n{LIST}\n"])
@pytest.mark.parametrize(
    ("name", "tags"),
    [
        ("jamba", TAGS),
        ("hunyuan_a13b", TAGS),
        ("apriel", TAGS),
        ("minimax_m1", TAGS),
        ("nemotron_toolcall", ("<TOOLCALL>", "</TOOLCALL>")),
    ],
)
def test_lists_and_lines(name, tags, inside):
    parsed = read(f"Sure. {tags[0]}{inside}{tags[1]} Done.", name)
    assert said(parsed.calls) == [("f", {"a": 1}), ("g", {})]
    assert parsed.text.split() == ["Sure.", "Done."]
    assert parsed.findings == ()


def test_hunyuan_puts_its_answer_into_tags():
    text = f"<think>\nhm\n</think>\n<answer>\n<tool_calls>{LIST}</tool_calls>\n</answer>"
    parsed = read(text, "hunyuan_a13b")
    assert len(parsed.calls) == 2
    assert (parsed.thinking, parsed.text) == ("hm", "")


def test_apriel_thinks_until_it_says_that_it_answers():
    text = f"I look.\n[BEGIN FINAL RESPONSE]\n<tool_calls>{LIST}</tool_calls>\n<|end|>"
    parsed = read(text, "apriel", starts_in_thinking=True)
    assert len(parsed.calls) == 2
    assert (parsed.thinking, parsed.text) == ("I look.", "")
    said_aloud = read("Here are my reasoning steps:\n" + text, "apriel")
    assert said_aloud.thinking == "I look."
