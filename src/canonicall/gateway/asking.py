"""One request asked along a chain of targets, until one of them replies to its end."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from canonicall.client.exchange import Exchange
from canonicall.client.failure import AttemptFailed, Failure
from canonicall.client.rendering import Rendered, Renderings
from canonicall.events import Event, StreamEnded
from canonicall.gateway.backs import Backs
from canonicall.gateway.continuing import Given, ended_with_calls, without_end
from canonicall.request import Request
from canonicall.runtime.model import Notify
from canonicall.target import Target


class NoReply(Exception):
    """Nobody on the chain replied. The first failure is that of the target that was meant."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self.failures = tuple(failures)
        super().__init__(" | ".join(failure.message for failure in failures))


class Asking:
    """The way of one request along its chain."""

    def __init__(
        self,
        backs: Backs,
        request: Request,
        chain: Sequence[Target],
        notify: Notify,
        *,
        continues: bool = True,
        reads_leaks: bool = True,
        renderings: Renderings | None = None,
    ) -> None:
        """`continues`: whether another attempt goes on with words that break off. `reads_leaks`:
        whether calls are looked for in the words of replies. `renderings`: what is known of the
        conversation."""
        self._reads_leaks = reads_leaks
        self._renderings = renderings or backs.renderings
        self._backs = backs
        self._request = request
        self._chain = list(chain)
        self._notify = notify
        self._continues = continues
        self._given = Given()
        self.failures: list[Failure] = []
        self.target: Target | None = None
        """Who is asked, or has answered."""
        self.rendered: Rendered | None = None
        """What was sent last."""
        self.attempts = 0

    async def batches(self) -> AsyncGenerator[list[Event], None]:
        """The events of the reply, as they come; the last is `StreamEnded`.

        `NoReply` before the first, where nobody replies. Behind it a failure is part of the reply:
        whoever has seen its beginning is told how it ended.
        """
        end: StreamEnded | None = None
        while self._chain:
            target = self._chain.pop(0)
            try:
                async with aclosing(self._attempt(target)) as batches:
                    async for events in batches:
                        last = events[-1]
                        end = last if isinstance(last, StreamEnded) else end
                        if passed := self._given.taken(without_end(events)):
                            yield passed
            except AttemptFailed as failed:
                self.failures.append(failed.failure)
                continue
            if end is None or end.complete or not self._goes_on(end, target):
                break
        if end is None:
            raise NoReply(self.failures)
        yield [self._last(end)]

    async def _attempt(self, target: Target) -> AsyncGenerator[list[Event], None]:
        backs = self._backs
        is_last = not self._chain
        exchange = Exchange(
            backs.means,
            self._renderings,
            backs.learned,
            self._notify,
            waits=is_last,
            reads_leaks=self._reads_leaks,
        )
        self.target = target
        try:
            with backs.asking(target):
                async with aclosing(exchange.batches(self._request, target)) as batches:
                    async for events in batches:
                        self.rendered = exchange.rendered
                        yield events
        finally:
            self.attempts += exchange.attempts

    def _goes_on(self, end: StreamEnded, target: Target) -> bool:
        """Whether another attempt follows a reply that broke off; it is prepared then."""
        if not self._continues or self._given.way != "again":
            return False
        self._continues = False
        self._given.begin_again(end)
        self._request = self._given.request_to_go_on(self._request)
        # Where nobody else is left, the one who broke off may try again.
        self._chain = self._chain or [target]
        return True

    def _last(self, end: StreamEnded) -> StreamEnded:
        whole = self._given.whole(end)
        if not whole.complete and self._given.way == "ended":
            return ended_with_calls(whole)
        return whole
