"""The text of `{"input": text}` while it comes: certain parts at once, and the same for every split."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from batches import each
from canonicall.blocks import ToolCall
from canonicall.client.unwrapping import Unwrapped, Unwrapping, unwrapped

from streaming import Counted, pieces_of

texts = st.text(max_size=12) | st.sampled_from(
    ["", "é", "😀", 'a"b\\c', "\n\t\x00", "\u2028 x", "{}"]
)
values = (
    texts | st.integers() | st.none() | st.lists(texts, max_size=2) | st.just({"input": "deep"})
)
layouts = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.none() | st.integers(0, 2),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,\r\n", "\t: ")]),
    }
)
cuts = st.lists(st.integers(0), max_size=8)
members = st.dictionaries(st.sampled_from(["why", "input ", "Input", "patch"]), values, max_size=2)
SIGNS = st.text(st.sampled_from('{}[]",:\\u0019dDe tinp aé\n'), max_size=20)
BEGINNINGS = st.sampled_from(
    ["", '{"input":"', '{ "input" : "a', '{"why": 1, "input": "', '{"input"', '"{']
)


def fed(*pieces):
    """What was given out piece by piece, and what came of it at the end."""
    unwrapping = Unwrapping()
    return [unwrapping.feed(piece) for piece in pieces], unwrapping.end()


def whole(*pieces):
    given, end = fed(*pieces)
    return end._replace(text="".join(given) + end.text)


@given(texts, layouts, cuts)
def test_the_text_is_all_there_before_the_end(text, layout, cuts):
    given, end = fed(*pieces_of(json.dumps({"input": text}, **layout), cuts))
    assert "".join(given) == text
    assert end == Unwrapped("")


@given(texts, layouts)
def test_each_character_is_given_out_when_it_is_certain(text, layout):
    """Character by character: what was given out is what the arguments so far say."""
    raw = json.dumps({"input": text}, **layout)
    unwrapping = Unwrapping()
    said = ""
    for char in raw:
        said += unwrapping.feed(char)
        assert text.startswith(said)
    assert said == text


@given(members, texts, members, layouts, cuts)
def test_members_beside_the_text_are_named_wherever_they_stand(before, text, behind, layout, cuts):
    raw = json.dumps(before | {"input": text} | behind, **layout)
    given, end = fed(*pieces_of(raw, cuts))
    assert "".join(given) == text
    assert end == Unwrapped("", left_out=tuple(dict.fromkeys((*before, *behind))))


@given(BEGINNINGS, SIGNS | members.map(json.dumps), cuts)
@example('{"input":"', "\\ud83d\\ude00", [1, 12, 15, 18])
@example('{"input":"', "\\ud83d\\q", [])
@example('{"input":"', 'a","input":"b"}', [])
@example('{"input":1,', '"input":"b"}', [])
def test_no_split_changes_anything(start, more, cuts):
    """Sound or garbage: nothing raises, and all ways to feed it say the same."""
    raw = start + more
    assert whole(*pieces_of(raw, cuts)) == whole(raw) == whole(*raw)
    assert whole(raw) == unwrapped(ToolCall(raw=raw))


@each(
    ("raw", "text"),
    [
        # An unescaped quote, a wrong bracket, an escape that there is not, more behind the end.
        ('{"input": "say "so" twice"}', 'say "so" twice"}'),
        ('{"input": "a"]', 'a"]'),
        ('{"input": "a\\d+\\n"}', 'a\\d+\\n"}'),
        ('{"input": "a\\u12', "a"),
        ('{"input": "a\\u12x"}', 'a\\u12x"}'),
        ('{"input": "a"} and more', 'a"} and more'),
        ('{"input": "a",}', 'a",}'),
        # Which of two is meant, nobody knows.
        ('{"input": "a", "input": "b"}', 'a", "input": "b"}'),
        # A line break that was not escaped is one.
        ('{"input": "a\nb"}', "a\nb"),
        # Nothing that could be the text.
        ('{"patch": "a"}', '{"patch": "a"}'),
        ('{"input": {"input": "a"}}', '{"input": {"input": "a"}}'),
        ('[{"input": "a"}]', '[{"input": "a"}]'),
        ('{input: "a"}', '{input: "a"}'),
        ('{"input": 1}', '{"input": 1}'),
        ("*** Begin Patch", "*** Begin Patch"),
        ("null", "null"),
        ("", ""),
        # The object inside a JSON text.
        ('"{\\"input\\": \\"a\\"}"', "a"),
        ('"bare"', '"bare"'),
        # Half a pair that stays alone.
        ('{"input": "\\ud83d"}', "\ufffd"),
        ('{"input": "\\ud83d', ""),
    ],
)
def test_what_does_not_fit_follows_as_it_was_written(raw, text):
    assert whole(raw).text == whole(*raw).text == text


@pytest.mark.parametrize(
    ("raw", "is_cut"),
    [
        ('{"input": "a', True),
        ('{"input": "a\\', True),
        ('{"input": "a"', False),
        ('{"input": "a", "wh', False),
        ('{"input": "a"}', False),
        ('{"patch": "a', False),
    ],
)
def test_a_text_that_was_never_closed_was_cut(raw, is_cut):
    assert whole(raw).is_cut == is_cut


@pytest.mark.parametrize(
    ("call", "said"),
    [
        # Arguments that were read count before their text, which may be in another syntax.
        (ToolCall(args={"input": "a"}, raw="input='a'"), Unwrapped("a")),
        (ToolCall(args={"input": "a"}, raw='{"input": "a"'), Unwrapped("a")),
        (ToolCall(args={"input": "ab"}, raw='{"input": "a'), Unwrapped("ab")),
        # Where a field is told once more, all of it counts, as far as it goes on with the first.
        (ToolCall(args={"input": "ab"}, raw='{"input": "a", "input": "ab"}'), Unwrapped("ab")),
        # What was given out cannot be taken back, though.
        (
            ToolCall(args={"input": "b"}, raw='{"input": "a", "input": "b"}'),
            Unwrapped('a", "input": "b"}'),
        ),
        (ToolCall(args={}), Unwrapped("")),
    ],
)
def test_arguments_that_were_read_count(call, said):
    assert unwrapped(call) == said


@each("start", ['{"input": "', '{"why": "', '{"input": "", "why": "'])
@each("unit", ["word ", "\\n", "\\ud83d\\ude00", '", "k": "'])
@each("size", [1, 7, 1000])
def test_every_character_is_looked_at_once(start, unit, size):
    """However small the pieces: no more characters are copied out than came in."""
    raw = start + unit * 500 + '"}'
    unwrapping = Unwrapping()
    Counted.taken = 0
    for at in range(0, len(raw), size):
        unwrapping.feed(Counted(raw[at : at + size]))
    assert Counted.taken <= len(raw)
