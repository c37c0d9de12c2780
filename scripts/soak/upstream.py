"""Simulated providers on a port of loopback, as a process; with faults in every answer if asked.

python -m scripts.soak.upstream steady|faulty

It prints its port. It ends when its standard input does, and then prints how often it made each
fault, as JSON. Faults take turns, so that each occurs equally often.
"""

import asyncio
import json
import socket
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import cycle
from urllib.parse import parse_qsl, unquote

from canonicall.blocks import Message
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.testing import Simulator, call, says
from canonicall.testing.exchange import SimRequest, SimResponse

KEY = "sk-soak-upstream-0123456789abcdef"
PROVIDERS = ("openai", "anthropic", "gemini")
SHOWN = 40
"""So many characters of what the user said are repeated."""
LONG = "words and " * 3_000 + "an end."
_MEGABYTE = 1024 * 1024
_BOMB_MEGABYTES = 60
_ENDLESS_MEGABYTES = 12
_SILENCE_SECONDS = 6.0
_SLOW_SECONDS = 0.1
_ERRORS = {
    "error_500": (500, {}),
    "error_429": (429, {}),
    "error_429_later": (429, {"retry-after": "1"}),
    "error_529": (529, {}),
    "error_529_later": (529, {"retry-after": "1"}),
}


def echo(texts: list[str]) -> str:
    """What the model says after the user has said these texts."""
    return "|".join(text[:SHOWN] for text in texts)


def model(request: Request) -> Reply:
    """Calls a tool, repeats its result, writes much, or repeats what the user said."""
    messages = list(request.conversation.messages)
    last = messages[-1]
    if last.results:
        return says("The tool says " + "; ".join(one.text for one in last.results))
    if last.text.startswith("call"):
        return says("I look.", call("get_weather", city="Paris"))
    if last.text.startswith("long"):
        return says(LONG)
    return says(echo([one.text for one in messages if _is_said(one)]))


def _is_said(message: Message) -> bool:
    return message.role == "user" and bool(message.text)


def _bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    block = b" " * _MEGABYTE
    return b"".join(packer.compress(block) for _ in range(_BOMB_MEGABYTES)) + packer.flush()


class Connection:
    """One connection of the gateway: a request, its answer, the next request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def request(self) -> SimRequest | None:
        """The next request; None where there is none."""
        try:
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.strip().split("\r\n")
        method, url, _ = first.split(" ")
        named = (line.partition(":") for line in lines)
        headers = {name.lower(): text.strip() for name, _, text in named}
        body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        path, _, query = url.partition("?")
        return SimRequest(method, unquote(path), dict(parse_qsl(query)), headers, body)

    async def head(self, response: SimResponse, **more: str) -> None:
        """Send the head of an answer whose body comes in chunks."""
        headers = {**response.headers, "transfer-encoding": "chunked"}
        headers |= {name.replace("_", "-"): text for name, text in more.items()}
        lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
        await self._send(f"HTTP/1.1 {response.status} Simulated\r\n{lines}\r\n".encode())

    async def piece(self, data: bytes) -> None:
        """Send a chunk."""
        if data:
            await self._send(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        """Send the end of the body."""
        await self._send(b"0\r\n\r\n")

    async def answer(self, response: SimResponse) -> None:
        """Send all of it."""
        await self.head(response)
        await self.piece(response.data)
        await self.end()

    def reset(self) -> None:
        """Break the connection without an end: the other side gets a reset."""
        own, at_once = self._writer.get_extra_info("socket"), struct.pack("ii", 1, 0)
        # The other side may have closed it meanwhile.
        if not self._writer.is_closing():
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self._writer.transport.abort()

    def close(self) -> None:
        """Close it."""
        self._writer.close()

    async def _send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


class Upstream:
    """Answers requests to all providers, each under its name."""

    def __init__(self, *, is_faulty: bool) -> None:
        self.counts = Counter[str]()
        self._says_key = False
        self._simulators = {
            name: Simulator(name, model=self._model, signatures="any") for name in PROVIDERS
        }
        self._bomb = _bomb() if is_faulty else b""
        self._faults = cycle(FAULTS if is_faulty else {"none": _as_it_is})

    def _model(self, request: Request) -> Reply:
        return says(f"The key is {KEY}.") if self._says_key else model(request)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection until it ends."""
        connection = Connection(reader, writer)
        try:
            while request := await connection.request():
                await self._serve(request, connection)
        except ConnectionError:
            pass
        finally:
            connection.close()

    async def _serve(self, request: SimRequest, connection: Connection) -> None:
        fault = next(self._faults)
        self.counts[fault] += 1
        self._says_key = fault == "key_in_text"
        _, provider, path = request.path.split("/", 2)
        simulator = self._simulators[provider]
        moved = SimRequest(request.method, f"/{path}", request.query, request.headers, request.body)
        response = simulator.answer(moved)
        # It is not used, and would grow for as long as the soak takes.
        simulator.seen.clear()
        if fault == "gzip_bomb":
            await connection.head(response, content_encoding="gzip")
            await connection.piece(self._bomb)
            await connection.end()
        elif fault in _ERRORS:
            status, headers = _ERRORS[fault]
            said = {"error": {"message": f"Simulated {status}", "type": "simulated"}}
            kind = {"content-type": "application/json"}
            data = json.dumps(said).encode()
            await connection.answer(SimResponse(status, {**kind, **headers}, (data,)))
        else:
            await FAULTS.get(fault, _as_it_is)(response, connection)


async def _as_it_is(response: SimResponse, connection: Connection) -> None:
    await connection.answer(response)


async def _reset_before_head(response: SimResponse, connection: Connection) -> None:
    del response
    connection.reset()


async def _reset_after_head(response: SimResponse, connection: Connection) -> None:
    await connection.head(response)
    connection.reset()


async def _reset_within(response: SimResponse, connection: Connection) -> None:
    await connection.head(response)
    await connection.piece(_half(response.data))
    await asyncio.sleep(_SLOW_SECONDS)
    connection.reset()


async def _truncated(response: SimResponse, connection: Connection) -> None:
    await connection.head(response)
    await connection.piece(_half(response.data))
    await connection.end()


async def _slow(response: SimResponse, connection: Connection) -> None:
    data = response.data
    size = len(data) // 10 + 1
    await connection.head(response)
    for at in range(0, len(data), size):
        await asyncio.sleep(_SLOW_SECONDS)
        await connection.piece(data[at : at + size])
    await connection.end()


async def _silent(response: SimResponse, connection: Connection) -> None:
    await connection.head(response)
    await connection.piece(_half(response.data))
    await asyncio.sleep(_SILENCE_SECONDS)
    connection.reset()


async def _endless_line(response: SimResponse, connection: Connection) -> None:
    await connection.head(response)
    await connection.piece(_half(response.data))
    await connection.piece(b'data: "')
    for _ in range(_ENDLESS_MEGABYTES):
        await connection.piece(b"x" * _MEGABYTE)
    await connection.end()


async def _empty(response: SimResponse, connection: Connection) -> None:
    await connection.head(response)
    await connection.end()


def _with(data: bytes) -> Callable[[SimResponse, Connection], Awaitable[None]]:
    """A fault that puts these bytes into the middle of the answer, between two of its lines."""

    async def spoilt(response: SimResponse, connection: Connection) -> None:
        whole = response.data
        half = len(_half(whole))
        await connection.head(response)
        await connection.piece(whole[:half] + data + whole[half:])
        await connection.end()

    return spoilt


def _half(data: bytes) -> bytes:
    """The first half, up to the end of an event if there is one."""
    at = data.find(b"\n\n", len(data) // 2)
    return data[: at + 2 if at >= 0 else len(data) // 2]


async def _web_page(response: SimResponse, connection: Connection) -> None:
    del response
    page = (b"<html><body>Bad gateway</body></html>",)
    await connection.answer(SimResponse(200, {"content-type": "text/html"}, page))


FAULTS: dict[str, Callable[[SimResponse, Connection], Awaitable[None]]] = {
    "reset_before_head": _reset_before_head,
    "reset_after_head": _reset_after_head,
    "none": _as_it_is,
    "reset_within": _reset_within,
    "truncated": _truncated,
    "slow": _slow,
    "silence": _silent,
    "gzip_bomb": _as_it_is,
    "endless_line": _endless_line,
    "broken_json": _with(b'data: {"choices":[{"del\n\n'),
    "invalid_utf8": _with(b'data: {"note":"\xff\xfe"}\n\n'),
    "deep_nesting": _with(b"data: " + b"[" * 10_000 + b"]" * 10_000 + b"\n\n"),
    "wrong_type": _web_page,
    "empty": _empty,
    "key_in_text": _as_it_is,
    **dict.fromkeys(_ERRORS, _as_it_is),
}


async def _main(kind: str) -> None:
    upstream = Upstream(is_faulty=kind == "faulty")
    server = await asyncio.start_server(upstream.connected, "127.0.0.1", 0, limit=_MEGABYTE)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps(upstream.counts), flush=True)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
