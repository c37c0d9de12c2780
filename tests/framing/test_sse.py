"""Server-sent events: the same frames however the bytes are split and the lines end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.framing.frame import Frame
from canonicall.framing.sse import ServerSentEvents

BOM = b"\xef\xbb\xbf"
line_ends = st.sampled_from([b"\n", b"\r", b"\r\n"])
words = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n"), max_size=8
).map(str.encode)


def read(*pieces):
    framing = ServerSentEvents()
    frames = [frame for piece in pieces for frame in framing.feed(piece)]
    return frames + framing.close()


def bytewise(data):
    return read(*(data[at : at + 1] for at in range(len(data))))


@st.composite
def streams(draw):
    """Frames, and the bytes of a stream of them as some host might write it."""
    frames, data = [], draw(st.sampled_from([b"", BOM]))
    for number in range(draw(st.integers(0, 4))):
        payload = draw(st.lists(words, max_size=3))
        name = draw(st.sampled_from(["", "ping", "message_start"]))
        fields = [b"event:" + draw(st.sampled_from([b"", b" "])) + name.encode()] if name else []
        for one in payload:
            # A payload that starts with a blank needs one in front of it, which is not its own.
            blank = b" " if one[:1] == b" " else draw(st.sampled_from([b"", b" "]))
            fields.append(b"data:" + blank + one)
        if draw(st.booleans()):
            place = draw(st.integers(0, len(fields)))
            fields.insert(place, draw(st.sampled_from([b": hi", b":", b"id: 1", b"retry: 5"])))
        if not fields:
            fields.append(b": %d" % number)
        data += b"".join(one + draw(line_ends) for one in fields)
        data += b"".join(draw(line_ends) for _ in range(draw(st.integers(1, 2))))
        if payload:
            frames.append(Frame(name, b"\n".join(payload)))
    return frames, data


def is_split_safely(data):
    """Mixed line ends are told apart: a lone CR in front of an LF is one end, not two."""
    return b"\r\n" not in data


@given(streams(), st.lists(st.integers(0, 10_000), max_size=8))
def test_every_split_gives_the_same_frames(stream, cuts):
    _, data = stream
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    pieces = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
    assert read(*pieces) == bytewise(data) == read(data)


@given(streams().filter(lambda stream: is_split_safely(stream[1])))
def test_the_frames_are_what_was_written(stream):
    frames, data = stream
    assert read(data) == frames


@given(streams(), line_ends)
def test_all_line_ends_mean_the_same(stream, end):
    _, data = stream
    plain = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert bytewise(plain.replace(b"\n", end)) == read(plain) == read(data)


@given(st.binary(max_size=60), st.integers(0, 60))
def test_any_bytes_are_read_the_same_in_every_split(data, cut):
    assert read(data[:cut], data[cut:]) == read(data) == bytewise(data)


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        (b"", []),
        (b"\n\n\n", []),
        (b"data: a\n\n", [("", b"a")]),
        (b"data:a\n\n", [("", b"a")]),
        (b"data:  a\n\n", [("", b" a")]),
        (b"data: a\ndata: b\n\n", [("", b"a\nb")]),
        (b"data\n\n", [("", b"")]),
        (b"data: a: b\n\n", [("", b"a: b")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [("x", b"a"), ("", b"b")]),
        (b"data: a\nevent:x\n\n", [("x", b"a")]),
        (b"event: x\n\n", []),
        (b": hello\n\ndata: a\n\n", [("", b"a")]),
        (b": hello\ndata: a\n: there\n\n", [("", b"a")]),
        (b"id: 7\nretry: 10\nunknown\ndata: a\n\n", [("", b"a")]),
        (b"datas: a\n data: b\n\n", []),
        (BOM + b"data: a\n\n", [("", b"a")]),
        (b"data: a\n\ndata: b", [("", b"a"), ("", b"b")]),
        (b"data: a\n\ndata: b\n", [("", b"a"), ("", b"b")]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [("", b"a"), ("", b"b"), ("", b"c")]),
    ],
)
def test_what_hosts_write(data, frames):
    expected = [Frame(*frame) for frame in frames]
    assert read(data) == expected
    assert bytewise(data) == expected


def test_a_frame_is_given_out_as_soon_as_its_empty_line_is_there():
    framing = ServerSentEvents()
    assert framing.feed(b"data: a\n") == []
    assert framing.feed(b"\n") == [Frame("", b"a")]


def test_with_carriage_returns_as_well():
    framing = ServerSentEvents()
    assert framing.feed(b"data: a\r\n\r") == [Frame("", b"a")]
    assert framing.feed(b"\ndata: b\r\r") == [Frame("", b"b")]


def test_closing_twice_gives_the_rest_once():
    framing = ServerSentEvents()
    framing.feed(b"data: a")
    assert framing.close() == [Frame("", b"a")]
    assert framing.close() == []


def test_a_long_event_in_small_pieces_is_put_together_once(monkeypatch):
    """The pending pieces are looked at only when an event is whole: cost is linear."""
    searched = []
    framing = ServerSentEvents()
    hold = framing._hold
    monkeypatch.setattr(framing, "_hold", lambda data: (searched.append(len(data)), hold(data)))
    data = b"data: " + b"x" * 50_000 + b"\n\n"
    frames = [frame for at in range(0, len(data), 7) for frame in framing.feed(data[at : at + 7])]
    assert [len(frame.data) for frame in frames] == [50_000]
    assert sum(searched) <= len(data)


def test_many_small_events_in_one_piece_leave_nothing_behind():
    framing = ServerSentEvents()
    assert len(framing.feed(b"data: a\n\n" * 10_000)) == 10_000
    assert framing._pending == []
