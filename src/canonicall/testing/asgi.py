"""Simulators as an ASGI application: for a server, or for clients that need no socket."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from canonicall.testing.exchange import Pause, SimRequest, SimResponse
from canonicall.testing.simulator import Simulator

Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]


class ConnectionCut(Exception):
    """The connection is to break here: the server that catches it closes it without an end."""


class SimulatorApp:
    """One simulator at its own paths, or several, each under the name of its provider."""

    def __init__(self, simulators: Simulator | Mapping[str, Simulator]) -> None:
        self._simulators = simulators

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        request = await _request(scope, receive)
        await _respond(self._answer(request), receive, send)

    def _answer(self, request: SimRequest) -> SimResponse:
        if isinstance(self._simulators, Simulator):
            return self._simulators.answer(request)
        _, _, path = request.path.partition("/")
        name, _, rest = path.partition("/")
        simulator = self._simulators.get(name)
        if simulator is None:
            known = ", ".join(self._simulators)
            what = f"No provider is served under /{name}. There are: {known}."
            return SimResponse.json(404, {"error": {"message": what, "type": "not_found_error"}})
        inner = SimRequest(request.method, "/" + rest, request.query, request.headers, request.body)
        return simulator.answer(inner)


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def _request(scope: Scope, receive: Receive) -> SimRequest:
    pieces = []
    while True:
        message = await receive()
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            break
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
    return SimRequest(scope["method"], scope["path"], query, headers, b"".join(pieces))


async def _respond(response: SimResponse, receive: Receive, send: Send) -> None:
    headers = [(name.encode(), value.encode()) for name, value in response.headers.items()]
    start = {"type": "http.response.start", "status": response.status, "headers": headers}
    await send(start)
    for piece in response.pieces:
        if isinstance(piece, Pause):
            if not await _is_still_there(receive, piece.seconds):
                return
        else:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    if response.is_cut:
        raise ConnectionCut
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _is_still_there(receive: Receive, seconds: float | None) -> bool:
    """Wait, but no longer than the client does."""
    try:
        async with asyncio.timeout(seconds):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return True
    return False
