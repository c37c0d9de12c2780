"""The gateway as an ASGI application.

gateway = Gateway(settings)          # uvicorn, or any other ASGI server, runs it
await gateway.reload(other_settings) # requests that have begun go on with the old ones
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

from canonicall.agent.counters import Tally
from canonicall.client.transport import Transport
from canonicall.gateway import operations
from canonicall.gateway.call_counts import CallCounts
from canonicall.gateway.config import Settings
from canonicall.gateway.endpoints import answer
from canonicall.gateway.exchange import HttpRequest, HttpResponse, Refused
from canonicall.gateway.failing import error_response, unexpected
from canonicall.gateway.fronts import front_beside, front_for, methods_at
from canonicall.gateway.fronts.front import COMPACT, GENERATE, STREAM, Asked, Front
from canonicall.gateway.governance.keys import shown_key
from canonicall.gateway.governance.metrics import Metrics, MetricsMissing
from canonicall.gateway.governance.request_log import LARGEST_BODY
from canonicall.gateway.keeping import Keeping
from canonicall.gateway.observing import Observing
from canonicall.gateway.operated import Operated
from canonicall.gateway.reading import ClientGone, Receive, Scope, Send, body_of, head_of
from canonicall.gateway.revocations import Revocations
from canonicall.gateway.sending import Outlet
from canonicall.gateway.served import Watcher
from canonicall.gateway.serving_turns import ServedTurn
from canonicall.gateway.state import Lasting, State
from canonicall.gateway.truth import truth_answer
from canonicall.gateway.unserved import unserved_answer
from canonicall.runtime.middleware import ToolMiddleware

if TYPE_CHECKING:
    from canonicall.gateway.server.worker import Serving

_Gone: TypeAlias = Callable[[], None]
_DOORS = (
    "Clients ask at /v1/chat/completions, /v1/responses, /v1/messages or"
    " /v1beta/models/MODEL:generateContent."
)


class Gateway:
    """Four front doors, and whoever is configured behind them."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        transport: Transport | None = None,
        default: str = "",
        environ: Mapping[str, str] | None = None,
        middleware: Sequence[ToolMiddleware] = (),
        watchers: Sequence[Watcher] = (),
        is_observed: bool = False,
    ) -> None:
        """
        `transport`: another way to providers than HTTP, for tests and simulated ones. `default`:
        the provider that answers for names that the settings do not have. `environ`: where keys
        are looked up that the settings do not have. `watchers` are told of every request.
        `is_observed`: whether the request log of the settings is written, and traces are made.
        """
        self._given_transport = transport
        settings = settings or Settings()
        tally = Tally()
        self.serving: Serving | None = None
        """The server it runs in, which sets it."""
        self.operated = Operated(self, _metrics(settings, tally))
        self._observing = Observing(
            (*watchers, *filter(None, [self.operated.metrics])), is_observed=is_observed
        )
        self.keeping = Keeping(settings.store.path, days=settings.store.days)
        self.revocations = Revocations(self.keeping, lambda: self.state.gate)
        self._lasting = Lasting(
            keeping=self.keeping,
            counts=CallCounts(tally, self.keeping.database),
            default=default,
            environ=dict(environ or {}),
            middleware=tuple(middleware),
        )
        self.state = self._made(settings, None)
        self._retired: set[State] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection's worth of ASGI."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        async with self._held() as state:
            keeps = LARGEST_BODY if state.settings.log.bodies else 0
            head = head_of(scope)
            outlet = Outlet(send, keeps=keeps, headers=state.origins.shared(head.headers))
            await self._http(state, head, receive, outlet)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Most clients never open one.
        from canonicall.gateway.websocket import Connection  # noqa: PLC0415

        observing, serving = self._observing, self.serving
        connection = Connection(scope, receive, send, self._held, lambda: observing.watchers)
        if serving is None:
            await connection.serve(asyncio.Event())
            return
        with serving.socket_open():
            await connection.serve(serving.draining)

    @asynccontextmanager
    async def _held(self) -> AsyncGenerator[State, None]:
        """The state that serves now, which stays open for as long as it is held."""
        state = self.state
        state.open_requests += 1
        try:
            yield state
        finally:
            state.open_requests -= 1
            await self._retire(state)

    async def reload(self, settings: Settings) -> None:
        """Serve new requests by other settings; those that have begun go on as they were."""
        await self.keeping.reread_revoked()
        old, self.state = self.state, self._made(settings, self.state)
        if self.operated.metrics is not None:
            self.operated.metrics.know_models(settings.models)
        self._retired.add(old)
        await self._retire(old)

    async def close(self) -> None:
        """Close connections and the store."""
        self.revocations.end()
        for state in (self.state, *self._retired):
            await state.backs.means.transport.close()
            state.backs.forget()
        self._retired.clear()
        self._observing.close()
        await self._lasting.counts.close(time.time())
        self.keeping.close()

    def _made(self, settings: Settings, old: State | None) -> State:
        self._observing.follow(settings)
        transport = self._given_transport or _http_transport()
        return State(settings, transport, self._lasting, old=old)

    async def _retire(self, state: State) -> None:
        """Close what an old state has open, once its last request has ended."""
        if state in self._retired and state.open_requests == 0:
            self._retired.discard(state)
            state.backs.forget(one.backs for one in (self.state, *self._retired))
            self.state.routes.forget()
            if self._given_transport is None:
                await state.backs.means.transport.close()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await self._begin()
            else:
                await self.close()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    async def _begin(self) -> None:
        """What has to be done before the first request."""
        if self.serving is not None and self.serving.limiter is not None:
            self.state.gate.limit_by(self.serving.limiter)
        await self.revocations.begin()
        self.keeping.forget_old(time.time())

    async def _http(
        self, state: State, head: HttpRequest, receive: Receive, outlet: Outlet
    ) -> None:
        """Answer one request; a client that goes away takes everything with it that was begun."""
        me = asyncio.current_task()
        is_gone = False

        def gone() -> None:
            nonlocal is_gone
            is_gone = True
            if me is not None:
                me.cancel()

        try:
            await self._answered(state, head, receive, outlet, gone)
        except ClientGone:
            pass
        except asyncio.CancelledError:
            if not is_gone or me is None:
                raise
            me.uncancel()

    async def _answered(
        self, state: State, head: HttpRequest, receive: Receive, outlet: Outlet, gone: _Gone
    ) -> None:
        found = front_for(head)
        front = found[0] if found else front_beside(head)
        request_id = os.urandom(12).hex()
        named = {"x-canonicall-request-id": request_id}
        is_read = False
        try:
            state.origins.refuse_foreign(head)
            body = await body_of(head, receive, state.settings.server)
            is_read = True
            request = HttpRequest(
                head.method, head.path, head.query, head.headers, body, head.client
            )
            if found is not None and found[1].action in (GENERATE, STREAM, COMPACT):
                turn = ServedTurn(state, self._observing.watchers, request, found, request_id)
                await _while_there(turn.serve(outlet), receive, gone)
                return
            preflight = state.origins.preflight(head)
            response = preflight or await self._other(state, request, found)
        except Refused as refused:
            # The rest of a body that is not read would be taken for the next request.
            more = {} if is_read else {"connection": "close"}
            response = error_response(front, refused, {**named, **more})
        except ClientGone:
            raise
        except Exception as error:  # noqa: BLE001  the last resort: clients are told in any case
            response = error_response(front, unexpected(error, request_id), named)
        await outlet.whole(
            HttpResponse(response.status, {**named, **response.headers}, response.body)
        )

    async def _other(
        self, state: State, request: HttpRequest, found: tuple[Front, Asked] | None
    ) -> HttpResponse:
        operator = await operations.answer(request, self.operated)
        if operator is not None:
            return operator
        key = state.gate.identify(shown_key(request.headers, request.query), time.time())
        owner = "" if key is None else key.name
        if found is not None:
            return await answer(state, request, *found, key)
        made = await truth_answer(state, request, owner) or unserved_answer(request)
        return made if made is not None else _nothing_there(request)


def _nothing_there(request: HttpRequest) -> HttpResponse:
    """The answer at a path where nothing is, or not by this method."""
    if request.path == "/" and request.method == "GET":
        return HttpResponse.json({"service": "canonicall gateway", "told": _DOORS})
    found = methods_at(request)
    if found is not None:
        front, methods = found
        asked = " or ".join(methods)
        what = f"{request.path} is asked with {asked}, not with {request.method}."
        wrong = Refused(405, "method_not_allowed", what)
        return error_response(front, wrong, {"allow": ", ".join(methods)})
    what = f"Nothing is served at {request.method} {request.path}. {_DOORS}"
    raise Refused(404, "not_found", what)


async def _while_there(work: Awaitable[None], receive: Receive, gone: _Gone) -> None:
    """Do the work as long as the client is there."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone()

    watching = asyncio.ensure_future(watch())
    try:
        await work
    finally:
        # It ends by itself then; to wait for that would hold up the connection's next request.
        watching.cancel()


def _metrics(settings: Settings, tally: Tally) -> Metrics | None:
    try:
        return Metrics(settings.models, tally=tally)
    except MetricsMissing:
        return None


def _http_transport() -> Transport:
    try:
        from canonicall.client.direct_transport import DirectTransport  # noqa: PLC0415  an extra
    except ImportError:
        # It needs the packages of a server; in another's, those of a client are enough.
        from canonicall.client.aiohttp_transport import AiohttpTransport  # noqa: PLC0415

        return AiohttpTransport()
    return DirectTransport()
