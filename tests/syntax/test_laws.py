"""The laws of calls in text. Each holds for every syntax that there is, whatever the text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonicall.errors import InvalidValue
from canonicall.events import TextAdded
from canonicall.syntax.parsing import parse
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner
from canonicall.testing.conformance.accounting import is_all_there, lost_words
from canonicall.testing.conformance.printed import markers_of, place_of, tools_for
from syntax.law_calls import calls_for
from syntax.law_texts import NAMES, OFFERS, texts_of, whole_calls
from syntax.support import said, splits, streamed

each_syntax = pytest.mark.parametrize("name", NAMES)
# Every law runs for every syntax, so each has fewer examples.
a_few = settings(max_examples=max(4, settings().max_examples // 12))


@each_syntax
@a_few
@given(data=st.data())
def test_no_text_is_lost(name, data):
    """Every word is in the text, a thought or a call, or a finding tells of it."""
    text, words = data.draw(texts_of(name))
    reply = streamed([text], name, tools=data.draw(st.sampled_from(OFFERS)))
    assert lost_words(words, reply) == []
    assert is_all_there(text, reply, get_syntax(name))


@each_syntax
@a_few
@given(data=st.data())
def test_any_split_gives_the_same_reply(name, data):
    """Nothing raises, and pieces make no difference."""
    text, _ = data.draw(texts_of(name))
    tools = data.draw(st.sampled_from(OFFERS))
    in_thought = data.draw(st.booleans())
    whole = streamed([text], name, tools=tools, starts_in_thinking=in_thought)
    for pieces in (data.draw(splits(text)), text):
        assert streamed(pieces, name, tools=tools, starts_in_thinking=in_thought) == whole


@each_syntax
@a_few
@given(data=st.data())
def test_printed_calls_are_read_again(name, data):
    """The same calls come back, or printing refuses what it cannot say."""
    calls = data.draw(calls_for(name))
    print_calls = get_syntax(name).print_calls
    assert print_calls is not None
    try:
        text = print_calls(calls)
    except InvalidValue:
        return
    parsed = parse(text, syntax=name, tools=tools_for(calls))
    assert said(parsed.calls) == said(calls)
    assert not any(call.truncated for call in parsed.calls)
    assert parsed.text == ""
    assert parsed.findings == ()


@each_syntax
@a_few
@given(data=st.data())
def test_words_around_calls_stay_words(name, data):
    """Behind printed calls, and before and between them where they count in a text."""
    calls = data.draw(calls_for(name))
    syntax = get_syntax(name)
    assert syntax.print_calls is not None
    try:
        printed = [syntax.print_calls((call,)) for call in calls]
        together = syntax.print_calls(calls)
    except InvalidValue:
        return
    if all(place_of(one, syntax, tools_for(calls)) == "start" for one in printed):
        text, words = f"{together}\nThree.", ["Three."]
    else:
        text = "One.\n" + "\nTwo.\n".join(printed) + "\nThree."
        words = ["One.", *["Two."] * (len(calls) - 1), "Three."]
    parsed = parse(text, syntax=name, tools=tools_for(calls))
    assert said(parsed.calls) == said(calls)
    assert parsed.text.split() == words


@each_syntax
@a_few
@given(data=st.data())
def test_a_thought_before_and_the_end_of_the_turn_behind_change_nothing(name, data):
    """Servers that pass special tokens on give the same calls as those that do not."""
    calls = data.draw(calls_for(name))
    syntax = get_syntax(name)
    try:
        text = syntax.print_calls(calls)
    except InvalidValue:
        return
    opening, close = data.draw(st.sampled_from([("", ""), *syntax.thinking]))
    end = data.draw(st.sampled_from(["", *syntax.noise]))
    thought = f"{opening}Hm.{close}" if opening else ""
    parsed = parse(f"{thought}{text}{end}", syntax=name, tools=tools_for(calls))
    assert said(parsed.calls) == said(calls)
    assert (parsed.thinking, parsed.text) == ("Hm." if opening else "", "")


@each_syntax
@a_few
@given(data=st.data())
def test_detection_reads_the_same_calls_or_says_so(name, data):
    """What a syntax prints is read alike where nobody named it, or a finding tells."""
    calls = data.draw(calls_for(name))
    try:
        text = get_syntax(name).print_calls(calls)
    except InvalidValue:
        return
    detected = parse(text, tools=tools_for(calls))
    assert said(detected.calls) == said(calls) or detected.findings


@each_syntax
@a_few
@given(data=st.data())
def test_words_wait_only_where_a_marker_may_begin(name, data):
    """What is held back is shorter than the longest marker, before and behind calls."""
    syntax = get_syntax(name)
    tools = data.draw(st.sampled_from(OFFERS))
    markers = sorted(markers_of(syntax, tools or ()))
    begun = st.sampled_from([one[:-1] or "x" for one in markers] or ["x"])
    words = "".join(data.draw(st.lists(begun | st.text(max_size=5), max_size=8)))
    if any(marker in words for marker in markers):
        return
    scanner = TextScanner(syntax, tools=tools)
    scanner.feed(data.draw(st.sampled_from(["", *whole_calls(name)])))
    # Line breaks do not count: those beside calls belong to their markers.
    fed, told = -1, 0
    for char in "\n." + words:
        fed += char != "\n"
        added = [event for event in scanner.feed(char) if isinstance(event, TextAdded)]
        told += sum(len(event.text.replace("\n", "")) for event in added)
        assert fed - told < max(map(len, markers), default=1)
