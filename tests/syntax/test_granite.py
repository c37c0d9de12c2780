"""Granite before version 4."""

import pytest

from syntax.support import read, said

LIST = '[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]'


@pytest.mark.parametrize(
    "before", ["<|tool_call|>", "<|tool_call|> ", "<tool_call>", "", "Ok. <tool_call>"]
)
def test_a_list_behind_a_marker_or_none(before):
    parsed = read(before + LIST + "<|end_of_text|>", "granite3")
    assert said(parsed.calls) == [("f", {"a": 1}), ("g", {})]
    assert parsed.text == before.partition("<")[0]


def test_a_list_in_prose_is_text():
    assert read(f"Such as {LIST}", "granite3").text == f"Such as {LIST}"
    assert read("[1] A footnote", "granite3").text == "[1] A footnote"


def test_thoughts_between_sentences():
    text = f"Here is my thought process:\nI look.\n\nHere is my response:\n<|tool_call|>{LIST}"
    parsed = read(text, "granite3")
    assert (parsed.thinking, parsed.text) == ("I look.", "")
    assert len(parsed.calls) == 2


def test_the_model_for_function_calling_marks_each_call():
    text = '<function_call> {"name": "f", "arguments": {}}\n<function_call> {"name": "g", "arguments": {}}'
    assert said(read(text, "granite_20b_fc").calls) == [("f", {}), ("g", {})]
    assert said(read(f"<function_call> {LIST}", "granite_20b_fc").calls) == [
        ("f", {"a": 1}),
        ("g", {}),
    ]


def test_closing_markers_that_only_others_write():
    parsed = read(f"<|tool_call|>{LIST}<|/tool_call|> Ok.", "granite3")
    assert (len(parsed.calls), parsed.text) == (2, " Ok.")
    parsed = read(f"<function_call>{LIST}</function_call> Ok.", "granite_20b_fc")
    assert (len(parsed.calls), parsed.text) == (2, " Ok.")
