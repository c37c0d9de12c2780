"""An upstream that repeats the key it was asked with: no client gets it, in whatever pieces and
whatever form it comes, and the words around it stay."""

import json

import msgspec
from msgspec.structs import replace

from batches import each
from canonicall.blocks import Text, Thinking, ToolCall
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamEncoder
from canonicall.events import ArgumentsAdded, Event, TextAdded, ThinkingAdded
from canonicall.folding import events_of
from canonicall.reply import Reply
from gateway.test_faults_cut import ended
from gateway_faults import BACKS, FRONTS, Faulty, Play, Upstream, said
from gateway_support import UPSTREAM_KEY

QUOTED = f"This less is sk-upstream, and {UPSTREAM_KEY} is the key: sk"
SHOWN = "This less is sk-upstream, and *** is the key: sk"
REPLY = said(
    Thinking(text=QUOTED),
    Text(text=QUOTED),
    ToolCall(
        id="c1",
        name="get_weather",
        args={"city": QUOTED},
        raw=json.dumps({"city": QUOTED}, separators=(",", ":")),
    ),
)
SIZES = (1, 3, 7, 1000)


def split(event: Event, size: int) -> list[Event]:
    if not isinstance(event, TextAdded | ThinkingAdded | ArgumentsAdded):
        return [event]
    pieces = range(0, len(event.text), size)
    return [replace(event, text=event.text[at : at + size]) for at in pieces]


def stream_in_pieces(reply: Reply, format: str, size: int) -> list[bytes]:
    """The stream of a reply, its text in pieces of so many characters, one event a chunk."""
    encoder = StreamEncoder(format, seed="up")
    made = [encoder.feed(one) for event in events_of(reply) for one in split(event, size)]
    return [one for one in made if one]


def assert_shown(reply: Reply, *, has_thoughts: bool) -> None:
    assert reply.message.text == SHOWN
    (call,) = reply.calls
    assert call.args == {"city": SHOWN}
    thoughts = [one.text for one in reply.message.blocks if isinstance(one, Thinking)]
    assert UPSTREAM_KEY not in repr(reply)
    if has_thoughts:
        assert thoughts == [SHOWN]


@each("front", FRONTS)
@each("back", BACKS)
@each("size", SIZES)
async def test_a_stream_has_no_key(size: int, back: str, front: str) -> None:
    play = Play.stream(back, *stream_in_pieces(REPLY, back, size))
    answer = await Faulty(Upstream(play), BACKS[back]).ask(front)
    end = ended(front, answer.body)
    assert end.complete
    assert_shown(end.reply, has_thoughts=front == back == "anthropic")


@each("front", FRONTS)
async def test_a_forwarded_stream_has_no_key_however_its_bytes_are_cut(front: str) -> None:
    data = b"".join(stream_in_pieces(REPLY, front, 5))
    for size in (1, 11, 97, 1024):
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        answer = await Faulty(Upstream(Play.stream(front, *chunks)), BACKS[front]).ask(front)
        assert answer.headers["x-canonicall-forwarded"] == "true"
        assert_shown(ended(front, answer.body).reply, has_thoughts=False)


@each("front", FRONTS)
@each("back", BACKS)
async def test_a_whole_reply_has_no_key(back: str, front: str) -> None:
    body = msgspec.json.encode(encode_response(REPLY, back))
    for data in (body, escaped(body)):
        answer = await Faulty(Upstream(Play.json(data)), BACKS[back]).ask(front, streams=False)
        assert_shown(decode_response(answer.json, front), has_thoughts=False)


def escaped(body: bytes) -> bytes:
    """The same JSON with every letter of the key escaped."""
    key = "".join(f"\\u{ord(one):04x}" for one in UPSTREAM_KEY)
    return body.replace(UPSTREAM_KEY.encode(), key.encode())


@each("front", FRONTS)
async def test_escapes_do_not_hide_a_key_in_a_forwarded_stream(front: str) -> None:
    data = [escaped(one) for one in stream_in_pieces(REPLY, front, 1000)]
    answer = await Faulty(Upstream(Play.stream(front, *data)), BACKS[front]).ask(front)
    assert_shown(ended(front, answer.body).reply, has_thoughts=False)


@each("front", FRONTS)
async def test_signs_of_life_between_the_pieces_change_nothing(front: str) -> None:
    pieces = stream_in_pieces(REPLY, front, 2)
    chunks = [one for piece in pieces for one in (piece, b": still here\n\n")]
    answer = await Faulty(Upstream(Play.stream(front, *chunks)), BACKS[front]).ask(front)
    assert_shown(ended(front, answer.body).reply, has_thoughts=False)


@each("front", FRONTS)
async def test_events_without_a_key_stay_byte_for_byte(front: str) -> None:
    """Also where their text may begin one."""
    clean = replace(
        said(Text(text="As less is sk- as sk-upstream-01234567 was, so yes")), usage=None
    )
    for size in SIZES:
        pieces = stream_in_pieces(clean, front, size)
        answer = await Faulty(Upstream(Play.stream(front, *pieces)), BACKS[front]).ask(front)
        assert answer.body == b"".join(pieces)
