"""The reply to one request: bytes forwarded where that is enough, else translated both ways.

In: a turn. Out: the response of the client. Which of both it is, is decided for each target of the
chain; a request that was refused as it came is translated for the same target.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, closing
from typing import Any

from msgspec.structs import replace

from canonicall.client.attempts import Again, Attempts, Form, NoReply, Opened
from canonicall.client.encoder import EncodedForm, takes_usage_question
from canonicall.client.failure import AttemptFailed, Failure, with_more
from canonicall.client.learning import is_outside
from canonicall.client.notices import Recovered
from canonicall.facts.target import Target
from canonicall.gateway.error_responses import error_events, provider_refusal
from canonicall.gateway.exchange import HttpResponse, Refused
from canonicall.gateway.forwarded import (
    ForwardedForm,
    body_headers,
    can_forward,
    with_model,
)
from canonicall.gateway.forwarded_replies import (
    ReplyReader,
    events_with_fields,
    reply_in,
    with_fields,
)
from canonicall.gateway.opaque import has_packed
from canonicall.gateway.state import State
from canonicall.gateway.storage import store
from canonicall.gateway.takeover import TakenOver
from canonicall.gateway.translated import Translated
from canonicall.gateway.turns import Turn
from canonicall.gateway.usage import asking_usage, size_in, usage_in, wants_usage
from canonicall.gateway.whole_frames import StreamCut, WholeFrames, ends_reply
from canonicall.verify.explainer import explain

_QUESTION = "stream_options"
"""What a host names that refuses to be asked for the tokens of a stream."""


class ReplyForms:
    """The request of one turn, as each target gets it."""

    def __init__(self, state: State, turn: Turn, translated: Translated) -> None:
        self._state = state
        self._turn = turn
        self._translated = translated

    async def form(self, target: Target) -> Form[Any]:
        """The request as a target gets it."""
        if self._turn.is_delta:
            return self._as_it_is(target)
        if not self._can_forward(target):
            return await self._translated.form(target)
        fitted = await self._fitted_form(target)
        return fitted or self._as_it_is(target, asks_usage=self._asks_usage(target))

    def _can_forward(self, target: Target) -> bool:
        turn, state = self._turn, self._state
        if state.middleware or self._translated.is_changed or has_packed(turn.data):
            return False
        recover = state.backs.means.config.recover_of(target.provider)
        return can_forward(turn.body, turn.front.format, target, recover=recover)

    async def _fitted_form(self, target: Target) -> EncodedForm | None:
        """The request as earlier refusals have taught that its target wants it; None where it is
        like that already, or nothing was learnt."""
        if self._state.backs.learned.fit(target) is target:
            return None
        try:
            form = await self._translated.form(target)
        except (AttemptFailed, Refused):
            if self._turn.strict:
                raise
            return None
        return form if form.encoded.report.changes else None

    def _asks_usage(self, target: Target) -> bool:
        """Whether the host is asked for the tokens of a stream in the place of the client."""
        turn, backs = self._turn, self._state.backs
        if not turn.streams or target.format != "openai-chat" or wants_usage(turn.body):
            return False
        return target not in backs.uncounted and takes_usage_question(backs.learned.fit(target))

    def _as_it_is(self, target: Target, *, asks_usage: bool = False) -> ForwardedForm:
        turn = self._turn
        turn.target = target
        data, sent = turn.data, turn.body
        if asks_usage:
            data, sent = asking_usage(data, sent)
        return ForwardedForm(
            target,
            with_model(data, sent, target),
            stream=turn.streams,
            limits=self._state.backs.means.config.replies,
            after_refusal=self._after_refusal,
            hides_usage=asks_usage,
            headers=body_headers(turn, target),
        )

    async def _after_refusal(self, form: ForwardedForm, failure: Failure) -> Again[Any]:
        """What is tried where a request was refused as it came."""
        target = form.target
        told = explain(failure.error if failure.error is not None else failure.message)
        code = told.entries[0].code if told else "unknown"
        if form.hides_usage and _QUESTION in failure.message:
            self._state.backs.uncounted.add(target)
            notice = Recovered(target, code, {_QUESTION: None}, failure.message)
            return Again(failure, self._as_it_is(target), notice)
        if is_outside(told):
            known = told.entries[0]
            message = with_more(failure.message, known.meaning, known.repair)
            return Again(replace(failure, message=message))
        if self._turn.is_delta:
            return Again(failure)
        # In another form it may be taken: the encoder knows which.
        notice = Recovered(target, code, {}, failure.message)
        return Again(failure, await self._translated.form(target), notice)


class ClientReply:
    """What one turn is answered with."""

    def __init__(
        self,
        state: State,
        turn: Turn,
        translated: type[Translated] = Translated,
        forms: type[ReplyForms] = ReplyForms,
    ) -> None:
        """`translated`: what answers where the request cannot be forwarded. `forms`: what makes the
        request for a target."""
        self._state = state
        self._turn = turn
        self._translated = translated(state, turn)
        self._elapsed = state.backs.means.elapsed
        self._begun = self._elapsed()
        chain = turn.chain
        if turn.is_delta:
            # Only its provider has the rest: no other is asked.
            chain = (next((one for one in chain if one.format == turn.front.format), chain[0]),)
        self._attempts: Attempts[Any] = Attempts(
            state.backs.means,
            state.backs.breakers,
            chain,
            forms(state, turn, self._translated).form,
            turn.notices.append,
            hurries=True,
            bound=turn.chain[0] if turn.is_bound else None,
            shorten=self._translated.shorten,
        )
        turn.failures = self._attempts.failures
        self._is_noted = False
        """Whether tokens were counted before the end of a stream."""

    async def response(self) -> HttpResponse:
        """What the client gets. `NoReply` where nobody answers, `Refused` where nobody is asked."""
        turn, attempts = self._turn, self._attempts
        try:
            opened = await attempts.open()
        except NoReply as error:
            if turn.is_delta:
                raise provider_refusal(error.failures[-1], turn.front) from error
            raise
        finally:
            self._translated.record(attempts)
            turn.upstream_seconds = self._elapsed() - self._begun
        if isinstance(opened.form, EncodedForm):
            return await self._translated.response(attempts, opened)
        form = opened.form
        assert isinstance(form, ForwardedForm)  # noqa: S101  there are two of them
        turn.is_forwarded = True
        return await self._forwarded(opened, form)

    async def _forwarded(self, opened: Opened[bytes], form: ForwardedForm) -> HttpResponse:
        turn = self._turn
        if turn.streams:
            # The provider was asked for events, whatever its client wants.
            headers = {**turn.headers(), "content-type": turn.front.stream_type(turn.http)}
            pieces = turn.front.framed(self._watched(opened, form), turn.http)
            return HttpResponse(200, headers, pieces)
        body = opened.first
        await opened.rest.aclose()
        self._note_forwarded(body)
        self._attempts.answered(turn.usage, complete=True)
        if unsent := turn.unsent:
            body = with_fields(body, unsent)
        if changed := await self._store(reply_in(body) if turn.storing is not None else None):
            body = with_fields(body, changed)
        turn.reply = body
        if turn.usage is None:
            turn.said = size_in(body, opened.target.format)
        headers = {**turn.headers(), "content-type": form.content_type}
        return HttpResponse(200, headers, body)

    async def _watched(
        self, opened: Opened[bytes], form: ForwardedForm
    ) -> AsyncGenerator[bytes, None]:
        """The stream that the client gets."""
        turn, attempts = self._turn, self._attempts
        reader, unsent, given = self._reader(opened.target), turn.unsent, opened.first
        with closing(attempts):
            try:
                async with aclosing(opened.rest):
                    while given:
                        piece = events_with_fields(given, unsent) if unsent else given
                        now, last = (piece, b"") if reader is None else reader.split(piece)
                        if now:
                            yield now
                        if last and reader is not None:
                            so_far = form.given.removesuffix(given) + now
                            yield await self._stored(reader, piece, last, so_far)
                            reader = None
                        turn.is_given = turn.is_given or ends_reply(piece, turn.front.format)
                        given = await anext(opened.rest, b"")
            except StreamCut as cut:
                turn.is_complete = False
                attempts.answered(None, complete=False)
                async with aclosing(self._translated.rest(cut, attempts)) as rest:
                    async for piece in rest:
                        yield piece
            except (asyncio.CancelledError, GeneratorExit):
                # What a client got before it left is counted.
                self._note_end(form, is_noted=self._is_noted or not turn.is_given)
                raise
            else:
                turn.is_complete = not form.is_failed
                self._note_end(form, is_noted=self._is_noted)
                attempts.answered(turn.usage, complete=turn.is_complete)

    def _reader(self, target: Target) -> ReplyReader | None:
        """What reads a stream that is stored."""
        if self._turn.storing is None:
            return None
        return ReplyReader(self._turn.front.format, target.provider)

    async def _stored(self, reader: ReplyReader, piece: bytes, last: bytes, so_far: bytes) -> bytes:
        """The events that end a stream, once it is stored: before the client can refer to it.
        `so_far`: what the client has."""
        self._is_noted = True
        self._note_forwarded(b"\n" + piece)
        try:
            changed = await self._store(reader.reply())
        except Refused as refused:
            target = self._turn.target
            assert target is not None  # noqa: S101  it has replied
            refused.ending = self._ending(target, so_far, refused)
            raise
        return events_with_fields(last, changed) if changed else last

    def _ending(self, target: Target, given: bytes, refused: Refused) -> bytes:
        """A refusal as the end of a forwarded stream of which the client has this much."""
        front, frames = self._turn.front, WholeFrames(target)
        frames.feed(given)
        cut = StreamCut(frames, refused.message, goes_on=False)
        taken = TakenOver(cut, front.format, seed=self._turn.id, repeats=self._turn.repeats)
        return taken.feed_all(error_events(front, refused))

    def _note_end(self, form: ForwardedForm, *, is_noted: bool) -> None:
        """Note what a stream said. `is_noted`: whether all but an estimate is known."""
        if not is_noted:
            self._note_forwarded(form.last_bytes)
        if self._turn.body.get("tools"):
            self._turn.reply = form.given
        if self._turn.usage is None:
            self._turn.said = form.said

    def _note_forwarded(self, data: bytes) -> None:
        """Count tokens, and note who answers now."""
        turn, now = self._turn, self._state.backs.means.now()
        if turn.target is not None and turn.target != turn.chain[0]:
            self._state.sessions.took_over(turn.session, turn.target, now)
        turn.usage = usage_in(data, turn.front.format)

    async def _store(self, reply: dict[str, Any] | None) -> dict[str, Any]:
        """Store a reply before the client can refer to it: the fields that change by it."""
        state = self._state
        if reply is None:
            return {}
        return await store(self._turn, reply, state.keeping, state.backs.means.now())
