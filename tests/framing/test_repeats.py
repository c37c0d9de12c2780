"""Events that repeat the one before are recognised, and nothing else is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.codec.streams import StreamDecoder
from canonicall.framing.repeats import Repeated

PATH = ("delta", "text")


def event(text, *, id="a", pad=""):
    payload = f'{{"id":{json.dumps(id)},"delta":{{"text":{json.dumps(text)}}}{pad}}}'
    return f"event: x\ndata: {payload}\n\n".encode()


def learnt(text="word", path=PATH, **fields):
    data = event(text, **fields)
    return Repeated.learn(data, data.split(b"data: ")[1][:-2], text, path)


@pytest.mark.parametrize("text", ["other", "", '"', "\\", "a\nb", "é", '"}}', "x" * 1000])
def test_another_text_in_the_same_place_is_found(text):
    assert learnt().text_in(event(text)) == text


def test_blanks_behind_the_text_mean_nothing():
    assert learnt(pad="   ").text_in(event("other", pad=" ")) == "other"
    assert learnt().text_in(event("other", pad="    ")) == "other"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        event("x", id="b"),
        event("x") + event("y"),
        event("x")[:-1],
        event("x")[:-2] + b" \n \n",
        event("x").replace(b"}}", b'},"more":"x"}'),
        event("x").replace(b'"x"', b"5"),
        event("x").replace(b'"x"', b'\n"x"'),
        event("x").replace(b'"x"', b'"x","y":"z"'),
        event("x").replace(b'"x"', b'"\xff"'),
        event("x").replace(b'"x"', b'"'),
        b"event: x\r\n" + event("x"),
    ],
)
def test_anything_else_is_another_event(data):
    assert learnt().text_in(data) is None


def test_nothing_is_learnt_from_a_text_that_stands_elsewhere():
    """The same text in another field, or quotation marks that only look like its own."""
    assert learnt("a", path=("id",)) is None
    assert learnt(",") is not None
    data = event("é").replace("é".encode(), b"\\u00e9")
    assert Repeated.learn(data, data.split(b"data: ")[1][:-2], "é", PATH) is None


def test_nothing_is_learnt_from_bytes_that_are_not_one_event():
    data = event("word")
    assert Repeated.learn(data + b": hi\n\n", data.split(b"data: ")[1][:-2], "word", PATH) is None


words = st.lists(st.text(max_size=3) | st.sampled_from(['"', ",", ":", "}", "text", " "]))


@given(words, st.lists(st.integers(1, 400), min_size=1))
def test_streams_with_repeats_are_the_same_byte_by_byte(texts, sizes):
    """Words, then arguments of the same texts, in pieces of all sizes."""
    frames = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *[_delta(0, "text_delta", "text", text) for text in texts],
        {"type": "ping"},
        *[_delta(0, "text_delta", "text", text) for text in texts],
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
        },
        *[_delta(1, "input_json_delta", "partial_json", text) for text in texts],
    ]
    events = [f"data: {json.dumps(frame)}\n\n".encode() for frame in frames]
    stream = b"".join(events)
    slowly = _decoded([stream[at : at + 1] for at in range(len(stream))])
    assert _decoded(events) == slowly
    assert _decoded([stream]) == slowly
    assert _decoded(_pieces(stream, sizes)) == slowly


def _delta(index, kind, field, text):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, field: text}}


def _pieces(stream, sizes):
    while stream:
        for size in sizes:
            yield stream[:size]
            stream = stream[size:]


def _decoded(pieces):
    decoder = StreamDecoder("anthropic")
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()
