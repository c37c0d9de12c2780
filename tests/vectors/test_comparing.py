"""What counts as read as expected, and what does not."""

from typing import Any

import pytest

from canonicall import parse
from vectors.comparing import difference
from vectors.vector import Answer, Vector

CALL = '<tool_call>{"name": "f", "arguments": {"n": 5.0}}</tool_call>'
CUT = '<tool_call>{"name": "g", "arguments": {"n": '
F = {"name": "f", "arguments": {"n": 5}}


def compared(text: str, calls: list[dict[str, Any]], content: str, **more: Any) -> str:
    vector = Vector("id", "hermes", "whole", text, calls, expected_content=content, **more)
    return difference(vector, parse(text, syntax="hermes"))


@pytest.mark.parametrize(
    ("text", "calls", "content"),
    [
        (CALL, [F], ""),
        (f"a{CALL}b", [F], "ab"),
        (f"a{CALL}b", [F], "a b"),
        (f"a{CALL}{CUT}", [F], "a"),
        (f"a {CUT}", [], f"a {CUT}"),
    ],
)
def test_the_same_said_otherwise(text: str, calls: list[dict[str, Any]], content: str) -> None:
    assert not compared(text, calls, content)


@pytest.mark.parametrize(
    ("text", "calls", "content"),
    [
        (CALL, [], ""),
        (CALL, [{"name": "f", "arguments": {"n": True}}], ""),
        (CALL, [{"name": "f", "arguments": {"n": "5"}}], ""),
        (f"a{CALL}b", [F], "a"),
        (f"{CALL}{CALL}{CUT}", [F], ""),
        (f"a {CUT}", [], "a other words"),
        (f"a {CUT}", [], "b"),
    ],
)
def test_what_is_not_the_same(text: str, calls: list[dict[str, Any]], content: str) -> None:
    assert compared(text, calls, content)


def test_the_words_of_any_engine_do_only_where_they_agree_on_the_calls_alone() -> None:
    answers = {"one": Answer([F], "a b")}
    text = f"a{CALL}b"
    assert not compared(text, [F], "a", alt_expected=answers, strength="consensus_calls_2")
    assert compared(text, [F], "a", alt_expected=answers, strength="consensus_2")
