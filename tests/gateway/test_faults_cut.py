"""The upstream's stream is cut at every byte: what the client gets is never a call that only looks
whole, and always says that it was cut."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from canonicall import StreamDecoder, ToolCallAccumulator, verify_stream
from canonicall.blocks import ToolCall
from canonicall.events import StreamEnded
from gateway_faults import (
    BACKS,
    BROKEN,
    FRONTS,
    FULL,
    Faulty,
    Play,
    Upstream,
    stream_of,
)
from gateway_support import Answer

CITIES = ("Paris", "Rome")


def cuts_of(data: bytes, one_in: int) -> Iterator[tuple[int, str, bool]]:
    """Where a stream is cut, who listens, and whether the connection breaks or just ends.

    Each byte at the edge of an event, and of the others one in so many, for one front each: inside
    of an event the decoder has seen the same. One in one is every byte, for every front.
    """
    fronts = list(FRONTS)
    edges = {at for one in re.finditer(rb"\n\n|\n|\x0b:event-type", data) for at in one.span()}
    for at in range(len(data)):
        if at % one_in and at not in edges:
            continue
        for turn, front in enumerate(fronts):
            if one_in == 1 or at % len(fronts) == turn:
                yield at, front, (at // len(fronts)) % 2 == 0


def completed(format: str, data: bytes) -> list[ToolCall]:
    accumulator = ToolCallAccumulator(format)
    accumulator.add_chunk(data)
    accumulator.close()
    return accumulator.get_completed()


def ended(format: str, data: bytes) -> StreamEnded:
    decoder = StreamDecoder(format)
    decoder.feed(data)
    end = decoder.close()[-1]
    assert isinstance(end, StreamEnded)
    return end


def arguments_of(call: ToolCall) -> Any:
    return json.loads(call.raw) if call.args is None else call.args


def assert_sound(front: str, answer: Answer, given: bytes, *, complete: bool) -> None:
    """What must hold for a client that was given a stream of which only `given` came."""
    if answer.status != 200:
        assert answer.status == 502
        assert "connection broke" in str(answer.json) or "ended before" in str(answer.json)
        return
    assert answer.is_ended
    assert not list(verify_stream(answer.body, front))
    end = ended(front, answer.body)
    assert end.complete is complete
    calls = completed(front, answer.body)
    whole = [city for city in CITIES if city.encode() in given]
    assert [call.args["city"] for call in calls if call.args] == whole[: len(calls)]
    assert len(calls) == 2 or not complete
    sure = [call for call in end.reply.calls if not call.truncated]
    assert [arguments_of(call)["city"] for call in sure] == whole[: len(sure)]


@pytest.mark.parametrize("one_in", [37, pytest.param(1, marks=pytest.mark.deep)])
@pytest.mark.parametrize("back", BACKS)
async def test_a_stream_that_is_cut_at_any_byte_ends_as_cut(back: str, one_in: int) -> None:
    data = stream_of(FULL, back)
    play: list[Play] = []
    world = Faulty(Upstream(lambda url, body: play[0]), BACKS[back])
    for at, front, breaks in cuts_of(data, one_in):
        given = data[:at]
        play[:] = [Play.stream(back, given, *([BROKEN] if breaks else []))]
        answer = await world.ask(front)
        assert_sound(front, answer, given, complete=ended(back, given).complete)
