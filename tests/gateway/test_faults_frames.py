"""Whatever a provider sends in the place of a reply: no crash, a cause that is told, no key."""

import json

import msgspec
import pytest

from batches import each
from canonicall import verify_stream
from canonicall.blocks import Text
from canonicall.codec.encode import encode_response
from gateway.test_faults_cut import ended
from gateway_faults import (
    BACKS,
    BROKEN,
    CALLS,
    FRONTS,
    FULL,
    UPSTREAM_KEY,
    Faulty,
    Play,
    Upstream,
    said,
    stream_of,
)

OTHER = dict(zip(FRONTS, (*list(FRONTS)[1:], "openai-chat"), strict=True))
"""For each front a back of another format."""
HTML = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
ERROR = b'{"error":{"message":"Busy, key %s","type":"overloaded_error"}}' % UPSTREAM_KEY.encode()
DEEP = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
WEB = {"content-type": "text/html"}

NO_REPLIES: dict[str, Play | Exception] = {
    "html": Play((HTML,), headers=WEB),
    "html as json": Play.json(HTML),
    "html as a stream": Play.stream("openai-chat", HTML),
    "empty": Play(()),
    "empty json": Play.json(b""),
    "empty stream": Play.stream("openai-chat"),
    "blank stream": Play.stream("openai-chat", b"\n\n", b": ping\n\n"),
    "no content": Play((), 204),
    "redirect": Play((), 307, {"location": f"https://elsewhere.example/?key={UPSTREAM_KEY}"}),
    "error in 200": Play.json(ERROR),
    "error in a stream": Play.stream("openai-chat", b"event: error\ndata: " + ERROR + b"\n\n"),
    "cut json": Play.json(b'{"id":"x","choices":[{"message":{"rol'),
    "json array": Play.json(b"[1,2]"),
    "wrong types": Play.json(b'{"choices":7,"content":{},"candidates":{},"output":true}'),
    "binary": Play.stream("openai-chat", bytes(range(256)) * 20),
    "deep json": Play.json(DEEP),
    "deep frame": Play.stream("openai-chat", b"data: " + DEEP + b"\n\n"),
    "broken at once": BROKEN,
    "broken before bytes": Play.stream("openai-chat", BROKEN),
}


def assert_told(front: str, status: int, body: dict[str, object]) -> None:
    """An error as the clients of a front read it."""
    assert 400 <= status < 600, body
    assert status != 500, body
    told = body["error"]
    assert isinstance(told, dict)
    assert told["message"]
    assert "internal" not in str(told["message"])
    if front == "anthropic":
        assert body["type"] == "error"
    if front == "gemini":
        assert told["code"] == status


@each("streams", [True, False], ids=["streamed", "whole"])
@each("front", FRONTS)
@each("what", NO_REPLIES)
async def test_what_is_no_reply_is_told_as_an_error(what: str, front: str, streams: bool) -> None:
    for back in (front, OTHER[front]):
        world = Faulty(Upstream(NO_REPLIES[what]), BACKS[back])
        answer = await world.ask(front, streams=streams)
        assert_told(front, answer.status, answer.json)
        report = await world.report(answer)
        assert report["failures"]
        assert world.told.ends[0].status == answer.status


@each("front", FRONTS)
@each("what", NO_REPLIES)
async def test_somebody_else_is_asked(what: str, front: str) -> None:
    """Nothing was passed on yet, so the client does not even notice."""
    good = Play.stream("cohere", stream_of(FULL, "cohere"))
    for back in (front, OTHER[front]):
        bad = NO_REPLIES[what]
        plays = Upstream(lambda url, body, bad=bad: good if "cohere" in url else raised(bad))
        world = Faulty(plays, BACKS[back], BACKS["cohere"])
        answer = await world.ask(front)
        assert answer.status == 200, answer.body
        assert ended(front, answer.body).complete
        assert answer.headers["x-canonicall-target"].startswith("cohere:")


def raised(play: Play | Exception) -> Play:
    if isinstance(play, Exception):
        raise play
    return play


ODD_FRAMES = {
    "wrong types": b'data: {"choices":7,"candidates":"x","type":{},"delta":[]}\n\n',
    "huge": b'data: {"pad":"' + b"x" * 3_000_000 + b'"}\n\n',
    "unknown event": b'event: news\ndata: {"type":"news"}\n\n',
    "comment": b": hello\n\n",
}


@each("front", FRONTS)
@each("what", ODD_FRAMES)
async def test_an_odd_frame_between_good_ones_is_left_out(what: str, front: str) -> None:
    """Where the stream is translated: it is JSON, and says nothing that its format has a word for."""
    for back in ("openai-chat", "anthropic", "gemini"):
        if back == front:
            continue
        data = stream_of(FULL, back)
        at = data.index(b"\n\n", len(data) // 3) + 2
        world = Faulty(
            Upstream(Play.stream(back, data[:at], ODD_FRAMES[what], data[at:])), BACKS[back]
        )
        answer = await world.ask(front)
        assert not list(verify_stream(answer.body, front))
        end = ended(front, answer.body)
        assert end.complete, end.why
        assert len(end.reply.calls) == 2


@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize("front", FRONTS)
async def test_an_error_behind_content_is_told_once_or_overcome(front: str, goes_on: bool) -> None:
    words = said(Text(text="Well, "))
    for back in ("openai-chat", "anthropic", "gemini"):
        data = stream_of(words, back)
        data = data[: data.index(b"\n\n", data.index(b"Well, ")) + 2]
        name = b"event: error\n" if back == "anthropic" else b""
        error = name + b"data: " + json.dumps(_error(back)).encode() + b"\n\n"
        good = Play.stream("cohere", stream_of(said(Text(text="done.")), "cohere"))
        upstream = Upstream(Play.stream(back, data, error), good)
        world = Faulty(upstream, BACKS[back], BACKS["cohere"], goes_on=goes_on)
        answer = await world.ask(front)
        assert answer.status == 200
        assert not list(verify_stream(answer.body, front))
        end = ended(front, answer.body)
        assert world.told.ends[0].is_complete is end.complete
        if goes_on and back != front:
            assert (end.complete, end.reply.message.text) == (True, "Well, done.")
        else:
            assert not end.complete
            assert "Too busy" in end.why
            assert answer.body.count(b"Too busy") == 1


def _error(back: str) -> dict[str, object]:
    told = {"message": f"Too busy for {UPSTREAM_KEY}", "type": "overloaded_error"}
    if back == "anthropic":
        return {"type": "error", "error": told}
    if back == "gemini":
        return {"error": {**told, "code": 503, "status": "UNAVAILABLE"}}
    return {"error": told}


UNFIT = {
    "cut JSON": b'{"choices":[{"del',
    "no JSON": b"<html>",
    "not UTF-8": b'{"note":"\xff\xfe"}',
    "half a character": b'{"note":"\xe2\x82"}',
    "too deep": DEEP,
    "no object": b"[1,2]",
    "a number that is none": b'{"note":NaN}',
    "two values": b'{"a":1}{"b":2}',
    "a control character": b'{"note":"\x01"}',
}
"""Payloads of an event that no client can read."""


@each("front", FRONTS)
@each("what", UNFIT)
@each("is_forwarded", [True, False], ids=["forwarded", "translated"])
@each("goes_on", [True, False], ids=["continued", "not continued"])
async def test_a_stream_ends_at_an_event_that_cannot_be_read(
    goes_on: bool, is_forwarded: bool, what: str, front: str
) -> None:
    """With the error of the front: a reply with a hole is not complete. What came before it stays,
    nothing that followed is told, and nothing is asked again."""
    back = front if is_forwarded else OTHER[front]
    before, after = in_halves(back)
    upstream = Upstream(Play.stream(back, *before, b"data: " + UNFIT[what] + b"\n\n", *after))
    world = Faulty(upstream, BACKS[back], BACKS["cohere"], goes_on=goes_on)
    answer = await world.ask(front)
    assert (answer.headers.get("x-canonicall-forwarded") == "true") is is_forwarded
    if is_forwarded:
        assert answer.body.startswith(b"".join(before[:-1]))
    end = ended(front, answer.body)
    assert not end.complete
    assert "event" in end.why or "frame" in end.why
    assert end.reply.message.text == "Before."
    assert UNFIT[what] not in answer.body
    assert verify_stream(answer.body, front).findings == ()
    assert not world.told.ends[0].is_complete
    assert len(upstream.urls) == 1


@each("front", FRONTS)
@each("what", UNFIT)
@each("is_forwarded", [True, False], ids=["forwarded", "translated"])
async def test_what_cannot_be_read_before_the_first_words_is_asked_for_again(
    is_forwarded: bool, what: str, front: str
) -> None:
    """Nothing was passed on yet: the client gets the whole reply of the second attempt."""
    back = front if is_forwarded else OTHER[front]
    data = stream_of(FULL, back)
    bad = Play.stream(back, b"data: " + UNFIT[what] + b"\n\n", data)
    upstream = Upstream(bad, Play.stream(back, data))
    answer = await Faulty(upstream, BACKS[back]).ask(front)
    assert ended(front, answer.body).complete
    assert len(upstream.urls) == 2


@each("front", FRONTS)
@each("what", UNFIT)
@each("is_forwarded", [True, False], ids=["forwarded", "translated"])
async def test_a_whole_reply_that_cannot_be_read_is_an_error(
    is_forwarded: bool, what: str, front: str
) -> None:
    """Also where only a part of it is no JSON that clients could do without."""
    back = front if is_forwarded else OTHER[front]
    body = msgspec.json.encode(encode_response(FULL, back))
    for data in (UNFIT[what], b'{"note":' + UNFIT[what] + b"," + body[1:]):
        if data.startswith(b'{"note":[1,2]'):
            continue
        answer = await Faulty(Upstream(Play.json(data)), BACKS[back]).ask(front, streams=False)
        assert_told(front, answer.status, answer.json)
        assert answer.status == 502


@each("front", FRONTS)
@each("is_forwarded", [True, False], ids=["forwarded", "translated"])
async def test_what_cannot_be_read_behind_the_end_does_no_harm(
    is_forwarded: bool, front: str
) -> None:
    back = front if is_forwarded else OTHER[front]
    for what in UNFIT.values():
        upstream = Upstream(Play.stream(back, stream_of(FULL, back), b"data: " + what + b"\n\n"))
        world = Faulty(upstream, BACKS[back])
        answer = await world.ask(front)
        assert ended(front, answer.body).complete
        assert world.told.ends[0].is_complete
        assert len(upstream.urls) == 1


def in_halves(format: str) -> tuple[list[bytes], list[bytes]]:
    """The events of a stream before and behind the end of its first words."""
    events = stream_of(said(Text(text="Before."), Text(text="Behind."), *CALLS), format)
    frames = [one + b"\n\n" for one in events.split(b"\n\n") if one]
    at = next(number for number, one in enumerate(frames) if b"Before." in one) + 1
    return frames[:at], frames[at:]


@each("front", FRONTS)
async def test_halves_of_a_character_are_json(front: str) -> None:
    """Providers cut within a character; clients that join the texts read both halves."""
    halves = b'data: {"note":"\\ud83d"}\n\ndata: {"note":"\\ude00"}\n\n'
    first, *rest = (one + b"\n\n" for one in stream_of(FULL, front).split(b"\n\n") if one)
    answer = await Faulty(Upstream(Play.stream(front, first, halves, *rest)), BACKS[front]).ask(
        front
    )
    assert halves in answer.body
    assert ended(front, answer.body).complete
