"""Recorded streams that are forwarded: a whole one passes byte for byte, a cut one says so."""

from collections import Counter

import pytest

from canonicall import verify_stream
from canonicall.gateway.taking_over import TakenOver
from canonicall.gateway.whole_frames import StreamCut, WholeFrames
from canonicall.providers.registry import get_target
from canonicall.streams import StreamDecoder
from gateway_faults import BACKS

from streaming import named, recorded_streams

PROTOCOLS = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic-messages",
    "gemini": "gemini-generate",
}


@pytest.mark.parametrize("format", PROTOCOLS)
def test_a_whole_stream_is_never_taken_for_a_cut_one(format: str) -> None:
    target = get_target(BACKS[format])
    for id, _, data in recorded_streams(PROTOCOLS[format]):
        decoder = StreamDecoder(format)
        decoder.feed(data)
        if not decoder.done or data.lstrip()[:1] == b"[":
            continue
        frames = WholeFrames(target)
        passed = b"".join(frames.feed(data[at : at + 1400]) for at in range(0, len(data), 1400))
        with named(id):
            assert (passed + frames.rest()).startswith(data.rstrip())
            assert frames.is_ended


@pytest.mark.parametrize("format", PROTOCOLS)
def test_a_stream_that_breaks_off_in_its_middle_can_be_read(format: str) -> None:
    """Whatever its provider does otherwise, the end that is added breaks no rule."""
    target = get_target(BACKS[format])
    for id, _, data in recorded_streams(PROTOCOLS[format]):
        events = data.split(b"\n\n")
        if len(events) < 5 or not data.startswith((b"data:", b"event:")):
            continue
        frames = WholeFrames(target)
        frames.feed(b"\n\n".join(events[: len(events) // 2]) + b"\n\n")
        broken = TakenOver(StreamCut(frames, "it broke"), format, seed="s")
        told = frames.given + broken.feed_all([*broken.closing, broken.end])
        before = Counter(one.code for one in verify_stream(data, format))
        with named(id):
            assert not Counter(one.code for one in verify_stream(told, format)) - before
            decoder = StreamDecoder(format)
            decoder.feed(told)
            assert decoder.close()[-1].why == "it broke"
