"""The two ways to an MCP server: a program's input and output, and streamable HTTP.

The SDK's HTTP transport ends as a whole when one request cannot be sent. Here such a failure is the
answer to that request and to no other, and it is known whether the request ever left.

The SDK collects a line of a program's output until it ends, however long it gets. It has no setting
for that, but one for the encoding of the output, so the bound is a codec: it is UTF-8, gives the
SDK whole lines only, and nothing after a line that is too long.
"""

import codecs
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any

from canonicall.errors import InvalidValue

_SECONDS = 30.0
MOST_BYTES = 64 * 1024 * 1024
"""The most bytes that are read of one answer, or of one line of a stream or a program's output."""
_ENCODING = "canonicall_mcp_lines"
_WAKE = '{"jsonrpc":"2.0","method":"notifications/message"}\n'
"""A message without a meaning: whoever waits for one looks at the output then."""
_SECONDS_BETWEEN_BYTES = 300.0
"""Calls may take long; how long is the scheduler's business. Servers send signs of life."""


class Fate:
    """What became of a request on its way out."""

    def __init__(self) -> None:
        self.not_sent = False


FATE: ContextVar[Fate | None] = ContextVar("canonicall_mcp_fate", default=None)
"""That of the call which is being made: the SDK sends a request in its caller's context."""


class Output:
    """The output of a program, and why no more of it is read, once that is so."""

    def __init__(self) -> None:
        self.failure = ""


OUTPUT: ContextVar[Output | None] = ContextVar("canonicall_mcp_output", default=None)
"""That of the program behind a connection, in the context of the task that holds it: the SDK makes
its decoder there."""


def check_sdk() -> None:
    """Raise where the official SDK is not installed: it is an extra."""
    if find_spec("mcp") is None:
        raise InvalidValue(
            "the MCP SDK is not installed.", where="mcp", help="pip install 'canonicall[mcp]'"
        )


class _Lines(codecs.IncrementalDecoder):
    """Bytes of a program's output in, whole lines out."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._output = OUTPUT.get() or Output()
        self._line = bytearray()

    def decode(self, data: Any, final: bool = False) -> str:  # noqa: ARG002  the SDK never says so
        if self._output.failure:
            return ""
        whole, newline, rest = data.rpartition(b"\n")
        lines = bytes(self._line + whole + newline) if newline else b""
        if newline:
            self._line.clear()
        self._line += rest
        if len(self._line) > MOST_BYTES:
            return self._failed(f"a line of its output has more than {MOST_BYTES:,} bytes")
        try:
            return lines.decode()
        except UnicodeDecodeError:
            return self._failed("its output is not UTF-8")

    def _failed(self, why: str) -> str:
        self._line.clear()
        self._output.failure = why
        return _WAKE


def _codec(name: str) -> codecs.CodecInfo | None:
    if name != _ENCODING:
        return None
    plain = codecs.lookup("utf-8")
    return codecs.CodecInfo(plain.encode, plain.decode, incrementaldecoder=_Lines, name=_ENCODING)


codecs.register(_codec)


@asynccontextmanager
async def stdio_transport(
    command: str, args: tuple[str, ...], env: Mapping[str, str] | None
) -> AsyncIterator[tuple[Any, Any]]:
    """Start the program; its end is waited for when this is left."""
    from mcp import StdioServerParameters  # noqa: PLC0415  an extra
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    parameters = StdioServerParameters(
        command=command,
        args=list(args),
        env=None if env is None else dict(env),
        encoding=_ENCODING,
    )
    OUTPUT.set(Output())
    async with stdio_client(parameters) as streams:
        yield streams


@asynccontextmanager
async def http_transport(
    url: str, headers: Mapping[str, str] | None
) -> AsyncIterator[tuple[Any, Any]]:
    """Streams over HTTP requests, each of which fails for itself."""
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415  an extra

    async with (
        _http_client(headers) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


def _http_client(headers: Mapping[str, str] | None) -> Any:
    import httpx2  # noqa: PLC0415  comes with the SDK

    class Client(httpx2.AsyncClient):
        """Gives an answer to every POST, if only that there is none."""

        async def send(self, request: Any, **options: Any) -> Any:
            if request.method != "POST":
                return await super().send(request, **options)
            fate = FATE.get() or Fate()
            try:
                response = await super().send(request, **options)
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
                fate.not_sent = True
                return _no_answer(request, error)
            except httpx2.TransportError as error:
                return _no_answer(request, error)
            # "The server MUST respond to requests containing that session ID with HTTP 404":
            # the session is gone, and the request was not looked at (2025-11-25, "Transports").
            if response.status_code == 404 and "mcp-session-id" in request.headers:
                fate.not_sent = True
            return response

    def _no_answer(request: Any, error: Exception) -> Any:
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        body = {"jsonrpc": "2.0", "id": None, "error": {"code": _closed(), "message": told}}
        return httpx2.Response(503, json=body, request=request)

    timeout = httpx2.Timeout(_SECONDS, read=_SECONDS_BETWEEN_BYTES)
    named = {"accept-encoding": "identity", **(headers or {})}
    return Client(headers=named, timeout=timeout, event_hooks={"response": [_bound]})


async def _bound(response: Any) -> None:
    """Have no more read of an answer than is allowed, and nothing of one that is packed."""
    import httpx2  # noqa: PLC0415  comes with the SDK

    class Bounded(httpx2.AsyncByteStream):
        """The bytes of an answer; an error where a line of them does not end."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in stream:
                end = chunk.rfind(b"\n") + 1
                size = len(chunk) - end if end else size + len(chunk)
                if size > MOST_BYTES:
                    raise httpx2.ReadError(f"the answer has more than {MOST_BYTES:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    if response.headers.get("content-encoding", "identity") != "identity":
        # A few packed bytes can become a thousand times as many.
        raise httpx2.ReadError("the answer is packed, though it was asked for as it is")
    stream, response.stream = response.stream, Bounded()


def _closed() -> int:
    from mcp_types import CONNECTION_CLOSED  # noqa: PLC0415  comes with the SDK

    return int(CONNECTION_CLOSED)
