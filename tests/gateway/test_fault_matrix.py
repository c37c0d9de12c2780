"""Every fault of an upstream, for every front, whole and streamed, forwarded and translated.

Whatever the upstream does, the client gets an answer of its front: an error with its status and
envelope, or a stream that is valid and ends with the front's end or error. There is no key and no
address of an upstream in it; it comes in bounded time and memory; no connection stays open.
"""

import asyncio
import socket
import struct
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import msgspec
import pytest

from batches import each
from canonicall import verify_stream
from canonicall.blocks import Text
from canonicall.client.direct_transport import DirectTransport
from canonicall.client.transport import Response, Timeouts
from canonicall.codec import decode_response, encode_response
from canonicall.framing.limits import ReplyLimits
from canonicall.gateway.config import KeySettings
from canonicall.gateway.governance.keys import hash_of
from canonicall.reply import ERROR
from gateway.test_faults_bounds import Endless, events_in
from gateway.test_faults_cut import ended
from gateway.test_faults_frames import OTHER, assert_told
from gateway.test_faults_key_echo import QUOTED, SHOWN, stream_in_pieces
from gateway_faults import BACKS, CLIENT_KEY, FRONTS, FULL, Faulty, Play, Upstream, said, stream_of
from gateway_support import Answer
from loopback import listening

LIMITS = ReplyLimits(total_bytes=400_000, event_bytes=100_000, events=500, values=20_000)
MOST_MEMORY = 8 * 1024 * 1024
"""Bytes at most for one answer, a gateway and its upstream included."""
BOMB_MEGABYTES = 100
PATIENCE = 20.0
RETRY_AFTER = "7"
SHORT = Timeouts(connect=5.0, first_byte=0.5, between_bytes=0.2, after_end=0.1)
KEYS = {"client": KeySettings(hash=hash_of(CLIENT_KEY))}
DEEP = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
KEY_REPLY = said(Text(text=QUOTED))


def body_of(format: str) -> bytes:
    return msgspec.json.encode(encode_response(FULL, format))


def data_of(format: str, streams: bool) -> bytes:
    """A whole answer."""
    return stream_of(FULL, format) if streams else body_of(format)


def halves(format: str, streams: bool) -> tuple[bytes, bytes]:
    """A whole answer in two parts; a stream is cut between two events, after some of its text."""
    data = data_of(format, streams)
    at = data.index(b"\n\n", len(data) // 2) + 2 if streams else len(data) // 2
    return data[:at], data[at:]


def kind_of(streams: bool) -> dict[str, str]:
    return {"content-type": "text/event-stream" if streams else "application/json"}


def play(streams: bool, *pieces: bytes) -> Play:
    return Play(pieces, headers=kind_of(streams))


def within(data: bytes, spoilt: Callable[[bytes], bytes]) -> Callable[[str, bool], Play]:
    """An event with this payload between two good ones, or a whole body that is spoilt."""

    def made(format: str, streams: bool) -> Play:
        first, second = halves(format, streams)
        if streams:
            return play(streams, first, b"data: " + data + b"\n\n", second)
        return play(streams, spoilt(first + second))

    return made


def endless_line(format: str, streams: bool) -> Play:
    first = events_in(format)[0] if streams else b" "
    return Play(Endless(first, (b"x" if streams else b" ") * 1_000), headers=kind_of(streams))


def huge_event(format: str, streams: bool) -> Play:
    pad = b'"pad":"' + b"x" * (2 * LIMITS.total_bytes) + b'"'
    first, second = halves(format, streams)
    if streams:
        return play(streams, first, b"data: {" + pad + b"}\n\n", second)
    return play(streams, b"{" + pad + b"," + (first + second)[1:])


def too_many_events(format: str, streams: bool) -> Play:
    if not streams:
        pytest.skip("a whole reply has no events")
    return Play(Endless(*events_in(format)), headers=kind_of(streams))


def too_many_values(format: str, streams: bool) -> Play:
    many = b'"pad":[' + b"[]," * LIMITS.values + b"1]"
    first, second = halves(format, streams)
    if streams:
        return play(streams, first, b"data: {" + many + b"}\n\n", second)
    return play(streams, b"{" + many + b"," + (first + second)[1:])


def refused(status: int, **headers: str) -> Callable[[str, bool], Play]:
    refusal = b'{"error":{"message":"Not now.","type":"some_error"}}'
    return lambda _format, _streams: Play.json(refusal, status, **headers)


def web_page(format: str, streams: bool) -> Play:
    del format, streams
    page = b"<html><head><title>Welcome</title></head><body>Log in</body></html>"
    return Play((page,), headers={"content-type": "text/html"})


def other_type(format: str, streams: bool) -> Play:
    """A stream where a whole reply was asked for, and the other way round."""
    return Play((data_of(format, not streams),), headers=kind_of(not streams))


def key_in_text(format: str, streams: bool) -> Play:
    if streams:
        return play(streams, *stream_in_pieces(KEY_REPLY, format, 3))
    return play(streams, msgspec.json.encode(encode_response(KEY_REPLY, format)))


def truncated(format: str, streams: bool) -> Play:
    return play(streams, halves(format, streams)[0])


Wire = Callable[[asyncio.StreamWriter, bytes, bytes], Awaitable[None]]
"""What an upstream does on its connection, given the halves of a good answer, head included."""


async def reset_before_head(writer: asyncio.StreamWriter, first: bytes, second: bytes) -> None:
    del first, second
    reset(writer)


async def reset_after_head(writer: asyncio.StreamWriter, first: bytes, second: bytes) -> None:
    del second
    writer.write(first.partition(b"\r\n\r\n")[0] + b"\r\n\r\n")
    await flushed(writer)
    reset(writer)


async def reset_within(writer: asyncio.StreamWriter, first: bytes, second: bytes) -> None:
    del second
    writer.write(first)
    await flushed(writer)
    reset(writer)


async def silence_before_head(writer: asyncio.StreamWriter, first: bytes, second: bytes) -> None:
    del writer, first, second
    await asyncio.sleep(PATIENCE)


async def silence_within(writer: asyncio.StreamWriter, first: bytes, second: bytes) -> None:
    del second
    writer.write(first)
    await asyncio.sleep(PATIENCE)


async def gzip_bomb(writer: asyncio.StreamWriter, first: bytes, second: bytes) -> None:
    del second
    head = first.partition(b"\r\n\r\n")[0]
    writer.write(head + b"\r\ncontent-encoding: gzip\r\n\r\n" + bomb())
    await writer.drain()
    writer.close()


def reset(writer: asyncio.StreamWriter) -> None:
    """Close the connection so that the other side gets a reset instead of an end."""
    at_once = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    writer.transport.abort()


async def flushed(writer: asyncio.StreamWriter) -> None:
    """Give the other side the time to read what was written: a reset may discard it."""
    await writer.drain()
    await asyncio.sleep(0.02)


def bomb() -> bytes:
    if not _BOMB:
        packer = zlib.compressobj(9, wbits=31)
        block = b" " * (1024 * 1024)
        packed = b"".join(packer.compress(block) for _ in range(BOMB_MEGABYTES))
        _BOMB.append(packed + packer.flush())
    return _BOMB[0]


_BOMB: list[bytes] = []


class Loopback:
    """A transport that leads every address to a server of this process, which does one thing with
    each connection. It is counted open until the gateway has closed it."""

    def __init__(self, wire: Wire, first: bytes, second: bytes) -> None:
        self._wire, self._first, self._second = wire, first, second
        self._direct = DirectTransport()
        self._opened = AsyncExitStack()
        self._port = 0
        self.urls: list[str] = []
        self.bodies: list[bytes] = []
        self.open = 0

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeouts: Timeouts,
        *,
        proxy: str = "",
    ) -> Response:
        del timeouts
        if not self._port:
            self._port = await self._opened.enter_async_context(listening(self._connected))
        self.urls.append(url)
        self.bodies.append(body)
        here = urlsplit(url)._replace(netloc=f"127.0.0.1:{self._port}").geturl()
        return await self._direct.post(here, headers, body, SHORT, proxy=proxy)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        acting = asyncio.ensure_future(self._wire(writer, self._first, self._second))
        try:
            with suppress(ConnectionError):
                await reader.read()
            self.open -= 1
        finally:
            acting.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await acting

    async def all_closed(self) -> bool:
        """Whether the gateway closes all of them."""
        with suppress(TimeoutError):
            async with asyncio.timeout(5):
                while self.open:  # noqa: ASYNC110  nothing says so
                    await asyncio.sleep(0.01)
        return self.open == 0

    async def close(self) -> None:
        await self._opened.aclose()
        await self._direct.close()


ONCE = frozenset({"endless line", "huge event", "too many events", "too many values", "gzip bomb"})
"""Faults after which nothing is asked again."""
PLAYS: dict[str, Callable[[str, bool], Play]] = {
    "endless line": endless_line,
    "huge event": huge_event,
    "too many events": too_many_events,
    "too many values": too_many_values,
    "broken JSON": within(b'{"choices":[{"del', lambda data: data[:-20]),
    "invalid UTF-8": within(b'{"note":"\xff\xfe"}', lambda data: b'{"note":"\xff",' + data[1:]),
    "deep nesting": within(DEEP, lambda data: b'{"note":' + DEEP + b"," + data[1:]),
    "web page": web_page,
    "other content type": other_type,
    "429": refused(429),
    "429 with retry-after": refused(429, retry_after=RETRY_AFTER),
    "500": refused(500),
    "500 with retry-after": refused(500, retry_after=RETRY_AFTER),
    "529": refused(529),
    "529 with retry-after": refused(529, retry_after=RETRY_AFTER),
    "empty reply": lambda _, streams: play(streams),
    "key in the text": key_in_text,
    "truncated": truncated,
}
WIRES: dict[str, Wire] = {
    "gzip bomb": gzip_bomb,
    "reset before the head": reset_before_head,
    "reset after the head": reset_after_head,
    "reset within the body": reset_within,
    "silence before the head": silence_before_head,
    "silence within the body": silence_within,
}
FAULTS = [*PLAYS, *WIRES]
COMPLETE, CUT = "complete", "cut"
ENDS: dict[str, tuple[int | str, int | str]] = {
    **dict.fromkeys(ONCE - {"gzip bomb"}, (502, CUT)),
    **dict.fromkeys(("broken JSON", "invalid UTF-8", "deep nesting"), (502, CUT)),
    **dict.fromkeys(("gzip bomb", "web page", "empty reply"), (502, 502)),
    **dict.fromkeys(("reset before the head", "reset after the head"), (502, 502)),
    **dict.fromkeys(("truncated", "reset within the body"), (502, CUT)),
    **dict.fromkeys(("429", "429 with retry-after"), (429, 429)),
    **dict.fromkeys(("500", "500 with retry-after"), (502, 502)),
    **dict.fromkeys(("529", "529 with retry-after"), (503, 503)),
    **dict.fromkeys(("key in the text", "other content type"), (COMPLETE, COMPLETE)),
    "silence before the head": (504, 504),
    "silence within the body": (504, CUT),
}
"""What the client gets, whole and streamed: an error with this status, a stream that ends with the
front's error, or a reply."""
OTHER_ENDS: dict[tuple[str, bool, bool], int | str] = {
    # A translation leaves out an event that cannot be read; the rest of the stream can.
    ("broken JSON", True, False): COMPLETE,
    ("invalid UTF-8", True, False): COMPLETE,
    ("deep nesting", True, False): COMPLETE,
    # To make a whole reply of a stream, it has to be read.
    ("other content type", False, True): 502,
}
"""By fault, whether it is streamed and whether it is forwarded."""


def head_of(streams: bool) -> bytes:
    return f"HTTP/1.1 200 OK\r\ncontent-type: {kind_of(streams)['content-type']}\r\n\r\n".encode()


def upstream_of(fault: str, back: str, streams: bool) -> Upstream | Loopback:
    if fault in WIRES:
        first, second = halves(back, streams)
        return Loopback(WIRES[fault], head_of(streams) + first, second)
    return Upstream(PLAYS[fault](back, streams))


def end_of(front: str, answer: Answer, *, streams: bool) -> int | str:
    """How the answer ends for its client. It has to be one of its front."""
    if answer.status != 200:
        assert_told(front, answer.status, answer.json)
        return answer.status
    if not streams:
        assert decode_response(answer.json, front).message.blocks
        return COMPLETE
    seen = {one.code for one in verify_stream(answer.body, front).findings}
    # An endless upstream says the same event again, with its number.
    assert seen <= {"sequence_broken"}, seen
    end = ended(front, answer.body)
    if end.complete:
        return COMPLETE
    assert end.reply.finish == ERROR
    assert end.why
    return CUT


@contextmanager
def little_memory(is_measured: bool) -> Iterator[None]:
    """What happens here takes little memory at any time."""
    if not is_measured:
        yield
        return
    bomb()
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY


@pytest.mark.deep
@each("fault", FAULTS, counted=True)
@each("front", FRONTS)
@each("streams", [False, True], ids=["whole", "streamed"])
@each("is_forwarded", [True, False], ids=["forwarded", "translated"])
async def test_every_fault_has_an_answer(
    fault: str, front: str, streams: bool, is_forwarded: bool
) -> None:
    back = front if is_forwarded else OTHER[front]
    upstream = upstream_of(fault, back, streams)
    world = Faulty(upstream, BACKS[back], replies=LIMITS, keys=KEYS)
    try:
        with little_memory(fault in ONCE):
            async with asyncio.timeout(PATIENCE):
                answer = await world.answer(front, streams=streams)
        assert await upstream.all_closed()
    finally:
        await world.gateway.close()
        await upstream.close()
    assert answer.is_ended
    end = end_of(front, answer, streams=streams)
    usual = ENDS[fault][streams]
    assert end == OTHER_ENDS.get((fault, streams, is_forwarded), usual), answer.body
    assert b".sim" not in answer.body
    assert b"127.0.0.1" not in answer.body
    assert len(upstream.urls) == 1 or fault not in ONCE
    if fault.endswith("retry-after"):
        assert answer.headers["retry-after"] == RETRY_AFTER
    if fault == "key in the text":
        assert text_of(front, answer, streams=streams) == SHOWN


def text_of(front: str, answer: Answer, *, streams: bool) -> str:
    reply = ended(front, answer.body).reply if streams else decode_response(answer.json, front)
    return reply.message.text
