"""Asking for one reply: the only loop for retries, other keys, lessons and fallbacks.

A request goes to a chain of targets. For each of them it has a *form*: the bytes that the target
gets, and the reader of what comes back. Forms differ (a conversation that was encoded, bytes of a
client that are forwarded), the loop does not: whoever asks hands in a function from target to form.

One attempt is one HTTP request. It is *open* once its reply has content, or is whole where nobody
wants less; until then nothing was passed on, and it can be asked for again without anybody
noticing. Afterwards an attempt cannot fail any more: a reply that breaks then is cut, and its
reader says so. So the loop ends at the first content, and whoever asked reads the rest.

What follows a failed attempt is the first of these that applies:

    failure                              next attempt                        how often
    ---------------------------------    --------------------------------    -----------------------
    refused, another form may do         same target, other form, at once    each form has one next
    the key is to blame, another ready   same target, next key, at once      each key once
    too long for the model's context     same target, shorter, at once       while it can be cut
    may pass                             same target, after a wait           `RetryPolicy`
    the reply is too large               none: others would send as much
    anything else                        the next target                     each target once

Who has others to ask (`hurries`) does not wait for a target as long as another one is left, except
for the one that the turn is bound to. `open` can be called again: a reply that was cut is continued
by the targets that are left.

Breakers hear of a target when it is first asked, and when its reply has ended or it has failed for
good: whoever opens a reply calls `answered` at its end, and `close` in any case.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from canonicall.client.breaker import Breakers
from canonicall.client.endpoints import Outgoing
from canonicall.client.failure import REFUSED, AttemptFailed, Failure
from canonicall.client.notices import Answered, Retrying, Saved, Skipped, Switched
from canonicall.client.secrets import Secret
from canonicall.client.sending import Means, post
from canonicall.client.transport import Response
from canonicall.codec.streams import TOO_LARGE
from canonicall.facts.target import Target
from canonicall.reply import Usage
from canonicall.runtime.model import Notice, Notify
from canonicall.transcript.turns import Diagnostics

Piece = TypeVar("Piece")


class Form(Protocol[Piece]):
    """A request as one target gets it, and the reader of its reply."""

    @property
    def target(self) -> Target:
        """Who gets it, with what was learnt of it."""
        ...

    @property
    def data(self) -> bytes:
        """The body."""
        ...

    @property
    def stream(self) -> bool:
        """Whether a stream is asked for."""
        ...

    @property
    def compacts(self) -> bool:
        """Whether it asks for a summary, which has a path of its own."""
        ...

    @property
    def headers(self) -> Mapping[str, str] | None:
        """What is sent beside the headers of the target."""
        ...

    def diagnostics(self) -> Diagnostics | None:
        """What was changed to make it; None where it was not made here."""
        ...

    def notice(self) -> Notice | None:
        """What is told of it before it is sent."""
        ...

    def read(self, response: Response, sent: Outgoing) -> AsyncGenerator[Piece, None]:
        """The reply in pieces, of which the first has content; `AttemptFailed` before that where
        there will be none. The response is closed with the generator."""
        ...

    async def refused(self, failure: Failure) -> "Again[Piece]":
        """What a refusal of it means, and the next form to try, where there is one."""
        ...

    def accepted(self) -> None:
        """It has got a reply."""
        ...


class Again(Struct, Generic[Piece], frozen=True):
    """A refusal with what is known of it, and what is tried next."""

    failure: Failure
    form: Form[Piece] | None = None
    notice: Notice | None = None


class Opened(Struct, Generic[Piece], frozen=True):
    """A reply that has begun."""

    target: Target
    """Who gives it, without what was learnt of it."""
    form: Form[Piece]
    first: Piece
    rest: AsyncGenerator[Piece, None]
    """What follows; its reader closes it."""


class NoReply(Exception):
    """Nobody on the chain replied. The first failure is that of the target that was meant."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self.failures = tuple(failures)
        super().__init__(" | ".join(failure.message for failure in failures))


class Attempts(Generic[Piece]):
    """The way of one request along its chain."""

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        means: Means,
        breakers: Breakers,
        chain: Sequence[Target],
        form: Callable[[Target], Awaitable[Form[Piece]]],
        notify: Notify,
        *,
        hurries: bool = False,
        bound: Target | None = None,
        shorten: Callable[[Failure], Awaitable[bool]] | None = None,
    ) -> None:
        """`form` makes the request for a target. `bound`: the target that is asked again before
        another is, although `hurries`. `shorten`: whether `form` makes a shorter request from now
        on, after a failure."""
        self._means = means
        self._breakers = breakers
        self._chain = _ready(chain, breakers, means.elapsed(), notify)
        self._make = form
        self._notify = notify
        self._hurries = hurries
        self._bound = bound
        self._shorten = shorten
        self.failures: list[Failure] = []
        """Why targets gave no reply, one for each."""
        self.target: Target | None = None
        """Who is asked, or has answered."""
        self.form: Form[Piece] | None = None
        """What was sent last."""
        self.count = 0
        """How often somebody was asked."""
        self._tries = 0
        """How many of them asked this target."""
        self._is_open = False
        """Whether a reply has begun that has not ended."""
        self._begun = self._sent_at = self._first = means.elapsed()
        self._key = Secret("")
        """What the last attempt was sent with."""
        self._keys_left = 0
        """How many other keys may be tried."""

    async def open(self) -> Opened[Piece]:
        """The reply of the next target that gives one; `NoReply` where nobody does."""
        while self._chain:
            target = self._chain.pop(0)
            self._begin(target)
            try:
                opened = await self._opened(target)
            except AttemptFailed as failed:
                self._failed(target, failed.failure)
            except BaseException:
                self._breakers.let_go(target)
                raise
            else:
                self._is_open = True
                return opened
        raise NoReply(self.failures)

    def end_chain(self, last: Target | None = None) -> None:
        """Ask nobody else, but for `last`."""
        self._chain = [] if last is None else [last]

    @property
    def has_more(self) -> bool:
        """Whether somebody is left on the chain."""
        return bool(self._chain)

    def answered(self, usage: Usage | None, *, complete: bool) -> None:
        """Tell that the reply is there, or as much of it as came."""
        if self.target is not None:
            self._is_open = False
            self._breakers.replied(self.target)
            first, seconds = self._first - self._sent_at, self._means.elapsed() - self._begun
            self._notify(Answered(self.target, self._tries, first, seconds, usage, complete))

    def close(self) -> None:
        """Let go of a target whose reply is not read to its end."""
        if self._is_open and self.target is not None:
            self._is_open = False
            self._breakers.let_go(self.target)

    def _begin(self, target: Target) -> None:
        self.target = target
        self._tries = 0
        self._key, self._keys_left = Secret(""), 0
        self._begun = self._means.elapsed()
        self._breakers.asked(target, self._begun)

    async def _opened(self, target: Target) -> Opened[Piece]:
        """The reply of one target; `AttemptFailed` where it has failed for good."""
        form = await self._make(target)
        waits = 1
        while True:
            try:
                return await self._sent(target, form)
            except AttemptFailed as failed:
                failure = failed.failure
            if failure.kind == REFUSED:
                again = await self._refused(form, failure)
                failure = again.failure
                if again.form is not None:
                    form = again.form
                    continue
            if self._takes_another_key(failure, target):
                self._notify(Retrying(target, waits, 0.0, failure.message, another_key=True))
            elif self._shorten is not None and await self._shorten(failure):
                self._notify(Retrying(target, self._tries, 0.0, failure.message))
                form = await self._make(target)
            else:
                await self._means.sleep(self._delay(failure, form, target, waits))
                waits += 1

    async def _sent(self, target: Target, form: Form[Piece]) -> Opened[Piece]:
        """Send the request once, and wait for the first content."""
        self.count += 1
        self._tries += 1
        if form is not self.form:
            self.form = form
            if (notice := form.notice()) is not None:
                self._notify(notice)
        self._sent_at = self._means.elapsed()
        response, sent = await post(
            self._means,
            form.target,
            form.data,
            stream=form.stream,
            compacts=form.compacts,
            choose=self._choose,
            headers=form.headers,
            diagnose=form.diagnostics,
        )
        pieces = form.read(response, sent)
        first = await anext(pieces)
        self._first = self._means.elapsed()
        form.accepted()
        return Opened(target, form, first, pieces)

    async def _refused(self, form: Form[Piece], failure: Failure) -> Again[Piece]:
        if failure.saved:
            self._notify(Saved(form.target, failure.saved))
        again = await form.refused(failure)
        if again.form is not None and again.notice is not None:
            self._notify(again.notice)
        return again

    def _takes_another_key(self, failure: Failure, target: Target) -> bool:
        """Whether the key is to blame, and another one is ready that was not tried yet."""
        means = self._means
        is_ready = means.keys.failed(target.provider, self._key, failure, means.elapsed())
        if not is_ready or not self._keys_left:
            return False
        self._keys_left -= 1
        return True

    def _choose(self, provider: str, keys: tuple[Secret, ...]) -> Secret:
        if not self._key:
            self._keys_left = len(keys) - 1
        self._key = self._means.keys.next(provider, keys, self._means.elapsed())
        return self._key

    def _delay(self, failure: Failure, form: Form[Piece], target: Target, waits: int) -> float:
        """Seconds to wait before the same is sent again; `AttemptFailed` where it is not."""
        means, delay = self._means, None
        is_waited_for = not self._hurries or not self._chain or target == self._bound
        if failure.passing and is_waited_for:
            delay = means.config.retry.delay(waits, means.random, told=failure.wait)
        if delay is None:
            told = None if failure.error is None else form.diagnostics()
            raise AttemptFailed(replace(failure, diagnostics=told))
        is_refused = failure.kind == REFUSED
        self._notify(Retrying(target, waits, delay, failure.message, is_refused))
        return delay

    def _failed(self, target: Target, failure: Failure) -> None:
        """Go on to the next target after one has failed for good."""
        self._breakers.failed(target, failure.kind, self._means.elapsed(), told=failure.wait)
        self.failures.append(failure)
        if failure.kind == TOO_LARGE:
            self._chain = []
        if self._chain:
            why, is_refused = failure.message, failure.kind == REFUSED
            self._notify(Switched(target, self._chain[0], why, is_refused))


def _ready(chain: Sequence[Target], breakers: Breakers, now: float, notify: Notify) -> list[Target]:
    """Those that may be asked now; where none may, all: somebody has to be."""
    chain = list(dict.fromkeys(chain)) if len(chain) > 1 else list(chain)
    skipped = [target for target in chain if not breakers.of(target).allows(now)]
    if len(skipped) == len(chain):
        return chain
    for target in skipped:
        circuit = breakers.of(target)
        notify(Skipped(target, circuit.failures, max(circuit.open_until - now, 0.0)))
    return [target for target in chain if target not in skipped]
