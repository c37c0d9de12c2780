"""A reply to one request: bytes forwarded where that is enough, else translated both ways."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from canonicall.client.failure import REFUSED, AttemptFailed
from canonicall.client.transport import TransportError
from canonicall.gateway.asking import NoReply
from canonicall.gateway.empty_replies import refuse_empty
from canonicall.gateway.exchange import HttpResponse, Refused
from canonicall.gateway.forwarding import Forwarded, can_forward, with_model
from canonicall.gateway.opaque import has_packed
from canonicall.gateway.responses_state import begins_end, is_stored, response_in, store
from canonicall.gateway.state import State
from canonicall.gateway.translation import Translation
from canonicall.gateway.turns import Turn
from canonicall.gateway.usage import usage_in
from canonicall.target import Target

_LAST_BYTES = 4096
"""As much of a stream as is looked at for what it cost."""


class Generation:
    """The way of one turn there and back."""

    def __init__(self, state: State, turn: Turn) -> None:
        self._state = state
        self._turn = turn
        self._elapsed = state.backs.means.elapsed
        self._begun = self._elapsed()

    async def response(self) -> HttpResponse:
        """What the client gets. `NoReply` where nobody answers, `Refused` where nobody is asked."""
        turn = self._turn
        chain = self._state.backs.ready(turn.chain, turn.notices.append)
        while chain:
            target = chain[0]
            if not self._may_forward(target):
                break
            try:
                return refuse_empty(await self._forwarded(target), target)
            except AttemptFailed as failed:
                turn.is_forwarded = False
                turn.failures.append(failed.failure)
                if failed.failure.kind == REFUSED:
                    # In another form it may be taken: the translation knows which.
                    break
                chain.pop(0)
        if not chain:
            raise NoReply(turn.failures)
        return await Translation(self._state, turn).response(chain)

    def _may_forward(self, target: Target) -> bool:
        turn, state = self._turn, self._state
        if state.middleware or has_packed(turn.data):
            return False
        leaks = state.settings.repair.leaks
        return can_forward(turn.body, turn.front.format, target, reads_leaks=leaks)

    async def _forwarded(self, target: Target) -> HttpResponse:
        turn = self._turn
        turn.target = target
        data = with_model(turn.data, turn.body, target)
        attempt = Forwarded(self._state.backs, target, data, stream=turn.streams)
        with self._state.backs.asking(target):
            await self._opened(attempt)
        turn.is_forwarded = True
        turn.upstream_seconds = self._elapsed() - self._begun
        headers = {**turn.headers(), "content-type": attempt.content_type}
        if turn.streams:
            # The provider was asked for events, whatever its client wants.
            headers["content-type"] = turn.front.stream_type(turn.http)
            pieces = turn.front.framed(self._watched(attempt), turn.http)
            return HttpResponse(200, headers, pieces)
        try:
            body = b"".join([piece async for piece in attempt.pieces()])
        except TransportError as error:
            turn.is_complete = False
            raise Refused(502, "cut", str(error)) from error
        self._note_forwarded(body)
        return HttpResponse(200, headers, body)

    async def _opened(self, attempt: Forwarded) -> None:
        """Open it, again where the failure may pass."""
        means, turn = self._state.backs.means, self._turn
        waits = 1
        while True:
            turn.attempts += 1
            try:
                return await attempt.open()
            except AttemptFailed as failed:
                failure = failed.failure
                if attempt.takes_another_key(failure):
                    continue
                delay = means.config.retry.delay(waits, means.random, told=failure.wait)
                if not failure.passing or delay is None or len(turn.chain) > 1:
                    raise
            await means.sleep(delay)
            waits += 1

    async def _watched(self, attempt: Forwarded) -> AsyncGenerator[bytes, None]:
        kept: list[bytes] | None = [] if is_stored(self._turn) else None
        last = b""
        is_ending = is_noted = False
        try:
            async with aclosing(attempt.pieces()) as pieces:
                async for piece in pieces:
                    if kept is not None:
                        kept.append(piece)
                        is_ending = is_ending or begins_end(last + piece)
                        if is_ending and piece.endswith(b"\n\n"):
                            # Before the client can refer to it.
                            is_noted = True
                            self._note_forwarded(b"".join(kept))
                    last = (last + piece)[-_LAST_BYTES:]
                    yield piece
        except TransportError:
            self._turn.is_complete = False
            raise
        if not is_noted:
            self._note_forwarded(last if kept is None else b"".join(kept))

    def _note_forwarded(self, data: bytes) -> None:
        """Count tokens, store what the client may refer to, and who answers now."""
        turn, now = self._turn, self._state.backs.means.now()
        if turn.target is not None and turn.target != turn.chain[0]:
            self._state.switched.took_over(turn.session, turn.target, now)
        turn.usage = usage_in(data, turn.front.format)
        response = response_in(data) if is_stored(turn) else None
        if response is not None:
            store(turn, response, self._state.keeping, now)
