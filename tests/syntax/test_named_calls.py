"""Calls with their name before their arguments: what holds for all who write so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall import ToolCall
from canonicall.errors import InvalidValue
from canonicall.events import ArgumentsAdded, BlockStarted
from canonicall.syntax.registry import get_syntax
from syntax.support import NAMED_SYNTAXES, calls_of, codes, events_of_pieces, read, said

NAMES = st.from_regex(r"[a-z_][a-zA-Z0-9_.-]{0,12}", fullmatch=True).filter(
    lambda one: one != "all"
)
CALL = ToolCall(name="look", args={"a": "x", "n": [1, None]})

each_syntax = each("syntax", NAMED_SYNTAXES)


def printed(syntax: str, *calls: ToolCall) -> str:
    print_calls = get_syntax(syntax).print_calls
    assert print_calls is not None
    return print_calls(calls)


@given(st.sampled_from(NAMED_SYNTAXES), calls_of(NAMES))
def test_printed_calls_are_read_again(syntax, calls):
    parsed = read(printed(syntax, *calls), syntax)
    assert said(parsed.calls) == [(call.name, call.args) for call in calls]
    assert (parsed.text, parsed.findings) == ("", ())


@given(st.sampled_from(NAMED_SYNTAXES), st.text(min_size=1, max_size=12))
def test_a_name_that_cannot_be_said_is_refused(syntax, name):
    call = ToolCall(name=name, args={"a": 1})
    try:
        text = printed(syntax, call)
    except InvalidValue:
        return
    assert said(read(text, syntax).calls) == [(name, {"a": 1})]


@each_syntax
@pytest.mark.parametrize("name", ["a<{[b", "x" * 300, " a", ""])
def test_some_names_cannot_be_said_by_anybody(syntax, name):
    with pytest.raises(InvalidValue):
        printed(syntax, ToolCall(name=name, args={}))


@each_syntax
def test_words_around_calls_are_kept(syntax):
    text = f"Before.\n{printed(syntax, CALL, CALL)}\nBehind."
    parsed = read(text, syntax)
    assert said(parsed.calls) == [(CALL.name, CALL.args)] * 2
    assert parsed.text.split() == ["Before.", "Behind."]


@each_syntax
def test_arguments_are_told_as_they_come(syntax):
    text = printed(syntax, ToolCall(name="look", args={"a": "x" * 50}))
    begun, _, rest = text.partition("x" * 50)
    pieces = [begun, *("x" * 50), rest]
    events = events_of_pieces(pieces, syntax)
    told = [event.text for event in events if isinstance(event, ArgumentsAdded)]
    assert len(told) > 50
    assert "".join(told).replace(" ", "") == '{"a":"' + "x" * 50 + '"}'
    started = [event.block for event in events if isinstance(event, BlockStarted)]
    assert [block.name for block in started if isinstance(block, ToolCall)] == ["look"]


@each_syntax
def test_a_cut_call_is_kept_and_marked(syntax):
    text = printed(syntax, ToolCall(name="look", args={"a": 1, "b": "long text"}))
    parsed = read(text.partition("long")[0] + "lo", syntax)
    assert said(parsed.calls) == [("look", {"a": 1, "b": "lo"})]
    assert parsed.calls[0].truncated
    assert parsed.text == ""


@each_syntax
def test_every_cut_is_a_whole_call_a_cut_one_or_text(syntax):
    text = printed(syntax, CALL)
    for end in range(len(text)):
        parsed = read(text[:end], syntax)
        for call in parsed.calls:
            assert call.name == "look"
            assert call.truncated or call.args == CALL.args


@each_syntax
def test_a_bracket_that_is_missing_is_mended(syntax):
    text = printed(syntax, CALL, CALL)
    text = text.replace("]}}" if syntax == "inkling" else "]}", "]", 1)
    parsed = read(text, syntax)
    assert said(parsed.calls) == [(CALL.name, CALL.args)] * 2
    assert "arguments_repaired" in codes(parsed)


@each_syntax
def test_tools_that_were_not_offered_are_called_all_the_same_or_stay_text(syntax):
    text = printed(syntax, CALL)
    parsed = read(text, syntax, tools=[{"name": "other"}])
    if syntax == "functionary_v32":
        assert (parsed.calls, parsed.text) == ((), text)
    else:
        assert said(parsed.calls) == [(CALL.name, CALL.args)]
        assert codes(parsed) == ["tool_unknown"]
