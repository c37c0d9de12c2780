"""Syntaxes with markers of their own around a name, or around a list of calls."""

import pytest

from syntax.support import codes, read, said

CALLS = '[{"name": "f", "arguments": {"a": 1}}]'


def plamo(name, text):
    return f"<|plamo:begin_tool_{name}:plamo|>{text}<|plamo:end_tool_{name}:plamo|>"


PLAMO = plamo("request", plamo("name", "f") + plamo("arguments", '{"a": 1}'))


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("plamo3", f"Hm.{plamo('requests', PLAMO)}<|plamo:tag|>"),
        ("plamo3", f"Hm.{PLAMO}"),
        ("plamo3", f"Hm.{plamo('requests', PLAMO)[:-60]}"),
        ("openpangu", f"Hm.[unused11]{CALLS}[unused12]"),
        ("openpangu", f"[unused16]so[unused17]Hm.[unused11]{CALLS}"),
        ("openpangu", f"Hm.<|tool_call_start|>{CALLS}<|tool_call_end|>"),
        ("hyperclovax", f"Hm. -> tool/function_call\n{CALLS}<|im_end|>"),
        (
            "hyperclovax",
            f"/think\nso<|im_end|>\n<|im_start|>assistantHm. -> tool/function_call\n{CALLS}",
        ),
        ("lm_studio", f"Hm. [TOOL_REQUEST]{CALLS[1:-1]}[END_TOOL_REQUEST]"),
        ("step_audio2", 'Hm.<tool_call>function\nf\n{"a": 1}</tool_call>'),
        ("step_audio2", 'Hm.<tool_call>\nfunction\nf\n{"a": 1}\n</tool_call><|EOT|>'),
    ],
)
def test_one_call_behind_words(syntax, text):
    parsed = read(text, syntax)
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert (parsed.text.strip(), codes(parsed)) == ("Hm.", [])
    assert parsed.thinking == ("so" if "so" in text else "")


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("plamo3", plamo("request", "words")),
        ("plamo3", "<|plamo:begin_tool_request:plamo|>"),
        ("openpangu", "[unused11] means nothing"),
        ("hyperclovax", "-> tool/function_call is a role"),
        ("step_audio2", "<tool_call>function\n</tool_call>"),
        ("step_audio2", "<tool_call>function\nf</tool_call>"),
    ],
)
def test_markers_without_a_call_are_text(syntax, text):
    parsed = read(text, syntax)
    assert parsed.calls == ()
    assert parsed.text in text
    assert codes(parsed) == ["call_unreadable"]


def test_a_tag_around_the_arguments_of_minicpm():
    params = '<param name="a">x</param><param name="b">y</param>'
    text = f'<function name="f"><arguments>\n{params}\n</arguments></function>'
    parsed = read(text, "minicpm5_xml")
    assert (said(parsed.calls), parsed.text) == ([("f", {"a": "x", "b": "y"})], "")


def test_a_path_is_no_thought():
    text = "It is in /usr/think\nnow."
    assert read(text, "hyperclovax").text == text
