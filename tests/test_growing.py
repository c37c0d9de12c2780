"""Growing JSON: at its end it is what a parser reads, before that a beginning of it."""

import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from batches import each
from canonicall.growing import GrowingJson, GrowingText

from streaming import Counted, pieces_of

texts = st.text(max_size=8) | st.sampled_from(["", "é", "😀", 'a"b\\c', "\n\t\x00", "\u2028 x"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(
    scalars.filter(lambda value: not isinstance(value, float) or math.isfinite(value)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
containers = st.lists(values, max_size=4) | st.dictionaries(texts, values, max_size=4)
layouts = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.none() | st.integers(0, 2),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,\r\n", "\t: ")]),
    }
)
SIGNS = st.text(st.sampled_from('{}[]",:\\u0019dDe-+.tfn aé\n\xa0'), max_size=30)


def fed(*pieces):
    growing = GrowingJson()
    for piece in pieces:
        growing.feed(piece)
    return growing


def state(growing):
    return growing.is_whole, growing.is_broken, growing.value


def finite(number):
    """The numbers that JSON has: NaN and what is beyond all floats are none."""
    if not math.isfinite(float(number)):
        raise ValueError(number)
    return float(number)


def is_beginning(part, whole):
    """Whether `part` is `whole` as far as it has come: all settled but for what came last."""
    match part, whole:
        case dict(), dict():
            keys = list(part)
            settled, last = keys[:-1], keys[-1:]
            return (
                keys == list(whole)[: len(keys)]
                and all(part[key] == whole[key] for key in settled)
                and all(is_beginning(part[key], whole[key]) for key in last)
            )
        case list(), list():
            return (
                len(part) <= len(whole)
                and part[:-1] == whole[: len(part)][:-1]
                and all(map(is_beginning, part[-1:], whole[len(part) - 1 :]))
            )
        case str(), str():
            return whole.startswith(part)
        case _:
            return part == whole


@given(containers | texts, layouts, st.lists(st.integers(0), max_size=6))
def test_at_its_end_it_is_what_a_parser_reads(value, layout, cuts):
    text = json.dumps(value, **layout)
    assert state(fed(*pieces_of(text, cuts))) == (True, False, json.loads(text))


@given(containers | texts, layouts)
def test_before_its_end_it_is_a_beginning(value, layout):
    """Character by character: what is settled stays, an open text only grows."""
    text = json.dumps(value, **layout)
    growing = GrowingJson()
    for number, char in enumerate(text, 1):
        growing.feed(char)
        assert not growing.is_broken
        assert growing.is_whole == (number == len(text))
        assert growing.value is None or is_beginning(growing.value, value)
    assert growing.value == value


@given(SIGNS | containers.map(json.dumps), SIGNS, st.lists(st.integers(0), max_size=6))
@example('{"a": "x', "\\q", [4])
@example('["a', '" "b"]', [])
@example('{"a": 1}', '"', [])
@example("[1 ", "2]", [3])
def test_neither_the_split_nor_looking_at_it_changes_anything(text, more, cuts):
    """Sound or garbage: nothing raises, and all ways to feed it say the same."""
    text += more
    watched = GrowingJson()
    for piece in pieces_of(text, cuts):
        watched.feed(piece)
        _ = watched.value
    assert state(watched) == state(fed(text)) == state(fed(*text))


@given(SIGNS | containers.map(json.dumps), SIGNS)
def test_it_is_whole_only_if_a_parser_reads_it(text, more):
    """Whole and not broken is what is JSON, an object, a list or a text."""
    text += more
    growing = fed(text)
    try:
        read = json.loads(text, strict=False, parse_constant=finite, parse_float=finite)
    except ValueError:
        assert not growing.is_whole or growing.is_broken
        return
    if isinstance(read, (dict, list, str)):
        assert (growing.is_whole, growing.is_broken) == (True, False)
        assert text.count("\\ud") + text.count("\\uD") or growing.value == read
    else:
        assert not growing.is_whole


@pytest.mark.parametrize("text", ['{"a": 1}{"a": 2}', '{"a": 1} {', '{"a": 1},', '{"a": 1}x'])
def test_a_second_value_breaks_it_and_the_first_stays(text):
    growing = fed(text)
    assert state(growing) == (True, True, {"a": 1})


@each(
    "text",
    [
        *('{"a" 1', '{"a",', '{"a": 1 "b"', '{"a": 1,}', "{,", '{"a":: 1', "{1", "{[", '{"a"}'),
        *('["a" "b"', "[1 2]", "[,", "[1,]", "[1:", "[}", '{"a": 1]', "[tru]", "[01]", "[+1"),
        *("]", "}", ",", ":", "hello", "[\xa01]", '"\\x', '"\\u12x', '"\\u 123'),
    ],
)
def test_what_is_no_json_is_broken(text):
    assert fed(text).is_broken
    assert fed(*text).is_broken


@pytest.mark.parametrize("text", ["", " ", "12", "-", "tru", "null", '{"a": 1', '"a', "[[", "[1"])
def test_what_may_go_on_is_neither_broken_nor_whole(text):
    """A bare number may always go on."""
    growing = fed(text)
    assert (growing.is_whole, growing.is_broken) == (False, False)


def test_an_open_text_is_shown_as_far_as_it_can_be_read():
    growing = GrowingJson()
    seen = []
    for char in '{"a":"x\\n\\ud83d\\ude00y"}':
        growing.feed(char)
        seen.append((growing.value or {}).get("a"))
    shown = list(dict.fromkeys(seen))
    assert shown == [None, "", "x", "x\n", "x\n😀", "x\n😀y"]


def test_an_open_key_is_not_shown():
    assert fed('{"a": 1, "b').value == {"a": 1}
    assert fed('{"a": 1, "b":').value == {"a": 1}
    assert fed('{"a": 1, "b": 12').value == {"a": 1}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('"\\ud83d"', "\ufffd"),
        ('"\\ude00x"', "\ufffdx"),
        ('"\\ud83d\\ud83d\\ude00"', "\ufffd😀"),
    ],
)
def test_a_lone_half_of_a_pair_becomes_what_can_be_sent(text, read):
    assert fed(*text).value == fed(text).value == read


def test_an_unreadable_escape_ends_a_text_where_it_stands():
    growing = fed('["a", "bc\\q')
    assert (growing.is_broken, growing.value) == (True, ["a", "bc"])
    growing.feed('"]')
    assert growing.value == ["a", "bc"]


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ('{"a": "', "a"),
        ('{"a": "b\\"', "a"),
        ('{"a": 1, "b": "x', "b"),
        ('{"a', None),
        ('{"a": "b"', None),
        ('{"a": {"b": "', None),
        ('{"a": ["', None),
        ('["a', None),
        ('"a', None),
        ("", None),
    ],
)
def test_the_member_whose_text_is_open_is_known(text, member):
    assert fed(text).open_member == fed(*text).open_member == member


@given(texts, st.booleans(), st.lists(st.integers(0), max_size=6), st.lists(st.booleans()))
def test_what_is_taken_of_a_text_is_all_of_it_once(text, is_ascii, cuts, looks):
    """Whenever somebody takes what is there: no half characters, and nothing twice."""
    growing = GrowingText()
    taken = ""
    wants = iter(looks)
    for piece in pieces_of(json.dumps(text, ensure_ascii=is_ascii)[1:], cuts):
        growing.feed(piece)
        taken += growing.take() if next(wants, True) else ""
        assert text.startswith(taken)
    assert growing.is_closed
    assert taken + growing.take() == text


def test_a_text_ends_at_its_quote_and_leaves_the_rest():
    growing = GrowingText()
    assert growing.feed('xx one" two', 3) == 7
    assert (growing.is_closed, growing.take()) == (True, "one")
    assert growing.feed("more") == 0


def test_depth_costs_no_recursion():
    assert fed("[" * 100_000, "]" * 100_000).is_whole


@pytest.mark.parametrize(
    "unit", ["word ", "\\n", "\\ud83d\\ude00", '", "', '", "k": [1, {"x": 2}], "']
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_every_character_is_looked_at_once(unit, size):
    """However small the pieces: no more characters are copied out than came in."""
    text = '["' + unit * 500
    growing = GrowingJson()
    Counted.taken = 0
    for at in range(0, len(text), size):
        growing.feed(Counted(text[at : at + size]))
    assert Counted.taken <= len(text)
