"""A reply by translation: decoded, repaired, rendered, asked for; decoded, checked, encoded."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.codec.coverage import refuse_loss
from canonicall.codec.decode import is_plain
from canonicall.codec.encode import encode_request, encode_response
from canonicall.codec.streams import StreamEncoder
from canonicall.errors import CanonicallError, MalformedBody, MostlyUnread
from canonicall.events import ArgumentsAdded, Event, StreamEnded, TextAdded, ThinkingAdded
from canonicall.facts.target import Target
from canonicall.folding import events_of
from canonicall.gateway.asking import Asking
from canonicall.gateway.exchange import JSON, HttpResponse, Refused
from canonicall.gateway.failing import error_events, unexpected
from canonicall.gateway.forwarded_replies import events_with_fields
from canonicall.gateway.forwarding import body_headers
from canonicall.gateway.opaque import calls_in, restored, restored_messages
from canonicall.gateway.outbound import Outbound
from canonicall.gateway.state import State
from canonicall.gateway.storage import store
from canonicall.gateway.summaries import opened
from canonicall.gateway.taking_over import TakenOver
from canonicall.gateway.truncation import truncation_of, without_truncation
from canonicall.gateway.turns import Turn, summary_of
from canonicall.gateway.usage import size_of, wants_usage
from canonicall.gateway.whole_frames import StreamCut
from canonicall.guard.replies import checked_reply
from canonicall.lookalikes import with_likeness
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.runtime.middleware import MiddlewareError
from canonicall.store.engine import StoreError


class Translation:
    """The way of one turn through both formats."""

    def __init__(self, state: State, turn: Turn) -> None:
        self._state = state
        self._turn = turn
        self._outbound = Outbound(
            turn.front, request_id=turn.id, model=turn.model, tells_usage=_wants_usage(turn)
        )
        self._remembered = state.memory.of(turn.session, turn.front.format, len(turn.data))
        self._elapsed = state.backs.means.elapsed
        self._begun = self._elapsed()
        self._now = state.backs.means.now()
        self._attempts = self._failures = 0
        """How many of them the turn knows of."""

    async def response(self, chain: list[Target]) -> HttpResponse:
        """What the client gets."""
        turn, state = self._turn, self._state
        request = await self._request(chain[0])
        if turn.strict:
            self._refuse_repairs(request, chain[0])
        asking = Asking(
            state.backs,
            request,
            chain,
            turn.notices.append,
            continues=turn.streams and state.settings.repair.continue_streams,
            renderings=self._remembered,
            bound=turn.chain[0] if turn.is_bound else None,
            truncation=truncation_of(turn.body, turn.front.format, request),
            headers=partial(body_headers, turn),
        )
        batches = asking.batches()
        try:
            first = await anext(batches)
        finally:
            self._note_asked(asking)
            self._note_sent(asking, request)
        if turn.streams:
            pieces = self._encoded(batches, asking, request, self._encoder(), first)
            headers = {**turn.headers(), "content-type": turn.front.stream_type(turn.http)}
            return HttpResponse(200, headers, turn.front.framed(pieces, turn.http))
        async with aclosing(batches):
            last = first
            async for events in batches:
                last = events
        self._note_asked(asking)
        return await self._whole(last[-1], request)

    async def rest(self, cut: StreamCut, chain: list[Target]) -> AsyncGenerator[bytes, None]:
        """What follows a forwarded stream that broke off: its words go on, its calls end the turn,
        or the client is told that it was cut."""
        turn, state = self._turn, self._state
        if not turn.is_operator():
            cut.why = state.backs.addresses.hidden(cut.why)
        broken = TakenOver(cut, turn.front.format, seed=turn.id, repeats=turn.repeats)
        self._outbound.take_over(broken.events)
        turn.is_forwarded = False
        try:
            request = await self._request(chain[0] if chain else broken.target)
        except Refused:
            yield broken.close()
            return
        asking = Asking(
            state.backs,
            request,
            chain if cut.goes_on else [],
            turn.notices.append,
            continues=state.settings.repair.continue_streams and broken.can_go_on and cut.goes_on,
            broken=broken,
        )
        async with aclosing(self._encoded(asking.batches(), asking, request, broken)) as pieces:
            async for piece in pieces:
                yield piece

    async def _request(self, target: Target) -> Request:
        turn, state = self._turn, self._state
        body = opened(turn.body, turn.front.format)
        if (unserved := turn.front.unserved(body, target)) is not None:
            raise unserved
        body = without_truncation(body, turn.front.format, target)
        if turn.front.format == target.format and "model" in body:
            # Whose thoughts can be read is told by the model's own name, not by an alias of it.
            body = {**body, "model": target.model}
        try:
            read = await self._read(body)
            # What a middleware leaves out was understood.
            if not is_plain(body, read):
                refuse_loss(body, read, turn.front.format, target)
            request = state.middleware_chain.request(read)
        except MiddlewareError as error:
            raise unexpected(error, turn.id) from error
        except MostlyUnread as error:
            raise Refused(422, "unread", str(error)) from error
        except MalformedBody as error:
            told = with_likeness(error, body, turn.front.format)
            raise Refused(400, "malformed", str(told)) from error
        except StoreError:
            raise
        except CanonicallError as error:
            raise Refused(400, "malformed", str(error)) from error
        if not request.conversation.entries and request.continues is None:
            # A model that is asked nothing says something, which is paid for.
            raise Refused(400, "malformed", "There is nothing to answer: no message was sent.")
        return replace(request, params=replace(request.params, stream=turn.streams))

    async def _read(self, body: dict[str, Any]) -> Request:
        """The request in `body`, with the state that its client cannot carry."""
        reader, keeping = self._remembered.reader, self._state.keeping
        reading = reader.begin(body)
        new = [message for part in reading.parts for message in part]
        kept = await keeping.state(calls_in(new))
        request = reader.finish(
            reading, tuple(restored_messages(part, kept) for part in reading.parts)
        )
        if reading.parts:
            return request
        return restored(request, await keeping.state(calls_in(request.conversation.messages)))

    def _refuse_repairs(self, request: Request, target: Target) -> None:
        """In strict mode nothing that a client sent is changed; the error lists what would be.

        Additions that every such request to the target needs change nothing that was sent.
        """
        # Which way a reply travels is the gateway's own affair: the client gets what it asked for.
        params = replace(request.params, stream=request.params.stream or target.stream_only)
        report = encode_request(replace(request, params=params), target).report
        changes = report.changes
        if report.has_repairs:
            self._turn.on_request = list(report)
            self._turn.target = target
            told = " ".join(f"{one.code} at {one.where}: {one.why}" for one in changes[:5])
            what = f"Strict mode: the request would have to be changed ({summary_of(changes)}). "
            raise Refused(422, "strict", what + told)

    def _note_asked(self, asking: Asking) -> None:
        """Note who was asked since the last time, and what came of it."""
        turn = self._turn
        turn.target = asking.target
        turn.attempts += asking.attempts - self._attempts
        turn.failures += asking.failures[self._failures :]
        self._attempts, self._failures = asking.attempts, len(asking.failures)

    def _note_sent(self, asking: Asking, request: Request) -> None:
        turn = self._turn
        turn.upstream_seconds = self._elapsed() - self._begun
        rendered = asking.rendered
        if rendered is not None:
            turn.on_request = list(rendered.encoded.report)
            turn.ids = rendered.encoded.transcript.ids
            turn.names = rendered.encoded.transcript.names
        else:
            turn.on_request = list(request.findings)

    async def _encoded(
        self,
        batches: AsyncGenerator[list[Event], None],
        asking: Asking,
        request: Request,
        encoder: StreamEncoder | TakenOver,
        first: list[Event] | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """The stream that the client gets, whatever happens: one that breaks is told to be cut.

        `first`: the events that have been taken from the others already.
        """
        async with aclosing(batches):
            if first is not None and (data := await self._bytes(first, asking, request, encoder)):
                yield data
                self._turn.is_given = isinstance(first[-1], StreamEnded)
            async for events in batches:
                if data := await self._bytes(events, asking, request, encoder):
                    yield data
                    self._turn.is_given = isinstance(events[-1], StreamEnded)

    async def _bytes(
        self,
        events: list[Event],
        asking: Asking,
        request: Request,
        encoder: StreamEncoder | TakenOver,
    ) -> bytes:
        """What the client gets for some events. The end, which comes last, waits for the store."""
        for one in events:
            if isinstance(one, TextAdded | ThinkingAdded | ArgumentsAdded):
                self._turn.said += len(one.text)
        if isinstance(events[-1], StreamEnded):
            encoder.completed(self._state.backs.means.now())
            self._note_asked(asking)
            events = self._ended(events, request)
            if not self._turn.is_complete and not self._turn.is_operator():
                events = self._state.backs.addresses.events(events)
        elif self._state.waits_for_replies:
            # Somebody has to see the whole reply before the client does.
            return b""
        shown = self._outbound.events(events)
        if self._outbound.sent is None:
            return encoder.feed_all(shown)
        try:
            # Before the client can refer to it.
            changed = await self._keep()
        except Refused as refused:
            refused.ending = encoder.feed_all(error_events(self._turn.front, refused))
            raise
        data = encoder.feed_all(shown)
        return events_with_fields(data, changed) if changed else data

    def _ended(self, events: list[Event], request: Request) -> list[Event]:
        """The last events, with what is known only at the end."""
        *before, end = events
        assert isinstance(end, StreamEnded)  # noqa: S101  its caller has looked
        turn = self._turn
        turn.is_complete = end.complete
        reply = self._checked(end.reply, request, streamed=True)
        self._note_reply(reply)
        if self._state.waits_for_replies:
            return list(events_of(self._state.middleware_chain.reply(reply)))
        return [*before, replace(end, reply=reply)]

    async def _whole(self, end: Event, request: Request) -> HttpResponse:
        turn = self._turn
        assert isinstance(end, StreamEnded)  # noqa: S101  the last event is always the end
        if not end.complete:
            turn.is_complete = False
            raise Refused(502, "cut", f"The reply broke off: {end.why}.")
        reply = self._checked(end.reply, request, streamed=False)
        reply = self._state.middleware_chain.reply(reply)
        self._note_reply(reply)
        body = self._body(self._outbound.reply(reply))
        body |= await self._keep()
        headers = {**turn.headers(), "content-type": JSON}
        return HttpResponse(200, headers, msgspec.json.encode(body))

    def _checked(self, reply: Reply, request: Request, *, streamed: bool) -> Reply:
        """`reply` with its arguments looked at; what was sent in a stream cannot be repaired."""
        mode = self._state.settings.repair.arguments
        target = self._turn.target
        count = (
            None
            if target is None
            else partial(self._state.tally.count, target.provider, model=target.model)
        )
        return checked_reply(
            self._outbound.with_losses(reply),
            request.tools,
            "report" if streamed and mode == "repair" else mode,
            count=count,
        )

    def _note_reply(self, reply: Reply) -> None:
        self._turn.on_reply = list(reply.findings)
        self._turn.usage = reply.usage
        if reply.usage is None:
            self._turn.said = size_of(reply.message.blocks)

    async def _keep(self) -> dict[str, Any]:
        """Keep what outlives the turn: state of the provider, the response, who answers now.
        Returns the fields of the reply that change by it."""
        turn, state = self._turn, self._state
        now = state.backs.means.now()
        if self._outbound.kept:
            await state.keeping.keep_state(self._outbound.kept, now)
        sent = self._outbound.sent
        if sent is None or not turn.is_complete:
            return {}
        if turn.target is not None and turn.target != turn.chain[0]:
            state.switched.took_over(turn.session, turn.target, now)
        if turn.storing is None:
            return {}
        return await store(turn, self._body(sent), state.keeping, now)

    def _encoder(self) -> StreamEncoder:
        """What writes a stream for the client."""
        turn = self._turn
        return StreamEncoder(
            turn.front.format, seed=turn.id, created=int(self._now), repeats=turn.repeats
        )

    def _body(self, reply: Reply) -> dict[str, Any]:
        front, now = self._turn.front, self._state.backs.means.now()
        body = encode_response(reply, front.format) | self._turn.repeats
        return front.dated(body, self._now, now)


def _wants_usage(turn: Turn) -> bool:
    """Whether a reply says what it cost: in a stream, chat clients have to ask for it."""
    return turn.front.format != "openai-chat" or not turn.streams or wants_usage(turn.body)
