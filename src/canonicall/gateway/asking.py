"""One request asked along a chain of targets, until one of them replies to its end."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing

from canonicall.client.exchange import Exchange
from canonicall.client.failure import AttemptFailed, Failure
from canonicall.client.notices import Retrying, Switched
from canonicall.client.overflow import overflow_of
from canonicall.client.rendering import Rendered, Renderings
from canonicall.events import ErrorReported, Event, StreamEnded, TextAdded
from canonicall.facts.target import Target
from canonicall.gateway.backs import Backs
from canonicall.gateway.continuing import Given
from canonicall.gateway.taking_over import TakenOver
from canonicall.gateway.truncation import Truncation
from canonicall.request import Request
from canonicall.runtime.model import Notify
from canonicall.streams import DAMAGED, TOO_LARGE

_FINAL = (TOO_LARGE, DAMAGED)
"""The errors of replies that no other attempt goes on with."""


class NoReply(Exception):
    """Nobody on the chain replied. The first failure is that of the target that was meant."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self.failures = tuple(failures)
        super().__init__(" | ".join(failure.message for failure in failures))


class Asking:
    """The way of one request along its chain."""

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        backs: Backs,
        request: Request,
        chain: Sequence[Target],
        notify: Notify,
        *,
        continues: bool = True,
        broken: TakenOver | None = None,
        renderings: Renderings | None = None,
        bound: Target | None = None,
        truncation: Truncation | None = None,
        headers: Callable[[Target], Mapping[str, str]] | None = None,
    ) -> None:
        """`continues`: whether a reply that breaks off is brought to an end, where that can be: by
        another attempt that goes on with its words, or by the calls that it has. `broken`: a
        reply that has broken off already, behind what the client has of it. `renderings`: what is
        known of the conversation. `bound`: the target that is asked again before another is.
        `truncation`: makes the request shorter where it is too long. `headers`: those that a target
        gets beside its own."""
        self._headers = headers
        self._bound = bound
        self._truncation = truncation
        self._renderings = renderings or backs.renderings
        self._backs = backs
        self._request = request
        self._chain = list(chain)
        self._notify = notify
        self._continues = continues
        self._may_try_again = continues
        self._broken = broken
        self._given = Given()
        self._errors: list[Event] = []
        """What the provider told of, in the reply that is the last so far."""
        self.failures: list[Failure] = []
        self.target: Target | None = None
        """Who is asked, or has answered."""
        self.rendered: Rendered | None = None
        """What was sent last."""
        self._exchange: Exchange | None = None
        self._attempts = 0

    @property
    def attempts(self) -> int:
        """How often somebody was asked, up to now."""
        return self._attempts + (self._exchange.attempts if self._exchange is not None else 0)

    async def batches(self) -> AsyncGenerator[list[Event], None]:
        """The events of the reply, as they come; the last is `StreamEnded`.

        `NoReply` before the first, where nobody replies. Behind it a failure is part of the reply:
        whoever has seen its beginning is told how it ended.
        """
        end: StreamEnded | None = None
        if self._broken is not None:
            end = self._broken.end
            if closing := self._closed(self._broken):
                yield closing
        while self._chain:
            target = self._chain.pop(0)
            exchange = self._exchange_with(target)
            batches = exchange.batches(self._request, target)
            try:
                with self._backs.asking(target):
                    async with aclosing(batches):
                        async for events in batches:
                            self.rendered = exchange.rendered
                            last = events[-1]
                            end = last if isinstance(last, StreamEnded) else end
                            if passed := self._passed(events):
                                yield passed
            except AttemptFailed as failed:
                self._failed(target, failed.failure)
                continue
            finally:
                self.rendered = exchange.rendered or self.rendered
                self._attempts += exchange.attempts
                self._exchange = None
            if end is None or end.complete or not self._goes_on(end, target):
                break
        if end is None:
            raise NoReply(self.failures)
        last = self._last(end)
        yield [*self._given.left(), *self._told_errors(last), last]

    def _told_errors(self, end: StreamEnded) -> list[Event]:
        """Why a reply has no end. Where its provider said nothing, the connection tells: a client
        whose format has other ways to stop early must not take it for one of those."""
        if end.complete:
            return []
        return self._errors or [ErrorReported(end.why, "connection")]

    def _passed(self, events: list[Event]) -> list[Event]:
        """What the client gets of events at once: how an attempt ended is told when it is known
        what follows."""
        last = events[-1]
        if type(last) is TextAdded and len(events) == 1:
            return self._given.taken(events)
        told = [one for one in events if type(one) not in (ErrorReported, StreamEnded)]
        if len(told) < len(events):
            self._errors += [one for one in events if isinstance(one, ErrorReported)]
        if isinstance(last, StreamEnded) and not last.complete:
            return self._given.closed(told)
        return self._given.taken(told)

    def _closed(self, broken: TakenOver) -> list[Event]:
        """What is still to be said of a reply that has broken off; the chain goes on with it."""
        self.target = broken.target
        self._given.taken(broken.events)
        closing = self._given.closed(broken.closing)
        if not self._goes_on(broken.end, broken.target):
            self._chain = []
        return closing

    def _exchange_with(self, target: Target) -> Exchange:
        """Whoever has nobody behind it on the chain is asked again."""
        self.target = target
        self._exchange = Exchange(
            self._backs.means,
            self._renderings,
            self._backs.learned,
            self._notify,
            waits=not self._chain or target == self._bound,
            headers=None if self._headers is None else self._headers(target),
        )
        return self._exchange

    def _failed(self, target: Target, failure: Failure) -> None:
        """Go on after a target gave no reply: with it, if a shorter conversation may fit, else with
        the next. A reply that is too large ends it: others would send as much."""
        overflow = overflow_of(failure) if self._truncation is not None else None
        if self._truncation is not None and overflow is not None:
            shorter = self._truncation.shorter(overflow)
            if shorter is not None:
                self._request = shorter
                self._notify(Retrying(target, self.attempts, 0.0, failure.message))
                self._chain.insert(0, target)
                return
        self.failures.append(failure)
        if failure.kind == TOO_LARGE:
            self._chain = []
        if self._chain:
            self._notify(Switched(target, self._chain[0], failure.message))

    def _goes_on(self, end: StreamEnded, target: Target) -> bool:
        """Whether another attempt follows a reply that broke off; it is prepared then."""
        if not self._may_try_again or self._given.way != "again":
            return False
        if any(isinstance(one, ErrorReported) and one.type in _FINAL for one in self._errors):
            return False
        self._may_try_again = False
        self._errors = []
        self._given.begin_again(end)
        self._request = self._given.request_to_go_on(self._request)
        # Where nobody else is left, the one who broke off may try again.
        self._chain = self._chain or [target]
        return True

    def _last(self, end: StreamEnded) -> StreamEnded:
        whole = self._given.whole(end)
        if self._continues and not whole.complete and self._given.way == "ended":
            return self._given.ended_with_calls(whole)
        return whole
