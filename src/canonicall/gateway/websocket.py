"""WebSocket at `/v1/responses`: the events of a stream as messages, many turns on one connection.

In: messages of the type `response.create`, whose other fields are the body of a request. Out: the
same events as in a stream of server-sent events, one JSON object for each message. Each turn is
served as an HTTP request is: by the same settings, keys, limits, logs and counters.

- The key is checked at the handshake, and again for each turn.
- `stream_id` names a lane. The turns of one lane follow each other, lanes run side by side.
- `generate: false` stores the input and asks no model.
- A response that was made with `store: false` can be continued on its connection, while it is the
  last of its lane.
- An error ends its turn, never the connection. A client that goes away ends all of its turns.
- A server that ends finishes the turns that it has, refuses others, and closes the connection.

Rules and errors: OpenAI's guide "WebSocket mode", Open Responses 2026-04-24.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from canonicall.blocks import Message, Origin
from canonicall.findings import Finding
from canonicall.folding import events_of
from canonicall.framing.frame import Frame
from canonicall.framing.sse import ServerSentEvents
from canonicall.gateway.error_responses import error_response
from canonicall.gateway.exchange import HttpRequest, HttpResponse, Refused, one_piece
from canonicall.gateway.fronts import FRONTS, front_for
from canonicall.gateway.fronts.front import GENERATE, Asked
from canonicall.gateway.governance.keys import shown_key
from canonicall.gateway.governance.request_log import LARGEST_BODY
from canonicall.gateway.outlet import Outlet
from canonicall.gateway.reading import Receive, Scope, Send, head_of, mended_body
from canonicall.gateway.requests import HttpExchange
from canonicall.gateway.responses_state import FORMAT, PREVIOUS, items_of
from canonicall.gateway.served import Watcher
from canonicall.gateway.state import State
from canonicall.gateway.translated import Translated
from canonicall.gateway.turns import Turn, wants_strict
from canonicall.reply import STOP, Reply, Usage

Hold: TypeAlias = Callable[[], AbstractAsyncContextManager[State]]
"""The state that serves now; it is kept open for as long as it is held."""

_FRONT = next(one for one in FRONTS if one.format == FORMAT)
_GENERATE = Asked(GENERATE)
_CREATE, _STEER = "response.create", "response.steer"
_PROCESSED = "response.processed"
"""Codex says so that it has stored a response; nothing is to be done."""
_OURS = ("type", "stream_id", "generate", "stream", "background")
"""Fields of a message that are no part of the request."""
_LANE = re.compile(r"[A-Za-z0-9_.-]{1,256}")
_MOST_LANES = 32
_MOST_RUNNING = 16
_MOST_WAITING = 100
_LONGEST = 60 * 60.0
_RESTART = 1012
"""The code of a close: the server restarts (IANA, WebSocket Close Code Number Registry)."""
_ENDS = ("response.completed", "response.incomplete")
_FAILURES = ("response.failed", "error")
_EXTENSION = "websocket.http.response"


class SocketOutlet(Outlet):
    """Where the events of one turn go."""

    def __init__(self, send: Send, lane: str | None = None, *, keeps: int = 0) -> None:
        super().__init__(_unless_gone(send), keeps=keeps)
        self._lane = lane
        self.response: dict[str, Any] | None = None
        """The whole response, once it has come to its end."""
        self.is_failed = False

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Nothing is sent: messages have no head."""
        del status, headers
        self.is_started = True

    async def whole(self, response: HttpResponse) -> None:
        """Send an error, which is what a response without a stream is."""
        body = msgspec.json.decode(response.body) if isinstance(response.body, bytes) else {}
        said = body.get("error") if isinstance(body, dict) else None
        kept = {
            name: text
            for name, text in response.headers.items()
            if name == "retry-after" or name.startswith("x-canonicall-")
        }
        error = {**(said if isinstance(said, dict) else {}), "headers": kept}
        await self.event({"type": "error", "status": response.status, "error": error})

    async def pieces(self, pieces: AsyncGenerator[bytes, None]) -> None:
        """Send the events of a stream as they come."""
        events = ServerSentEvents()
        async with aclosing(pieces):
            async for piece in pieces:
                for frame in events.feed(piece):
                    await self._frame(frame)
        for frame in events.close():
            await self._frame(frame)

    async def keep_alive(self, sign: bytes, seconds: float, headers: Mapping[str, str]) -> None:
        """Wait: the server sends pings."""
        del sign, seconds, headers
        await asyncio.Event().wait()

    async def event(self, event: dict[str, Any]) -> None:
        """Send one event."""
        self.is_failed = self.is_failed or event.get("type") in _FAILURES
        named = event if self._lane is None else {**event, "stream_id": self._lane}
        await self._piece(msgspec.json.encode(named), more=True)

    async def _frame(self, frame: Frame) -> None:
        is_plain = frame.name and frame.name not in (*_ENDS, *_FAILURES) and self._lane is None
        if is_plain:
            await self._piece(frame.data, more=True)
            return
        try:
            event = msgspec.json.decode(frame.data, type=dict[str, Any])
        except msgspec.DecodeError:
            # [DONE], which no message says.
            return
        if event.get("type") in _ENDS and isinstance(event.get("response"), dict):
            self.response = event["response"]
        await self.event(_as_error(event) if event.get("type") == "error" else event)

    async def _piece(self, data: bytes, *, more: bool) -> None:
        del more
        self._count(data)
        await self._send({"type": "websocket.send", "text": data.decode()})


class _SocketTurn(HttpExchange):
    """One turn of a connection."""

    generates: bool = True
    """Whether a model is asked."""
    mended: tuple[Finding, ...] = ()
    """What had to be mended before the message could be read."""
    before: str = ""
    """The response of the connection that it continues, which its body does not name any more."""

    @property
    def input(self) -> list[Any]:
        """All that was said before the response, with what the request referred to."""
        return [] if self._turn is None else items_of(self._turn.body.get("input"))

    async def _made(self) -> Turn:
        turn = await super()._made()
        turn.on_body += self.mended
        if self.before:
            turn.repeats[PREVIOUS] = self.before
        return turn

    async def _response(self, turn: Turn) -> HttpResponse:
        if self.generates:
            return await super()._response(turn)
        return await _Preparation(self._state, turn).empty()


class _Preparation(Translated):
    """A response without output, which can be continued."""

    async def empty(self) -> HttpResponse:
        """The stream of that response."""
        turn = self._turn
        nothing = Message("assistant", (), origin=Origin(format=FORMAT), finish=STOP)
        turn.usage = Usage()
        reply = self._outbound.reply(Reply(nothing, turn.usage))
        await self._keep()
        stream = self._encoder_of_stream().feed_all(list(events_of(reply)))
        return HttpResponse(200, turn.headers(), one_piece(stream))


class _Asked(Struct, frozen=True):
    """One message that asks for a response."""

    body: dict[str, Any]
    lane: str | None
    generates: bool
    mended: tuple[Finding, ...] = ()


class _Said(Struct, frozen=True):
    """The last response of a lane, with all that was said before it."""

    id: str
    items: list[Any]


class Connection:
    """One client on a WebSocket."""

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        hold: Hold,
        watchers: Callable[[], Sequence[Watcher]],
    ) -> None:
        """`watchers`: those of the settings that hold when a turn begins."""
        self._scope = scope
        self._head = head_of({**scope, "method": "POST"})
        self._receive = receive
        self._send = send
        self._hold = hold
        self._watchers = watchers
        self._lanes: dict[str | None, asyncio.Lock] = {None: asyncio.Lock()}
        self._last: dict[str | None, _Said] = {}
        self._may_run = asyncio.Semaphore(_MOST_RUNNING)
        self._tasks: set[asyncio.Task[None]] = set()
        self._now = asyncio.get_running_loop().time
        self._begun = self._now()
        self._draining = asyncio.Event()

    async def serve(self, draining: asyncio.Event) -> None:
        """Serve it until one of both closes it. `draining`: set when the server ends; what has
        begun is finished then."""
        self._draining = draining
        await self._receive()
        try:
            await self._admit()
        except Refused as refused:
            await self._reject(error_response(_FRONT, refused, {}))
            return
        await self._send({"type": "websocket.accept"})
        closing = asyncio.ensure_future(self._drained())
        try:
            while (message := await self._message(closing)) is not None:
                if not await self._take(message):
                    return
            if closing.done():
                await self._send({"type": "websocket.close", "code": _RESTART})
        finally:
            closing.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _drained(self) -> None:
        """Return when the server ends, and every turn has ended."""
        await self._draining.wait()
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _message(self, closing: "asyncio.Future[None]") -> Mapping[str, Any] | None:
        """The next message; None where the client has gone, or the connection is to be closed."""
        receiving = asyncio.ensure_future(self._receive())
        try:
            await asyncio.wait((receiving, closing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not receiving.done():
                receiving.cancel()
        if not receiving.done() or receiving.cancelled():
            return None
        message = receiving.result()
        return None if message["type"] == "websocket.disconnect" else message

    async def _admit(self) -> None:
        """Raise `Refused` where nothing is served, or the key is not valid."""
        head = self._head
        if front_for(head) != (_FRONT, _GENERATE):
            what = f"No WebSocket is served at {head.path}. Connect to /v1/responses."
            raise Refused(404, "not_found", what)
        async with self._hold() as state:
            # Browsers let any page connect, and read what comes back.
            state.origins.refuse_foreign(head)
            state.gate.identify(shown_key(head.headers, head.query), state.backs.means.now())

    async def _reject(self, response: HttpResponse) -> None:
        """Answer the handshake with an error."""
        if _EXTENSION not in (self._scope.get("extensions") or {}):
            await self._send({"type": "websocket.close", "code": 1008})
            return
        named = [(name.encode(), text.encode()) for name, text in response.headers.items()]
        start = {"type": f"{_EXTENSION}.start", "status": response.status, "headers": named}
        await self._send(start)
        await self._send({"type": f"{_EXTENSION}.body", "body": response.body})

    async def _take(self, message: Mapping[str, Any]) -> bool:
        """Begin what a message asks for; whether more may follow."""
        outlet = SocketOutlet(self._send)
        try:
            event, findings = await self._read(message)
            outlet = SocketOutlet(self._send, _lane_of(event), keeps=await self._kept_bytes())
            if self._draining.is_set():
                raise _to_be_opened_anew("The server is shutting down.")
            if self._now() - self._begun > _LONGEST:
                raise _to_be_opened_anew(_TOO_OLD)
            asked = self._asked(event, findings)
        except Refused as refused:
            await outlet.whole(error_response(_FRONT, refused, {}))
            if refused.code == _OPEN_ANEW and not self._draining.is_set():
                await asyncio.gather(*self._tasks, return_exceptions=True)
                await self._send({"type": "websocket.close", "code": 1000})
                return False
            return True
        if isinstance(asked, dict):
            await outlet.event(asked)
        elif asked is not None:
            task = asyncio.ensure_future(self._turn(asked, outlet))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return True

    async def _kept_bytes(self) -> int:
        """How much of a response is kept for the log."""
        async with self._hold() as state:
            return LARGEST_BODY if state.settings.log.bodies else 0

    async def _read(self, message: Mapping[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
        """The object in a message, and what was mended in it; in strict mode nothing is."""
        text = message.get("text")
        data = text.encode() if isinstance(text, str) else message.get("bytes") or b""
        async with self._hold() as state:
            limits = state.settings.server
            if len(data) > limits.max_body_bytes:
                most = limits.max_body_bytes
                what = f"The message is larger than {most} bytes (server.max_body_bytes)."
                raise Refused(413, "too_large", what)
            is_strict = state.settings.repair.strict or wants_strict(self._head)
            body, _, findings = mended_body(data, limits, strict=is_strict)
            return body, findings

    def _asked(
        self, event: dict[str, Any], findings: list[Finding]
    ) -> _Asked | dict[str, Any] | None:
        """The turn that a message asks for, the event that answers it, or None for neither."""
        kind = event.get("type")
        if kind == _PROCESSED:
            return None
        if kind == _STEER:
            return _not_steered(event)
        if kind != _CREATE:
            what = f"A message of the type {str(kind)[:40]!r} is not known. Send {_CREATE!r}."
            raise Refused(400, "malformed", what, param="type")
        if event.get("background"):
            what = "`background` is not supported over WebSocket. Leave it out."
            raise Refused(400, "malformed", what, param="background")
        lane = _lane_of(event)
        if lane not in self._lanes:
            # The lane without a name is not counted.
            if len(self._lanes) > _MOST_LANES:
                raise _too_many_lanes()
            self._lanes[lane] = asyncio.Lock()
        if len(self._tasks) >= _MOST_WAITING:
            what = f"{_MOST_WAITING} requests of this connection wait or run. Wait for responses."
            raise Refused(429, "rate_limited", what)
        body = {name: value for name, value in event.items() if name not in _OURS}
        generates = event.get("generate") is not False
        return _Asked({**body, "stream": True}, lane, generates, tuple(findings))

    async def _turn(self, asked: _Asked, outlet: SocketOutlet) -> None:
        """Serve one turn after those before it on its lane."""
        async with self._lanes[asked.lane], self._may_run, self._hold() as state:
            body, said = self._continued(asked.body)
            head = self._head
            data = msgspec.json.encode(body)
            request = HttpRequest("POST", head.path, head.query, head.headers, data, head.client)
            found, id = (_FRONT, _GENERATE), os.urandom(12).hex()
            turn = _SocketTurn(state, self._watchers(), request, found, id)
            turn.generates, turn.mended = asked.generates, asked.mended
            turn.before = "" if said is None else said.id
            await turn.serve(outlet)
            if outlet.is_failed and said is not None:
                # The client tries again with all of it.
                self._last = {lane: one for lane, one in self._last.items() if one is not said}
            if (made := outlet.response) is not None:
                self._last.pop(asked.lane, None)
                if body.get("store") is False or not state.settings.store.enabled:
                    items = [*turn.input, *(made.get("output") or ())]
                    self._last[asked.lane] = _Said(str(made.get("id")), items)

    def _continued(self, body: dict[str, Any]) -> tuple[dict[str, Any], _Said | None]:
        """`body` with the response of this connection in it that it continues, and that response.
        Those that are stored are found as in any other request."""
        before = body.get(PREVIOUS)
        said = next((one for one in self._last.values() if one.id == before), None)
        if said is None:
            return body, None
        rest = {name: value for name, value in body.items() if name != PREVIOUS}
        return {**rest, "input": [*said.items, *items_of(body.get("input"))]}, said


_OPEN_ANEW = "websocket_connection_limit_reached"
"""The one code after which clients send the same message on a new connection."""
_TOO_OLD = "Responses websocket connection limit reached (60 minutes)."


def _to_be_opened_anew(why: str) -> Refused:
    what = f"{why} Create a new websocket connection to continue."
    return Refused(400, "malformed", what, code=_OPEN_ANEW)


def _too_many_lanes() -> Refused:
    what = (
        "This WebSocket connection has reached its maximum number of distinct stream IDs"
        f" ({_MOST_LANES}). Reuse an existing stream_id or open a new WebSocket connection."
    )
    code = "websocket_stream_limit_reached"
    return Refused(400, "malformed", what, code=code, param="stream_id")


def _lane_of(event: Mapping[str, Any]) -> str | None:
    lane = event.get("stream_id")
    if lane is None:
        return None
    if isinstance(lane, str) and _LANE.fullmatch(lane):
        return lane
    what = (
        "The 'stream_id' field must be a non-empty string with at most 256 characters and may only"
        " contain letters, numbers, underscores, hyphens, and periods."
    )
    raise Refused(400, "malformed", what, code="invalid_stream_id", param="stream_id")


def _not_steered(event: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to input for a response that is under way (SDK response_steer_failed_event.py)."""
    message = "The gateway does not steer responses. Send the input with the next response.create."
    error = {"type": "invalid_request_error", "code": "steering_not_supported", "message": message}
    steer = {name: event.get(name) for name in (PREVIOUS, "input")}
    return {"type": "response.steer.failed", "sequence_number": 0, "error": error, "steer": steer}


def _as_error(event: dict[str, Any]) -> dict[str, Any]:
    """An error event of a stream as a message has it: what is wrong is one object."""
    if isinstance(event.get("error"), dict):
        return event
    error = {name: event.get(name) for name in ("code", "message", "param")}
    rest = {name: value for name, value in event.items() if name not in error}
    return {**rest, "error": {"type": "server_error", **error}}


def _unless_gone(send: Send) -> Send:
    """`send`, without the error that a client has gone: it is received as a message as well."""

    async def sent(message: dict[str, Any]) -> None:
        with suppress(OSError):
            await send(message)

    return sent
