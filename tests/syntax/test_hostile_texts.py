"""Long texts that made readers look at the same characters again and again: what they say."""

import pytest

from batches import sampled
from canonicall.request import Tool
from canonicall.syntax.element_values import TrimmedText
from canonicall.syntax.parsing import parse
from canonicall.syntax.reader import Reader
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.repair import repaired_value
from canonicall.syntax.typed_values import json_of
from canonicall.testing.conformance.printed import markers_of
from syntax.law_texts import NAMES
from syntax.support import streamed, work

_MANY = 60_000
_LONGER_THAN_WHAT_WAITS = 1_200
_TOOLS = [Tool("f", parameters={"properties": {"n": {"type": "integer"}}})]


@pytest.mark.parametrize("quotes", ['\\"', "\\'", '"x', "'"])
def test_quotes_that_nothing_closes_are_no_json(quotes):
    """Mending looked from each of them to the end of the text."""
    assert repaired_value('{"a": [1,' + quotes * _MANY + "]x") is None


def test_zeros_before_what_is_no_number_are_text():
    """Leading zeros could be told from other digits in as many ways as there are zeros."""
    zeros = "0" * _MANY
    assert json_of(f"{zeros}x", ("integer", "number")) == (f'"{zeros}x"', False)
    assert json_of(f"{zeros}7", ("integer",)) == ("7", False)
    assert json_of(f"-{zeros}.5", ("number",)) == ("-0.5", False)
    assert parse(f"[f(n={zeros}x)]", syntax="pythonic").calls[0].args == {"n": f"{zeros}x"}
    assert parse(f"[f(n=-{zeros}7.50)]", syntax="pythonic").calls[0].raw == '{"n":-7.50}'


def test_blanks_behind_a_call_wait_without_being_read_again():
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    pieces = [call, *" \n" * _MANY]
    assert streamed(pieces, "hermes") == streamed([call], "hermes")
    assert streamed([*pieces, "x"], "hermes").message.text == " \n" * _MANY + "x"


def test_blanks_before_a_value_wait_without_being_read_again():
    said: list[str] = []
    text = TrimmedText(said.append)
    for piece in ["\n", *" " * _MANY, "a", "\n", "b"]:
        text.add(piece)
    text.end()
    assert "".join(said) == " " * _MANY + "a\nb"


def test_text_given_back_is_not_copied():
    """What follows a marker may be long: it must not be copied for each one that opens nothing."""
    reader = Reader()
    reader.feed("<a>" * 3)
    held = reader._text
    reader.take(3)
    taken = reader.take(3)
    reader.give_back(taken)
    assert reader._text is held
    assert (reader.position, reader.rest) == (3, "<a><a>")


def test_text_of_earlier_pieces_is_given_back_as_well():
    reader = Reader()
    reader.feed("<a")
    taken = reader.take(2)
    reader.feed("><b>")
    taken += reader.take(1)
    reader.give_back(taken)
    assert (reader.position, reader.rest) == (0, "<a><b>")


def test_thoughts_are_not_counted_again_for_every_marker():
    thoughts = "<think>a</think>" * 2_000
    steps, _ = work("hermes", [thoughts])
    more, _ = work("hermes", [thoughts * 2])
    assert more < 2.2 * steps


@pytest.mark.parametrize("name", sampled(NAMES, every=6))
def test_markers_that_open_nothing_are_steps_as_many_as_they_are(name):
    """Each of its own markers, unclosed: twice the text, twice the steps, and what waits does not
    pile up."""
    for marker in sorted(markers_of(get_syntax(name), _TOOLS)):
        text = marker * (_LONGER_THAN_WHAT_WAITS // len(marker))
        steps, waits = work(name, _pieces(text, 64), tools=_TOOLS)
        more, waits_more = work(name, _pieces(text * 2, 64), tools=_TOOLS)
        assert more < 2.3 * steps, marker
        assert waits_more < 2.3 * waits + len(text), marker


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]
