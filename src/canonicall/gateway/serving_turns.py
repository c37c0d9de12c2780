"""One request for a reply, from its body to its last byte, and what is told of it."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.errors import CanonicallError, UnknownName
from canonicall.findings import Finding
from canonicall.gateway.asking import NoReply
from canonicall.gateway.compaction import generation_of
from canonicall.gateway.exchange import HttpRequest, HttpResponse, Refused, one_piece
from canonicall.gateway.failing import error_events, error_response, refused_of, unexpected
from canonicall.gateway.fronts.front import COMPACT, GENERATE, Asked, Front
from canonicall.gateway.governance.gate import Permit
from canonicall.gateway.governance.keys import shown_key
from canonicall.gateway.operations import is_operator
from canonicall.gateway.prompts import prompt_model
from canonicall.gateway.reading import mended_body
from canonicall.gateway.references import References
from canonicall.gateway.responses_state import FORMAT
from canonicall.gateway.sending import Outlet
from canonicall.gateway.served import Begun, Served, Watcher
from canonicall.gateway.sessions import is_within_turn, session_of
from canonicall.gateway.state import State
from canonicall.gateway.turns import Turn, first_headers, target_name, wants_strict
from canonicall.gateway.usage import estimated_usage
from canonicall.store.engine import StoreError
from canonicall.streams import StreamEncoder

_WENT_AWAY = 499


class ServedTurn:
    """Answers one request, whatever comes of it."""

    def __init__(
        self,
        state: State,
        watchers: Sequence[Watcher],
        request: HttpRequest,
        found: tuple[Front, Asked],
        request_id: str,
    ) -> None:
        self._state = state
        self._watchers = watchers
        self._request = request
        self._came = request.body
        self._on_body: list[Finding] = []
        self._front, self._asked = found
        self._id = request_id
        self._turn: Turn | None = None
        self._begun: Begun | None = None
        self._permit: Permit | None = None
        self._references: References | None = None
        self._error = ""
        self._elapsed = state.backs.means.elapsed
        self._begun_at = self._elapsed()

    async def serve(self, outlet: Outlet) -> None:
        """Answer it."""
        status = _WENT_AWAY
        try:
            try:
                turn = self._turn = await self._made()
                status = await self._reply(turn, outlet)
            except Refused as refused:
                status = await self._refuse(refused, outlet)
            except Exception as error:  # noqa: BLE001  the last resort: clients are told in any case
                status = await self._refuse(unexpected(error, self._id), outlet)
        finally:
            if self._references is not None:
                self._references.release()
            if status == _WENT_AWAY and self._turn is not None and self._turn.is_given:
                # Clients close the connection at the event that ends the reply.
                status = 200
            self._tell(status, outlet)

    async def _made(self) -> Turn:
        """Who is asked for what. `Refused` where that is nobody, or nothing."""
        state, front = self._state, self._front
        strict = state.settings.repair.strict or wants_strict(self._request)
        limits, came = state.settings.server, self._request.body
        read, data, self._on_body = mended_body(came, limits, strict=strict)
        if data is not came:
            self._request = replace(self._request, body=data)
        body, left_out = front.served(read)
        request = self._request
        model = front.model(self._asked, body) or self._prompted(body)
        streams = front.streams(self._asked, body)
        key = await self._admitted(model, streams)
        if not model:
            what = "The request names no model: `model` says which one is to answer."
            raise Refused(400, "malformed", what, param="model")
        try:
            route = state.routes.find(model)
        except UnknownName as error:
            raise Refused(404, "model_not_found", str(error)) from None
        self._references = References(state, request, front.format, key, holder=self._id)
        whole = await self._references.whole(body, route)
        # A session is known by how it begins, which may be stored.
        session = session_of(request, whole.body, key)
        is_bound = is_within_turn(whole.body)
        chain = state.switched.first(
            session, route.chain(session), state.backs.means.now(), is_bound=is_bound
        )
        is_as_sent = whole.body is read or (body is read and whole.keeper == target_name(chain[0]))
        return Turn(
            id=self._id,
            front=front,
            asked=self._asked,
            http=request,
            body=whole.body,
            data=request.body if is_as_sent else msgspec.json.encode(whole.body),
            model=model,
            streams=streams,
            chain=chain,
            session=session,
            key=key,
            # A method would hold this object, which holds the turn.
            is_operator=partial(_is_operator, self._request, state),
            strict=strict,
            is_bound=is_bound,
            repeats=front.repeats(body),
            on_body=[*self._on_body, *left_out],
            storing=whole.storing,
            is_delta=whole.is_delta,
        )

    def _prompted(self, body: dict[str, Any]) -> str:
        """The model that a stored prompt names, where the request names none."""
        if self._front.format != FORMAT:
            return ""
        return prompt_model(body, self._state.settings.prompts)

    async def _admitted(self, model: str, streams: bool) -> str:
        """The name of the key that the request is let in with."""
        state, headers = self._state, self._request.headers
        shown = shown_key(headers, self._request.query)
        try:
            # One that names no model is told so, not that its key is for others.
            self._permit = await state.gate.admit(shown, model or None, state.backs.means.now())
        finally:
            # Who is refused is told of as well.
            begun = self._begun = Begun(
                id=self._id,
                front=self._front.format,
                action=COMPACT if self._asked.action == COMPACT else GENERATE,
                model=model,
                key=state.gate.name_of(shown),
                streams=streams,
                traceparent=headers.get("traceparent", ""),
                tracestate=headers.get("tracestate", ""),
            )
            for watcher in self._watchers:
                watcher.begun(begun)
        return begun.key

    async def _reply(self, turn: Turn, outlet: Outlet) -> int:
        """Answer with a reply; its status."""
        if not turn.streams:
            response = await self._response(turn)
            await outlet.whole(response)
            return response.status
        alive = asyncio.ensure_future(self._signs_of_life(turn, outlet))
        try:
            response = await self._response(turn)
            if isinstance(response.body, bytes):
                await outlet.whole(response)
                return response.status
            if not outlet.is_started:
                await outlet.start(response.status, response.headers)
            await outlet.pieces(response.body)
        finally:
            alive.cancel()
        return response.status

    async def _response(self, turn: Turn) -> HttpResponse:
        try:
            return await generation_of(self._state, turn).response()
        except NoReply as error:
            raise refused_of(error, turn.front) from error
        except StoreError:
            raise
        except CanonicallError as error:
            raise Refused(500, "internal", str(error)) from error

    async def _signs_of_life(self, turn: Turn, outlet: Outlet) -> None:
        """While the model is silent, something is sent; at last even the head of the response,
        though it is not known then whether there will be a reply."""
        headers = {**turn.headers(), "content-type": turn.front.stream_type(turn.http)}
        sign = StreamEncoder(turn.front.format).keep_alive()
        await outlet.keep_alive(sign, self._state.settings.server.keep_alive_seconds, headers)

    async def _refuse(self, refused: Refused, outlet: Outlet) -> int:
        self._error = refused.kind
        turn = self._turn
        if not _is_operator(self._request, self._state):
            refused.message = self._state.backs.addresses.hidden(refused.message)
        headers = first_headers(self._id, self._on_body) if turn is None else turn.headers()
        if not outlet.is_started:
            if turn is None or not turn.streams or refused.kind not in self._front.streamed_errors:
                response = error_response(self._front, refused, headers)
                await outlet.whole(response)
                return response.status
            kind = {"content-type": self._front.stream_type(self._request)}
            await outlet.start(200, {**headers, **kind})
        # The head was sent, maybe to show signs of life: the error is the end of the stream.
        data = refused.ending
        if not data:
            repeats = {} if turn is None else turn.repeats
            encoder = StreamEncoder(self._front.format, seed=self._id, repeats=repeats)
            data = encoder.feed_all(error_events(self._front, refused))
        pieces = one_piece(data)
        await outlet.pieces(self._front.framed(pieces, self._request))
        return refused.status

    def _tell(self, status: int, outlet: Outlet) -> None:
        """Tell the watchers, and keep the report."""
        turn, begun = self._turn, self._begun
        if turn is not None and turn.usage is None and turn.said and turn.target is not None:
            turn.usage = estimated_usage(turn.body, turn.front.format, turn.target, turn.said)
            turn.is_estimated = True
        if self._permit is not None:
            usage = turn.usage if turn is not None else None
            tokens = usage.input_tokens + usage.output_tokens if usage is not None else 0
            self._permit.release(tokens, self._state.backs.means.now())
        if turn is not None:
            self._state.counts.ended(turn, self._state.backs.means.now())
            self._state.keeping.keep_report(
                turn.id,
                {**turn.report(), "status": status, "error": self._error},
                self._state.backs.means.now(),
                lasts=bool(turn.findings or turn.failures),
            )
        if begun is None:
            return
        served = self._served(begun, turn, status, outlet)
        for watcher in self._watchers:
            watcher.ended(served)

    def _served(self, begun: Begun, turn: Turn | None, status: int, outlet: Outlet) -> Served:
        seconds = self._elapsed() - self._begun_at
        known = Served(
            begun=begun,
            status=status,
            error=self._error,
            seconds=seconds,
            bytes_in=len(self._came),
            bytes_out=outlet.bytes_out,
            request_body=self._came if self._state.settings.log.bodies else b"",
            response_body=outlet.kept,
        )
        if turn is None:
            return known
        counts: dict[str, int] = {}
        for one in turn.findings:
            counts[one.code] = counts.get(one.code, 0) + 1
        return replace(
            known,
            target=target_name(turn.target),
            attempts=turn.attempts,
            fallbacks=min(len(turn.failures), len(turn.chain) - 1),
            findings=tuple(counts.items()),
            is_forwarded=turn.is_forwarded,
            is_complete=turn.is_complete and status != _WENT_AWAY,
            usage=turn.usage,
            is_estimated=turn.is_estimated,
            upstream_seconds=turn.upstream_seconds,
            first_byte_seconds=outlet.first_byte_after,
        )


def _is_operator(request: HttpRequest, state: State) -> bool:
    return is_operator(request, state.settings, state.gate, state.backs.means.now())
