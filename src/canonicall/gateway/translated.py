"""A reply by translation: decoded, repaired, rendered, asked for; decoded, checked, encoded."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, closing
from functools import cached_property, partial
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.client.attempts import Attempts, Opened
from canonicall.client.encoder import EncodedForm, Encoder
from canonicall.client.failure import AttemptFailed, Failure
from canonicall.client.notices import name_of
from canonicall.client.overflow import overflow_of
from canonicall.codec.coverage import refuse_loss
from canonicall.codec.decode import is_plain
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamEncoder
from canonicall.errors import CanonicallError, MalformedBody, MostlyUnread
from canonicall.events import ArgumentsAdded, Event, StreamEnded, TextAdded, ThinkingAdded
from canonicall.facts.target import Target
from canonicall.folding import events_of
from canonicall.gateway.continuation import Continuation, Given
from canonicall.gateway.error_responses import error_events, unexpected
from canonicall.gateway.exchange import JSON, HttpResponse, Refused
from canonicall.gateway.forwarded import body_headers
from canonicall.gateway.forwarded_replies import events_with_fields
from canonicall.gateway.opaque import calls_in, restored, restored_messages
from canonicall.gateway.outbound import Outbound
from canonicall.gateway.sessions import Remembered
from canonicall.gateway.state import State
from canonicall.gateway.storage import store
from canonicall.gateway.summaries import opened
from canonicall.gateway.takeover import TakenOver
from canonicall.gateway.truncation import Truncation, wants_truncation, without_truncation
from canonicall.gateway.turns import Turn, summary_of
from canonicall.gateway.usage import size_of, wants_usage
from canonicall.gateway.whole_frames import StreamCut
from canonicall.guard.replies import checked_reply
from canonicall.lookalikes import with_likeness
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.runtime.middleware import MiddlewareError
from canonicall.store.engine import StoreError


class Translated:
    """The way of one turn through both formats: its forms, and its reply."""

    def __init__(self, state: State, turn: Turn) -> None:
        self._state = state
        self._turn = turn
        self._now = state.backs.means.now()
        self._request: Request | None = None
        """What is asked for, once it was read."""
        self._truncation: Truncation | None = None
        self.is_changed = False
        """Whether another request is asked for than the one that came."""

    @cached_property
    def _outbound(self) -> Outbound:
        turn = self._turn
        return Outbound(
            turn.front, request_id=turn.id, model=turn.model, tells_usage=_wants_usage(turn)
        )

    @cached_property
    def _remembered(self) -> Remembered:
        turn = self._turn
        return self._state.sessions.remembered(turn.session, turn.front.format, len(turn.data))

    @cached_property
    def _encoder(self) -> Encoder:
        turn, backs = self._turn, self._state.backs
        return Encoder(
            backs.means.config,
            self._remembered,
            backs.learned,
            wants_whole=self.wants_whole,
            is_strict=turn.strict,
            headers=partial(body_headers, turn),
        )

    @property
    def wants_whole(self) -> bool:
        """Whether the client gets nothing before the end of the reply."""
        return not self._turn.streams

    async def form(self, target: Target) -> EncodedForm:
        """The request as a target gets it. `Refused` where it cannot be read, or would be changed
        against the client's wish."""
        request = self._request = self._request or await self._read_request(target)
        form = await self._encoder.form(request, target)
        if self._turn.strict and form.encoded.report.has_repairs:
            self._refuse_repairs(form, target)
        return form

    async def shorten(self, failure: Failure) -> bool:
        """Whether the request is shorter from now on, after a provider found it too long."""
        turn = self._turn
        if not wants_truncation(turn.body, turn.front.format):
            return False
        overflow = overflow_of(failure)
        if overflow is None:
            return False
        if self._truncation is None:
            request = self._request or await self._read_request(turn.chain[0])
            self._truncation = Truncation(request)
        shorter = self._truncation.shorter(overflow)
        if shorter is None:
            return False
        self._request, self.is_changed = shorter, True
        return True

    async def response(
        self, attempts: Attempts[list[Event]], opened: Opened[list[Event]]
    ) -> HttpResponse:
        """What the client gets for a reply that has begun."""
        turn = self._turn
        if not turn.streams:
            return await self._whole(await self._end(attempts, opened))
        continues = self._state.settings.repair.continue_streams
        reply = Continuation(attempts, self._continue_with, continues=continues)
        pieces = self._encoded(reply.events(opened), attempts, self._encoder_of_stream())
        headers = {**turn.headers(), "content-type": turn.front.stream_type(turn.http)}
        return HttpResponse(200, headers, turn.front.framed(pieces, turn.http))

    async def _end(
        self, attempts: Attempts[list[Event]], opened: Opened[list[Event]]
    ) -> StreamEnded:
        """The end of a reply that is there as a whole."""
        await opened.rest.aclose()
        end = opened.first[-1]
        assert isinstance(end, StreamEnded)  # noqa: S101  nobody wants less than the whole
        attempts.answered(end.reply.usage, complete=end.complete)
        return end

    async def rest(
        self, cut: StreamCut, attempts: Attempts[list[Event]]
    ) -> AsyncGenerator[bytes, None]:
        """What follows a forwarded stream that broke off: its words go on, its calls end the turn,
        or the client is told that it was cut."""
        turn, state = self._turn, self._state
        if not turn.is_operator():
            cut.why = state.backs.addresses.hidden(cut.why)
        broken = TakenOver(cut, turn.front.format, seed=turn.id, repeats=turn.repeats)
        self._outbound.take_over(broken.events)
        turn.is_forwarded = False
        try:
            self._request = self._request or await self._read_request(broken.target)
        except Refused:
            yield broken.close()
            return
        if not cut.goes_on:
            attempts.end_chain()
        continues = state.settings.repair.continue_streams and broken.can_go_on and cut.goes_on
        reply = Continuation(attempts, self._continue_with, continues=continues)
        async with aclosing(self._encoded(reply.events_after(broken), attempts, broken)) as pieces:
            async for piece in pieces:
                yield piece

    def record(self, attempts: Attempts[Any]) -> None:
        """Note who was asked up to now, and with what."""
        turn, form = self._turn, attempts.form
        turn.target = attempts.target or turn.target
        turn.attempts = attempts.count
        if isinstance(form, EncodedForm):
            turn.on_request = list(form.encoded.report)
            turn.ids = form.encoded.transcript.ids
            turn.names = form.encoded.transcript.names
        elif self._request is not None and form is None and not turn.on_request:
            turn.on_request = list(self._request.findings)

    def _continue_with(self, given: Given) -> None:
        if self._request is not None:
            self._request, self.is_changed = given.request_to_go_on(self._request), True

    async def _read_request(self, target: Target) -> Request:
        """The request of the client, for this target and those behind it."""
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

    def _refuse_repairs(self, form: EncodedForm, target: Target) -> None:
        """In strict mode nothing that a client sent is changed; the error lists what would be.

        Additions that every such request to the target needs change nothing that was sent. A
        fallback that would need changes is not asked.
        """
        report = form.encoded.report
        told = " ".join(f"{one.code} at {one.where}: {one.why}" for one in report.changes[:5])
        changes = summary_of(report.changes)
        what = f"Strict mode: the request would have to be changed ({changes}). {told}"
        if self._turn.failures:
            raise AttemptFailed(Failure(kind="strict", message=f"{name_of(target)}: {what}"))
        self._turn.on_request = list(report)
        self._turn.target = target
        raise Refused(422, "strict", what)

    async def _encoded(
        self,
        batches: AsyncGenerator[list[Event], None],
        attempts: Attempts[list[Event]],
        encoder: StreamEncoder | TakenOver,
    ) -> AsyncGenerator[bytes, None]:
        """The stream that the client gets, whatever happens: one that breaks is told to be cut."""
        with closing(attempts):
            async with aclosing(batches):
                async for events in batches:
                    if data := await self._bytes(events, attempts, encoder):
                        yield data
                        self._turn.is_given = isinstance(events[-1], StreamEnded)

    async def _bytes(
        self,
        events: list[Event],
        attempts: Attempts[list[Event]],
        encoder: StreamEncoder | TakenOver,
    ) -> bytes:
        """What the client gets for some events. The end, which comes last, waits for the store."""
        for one in events:
            if isinstance(one, TextAdded | ThinkingAdded | ArgumentsAdded):
                self._turn.said += len(one.text)
        if isinstance(events[-1], StreamEnded):
            encoder.completed(self._state.backs.means.now())
            self._turn.target, self._turn.attempts = attempts.target, attempts.count
            events = self._ended(events)
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

    def _ended(self, events: list[Event]) -> list[Event]:
        """The last events, with what is known only at the end."""
        *before, end = events
        assert isinstance(end, StreamEnded)  # noqa: S101  its caller has looked
        turn = self._turn
        turn.is_complete = end.complete
        reply = self._checked(end.reply, streamed=True)
        self._note_reply(reply)
        if self._state.waits_for_replies:
            return list(events_of(self._state.middleware_chain.reply(reply)))
        return [*before, replace(end, reply=reply)]

    async def _whole(self, end: StreamEnded) -> HttpResponse:
        turn = self._turn
        reply = self._checked(end.reply, streamed=False)
        reply = self._state.middleware_chain.reply(reply)
        self._note_reply(reply)
        body = self._body(self._outbound.reply(reply))
        body |= await self._keep()
        headers = {**turn.headers(), "content-type": JSON}
        return HttpResponse(200, headers, msgspec.json.encode(body))

    def _checked(self, reply: Reply, *, streamed: bool) -> Reply:
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
            () if self._request is None else self._request.tools,
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
            state.sessions.took_over(turn.session, turn.target, now)
        if turn.storing is None:
            return {}
        return await store(turn, self._body(sent), state.keeping, now)

    def _encoder_of_stream(self) -> StreamEncoder:
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
