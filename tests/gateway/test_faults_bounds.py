"""Replies without an end: each limit stops them, for every front, forwarded and translated, and
nothing is asked for again."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from batches import each
from canonicall import verify_stream
from canonicall.blocks import Text
from canonicall.codec.encode import encode_response
from canonicall.framing.limits import ReplyLimits
from canonicall.reply import ERROR
from gateway.test_faults_cut import ended
from gateway.test_faults_frames import OTHER, assert_told
from gateway_faults import BACKS, FRONTS, Faulty, Play, Upstream, said, stream_of

LIMITS = ReplyLimits(total_bytes=60_000, event_bytes=20_000, events=300, values=2_000)
PIECE = 1_000


class Endless:
    """An answer that goes on for ever; it knows how much of it was taken."""

    def __init__(self, first: bytes, again: bytes) -> None:
        self._first, self._again = first, again
        self.taken = 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces():
            self.taken += len(piece)
            yield piece

    def _pieces(self) -> Iterator[bytes]:
        yield self._first
        while True:
            yield self._again


def events_in(format: str, words: str = "Well. ") -> tuple[bytes, bytes]:
    """The beginning of a stream up to its first words, and one more event with words."""
    data = stream_of(said(Text(text=words), Text(text=words)), format)
    frames = data.split(b"\n\n")
    at = next(at for at, one in enumerate(frames) if words.strip().encode() in one)
    return b"\n\n".join(frames[: at + 1]) + b"\n\n", frames[at] + b"\n\n"


def endless(what: str, format: str) -> tuple[bytes, bytes]:
    """What comes first, and what comes again and again."""
    first, again = events_in(format)
    match what:
        case "events":
            return first, again
        case "bytes":
            return first, events_in(format, "w" * 5_000)[1]
        case "a line":
            return first, b"x" * PIECE
        case "an event":
            return first, b"data: x\n" * (PIECE // 8)
        case "comments":
            return first, b": still here\n\n" * 50
        case _:
            return first, b'data: {"a":[' + b"[]," * 3_000 + b"1]}\n\n"


STREAMS = ("events", "bytes", "a line", "an event", "comments", "values")


@each("goes_on", [True, False], ids=["continued", "not continued"])
@each("is_forwarded", [True, False], ids=["forwarded", "translated"])
@each("front", FRONTS)
@each("what", STREAMS)
async def test_a_stream_without_an_end_is_ended(
    what: str, front: str, is_forwarded: bool, goes_on: bool
) -> None:
    back = front if is_forwarded else OTHER[front]
    play = Endless(*endless(what, back))
    upstream = Upstream(Play(play, headers={"content-type": "text/event-stream"}))
    chain = (BACKS[back], BACKS["anthropic" if back != "anthropic" else "gemini"])
    world = Faulty(upstream, *chain, goes_on=goes_on, replies=LIMITS)
    answer = await world.ask(front)
    end = ended(front, answer.body)
    assert not end.complete
    assert end.reply.finish == ERROR
    seen = {one.code for one in verify_stream(answer.body, front).findings}
    # The upstream says the same event again, with its number.
    assert seen <= {"sequence_broken"}
    assert len(upstream.urls) == 1
    assert play.taken <= LIMITS.total_bytes + 10_000


@each("is_forwarded", [True, False], ids=["forwarded", "translated"])
@each("front", FRONTS)
@each("what", ["bytes", "values"])
async def test_a_body_without_an_end_is_an_error(what: str, front: str, is_forwarded: bool) -> None:
    back = front if is_forwarded else OTHER[front]
    body = msgspec.json.encode(encode_response(said(Text(text="Well.")), back))
    pieces: Any = Endless(b" ", b" " * PIECE)
    if what == "values":
        pieces = (body[:-1] + b',"more":[' + b"[]," * 10_000 + b"1]}",)
    upstream = Upstream(Play(pieces, headers={"content-type": "application/json"}))
    chain = (BACKS[back], BACKS["anthropic" if back != "anthropic" else "gemini"])
    world = Faulty(upstream, *chain, replies=LIMITS)
    answer = await world.ask(front, streams=False)
    assert_told(front, answer.status, answer.json)
    assert answer.status == 502
    assert "limits for replies" in answer.json["error"]["message"]
    assert len(upstream.urls) == 1
    assert world.told.ends[0].error == "reply_too_large"
    if what == "bytes":
        assert pieces.taken <= LIMITS.total_bytes + 2 * PIECE


@each("front", FRONTS)
async def test_what_is_within_the_limits_is_given_on(front: str) -> None:
    for back in (front, OTHER[front]):
        data = stream_of(said(Text(text="Well. " * 200)), back)
        world = Faulty(Upstream(Play.stream(back, data)), BACKS[back], replies=LIMITS)
        answer = await world.ask(front)
        assert ended(front, answer.body).reply.message.text == "Well. " * 200


_BOMBS = Path(__file__).with_name("bombed_gateway.py")


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_eight_packed_bombs_at_once_take_little_memory(kind: str) -> None:
    """Each is 972 KB and unpacks to 1 GB. The gateway has at most the limit of each in memory, and
    answers others meanwhile."""
    environ = {**os.environ, "PYTHONPATH": str(_BOMBS.parent.parent)}
    run = subprocess.run(
        [sys.executable, str(_BOMBS), kind],
        capture_output=True,
        check=True,
        env=environ,
        timeout=120,
    )
    told = msgspec.json.decode(run.stdout)
    assert told["statuses"] == [502] * 8
    assert told["asked"] == 8
    assert told["grown_megabytes"] < 700
    assert told["healthy"] > 50
