"""A reply to one request: bytes forwarded where that is enough, else translated both ways."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from msgspec.structs import replace

from canonicall.client.failure import REFUSED, AttemptFailed, Failure, with_more
from canonicall.client.learning import is_outside
from canonicall.client.notices import Switched
from canonicall.client.rendering import takes_usage_question
from canonicall.facts.target import Target
from canonicall.gateway.asking import NoReply
from canonicall.gateway.empty_replies import refuse_empty
from canonicall.gateway.exchange import HttpResponse, Refused
from canonicall.gateway.failing import error_events, provider_refusal
from canonicall.gateway.forwarded_replies import (
    ReplyReader,
    events_with_fields,
    reply_in,
    with_fields,
)
from canonicall.gateway.forwarding import (
    Forwarded,
    body_headers,
    can_forward,
    is_met_as_it_is,
    with_model,
)
from canonicall.gateway.opaque import has_packed
from canonicall.gateway.state import State
from canonicall.gateway.storage import store
from canonicall.gateway.taking_over import TakenOver
from canonicall.gateway.translation import Translation
from canonicall.gateway.turns import Turn
from canonicall.gateway.usage import (
    asking_usage,
    size_in,
    usage_in,
    wants_usage,
)
from canonicall.gateway.whole_frames import StreamCut, WholeFrames, ends_reply
from canonicall.streams import TOO_LARGE
from canonicall.verify.explainer import explain

_QUESTION = "stream_options"
"""What a host names that refuses to be asked for the tokens of a stream."""


class Generation:
    """The way of one turn there and back."""

    def __init__(self, state: State, turn: Turn) -> None:
        self._state = state
        self._turn = turn
        self._elapsed = state.backs.means.elapsed
        self._begun = self._elapsed()

    @property
    def translation(self) -> type[Translation]:
        """What asks a target that the request cannot be forwarded to."""
        return Translation

    async def response(self) -> HttpResponse:
        """What the client gets. `NoReply` where nobody answers, `Refused` where nobody is asked."""
        turn = self._turn
        if turn.is_delta:
            return await self._delta()
        chain = self._state.backs.ready(turn.chain, turn.notices.append)
        while chain:
            target = chain[0]
            if not self._may_forward(target):
                break
            try:
                return refuse_empty(await self._forwarded(target), target)
            except AttemptFailed as failed:
                turn.is_forwarded = False
                failure, helps = _explained(failed.failure)
                turn.failures.append(failure)
                if helps:
                    # In another form it may be taken: the translation knows which.
                    break
                if failure.kind == TOO_LARGE:
                    raise NoReply(turn.failures) from None
                chain.pop(0)
                if chain:
                    turn.notices.append(Switched(target, chain[0], failure.message))
        if not chain:
            raise NoReply(turn.failures)
        try:
            return await self.translation(self._state, turn).response(chain)
        except NoReply:
            # Those that were to be asked with the bytes as they came have failed before.
            raise NoReply(turn.failures) from None

    async def _delta(self) -> HttpResponse:
        """The reply to a request of which only its provider has the rest: no other is asked, and
        its error is the client's."""
        turn = self._turn
        target = next((one for one in turn.chain if one.format == turn.front.format), turn.chain[0])
        try:
            return refuse_empty(await self._forwarded(target), target)
        except AttemptFailed as failed:
            turn.is_forwarded = False
            turn.failures.append(failed.failure)
            raise provider_refusal(failed.failure, turn.front) from failed

    def _may_forward(self, target: Target) -> bool:
        turn, state = self._turn, self._state
        if state.middleware or has_packed(turn.data):
            return False
        recover = state.backs.means.config.recover_of(target.provider)
        return can_forward(
            turn.body, turn.front.format, target, recover=recover
        ) and is_met_as_it_is(turn.body, target, state.backs.learned.fit(target))

    async def _forwarded(self, target: Target) -> HttpResponse:
        if not self._asks_usage(target):
            return await self._sent(target, asks_usage=False)
        try:
            return await self._sent(target, asks_usage=True)
        except AttemptFailed as failed:
            if failed.failure.kind != REFUSED or _QUESTION not in failed.failure.message:
                raise
        self._state.backs.uncounted.add(target)
        self._state.counts.refused(target.provider, target.model)
        return await self._sent(target, asks_usage=False)

    def _asks_usage(self, target: Target) -> bool:
        """Whether the host is asked for the tokens of a stream in the place of the client."""
        turn, backs = self._turn, self._state.backs
        if not turn.streams or target.format != "openai-chat" or wants_usage(turn.body):
            return False
        return target not in backs.uncounted and takes_usage_question(backs.learned.fit(target))

    async def _sent(self, target: Target, *, asks_usage: bool) -> HttpResponse:
        turn = self._turn
        turn.target = target
        data, sent = turn.data, turn.body
        if asks_usage:
            data, sent = asking_usage(data, sent)
        data = with_model(data, sent, target)
        attempt = Forwarded(
            self._state.backs,
            target,
            data,
            stream=turn.streams,
            hides_usage=asks_usage,
            headers=body_headers(turn, target),
        )
        with self._state.backs.asking(target):
            body = await self._asked(attempt)
        turn.is_forwarded = True
        turn.upstream_seconds = self._elapsed() - self._begun
        if turn.streams:
            # The provider was asked for events, whatever its client wants.
            headers = {**turn.headers(), "content-type": turn.front.stream_type(turn.http)}
            pieces = turn.front.framed(self._watched(attempt), turn.http)
            return HttpResponse(200, headers, pieces)
        self._note_forwarded(body)
        if unsent := turn.unsent:
            body = with_fields(body, unsent)
        if changed := await self._store(reply_in(body) if turn.storing is not None else None):
            body = with_fields(body, changed)
        turn.reply = body
        if turn.usage is None:
            turn.said = size_in(body, target.format)
        headers = {**turn.headers(), "content-type": attempt.content_type}
        return HttpResponse(200, headers, body)

    async def _asked(self, attempt: Forwarded) -> bytes:
        """The body of the reply, or as much as a stream begins with; asked for again where the
        failure may pass."""
        means, turn = self._state.backs.means, self._turn
        waits = 1
        while True:
            turn.attempts += 1
            try:
                return await (attempt.open() if turn.streams else attempt.whole())
            except AttemptFailed as failed:
                failure = failed.failure
                if attempt.takes_another_key(failure):
                    continue
                delay = means.config.retry.delay(waits, means.random, told=failure.wait)
                has_others = len(turn.chain) > 1 and not turn.waits_for(attempt.target)
                if not failure.passing or delay is None or has_others:
                    raise
            await means.sleep(delay)
            waits += 1

    async def _watched(self, attempt: Forwarded) -> AsyncGenerator[bytes, None]:
        turn, reader = self._turn, None
        if turn.storing is not None:
            reader = ReplyReader(turn.front.format, attempt.target.provider)
        is_noted = False
        unsent = turn.unsent
        try:
            async with aclosing(attempt.pieces()) as pieces:
                async for given in pieces:
                    piece = events_with_fields(given, unsent) if unsent else given
                    now, last = (piece, b"") if reader is None else reader.split(piece)
                    if now:
                        yield now
                    if last and reader is not None:
                        # Before the client can refer to it.
                        is_noted = True
                        self._note_forwarded(b"\n" + piece)
                        try:
                            changed = await self._store(reader.reply())
                        except Refused as refused:
                            so_far = attempt.given.removesuffix(given) + now
                            refused.ending = self._ending(attempt.target, so_far, refused)
                            raise
                        reader = None
                        yield events_with_fields(last, changed) if changed else last
                    turn.is_given = turn.is_given or ends_reply(piece, turn.front.format)
        except StreamCut as cut:
            turn.is_complete = False
            asked = turn.chain.index(attempt.target)
            rest = Translation(self._state, turn).rest(cut, list(turn.chain[asked + 1 :]))
            async with aclosing(rest):
                async for piece in rest:
                    yield piece
        except (asyncio.CancelledError, GeneratorExit):
            # What a client got before it left is counted.
            self._note_end(attempt, is_noted=is_noted or not turn.is_given)
            raise
        else:
            turn.is_complete = not attempt.is_failed
            self._note_end(attempt, is_noted=is_noted)

    def _ending(self, target: Target, given: bytes, refused: Refused) -> bytes:
        """A refusal as the end of a forwarded stream of which the client has this much."""
        front, frames = self._turn.front, WholeFrames(target)
        frames.feed(given)
        cut = StreamCut(frames, refused.message, goes_on=False)
        taken = TakenOver(cut, front.format, seed=self._turn.id, repeats=self._turn.repeats)
        return taken.feed_all(error_events(front, refused))

    def _note_end(self, attempt: Forwarded, *, is_noted: bool) -> None:
        """Note what a stream said. `is_noted`: whether all but an estimate is known."""
        if not is_noted:
            self._note_forwarded(attempt.last_bytes)
        if self._turn.body.get("tools"):
            self._turn.reply = attempt.given
        if self._turn.usage is None:
            self._turn.said = attempt.said

    def _note_forwarded(self, data: bytes) -> None:
        """Count tokens, and note who answers now."""
        turn, now = self._turn, self._state.backs.means.now()
        if turn.target is not None and turn.target != turn.chain[0]:
            self._state.switched.took_over(turn.session, turn.target, now)
        turn.usage = usage_in(data, turn.front.format)

    async def _store(self, reply: dict[str, Any] | None) -> dict[str, Any]:
        """Store a reply before the client can refer to it: the fields that change by it."""
        state = self._state
        if reply is None:
            return {}
        return await store(self._turn, reply, state.keeping, state.backs.means.now())


def _explained(failure: Failure) -> tuple[Failure, bool]:
    """A failure with what is known of it, and whether another form of the request may help."""
    if failure.kind != REFUSED:
        return failure, False
    explanation = explain(failure.error if failure.error is not None else failure.message)
    if not is_outside(explanation):
        return failure, True
    known = explanation.entries[0]
    message = with_more(failure.message, known.meaning, known.repair)
    return replace(failure, message=message), False
