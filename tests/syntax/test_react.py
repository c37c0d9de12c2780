"""ReAct, as agent frameworks ask for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntax.readings import (
    any_keys,
    arguments_with,
    codes,
    names,
    printed_results,
    read,
    reads_its_own_print,
    said,
    tool,
)

LABELS = ("Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Action: f\nAction Input: {"a": 1}', {"a": 1}),
        ('Action: `f`\nAction Input:\n{"a": {"b": [1]}}\n', {"a": {"b": [1]}}),
        ('Action: f\nAction Input: ```json\n{"a": 1}\n```', {"a": 1}),
        ('Action: f ({"a": 1})', {"a": 1}),
        ("Action: f\nAction Input: weather in Rome", {"input": "weather in Rome"}),
        (
            'Action: f\nAction Input: "weather in Rome"\nObservation: hot',
            {"input": "weather in Rome"},
        ),
        ("Action: f\nAction Input: ```\nls -la\n```", {"input": "ls -la"}),
        ("Action: f\nAction Input:\nObservation: hot", {}),
        ("Action: f\nAction Input:", {}),
        ("Action: f\nAction Input: {'a': True}", {"a": True}),
    ],
)
def test_the_forms_of_an_input(text, expected):
    assert said(read(text, "react")) == [("f", expected)]


def test_words_are_the_only_argument_of_the_tool():
    parsed = read("Action: f\nAction Input: Rome", "react", [tool("f", city="string")])
    assert said(parsed) == [("f", {"city": "Rome"})]


def test_thoughts_calls_and_the_answer():
    text = (
        'Thought: I look it up.\nAction: f\nAction Input: {"q": "x"}\nObservation: made up\n'
        "Thought: Now I know.\nFinal Answer: It is x."
    )
    parsed = read(text, "react")
    assert parsed.thinking == "I look it up.\nNow I know."
    assert said(parsed) == [("f", {"q": "x"})]
    assert parsed.text.split("\n")[-1] == "It is x."
    assert "Observation: made up" in parsed.text


@pytest.mark.parametrize(
    "text",
    [
        "Action: None\nAction Input: None",
        "Action: f",
        "Action: f (whatever)\n",
        "The word Action: f\nAction Input: x",
    ],
)
def test_what_is_no_action_stays_text(text):
    parsed = read(text, "react")
    assert not parsed.calls
    assert parsed.text == text


def test_only_tools_that_were_offered_are_called():
    text = "Action: g\nAction Input: x"
    parsed = read(text, "react", [tool("f")])
    assert parsed.text == text
    assert codes(parsed) == ["call_not_offered"]


def test_a_cut_call_is_kept_and_marked():
    parsed = read('Action: f\nAction Input: {"a": "x', "react")
    assert said(parsed) == [("f", {"a": "x"})]
    assert parsed.calls[0].truncated


def test_results_are_observations():
    assert printed_results("react", ("f", "sunny")) == "Observation: sunny"


@given(st.lists(st.tuples(names, arguments_with(any_keys, *LABELS)), min_size=1, max_size=3))
def test_what_was_printed_is_read_as_it_was(calls):
    reads_its_own_print("react", calls)


@given(
    st.lists(
        st.sampled_from(
            [*LABELS, "\n", " ", "f", "(", ")", '{"a":', "1}", "```", "\ud800", "None"]
        ),
        max_size=12,
    ).map("".join)
)
def test_any_text_is_read_the_same_in_any_pieces(text):
    read(text, "react", [tool("f")])
