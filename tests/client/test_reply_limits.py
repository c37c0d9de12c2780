"""What is read of a reply is limited, wherever it comes from and however it is packed."""

import asyncio
import gzip
import zlib

import pytest

from batches import each
from canonicall.client.aiohttp_transport import AiohttpTransport
from canonicall.client.config import ClientConfig
from canonicall.client.direct_transport import DirectTransport
from canonicall.client.model import HttpModel
from canonicall.client.retrying import RetryPolicy
from canonicall.client.secrets import Secret
from canonicall.client.sending import MOST_OF_AN_ERROR
from canonicall.client.transport import Timeouts, TooMuch, bounded, whole_body
from canonicall.client.unpacking import SLICE
from canonicall.conversation import Conversation
from canonicall.discovery.asking import MOST_BYTES, Asker, Means
from canonicall.errors import ReplyTooLarge
from canonicall.events import ErrorReported
from canonicall.facts.registry import get_target
from canonicall.facts.target import FORMATS
from canonicall.framing.limits import ReplyLimits
from canonicall.reply import ERROR
from canonicall.request import Request
from canonicall.runtime.model import ModelError
from canonicall.streams import TOO_LARGE, StreamDecoder
from loopback import listening

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n"
LIMITS = ReplyLimits(total_bytes=1_000_000)
UNPACKED = 60_000_000
TRANSPORTS = {"direct": DirectTransport, "aiohttp": AiohttpTransport}
PACKED = {
    "gzip": lambda data: gzip.compress(data, 9),
    "deflate": zlib.compress,
    "deflate without a head": lambda data: zlib.compress(data)[2:-4],
}


class Host:
    """Answers every request with the same bytes."""

    def __init__(self, answer):
        self._answer = answer
        self.asked = 0

    async def __aenter__(self):
        self._listening = listening(self._serve)
        self.url = f"http://127.0.0.1:{await self._listening.__aenter__()}"
        return self

    async def __aexit__(self, *error):
        await self._listening.__aexit__(*error)

    async def _serve(self, reader, writer):
        self.asked += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self._answer)
        await writer.drain()
        await reader.read()


def answer(body, coding="", status=b"200 OK"):
    head = HEAD.replace(b"200 OK", status)
    if coding:
        head += f"content-encoding: {coding.partition(' ')[0]}\r\n".encode()
    return head + b"content-length: %d\r\n\r\n" % len(body) + body


@each("transport", TRANSPORTS)
@each("packing", PACKED)
async def test_a_bomb_is_unpacked_no_further_than_its_limit(packing, transport):
    """In slices, between which others run."""
    body = PACKED[packing](b" " * UNPACKED)
    turns = 0

    async def count():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    sizes = []
    async with Host(answer(body, packing)) as host:
        client = TRANSPORTS[transport]()
        response = await client.post(host.url, {}, b"{}", Timeouts())
        counting = asyncio.ensure_future(count())
        told = None
        try:
            async for chunk in bounded(response, LIMITS):
                sizes += [(len(chunk), turns)]
        except TooMuch as error:
            told = error
        counting.cancel()
        response.close()
        await client.close()
    assert "more than 1,000,000 bytes" in str(told)
    assert sum(size for size, _ in sizes) <= LIMITS.total_bytes
    assert max(size for size, _ in sizes) <= SLICE
    # The count goes up between every two slices.
    assert len({seen for _, seen in sizes}) == len(sizes)


@each("transport", TRANSPORTS)
async def test_what_was_packed_is_the_same_unpacked(transport):
    data = bytes(range(256)) * 3000
    for packing, pack in PACKED.items():
        async with Host(answer(pack(data), packing)) as host:
            client = TRANSPORTS[transport]()
            response = await client.post(host.url, {}, b"{}", Timeouts())
            assert await whole_body(bounded(response, LIMITS), LIMITS) == data
            response.close()
            await client.close()


def model_of(url, **options):
    config = ClientConfig(
        {name: {"key": "sk-1", "base_url": url} for name in ("openai", "groq")}, **options
    )
    return HttpModel(config, transport=DirectTransport(), fallbacks=["groq:m"])


async def events_of_question(model):
    conversation = Conversation()
    conversation.user("Hi")
    asked = model.ask(Request(conversation), get_target("openai/openai-chat:gpt-5"))
    return [event async for event in asked]


async def test_a_reply_that_is_too_large_is_asked_for_once():
    """Not again, and no other target."""
    body = gzip.compress(b'{"choices":[' + b" " * 3_000_000)
    async with Host(answer(body, "gzip")) as host:
        async with model_of(host.url, replies=LIMITS) as model:
            with pytest.raises(ModelError, match="limits for replies") as told:
                await events_of_question(model)
        assert host.asked == 1
    assert told.value.kind == TOO_LARGE


async def test_of_an_error_only_so_much_is_read():
    body = gzip.compress(b"x" * 50_000_000)
    async with Host(answer(body, "gzip", b"400 Bad Request")) as host:
        client = DirectTransport()
        response = await client.post(host.url, {}, b"{}", Timeouts())
        taken = 0
        async for chunk in response.chunks():
            taken += len(chunk)
            if taken > MOST_OF_AN_ERROR:
                break
        response.close()
        await client.close()
        async with model_of(host.url) as model:
            with pytest.raises(ModelError, match="HTTP 400"):
                await events_of_question(model)
    assert taken <= MOST_OF_AN_ERROR + SLICE


async def test_of_a_list_of_models_only_so_much_is_read():
    body = gzip.compress(b'{"data":[' + b'{"id":"m"},' * 3_000_000)
    async with Host(answer(body, "gzip")) as host:
        client = AiohttpTransport()
        means = Means(
            client, asyncio.sleep, lambda: 0.0, lambda: 0.0, Timeouts(), RetryPolicy(), print
        )
        found = await Asker(means, Secret(""), 1).get(host.url, {})
        await client.close()
    assert found.broken == "the rest was not read"
    assert len(found.data) <= MOST_BYTES + SLICE


async def test_what_follows_the_end_is_not_waited_for_long():
    """Also where something comes again and again: the reply is complete."""
    done = (
        b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
        b"data: [DONE]\n\n"
    )
    head = HEAD.replace(b"application/json", b"text/event-stream") + b"\r\n"

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + done)
        while True:
            await writer.drain()
            await asyncio.sleep(0.001)
            writer.write(b": still here\n\n")

    waits = Timeouts(after_end=0.02)
    async with (
        listening(serve) as port,
        model_of(f"http://127.0.0.1:{port}", timeouts=waits) as model,
    ):
        *_, end = await asyncio.wait_for(events_of_question(model), 30)
    assert end.complete


STREAMS = {
    "event_bytes": b'data: {"a":"' + b"x" * 2_000,
    "event_bytes, whole": b'data: {"a":"' + b"x" * 2_000 + b'"}\n\n',
    "event_bytes, JSON": b'{"a":"' + b"x" * 2_000,
    "events": b"data: {}\n\n" * 50,
    "values": b'data: {"a":[' + b"0," * 300 + b"0]}\n\n",
}


@each("size", [1, 10, 10_000])
@each("what", STREAMS)
def test_a_decoder_stops_at_a_limit_however_bytes_are_cut(what, size):
    limits = ReplyLimits(event_bytes=1_000, events=40, values=200)
    decoder = StreamDecoder("openai-chat", limits=limits)
    data, events = STREAMS[what], []
    for at in range(0, len(data), size):
        events += decoder.feed(data[at : at + size])
    assert decoder.is_broken
    events += decoder.feed(b"data: {}\n\n")
    events += decoder.close()
    errors = [one for one in events if isinstance(one, ErrorReported)]
    assert [one.type for one in errors] == [TOO_LARGE]
    assert what.partition(",")[0] in errors[0].message
    assert not events[-1].complete


def test_the_limit_that_was_passed_is_named():
    with pytest.raises(ReplyTooLarge, match="raise `values`") as told:
        ReplyLimits(values=10).check_json(b"[" * 20)
    assert told.value.limit == "values"
    ReplyLimits(values=10).check_json(b"[" * 10)


@each("format", FORMATS)
@each("what", ["damaged", "too large"])
def test_damage_before_anything_else_is_an_error_of_the_reply(what, format):
    """In every format: nothing that came tells of it."""
    data = b"\x00" + b"x" * 30 if what == "damaged" else b"data: " + b"x" * 3_000
    decoder = StreamDecoder(format, limits=ReplyLimits(event_bytes=1_000))
    *_, end = [*decoder.feed(data), *decoder.close()]
    assert not end.complete
    assert end.reply.finish == ERROR
    assert end.why
