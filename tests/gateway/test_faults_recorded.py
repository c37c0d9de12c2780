"""Recorded streams that are forwarded: a whole one passes byte for byte, a cut one says so."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from batches import each
from canonicall import verify_stream
from canonicall.codec.streams import StreamDecoder
from canonicall.facts.registry import get_target
from canonicall.gateway.takeover import TakenOver
from canonicall.gateway.whole_frames import StreamCut, WholeFrames
from components import needs
from gateway_faults import BACKS

from streaming import named_streams

pytestmark = needs("corpus")
PROTOCOLS = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic-messages",
    "gemini": "gemini-generate",
}


def whole(format: str) -> Iterator[Any]:
    """Streams that end as the format says; an array of chunks has no events."""
    for one in named_streams(PROTOCOLS[format]):
        (data,) = one.values
        decoder = StreamDecoder(format)
        decoder.feed(data)
        if decoder.done and data.lstrip()[:1] != b"[":
            yield one


def long(format: str) -> Iterator[Any]:
    """Streams of several events."""
    for one in named_streams(PROTOCOLS[format]):
        (data,) = one.values
        if data.count(b"\n\n") >= 4 and data.startswith((b"data:", b"event:")):
            yield one


@pytest.mark.parametrize("format", PROTOCOLS)
@each("data", whole)
def test_a_whole_stream_is_never_taken_for_a_cut_one(format: str, data: bytes) -> None:
    frames = WholeFrames(get_target(BACKS[format]))
    passed = b"".join(frames.feed(data[at : at + 1400]) for at in range(0, len(data), 1400))
    assert (passed + frames.rest()).startswith(data.rstrip())
    assert frames.is_ended


@pytest.mark.parametrize("format", PROTOCOLS)
@each("data", long)
def test_a_stream_that_breaks_off_in_its_middle_can_be_read(format: str, data: bytes) -> None:
    """Whatever its provider does otherwise, the end that is added breaks no rule."""
    events = data.split(b"\n\n")
    frames = WholeFrames(get_target(BACKS[format]))
    frames.feed(b"\n\n".join(events[: len(events) // 2]) + b"\n\n")
    broken = TakenOver(StreamCut(frames, "it broke"), format, seed="s")
    told = frames.given + broken.feed_all([*broken.closing, broken.end])
    before = Counter(one.code for one in verify_stream(data, format))
    assert not Counter(one.code for one in verify_stream(told, format)) - before
    decoder = StreamDecoder(format)
    decoder.feed(told)
    assert decoder.close()[-1].why == "it broke"
