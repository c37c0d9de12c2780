"""One target asked until it answers: again where the failure may pass, in another form once where
the request is refused. Nothing is tried again after the first content was passed on.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from msgspec.structs import replace

from canonicall.blocks import Text, Thinking
from canonicall.client.endpoints import Outgoing
from canonicall.client.failure import (
    REFUSED,
    AttemptFailed,
    Failure,
    of_cut,
    of_event,
    of_own,
    of_transport,
    with_more,
)
from canonicall.client.incoming import Incoming
from canonicall.client.key_masks import MaskedEvents, mask_of
from canonicall.client.learning import Change, Learned, change_for, is_chance
from canonicall.client.notices import Answered, Recovered, Retrying, Saved
from canonicall.client.rendering import Rendered, Renderings
from canonicall.client.secrets import Secret
from canonicall.client.sending import Means, post
from canonicall.codec.encode import Encoded
from canonicall.errors import CanonicallError
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.facts.target import Target
from canonicall.request import Request
from canonicall.runtime.model import Notify


class Exchange:
    """One request to one target."""

    def __init__(
        self,
        means: Means,
        renderings: Renderings,
        learned: Learned,
        notify: Notify,
        *,
        waits: bool = True,
        sends: Callable[[Encoded], None] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`waits`: whether it is asked again after a failure that may pass; somebody who has others
        to ask does not wait. `sends` is called with each request, once before it is sent. `headers`
        are sent with it.
        """
        self._headers = headers
        self._sends = sends
        self._waits = waits
        self._means = means
        self._renderings = renderings
        self._learned = learned
        self._notify = notify
        self._begun = self._sent_at = means.elapsed()
        self._first = 0.0
        self.attempts = 0
        self.rendered: Rendered | None = None
        """What was sent last."""
        self._goal: Target | None = None
        """Who is asked, without what was learnt of it."""
        self._key = Secret("")
        """What the last attempt was sent with."""
        self._keys_left = 0
        """How many other keys may be tried."""

    async def batches(self, request: Request, target: Target) -> AsyncGenerator[list[Event], None]:
        """The events of the reply, as many at a time as came together; `AttemptFailed` where there
        will be none."""
        self._goal = target
        rendered = self._rendered(request, self._learned.fit(target))
        change: Change | None = None
        is_recovered = False
        waits = 1
        while True:
            self._begin(rendered)
            try:
                async with aclosing(self._attempt(request, rendered)) as batches:
                    async for events in batches:
                        if change is not None:
                            self._learned.keep(target, change)
                            change = None
                        yield events
            except AttemptFailed as failed:
                failure = failed.failure
            else:
                return
            if failure.kind == REFUSED:
                failure, again = self._recovered(failure, request, rendered, is_recovered)
                if again is not None:
                    change, rendered = again
                    is_recovered = True
                    continue
            if self._takes_another_key(failure, target):
                self._notify(Retrying(target, waits, 0.0, failure.message, another_key=True))
                continue
            delay = self._delay(failure, waits)
            if delay is None:
                raise AttemptFailed(_diagnosed(failure, rendered))
            is_refused = failure.kind == REFUSED
            self._notify(Retrying(target, waits, delay, failure.message, is_refused))
            await self._means.sleep(delay)
            waits += 1

    def _begin(self, rendered: Rendered) -> None:
        """Note an attempt."""
        self.attempts += 1
        if self._sends is not None and rendered is not self.rendered:
            self._sends(rendered.encoded)
        self.rendered = rendered

    def _rendered(self, request: Request, target: Target) -> Rendered:
        try:
            return self._renderings.rendered(request, target)
        except CanonicallError as error:
            raise AttemptFailed(of_own(target, "request", error)) from error

    def _recovered(
        self, failure: Failure, request: Request, rendered: Rendered, is_last: bool
    ) -> tuple[Failure, tuple[Change, Rendered] | None]:
        """What the refusal means, and the request in the form that it asks for.

        Once only, and only where the bytes are others: the same would be refused again.
        """
        target = rendered.target
        if failure.saved:
            self._notify(Saved(target, failure.saved))
        change, told = change_for(failure.error, failure.message, rendered.body, target)
        if told:
            known = told.entries[0]
            told_as = with_more(failure.message, known.meaning, known.repair)
            failure = replace(failure, message=told_as, passing=is_chance(told))
        if change is None or is_last:
            return failure, None
        again = self._rendered(request, change.of(target))
        if again.data == rendered.data:
            return failure, None
        self._notify(Recovered(target, change.code, change.fields, failure.message))
        return failure, (change, again)

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

    def _delay(self, failure: Failure, waits: int) -> float | None:
        if not failure.passing or not self._waits:
            return None
        means = self._means
        return means.config.retry.delay(waits, means.random, told=failure.wait)

    async def _attempt(
        self, request: Request, rendered: Rendered
    ) -> AsyncGenerator[list[Event], None]:
        """Send the request once; the events of the reply. Whoever goes away breaks the connection
        off.

        The first events wait until there is content: as long as nothing was passed on, it can be
        asked for again without anybody noticing.
        """
        self._sent_at = self._means.elapsed()
        response, sent = await post(
            self._means,
            rendered.target,
            rendered.data,
            stream=rendered.stream,
            choose=self._choose,
            headers=self._headers,
            diagnose=lambda: rendered.encoded.diagnostics,
        )
        incoming = Incoming(
            rendered.encoded,
            request,
            after_end=sent.timeouts.after_end,
            limits=self._means.config.replies,
            recover=self._means.config.recover_of(rendered.target.provider),
        )
        masked = MaskedEvents(mask_of(sent.credentials), sent.secrets)
        held: list[Event] = []
        is_passed = False
        try:
            async with aclosing(incoming.read(response)) as batches:
                async for events in batches:
                    if not is_passed:
                        self._refuse_broken(events, incoming, rendered.target, sent)
                    held += masked.feed(events)
                    if not held:
                        continue
                    if not is_passed and not any(map(is_content, held)):
                        continue
                    if not is_passed:
                        is_passed = True
                        self._first = self._means.elapsed() - self._sent_at
                    if isinstance(held[-1], StreamEnded):
                        self._tell_end(held[-1], self._goal or rendered.target)
                    yield held
                    held = []
        finally:
            response.close()

    def _refuse_broken(
        self, events: list[Event], incoming: Incoming, target: Target, sent: Outgoing
    ) -> None:
        """Raise where the reply broke before anything of it was passed on."""
        for event in events:
            if isinstance(event, ErrorReported):
                raise AttemptFailed(of_event(target, event, sent.secrets))
            if isinstance(event, StreamEnded) and not event.complete:
                if incoming.broken is not None:
                    raise AttemptFailed(of_transport(target, incoming.broken))
                raise AttemptFailed(of_cut(target, event.why))

    def _tell_end(self, end: StreamEnded, target: Target) -> None:
        self._notify(
            Answered(
                target,
                self.attempts,
                self._first,
                self._means.elapsed() - self._begun,
                end.reply.usage,
                end.complete,
            )
        )


def _diagnosed(failure: Failure, rendered: Rendered) -> Failure:
    """An error of the provider with the diagnostics of the request that it answers."""
    if failure.error is None:
        return failure
    return replace(failure, diagnostics=rendered.encoded.diagnostics)


def is_content(event: Event) -> bool:
    """Whether somebody who saw this would notice that the reply begins anew."""
    match event:
        case TextAdded() | ThinkingAdded() | ArgumentsAdded():
            return bool(event.text)
        case (
            BlockStarted(block=Text() | Thinking() as block)
            | BlockEnded(block=Text() | Thinking() as block)
        ):
            return bool(block.text)
        case BlockStarted() | BlockEnded() | StreamEnded():
            return True
        case _:
            return False
