"""JSON values one behind the other: lines, or the items of one array."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.framing.frame import Frame
from canonicall.framing.json_values import JsonValues
from canonicall.testing.strategies import json_objects

objects = st.lists(
    json_objects()
    | st.dictionaries(st.text('"\\{}[],: ', max_size=5), st.text('"\\{}[]/u', max_size=8)),
    max_size=4,
)


def read(*pieces):
    framing = JsonValues()
    frames = [frame for piece in pieces for frame in framing.feed(piece)]
    return frames + framing.close()


def values(frames):
    return [json.loads(frame.data) for frame in frames]


def split(data, cuts):
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


@st.composite
def streams(draw):
    """Objects and the bytes of a stream of them, in every way that is seen."""
    held = draw(objects)
    indent = draw(st.sampled_from([None, 2]))
    ascii = draw(st.booleans())
    texts = [json.dumps(one, indent=indent, ensure_ascii=ascii) for one in held]
    form = draw(st.sampled_from(["lines", "crlf", "glued", "array", "open array"]))
    match form:
        case "lines":
            text = "".join(f"{one}\n" for one in texts)
        case "crlf":
            text = "\r\n\r\n".join(texts)
        case "glued":
            text = " ".join(texts)
        case "array":
            text = "[" + "\n,\r\n".join(texts) + "]\n"
        case _:
            text = "[\n" + ",".join(texts)
    return held, text.encode("utf-8", "surrogatepass")


@given(streams(), st.lists(st.integers(0, 10_000), max_size=8))
def test_every_split_gives_the_same_values(stream, cuts):
    held, data = stream
    frames = read(data)
    assert values(frames) == held
    assert read(*split(data, cuts)) == frames
    assert read(*(data[at : at + 1] for at in range(len(data)))) == frames


@given(streams(), st.integers(0, 10_000))
def test_a_cut_leaves_whole_values_and_at_most_one_that_is_not(stream, cut):
    held, data = stream
    frames = read(data[: cut % (len(data) + 1)])
    whole = [frame for frame in frames if is_json(frame.data)]
    assert values(whole) == held[: len(whole)]
    assert len(frames) - len(whole) <= 1
    assert frames[: len(whole)] == whole


def is_json(data):
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


@given(st.binary(max_size=60), st.integers(0, 60))
def test_any_bytes_are_read_the_same_in_every_split(data, cut):
    assert read(data[:cut], data[cut:]) == read(data)


@pytest.mark.parametrize(
    ("data", "held"),
    [
        (b"", []),
        (b"[]", []),
        (b"[ ]\n", []),
        (b'[{"a":[[{}]]},{}]', [{"a": [[{}]]}, {}]),
        (b'{"a":"}"}\n{"b":"\\"}{"}', [{"a": "}"}, {"b": '"}{'}]),
        (b'{"a":"\\\\"}{"b":"\\\\\\""}', [{"a": "\\"}, {"b": '\\"'}]),
        (b'{"a":1}]{"b":2}', [{"a": 1}, {"b": 2}]),
    ],
)
def test_brackets_in_strings_are_words(data, held):
    assert values(read(data)) == held


def test_a_value_that_was_cut_comes_at_the_end_as_it_is():
    assert read(b'[{"a": 1},\n{"b": "x') == [Frame("", b'{"a": 1}'), Frame("", b'{"b": "x')]


def test_closing_twice_gives_it_once():
    framing = JsonValues()
    framing.feed(b'{"a"')
    assert framing.close() == [Frame("", b'{"a"')]
    assert framing.close() == []


class CountedBytes(bytes):
    """Bytes that count how many of theirs were copied out."""

    copied = 0

    def __getitem__(self, key):
        found = super().__getitem__(key)
        if isinstance(key, slice):
            CountedBytes.copied += len(found)
        return found


def test_a_long_value_in_small_pieces_is_copied_once():
    data = b'{"a":"' + b"x" * 50_000 + b'"}'
    framing = JsonValues()
    CountedBytes.copied = 0
    frames = [
        frame
        for at in range(0, len(data), 7)
        for frame in framing.feed(CountedBytes(data[at : at + 7]))
    ]
    assert [frame.data for frame in frames] == [data]
    assert CountedBytes.copied <= len(data)
    assert not framing._pending
