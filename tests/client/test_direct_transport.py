"""Connections of our own: what hosts do with them, byte by byte."""

import asyncio
import gzip
import zlib

import pytest

from canonicall.client.aiohttp_transport import AiohttpTransport
from canonicall.client.connection import Broken, Connection
from canonicall.client.direct_transport import DirectTransport
from canonicall.client.transport import Timeouts, TransportError
from gateway_sockets import until
from loopback import listening

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"
SIZED = HEAD + b"content-length: 5\r\n\r\nhello"
CHUNKED = (
    HEAD + b"transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\nx-end: 1\r\n\r\n"
)
UNTIL_CLOSED = HEAD + b"\r\nhello"
EARLY = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"


class Host:
    """Answers each request on a connection with the next of some bytes, and hangs up behind the
    last. `b""` hangs up at once, None waits for the client to do so."""

    def __init__(self, *answers, make=DirectTransport):
        self.answers = answers
        self.make = make
        self.connections = 0
        self.heads = []
        self.hung_up = asyncio.Event()

    async def __aenter__(self):
        self.listening = listening(self.serve)
        self.url = f"http://127.0.0.1:{await self.listening.__aenter__()}/v1"
        self.transport = self.make()
        return self

    async def __aexit__(self, *error):
        await self.transport.close()
        await self.listening.__aexit__(*error)

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            for answer in self.answers:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head.decode())
                length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
                await reader.readexactly(length)
                writer.write(answer or b"")
                await writer.drain()
                if answer is None:
                    await reader.read()
        finally:
            writer.close()
            self.hung_up.set()

    async def post(self, headers=None, timeouts=None):
        response = await self.transport.post(
            self.url, headers or {"x-api-key": "k"}, b"{}", timeouts or Timeouts()
        )
        try:
            return b"".join([chunk async for chunk in response.chunks()])
        finally:
            response.close()


class Line(asyncio.Transport):
    """The other side of a connection, in memory."""

    def __init__(self):
        super().__init__()
        self.sent = b""
        self.is_reading_now = True
        self.is_closed = False

    def writelines(self, pieces):
        self.sent += b"".join(pieces)

    def pause_reading(self):
        self.is_reading_now = False

    def resume_reading(self):
        self.is_reading_now = True

    def is_closing(self):
        return self.is_closed

    def close(self):
        self.is_closed = True

    abort = close


def connection():
    lost = []
    made, line = Connection(lost.append), Line()
    made.connection_made(line)
    made.send(b"POST / HTTP/1.1\r\n\r\n", b"{}")
    return made, line


async def whole(made):
    await made.head(None)
    pieces = []
    while piece := await made.read(None):
        pieces.append(piece)
    return made.status, b"".join(pieces)


@pytest.mark.parametrize("answer", [SIZED, CHUNKED, UNTIL_CLOSED, EARLY + SIZED])
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_an_answer_is_the_same_in_all_pieces(answer, size):
    made, _ = connection()
    for at in range(0, len(answer), size):
        made.data_received(answer[at : at + size])
    if answer is UNTIL_CLOSED:
        made.connection_lost(None)
    assert await whole(made) == (200, b"hello")
    assert made.headers["content-type"] == "text/plain"
    assert "link" not in made.headers
    assert "x-end" not in made.headers


@pytest.mark.parametrize("answer", [SIZED, CHUNKED, UNTIL_CLOSED])
async def test_an_answer_that_breaks_off_is_never_taken_for_a_whole_one(answer):
    for end in range(len(answer)):
        made, _ = connection()
        made.data_received(answer[:end])
        made.connection_lost(ConnectionResetError())
        with pytest.raises(Broken):
            await whole(made)


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nmore",
        HEAD + b"content-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\nhello",
    ],
)
async def test_what_is_no_plain_http_breaks_the_exchange(answer):
    made, line = connection()
    made.data_received(answer)
    with pytest.raises(Broken, match="the exchange failed"):
        await whole(made)
    assert line.is_closed


@pytest.mark.parametrize("more", [b"x-a: " + b"a" * 4096, EARLY])
async def test_a_head_without_an_end_is_not_read_for_ever(more):
    made, line = connection()
    made.data_received(b"HTTP/1.1 103 Early\r\n\r\n" if more is EARLY else HEAD)
    sent = 0
    while not line.is_closed:
        made.data_received(more)
        sent += len(more)
        assert sent < 1_000_000
    with pytest.raises(Broken):
        await whole(made)


async def test_a_host_waits_for_whoever_reads_slowly():
    made, line = connection()
    made.data_received(HEAD + b"content-length: 999999\r\n\r\n")
    made.data_received(b"a" * 300_000)
    assert not line.is_reading_now
    assert len(await made.read(None)) == 300_000
    assert line.is_reading_now


async def test_a_connection_is_used_again():
    async with Host(SIZED, CHUNKED, SIZED) as host:
        assert [await host.post() for _ in range(3)] == [b"hello"] * 3
        assert host.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + b"connection: close\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        SIZED + b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil",
        SIZED + b"garbage",
    ],
)
async def test_nothing_follows_an_answer_that_says_so_or_has_more_behind_it(answer):
    """What nobody asked for must not be the answer to the next request."""
    async with Host(answer, b"HTTP/1.1 500 No\r\ncontent-length: 3\r\n\r\nbad") as host:
        assert [await host.post() for _ in range(2)] == [b"hello"] * 2
        assert host.connections == 2


async def test_what_comes_before_it_is_asked_for_answers_nothing():
    made, line = connection()
    made.data_received(SIZED)
    assert await whole(made) == (200, b"hello")
    assert made.can_send
    made.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil")
    assert line.is_closed
    assert not made.can_send


async def test_a_host_that_hung_up_meanwhile_is_called_again():
    async with Host(SIZED) as host:
        assert await host.post() == b"hello"
        await host.hung_up.wait()
        await until(lambda: not host.transport._open)
        assert await host.post() == b"hello"
        assert host.connections == 2


BOTH = pytest.mark.parametrize("make", [DirectTransport, AiohttpTransport])


@BOTH
async def test_a_kept_connection_that_is_closed_unanswered_is_replaced_once(make):
    """Each connection answers once, and is closed when the second request has come."""
    async with Host(SIZED, b"", make=make) as host:
        assert await host.post() == b"hello"
        assert await host.post() == b"hello"
        assert host.connections == 2
        assert len(host.heads) == 3


@BOTH
async def test_a_new_connection_that_is_closed_unanswered_is_an_error(make):
    async with Host(b"", make=make) as host:
        with pytest.raises(TransportError, match="closed without an answer"):
            await host.post()
        assert host.connections == 1


@BOTH
async def test_a_kept_connection_that_is_closed_in_an_answer_is_an_error(make):
    """The host has begun to answer, so the request has been read."""
    async with Host(SIZED, HEAD, make=make) as host:
        assert await host.post() == b"hello"
        with pytest.raises(TransportError):
            await host.post()
        assert host.connections == 1


async def test_an_answer_that_was_not_read_is_broken_off():
    async with Host(HEAD + b"content-length: 99\r\n\r\nhello", None) as host:
        response = await host.transport.post(host.url, {}, b"{}", Timeouts())
        response.close()
        await host.hung_up.wait()
        assert response.status == 200


async def test_whoever_goes_away_before_the_head_breaks_the_connection_off():
    async with Host(None) as host:
        asking = asyncio.ensure_future(host.post())
        await until(lambda: host.heads)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await host.hung_up.wait()


@pytest.mark.parametrize(
    ("begin", "limits", "phase"),
    [
        (None, Timeouts(first_byte=0.02), "first_byte"),
        (HEAD + b"content-length: 9\r\n\r\n", Timeouts(first_byte=0.02), "first_byte"),
        (
            HEAD + b"content-length: 9\r\n\r\nhello",
            Timeouts(first_byte=60, between_bytes=0.02),
            "between_bytes",
        ),
        (HEAD + b"content-length: 9\r\n\r\nhello", Timeouts(total=0.02), "total"),
    ],
)
async def test_a_silent_host_is_not_waited_for(begin, limits, phase):
    async with Host(begin, None) as host:
        with pytest.raises(TransportError) as told:
            await host.post(timeouts=limits)
    assert told.value.phase == phase


async def test_nobody_waits_for_a_connection_for_ever(monkeypatch):
    async with Host(SIZED) as host:
        monkeypatch.setattr(host.transport, "_connect", lambda place: asyncio.Event().wait())
        with pytest.raises(TransportError, match=r"no connection within 0\.01 s") as told:
            await host.post(timeouts=Timeouts(connect=0.01))
    assert told.value.phase == "connect"


async def test_all_is_closed_with_the_transport():
    async with Host(SIZED, SIZED) as host:
        await host.post()
        await host.transport.close()
        await host.hung_up.wait()


@pytest.mark.parametrize(
    "headers", [{"x-a": "b\r\nx-c: d"}, {"x-a": "b\x00"}, {"x a": "b"}, {"x-a:": "b"}, {"": "b"}]
)
async def test_a_header_that_would_be_more_than_one_is_not_sent(headers):
    async with Host(SIZED) as host:
        with pytest.raises(TransportError) as told:
            await host.post(headers)
        assert told.value.phase == "setup"
        assert host.connections == 0


@pytest.mark.parametrize("headers", [{"host": "elsewhere.example"}, {"Expect": ""}])
async def test_headers_that_change_the_framing_are_left_to_the_general_client(headers):
    async with Host(SIZED) as host:
        assert await host.post(headers) == b"hello"
        assert host.transport._session is not None
        assert host.heads[0].lower().count("\r\nhost:") == 1


async def test_a_password_in_the_address_is_left_to_the_general_client():
    async with Host(SIZED) as host:
        host.url = host.url.replace("//", "//me:secret@")
        assert await host.post() == b"hello"
        assert "basic" in host.heads[0].lower()
        assert "secret" not in host.heads[0]


def packed(coding, body):
    return (
        HEAD
        + b"content-encoding: %s\r\ncontent-length: %d\r\n\r\n"
        % (
            coding,
            len(body),
        )
        + body
    )


async def test_what_is_packed_is_unpacked_a_little_at_a_time():
    """Hosts pack though they were asked not to; and a little can unpack to very much."""
    async with Host(packed(b"gzip", gzip.compress(b"a" * 3_000_000))) as host:
        response = await host.transport.post(host.url, {}, b"{}", Timeouts())
        sizes = [len(chunk) async for chunk in response.chunks()]
        response.close()
    assert sum(sizes) == 3_000_000
    assert max(sizes) <= 256 * 1024


async def test_the_other_packing_is_unpacked_too():
    async with Host(packed(b"deflate", zlib.compress(b"hello"))) as host:
        assert await host.post() == b"hello"


@pytest.mark.parametrize("coding", [b"gzip", b"br"])
async def test_what_cannot_be_unpacked_is_told(coding):
    async with Host(packed(coding, b"nothing of the kind")) as host:
        with pytest.raises(TransportError, match="pack"):
            await host.post()
