"""Markers in text that comes in pieces."""

from hypothesis import given
from hypothesis import strategies as st

from canonicall.syntax.stops import NEVER, ManyStops, Stops, stops

KINDS = st.sampled_from([Stops, ManyStops])
MARKERS = st.lists(st.text("ab<", min_size=1, max_size=5), min_size=1, max_size=4)
TEXTS = st.text("ab<", max_size=20)


def test_the_first_marker_is_found_and_of_two_the_longer_one():
    found = stops("<a>", "<a>b").find("x <a>b", 0)
    assert found is not None
    assert (found[0], found.start()) == ("<a>b", 2)


def test_nothing_is_found_where_there_are_no_markers():
    assert NEVER.find("text", 0) is None
    assert NEVER.held_from("text", 0) == 4
    assert not NEVER.stands_at("text", 0)
    assert not NEVER.begins_at("text", 0)


def test_a_marker_that_begins_a_longer_one_may_grow_as_long_as_the_text_agrees():
    fence = stops("```", "```json")
    for text, grows in (("```", True), ("```js", True), ("```json", False), ("```jx", False)):
        found = fence.find(text, 0)
        assert found is not None
        assert fence.may_grow(text, found) is grows


def test_stops_of_the_same_markers_are_made_once():
    assert stops("a", "b") is stops("a", "b")


@given(KINDS, MARKERS, TEXTS)
def test_only_the_beginning_of_a_marker_is_held_back(kind, markers, text):
    """And all of it: the longest end of the text that a marker begins with."""
    held = text[kind(markers).held_from(text, 0) :]
    begun = {marker[:end] for marker in markers for end in range(1, len(marker))}
    assert held == max(
        (text[at:] for at in range(len(text)) if text[at:] in begun), default="", key=len
    )


@given(KINDS, MARKERS, TEXTS, st.integers(0, 20))
def test_find_is_the_leftmost_longest_marker(kind, markers, text, at):
    found = kind(markers).find(text, at)
    there = [
        (place, -len(marker), marker)
        for marker in markers
        for place in range(at, len(text))
        if text.startswith(marker, place)
    ]
    assert (found and (found.start(), found[0])) == (
        (min(there)[0], min(there)[2]) if there else None
    )


@given(KINDS, MARKERS, TEXTS)
def test_a_marker_stands_or_begins_at_a_place(kind, markers, text):
    found = kind(markers)
    for at in range(len(text)):
        rest = text[at:]
        assert found.stands_at(text, at) == rest.startswith(tuple(markers))
        assert found.begins_at(text, at) == any(
            one.startswith(rest) and one != rest for one in markers
        )
