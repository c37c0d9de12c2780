"""Frames of the AWS event stream: any split, any damage, any size; botocore reads what we write."""

import struct
from itertools import pairwise
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.errors import MalformedBody
from canonicall.framing.detect import AnyFraming
from canonicall.framing.eventstream import EventStream, write_frame
from canonicall.framing.frame import Frame

names = st.sampled_from(["messageStart", "contentBlockDelta", "throttlingException", ""])
payloads = st.binary(max_size=60) | st.text(max_size=30).map(str.encode)
frames = st.builds(Frame, names, payloads)
frame_lists = st.lists(frames, max_size=5)


def header(name, kind, value=b""):
    """A header as the protocol describes it, written by hand."""
    return bytes([len(name)]) + name.encode() + bytes([kind]) + value


def text(value):
    return struct.pack(">H", len(value)) + value.encode()


def raw_frame(headers, payload):
    """A frame by an independent writer."""
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return body + struct.pack(">I", crc32(body))


def typed_frame(frame):
    return raw_frame(header(":event-type", 7, text(frame.name)), frame.data)


def read(data, cuts=()):
    """The frames in `data`, fed in pieces, and the damage if there is any."""
    stream, found = EventStream(), []
    edges = [0, *sorted(cuts), len(data)]
    try:
        for start, end in pairwise(edges):
            found += stream.feed(data[start:end])
        found += stream.close()
    except MalformedBody as error:
        return found, str(error)
    return found, ""


@given(frame_lists)
def test_what_is_written_is_read(made):
    data = b"".join(write_frame(*frame) for frame in made)
    assert read(data) == (made, "")


@given(frame_lists)
def test_frames_of_an_independent_writer_are_read(made):
    assert read(b"".join(map(typed_frame, made))) == (made, "")


@given(frame_lists, st.data())
def test_any_split_is_the_same(made, data):
    wire = b"".join(write_frame(*frame) for frame in made)
    cuts = data.draw(st.lists(st.integers(0, len(wire))))
    assert read(wire, cuts) == read(wire, range(len(wire))) == (made, "")


@given(frame_lists, st.binary(max_size=80), st.data())
def test_any_damage_gives_the_same_frames_in_any_split(made, noise, data):
    """What came before the damage is given out, and the damage is told, wherever the cuts are."""
    wire = bytearray(b"".join(write_frame(*frame) for frame in made))
    at = data.draw(st.integers(0, len(wire)))
    wire[at : at + data.draw(st.integers(0, 6))] = noise
    cuts = data.draw(st.lists(st.integers(0, len(wire))))
    assert read(bytes(wire), cuts) == read(bytes(wire), range(len(wire)))


@given(st.binary(max_size=300))
def test_any_bytes_are_frames_or_an_error(noise):
    found, damage = read(noise)
    assert found == [] or damage == ""
    assert damage == "" or "AWS event stream" in damage


def test_one_wrong_bit_is_damage_wherever_it_is():
    good, bad = write_frame("a", b"{}"), write_frame("b", b'{"text":"words"}')
    for at in range(len(bad)):
        wrong = bytearray(bad)
        wrong[at] ^= 0x10
        found, damage = read(good + bytes(wrong) + good)
        assert found == [Frame("a", b"{}")]
        assert "AWS event stream" in damage


def test_each_damage_says_what_it_is():
    whole = write_frame("a", b"{}")
    assert "are not frames of an AWS event stream" in read(b"\0" * 40)[1]
    assert "damaged on its way" in read(whole[:-1] + b"?")[1]
    assert "unreadable headers" in read(raw_frame(b"\x05abc", b"{}"))[1]


@pytest.mark.parametrize(
    "headers",
    [
        header(":event-type", 7, struct.pack(">H", 400) + b"short"),
        header(":event-type", 77, text("a")),
        header(":event-type", 7, text("a")) + b"\xff",
        header("count", 4, b"\0\0"),
    ],
    ids=["longer than the frame", "of an unknown kind", "cut behind its length", "cut number"],
)
def test_headers_that_cannot_be_read_are_damage(headers):
    assert "unreadable headers" in read(raw_frame(headers, b"{}"))[1]


def test_headers_longer_than_their_frame_are_damage():
    prelude = struct.pack(">II", 20, 400)
    body = prelude + struct.pack(">I", crc32(prelude)) + b"{}{}"
    assert "unreadable headers" in read(body + struct.pack(">I", crc32(body)))[1]


def test_nothing_is_read_behind_damage():
    stream = EventStream()
    for piece in (b"\xff" * 12, write_frame("a", b"{}")):
        with pytest.raises(MalformedBody):
            stream.feed(piece)
    with pytest.raises(MalformedBody):
        stream.close()


def test_a_length_that_nothing_can_have_is_refused_at_once():
    """No waiting for two gigabytes that never come."""
    lengths = struct.pack(">II", 2**31, 0)
    with pytest.raises(MalformedBody):
        EventStream().feed(lengths + struct.pack(">I", crc32(lengths)))


def test_a_frame_that_was_cut_off_is_nothing():
    assert read(write_frame("a", b"{}") + write_frame("b", b"{}")[:-1]) == ([Frame("a", b"{}")], "")


def test_headers_of_every_kind_are_skipped():
    headers = b"".join(
        [
            header("yes", 0),
            header("no", 1),
            header("byte", 2, b"\1"),
            header("short", 3, b"\0\1"),
            header("int", 4, b"\0\0\0\1"),
            header("long", 5, b"\0" * 8),
            header("blob", 6, b"\0\2hi"),
            header("time", 8, b"\0" * 8),
            header("uuid", 9, b"\0" * 16),
            header(":event-type", 7, text("messageStop")),
        ]
    )
    assert read(raw_frame(headers, b"{}")) == ([Frame("messageStop", b"{}")], "")


def test_an_error_in_headers_alone_has_a_payload():
    """Errors without a type of their own: `:message-type` error, code and message in headers."""
    told = {
        ":message-type": "error",
        ":error-code": "InternalFailure",
        ":error-message": 'It "broke"',
    }
    headers = b"".join(header(name, 7, text(value)) for name, value in told.items())
    made = b'{"__type":"InternalFailure","message":"It \\"broke\\""}'
    assert read(raw_frame(headers, b"")) == ([Frame("InternalFailure", made)], "")


def test_large_frames_in_small_pieces():
    """Eight megabytes, a thousand bytes at a time: the bytes are joined once."""
    payload = b'{"bytes":"' + b"A" * 8_000_000 + b'"}'
    data = write_frame("contentBlockDelta", payload) + write_frame("messageStop", b"{}")
    found, damage = read(data, range(0, len(data), 1000))
    assert (len(found), damage) == (2, "")
    assert found[0].data == payload


def test_a_stream_of_frames_is_known_by_its_first_byte():
    framing = AnyFraming()
    assert framing.feed(write_frame("a", b"{}")) == [Frame("a", b"{}")]
    assert framing.close() == []


@given(frame_lists)
def test_botocore_reads_what_is_written(made):
    """The checksums, the headers and the payload, judged by the SDK's own buffer."""
    eventstream = pytest.importorskip("botocore.eventstream")
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(b"".join(write_frame(*frame) for frame in made))
    assert [(event.headers[":event-type"], event.payload) for event in buffer] == made


def test_botocore_knows_an_exception():
    eventstream = pytest.importorskip("botocore.eventstream")
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(write_frame("throttlingException", b'{"message":"slow"}', exception=True))
    (event,) = buffer
    assert event.headers == {
        ":exception-type": "throttlingException",
        ":content-type": "application/json",
        ":message-type": "exception",
    }
    assert event.to_response_dict()["status_code"] == 400
