"""The reader: programs over text that comes in pieces read the same as over all of it."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.testing.strategies import json_values
from syntax.support import splits


def run(program: Callable[[Reader], Reading[Any]], pieces: Iterable[str]) -> tuple[Any, str]:
    """What a program gives, and what it left."""
    reader = Reader()
    running = program(reader)
    result: list[Any] = []

    def step() -> None:
        try:
            next(running)
        except StopIteration as done:
            result.append(done.value)

    step()
    for piece in pieces:
        reader.feed(piece)
        if not result:
            step()
    reader.close()
    if not result:
        step()
    return result[0], reader.rest


def both(program: Callable[[Reader], Reading[Any]], text: str) -> tuple[Any, str]:
    """The same whole and by characters."""
    whole = run(program, [text])
    assert run(program, text) == whole
    return whole


def test_accept_takes_the_longest_literal_that_fits():
    assert both(lambda reader: reader.accept("a", "abc"), "abcd") == ("abc", "d")
    assert both(lambda reader: reader.accept("a", "abc"), "abd") == ("a", "bd")
    assert both(lambda reader: reader.accept("a", "abc"), "ab") == ("a", "b")
    assert both(lambda reader: reader.accept("abc"), "ab") == ("", "ab")


def test_white_space_is_taken_and_other_text_is_peeked_at():
    assert both(lambda reader: reader.blank(), " \n\tx") == (" \n\t", "x")
    assert both(lambda reader: reader.blank(), "  ") == ("  ", "")
    assert both(lambda reader: reader.peek(3), "xy") == ("xy", "xy")


def test_match_takes_what_the_pattern_takes():
    word = re.compile(r"(\w{1,8})=")
    found, rest = run(lambda reader: reader.match(word, 9), ["ke", "y=", "1"])
    assert (found[1], rest) == ("key", "1")
    assert both(lambda reader: reader.match(word, 9), "=") == (None, "=")


def test_comes_waits_only_as_long_as_a_marker_may_come():
    closer = stops("[/end]")
    assert both(lambda reader: reader.comes(closer), "[/end] x") == (True, "[/end] x")
    assert both(lambda reader: reader.comes(closer), "[1]") == (False, "[1]")
    assert both(lambda reader: reader.comes(closer), "[/en") == (True, "[/en")
    assert run(lambda reader: reader.comes(closer), ["["])[0] is True


def test_until_gives_text_and_takes_or_leaves_the_marker():
    def taken(reader: Reader) -> Reading[tuple[str, str]]:
        text: list[str] = []
        marker = yield from reader.until(stops("<end>"), text.append)
        return "".join(text), marker

    assert both(taken, "a < b <end> c") == (("a < b ", "<end>"), " c")
    assert both(taken, "a <en") == (("a <en", ""), "")

    def left(reader: Reader) -> Reading[str]:
        return (yield from reader.until(stops("<end>"), lambda _: None, consume=False))

    assert both(left, "a<end>b") == ("<end>", "<end>b")


def test_marks_may_lie_inside_each_other():
    reader = Reader()
    reader.feed("abcdef")
    outer = reader.mark()
    inner = reader.mark()
    reader.take(2)
    assert reader.since(inner) == "ab"
    later = reader.mark()
    reader.take(1)
    assert reader.since(later) == "c"
    assert reader.since(outer) == "abc"
    assert reader.position == 3


def test_nothing_is_remembered_where_nothing_is_marked():
    reader = Reader()
    reader.feed("abc")
    reader.take(2)
    mark = reader.mark()
    reader.take(1)
    assert reader.since(mark) == "c"
    assert reader.at_end is False
    reader.close()
    assert reader.at_end is True


def value_in(reader: Reader) -> Reading[tuple[str, bool]]:
    pieces: list[str] = []
    whole = yield from reader.json_value(pieces.append, stops("</end>"))
    return "".join(pieces), whole


@pytest.mark.parametrize(
    ("text", "value", "whole"),
    [
        ('{"a": "}"} rest', '{"a": "}"}', True),
        ("{'a': 'it\\'s }'}x", "{'a': 'it\\'s }'}", True),
        ('["</end>", {"x": []}],', '["</end>", {"x": []}]', True),
        ('"a\\"b" c', '"a\\"b"', True),
        ("-1.5e3, 2", "-1.5e3", True),
        ('{"a": 1</end>', '{"a": 1', False),
        ('{"a": 1 < 2}', '{"a": 1 < 2}', True),
        ('{"a": "b', '{"a": "b', False),
        ('{"a": "b\\', '{"a": "b\\', False),
        ('"open', '"open', False),
    ],
)
def test_a_json_value_ends_where_it_ends(text, value, whole):
    assert both(value_in, text) == ((value, whole), text[len(value) :])


@given(json_values(), st.text(max_size=5), st.data())
def test_any_json_value_is_taken_whole_at_any_split(value, behind, data):
    written = msgspec.json.encode(value).decode()
    text = f"{written} {behind}"
    pieces = data.draw(splits(text))
    assert run(value_in, pieces) == ((written, True), " " + behind)


@given(st.text("{}[]\"'\\ab </end>", max_size=30), st.data())
def test_a_value_of_garbage_is_the_same_at_any_split(text, data):
    (taken, _), rest = whole = run(value_in, [text])
    assert taken + rest == text
    assert run(value_in, data.draw(splits(text))) == whole


@pytest.mark.parametrize(
    ("text", "marker"), [("Action:\n```json", "Action:\n```json"), ("Action:\n```x", "```")]
)
def test_a_marker_inside_of_a_longer_one_waits_for_that(text, marker):
    """A fence may be part of a marker that began before it."""
    marks = stops("```", "Action:\n```json")
    assert both(lambda reader: reader.until(marks, lambda _: None), text)[0] == marker


@given(st.data())
def test_what_is_only_looked_at_or_given_back_was_not_taken(data):
    """A mark around it gives the text once, and what follows is read as if nothing had been."""
    text = "name{rest} of it"
    name, begun = re.compile(r"(\w+)\{"), re.compile(r"\w*\Z")

    def program(reader: Reader) -> Reading[tuple[Any, ...]]:
        mark = reader.mark()
        found = yield from reader.ahead(name, 20, begun)
        inner = reader.mark()
        said, _ = yield from reader.up_to(stops("}"), 20)
        reader.give_back(reader.since(inner))
        taken = yield from reader.match(re.compile(r"\w+"), 20)
        return (found and found[1], said, taken and taken[0], reader.since(mark), reader.position)

    result, rest = run(program, data.draw(splits(text)))
    assert result == ("name", "name{rest", "name", "name", 4)
    assert rest == "{rest} of it"


@given(st.data())
def test_what_follows_is_known_by_a_pattern(data):
    pattern, begun = re.compile(r"\s*(?:,|\Z)"), re.compile(r"\s*\Z")

    def program(reader: Reader) -> Reading[bool]:
        yield from reader.peek()
        return (yield from reader.follows_like(1, pattern, 8, begun))

    for text, follows in (('"  , a', True), ('"  a', False), ('"', True), ('"   ', True)):
        assert run(program, data.draw(splits(text)))[0] is follows
