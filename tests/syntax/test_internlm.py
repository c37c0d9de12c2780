"""InternLM: an object between marks of an action."""

import pytest

from syntax.support import read, said


@pytest.mark.parametrize("space", ["", " "])
@pytest.mark.parametrize("key", ["parameters", "arguments"])
def test_calls(space, key):
    call = f'<|action_start|>{space}<|plugin|>\n{{"name": "f", "{key}": {{"a": 1}}}}<|action_end|>'
    parsed = read(f"I look.\n{call}\n{call}<|im_end|>", "internlm2")
    assert said(parsed.calls) == [("f", {"a": 1})] * 2
    assert parsed.text == "I look.\n"
    assert parsed.findings == ()


def test_an_action_of_another_kind_is_text():
    text = "<|action_start|><|interpreter|>\nprint(1)<|action_end|>"
    assert read(text, "internlm2").text == text
