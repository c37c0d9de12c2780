"""Which framing a stream has is told by its first byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.framing.detect import AnyFraming
from canonicall.framing.eventstream import write_frame
from canonicall.framing.frame import Frame

STREAMS = {
    "server-sent events": (b"data: {}\n\ndata: [DONE]\n\n", [("", b"{}"), ("", b"[DONE]")]),
    "named events": (b"event: x\ndata: {}\n\n", [("x", b"{}")]),
    "a comment first": (b": hi\n\ndata: {}\n\n", [("", b"{}")]),
    "a mark first": (b"\xef\xbb\xbfdata: {}\n\n", [("", b"{}")]),
    "lines": (b'{"a":1}\n{"b":2}\n', [("", b'{"a":1}'), ("", b'{"b":2}')]),
    "an array": (b'[{"a":1}\n,\r\n{"b":2}]', [("", b'{"a":1}'), ("", b'{"b":2}')]),
    "blanks first": (b' \r\n\t\n[{"a":1}]', [("", b'{"a":1}')]),
    "blank lines before events": (b"\n\n\r\ndata: {}\n\n", [("", b"{}")]),
    "AWS": (
        write_frame("messageStart", b'{"role":"assistant"}') + write_frame("messageStop", b"{}"),
        [("messageStart", b'{"role":"assistant"}'), ("messageStop", b"{}")],
    ),
    "nothing": (b"", []),
    "blanks only": (b" \n\r\n", []),
}


def read(*pieces):
    framing = AnyFraming()
    frames = [frame for piece in pieces for frame in framing.feed(piece)]
    return frames + framing.close()


@pytest.mark.parametrize("name", STREAMS)
def test_the_framing_is_found(name):
    data, frames = STREAMS[name]
    assert read(data) == [Frame(*frame) for frame in frames]


@given(st.sampled_from(sorted(STREAMS)), st.integers(0, 300), st.integers(0, 300))
def test_in_every_split(name, first, second):
    data, frames = STREAMS[name]
    one, two = sorted((first % (len(data) + 1), second % (len(data) + 1)))
    assert read(data[:one], data[one:two], data[two:]) == [Frame(*frame) for frame in frames]


@pytest.mark.parametrize("name", STREAMS)
def test_byte_by_byte(name):
    data, frames = STREAMS[name]
    assert read(*(data[at : at + 1] for at in range(len(data)))) == [Frame(*one) for one in frames]
