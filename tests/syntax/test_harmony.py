"""Harmony, the format of gpt-oss."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntax.readings import (
    any_keys,
    arguments_with,
    codes,
    names,
    printed,
    printed_results,
    read,
    reads_its_own_print,
    said,
    tool,
)

CALL = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":1}<|call|>'
START = "<|start|>assistant"
MARKERS = ("<|call|>", "<|end|>", "<|start|>", "<|channel|>", "<|message|>", "<|return|>")


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        START + CALL,
        CALL.removesuffix("<|call|>"),
        CALL.replace(" <|constrain|>json", ""),
        CALL.replace("json<", "code<"),
        CALL.replace("commentary", "analysis"),
        CALL.replace("functions.", ""),
        '<|start|>assistant to=functions.f<|channel|>commentary<|message|>{"a":1}<|call|>',
        '<|start|>assistant to=functions.f<|channel|>commentary json<|message|> {"a":1} <|end|>',
    ],
)
def test_the_forms_of_a_call(text):
    parsed = read(text, "harmony")
    assert said(parsed) == [("f", {"a": 1})]
    assert not parsed.text
    assert not parsed.findings
    assert not parsed.calls[0].truncated


def test_channels_are_thoughts_words_and_calls():
    text = (
        "<|channel|>analysis<|message|>Hm.<|end|>"
        f"{START}<|channel|>commentary<|message|>Let me see.<|end|>{START}{CALL}"
        f"{START}<|channel|>final<|message|>Done.<|return|>"
    )
    parsed = read(text, "harmony")
    assert [type(block).__name__ for block in parsed.reply.message.blocks] == [
        "Thinking",
        "Text",
        "ToolCall",
        "Text",
    ]
    assert parsed.thinking == "Hm."
    assert parsed.text.split() == ["Let", "me", "see.", "Done."]


def test_text_without_any_message_is_words():
    assert read("Just words.", "harmony").text == "Just words."


def test_a_thought_that_the_prompt_opened():
    text = f"Hm.<|end|>{START}<|channel|>final<|message|>Well."
    parsed = read(text, "harmony", starts_in_thinking=True)
    assert (parsed.thinking, parsed.text) == ("Hm.", "Well.")


def test_a_message_without_end_ends_where_the_next_begins():
    text = f"<|channel|>analysis<|message|>Hm.{START}<|channel|>final<|message|>Well."
    parsed = read(text, "harmony")
    assert (parsed.thinking, parsed.text) == ("Hm.", "Well.")


def test_a_cut_call_is_kept_and_marked():
    parsed = read(CALL[: CALL.index("}")], "harmony")
    assert said(parsed) == [("f", {"a": 1})]
    assert parsed.calls[0].truncated


def test_a_header_that_is_cut_or_endless_is_text():
    for text in (CALL[:40], f"<|channel|>{'word ' * 200}"):
        parsed = read(text, "harmony")
        assert parsed.text == text
        assert codes(parsed) == ["call_unreadable"]


def test_what_is_said_to_the_host_is_told_in_a_finding():
    text = "<|channel|>analysis to=browser.search<|message|>{}<|call|>"
    parsed = read(text, "harmony")
    assert not parsed.calls
    assert not parsed.text
    assert codes(parsed) == ["message_not_shown"]
    assert said(read(text, "harmony", [tool("browser.search")])) == [("browser.search", {})]


def test_arguments_that_are_no_json_are_one_text():
    text = CALL.replace('{"a":1}', 'print("x")')
    assert said(read(text, "harmony")) == [("f", {"input": 'print("x")'})]


def test_words_behind_the_arguments_are_told_in_a_finding():
    parsed = read(CALL.replace("}", "} so"), "harmony")
    assert said(parsed) == [("f", {"a": 1})]
    assert codes(parsed) == ["text_in_call"]


def test_it_prints_as_the_template_does():
    assert printed("harmony", ("f", {"a": 1}), ("f", {"a": 1})) == CALL + START + CALL
    assert printed_results("harmony", ("f", "sunny")) == (
        "<|start|>functions.f to=assistant<|channel|>commentary<|message|>sunny<|end|>"
    )


@given(st.lists(st.tuples(names, arguments_with(any_keys, *MARKERS)), min_size=1, max_size=3))
def test_what_was_printed_is_read_as_it_was(calls):
    reads_its_own_print("harmony", calls)


@given(
    st.lists(
        st.sampled_from(
            [*MARKERS, "assistant", "analysis", "commentary", " to=functions.f", "json"]
        )
        | st.sampled_from(['{"a":', "1}", "}", '"', "<|constrain|>", "\ud800", " ", "x"]),
        max_size=12,
    ).map("".join)
)
def test_any_text_is_read_the_same_in_any_pieces(text):
    read(text, "harmony")
