"""Requests encoded for targets, with what refusals have taught, and their replies as events.

In: a request and a target. Out: a form for `Attempts`. A conversation that goes on costs what is
new of it; a refusal costs one more rendering, of the form that it asks for.
"""

import weakref
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Native
from canonicall.client.attempts import Again
from canonicall.client.config import ClientConfig
from canonicall.client.endpoints import Outgoing, endpoint_for
from canonicall.client.failure import (
    AttemptFailed,
    Failure,
    of_cut,
    of_event,
    of_own,
    of_transport,
    with_more,
)
from canonicall.client.key_masks import MaskedEvents, mask_of
from canonicall.client.learning import Change, Learned, change_for, is_chance
from canonicall.client.notices import Recovered
from canonicall.client.reply_events import ReplyEvents, is_content
from canonicall.client.transport import Response
from canonicall.codec.encode import Encoded, encode_request
from canonicall.conversation import Conversation
from canonicall.errors import CanonicallError
from canonicall.events import ErrorReported, Event, StreamEnded
from canonicall.facts.target import Target
from canonicall.request import Request, Tool
from canonicall.runtime.model import Notice, Repaired
from canonicall.transcript.fields import has_all, takes_unknown
from canonicall.transcript.render import Renderer
from canonicall.transcript.turns import Diagnostics
from canonicall.wire.losses import foreign_fields

_TARGETS_KEPT = 8
_MODEL_FIELDS = ("model", "modelId")
_CHAT = "openai-chat"
_WITH_USAGE = Native(_CHAT, {"stream_options": {"include_usage": True}})
"""Without it a chat stream says nothing of tokens; it goes where the field is not refused."""


class Rendered(Struct, frozen=True):
    """A request in the form one target takes."""

    target: Target
    encoded: Encoded
    body: dict[str, Any]
    data: bytes
    tools: tuple[Tool, ...]
    stream: bool


class Renderings:
    """Keeps a renderer for each conversation and target, as long as the conversation lives."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}

    def rendered(self, request: Request, target: Target) -> Rendered:
        """`request` for `target`. It is streamed, unless it says otherwise and there is a choice:
        whoever wants the reply whole waits for its end."""
        stream = request.params.stream is not False or target.stream_only
        asked = replace(request, params=replace(request.params, stream=stream))
        if stream and target.format == _CHAT:
            asked = _with_usage(asked, target)
        encoded = encode_request(
            asked, target, renderer=self._renderer(request.conversation, target)
        )
        body = encoded.body
        if endpoint_for(target).names_model:
            body = {name: value for name, value in body.items() if name not in _MODEL_FIELDS}
        data = msgspec.json.encode(body)
        return Rendered(target, encoded, body, data, request.tools, stream)

    def _renderer(self, conversation: Conversation, target: Target) -> Renderer:
        key = id(conversation)
        kept = self._kept.get(key)
        if kept is None or kept.conversation() is not conversation:
            # A conversation cannot be a key: it grows. Its place is given up together with it.
            forget = weakref.ref(conversation, lambda _: self._kept.pop(key, None))
            kept = self._kept[key] = _Kept(forget)
        return kept.renderer(target)


class _Kept:
    """The renderers of one conversation."""

    def __init__(self, conversation: "weakref.ref[Conversation]") -> None:
        self.conversation = conversation
        self._renderers: OrderedDict[Target, Renderer] = OrderedDict()

    def renderer(self, target: Target) -> Renderer:
        found = self._renderers.pop(target, None) or Renderer(target)
        self._renderers[target] = found
        if len(self._renderers) > _TARGETS_KEPT:
            self._renderers.popitem(last=False)
        return found


class Encoder(Struct, frozen=True):
    """Makes the forms of one request."""

    config: ClientConfig
    renderings: Renderings
    learned: Learned
    wants_whole: bool = False
    """Nobody sees a reply before its end: until then it can be asked for again."""
    is_strict: bool = False
    """A form that changes what was sent is not tried after a refusal."""
    headers: Callable[[Target], Mapping[str, str]] | None = None
    """What a target gets beside its own headers."""

    async def form(self, request: Request, goal: Target) -> "EncodedForm":
        """`request` for a target; `AttemptFailed` where it cannot be made."""
        return EncodedForm(self, request, goal, self.learned.fit(goal))

    def changed(self, form: "EncodedForm", change: Change) -> "EncodedForm | None":
        """`form` as a refusal asks for it; None where the same bytes would be refused again."""
        again = EncodedForm(self, form.request, form.goal, change.of(form.target), change)
        is_kept_from = self.is_strict and again.encoded.report.has_repairs
        return None if again.data == form.data or is_kept_from else again


class EncodedForm:
    """One request, encoded for one target; fits `Form`. Its reply comes as events."""

    compacts = False

    def __init__(
        self,
        encoder: Encoder,
        request: Request,
        goal: Target,
        target: Target,
        change: Change | None = None,
    ) -> None:
        """`goal`: who is asked, without what was learnt of it. `change`: what is tried after a
        refusal, which happens once."""
        try:
            rendered = encoder.renderings.rendered(request, target)
        except CanonicallError as error:
            raise AttemptFailed(of_own(target, "request", error)) from error
        self._encoder = encoder
        self._change = change
        self.request = request
        self.goal = goal
        self.target = target
        self.encoded = rendered.encoded
        self.body = rendered.body
        self.data = rendered.data
        self.stream = rendered.stream
        self.headers = None if encoder.headers is None else encoder.headers(goal)

    def diagnostics(self) -> Diagnostics:
        return self.encoded.diagnostics

    def notice(self) -> Notice | None:
        return Repaired.of(self.encoded)

    async def refused(self, failure: Failure) -> Again[list[Event]]:
        """What the refusal means, and the request in the form that it asks for, once."""
        change, told = change_for(failure.error, failure.message, self.body, self.target)
        if told:
            known = told.entries[0]
            message = with_more(failure.message, known.meaning, known.repair)
            failure = replace(failure, message=message, passing=is_chance(told))
        if change is None or self._change is not None:
            return Again(failure)
        form = self._encoder.changed(self, change)
        notice = Recovered(self.target, change.code, change.fields, failure.message)
        return Again(failure, form, notice)

    def accepted(self) -> None:
        """Keep what the refusal before it has taught."""
        if self._change is not None:
            self._encoder.learned.keep(self.goal, self._change)

    async def read(self, response: Response, sent: Outgoing) -> AsyncGenerator[list[Event], None]:
        """The events of the reply, as many at a time as came together. The first wait until there
        is content, or the end."""
        config = self._encoder.config
        events = ReplyEvents(
            self.encoded,
            self.request,
            after_end=sent.timeouts.after_end,
            limits=config.replies,
            recover=config.recover_of(self.target.provider),
        )
        masked = MaskedEvents(mask_of(sent.credentials), sent.secrets)
        held: list[Event] = []
        is_passed = False
        try:
            async with aclosing(events.read(response)) as batches:
                async for batch in batches:
                    if not is_passed:
                        self._refuse_broken(batch, events, sent)
                    held += masked.feed(batch)
                    is_passed = is_passed or self._is_enough(held)
                    if held and is_passed:
                        yield held
                        held = []
        finally:
            response.close()

    def _is_enough(self, held: list[Event]) -> bool:
        """Whether a reply can be passed on that begins so."""
        if self._encoder.wants_whole:
            return bool(held) and isinstance(held[-1], StreamEnded)
        return any(map(is_content, held))

    def _refuse_broken(self, batch: list[Event], events: ReplyEvents, sent: Outgoing) -> None:
        """Raise where the reply broke before anything of it was passed on."""
        for event in batch:
            if isinstance(event, ErrorReported):
                raise AttemptFailed(of_event(self.target, event, sent.secrets))
            if isinstance(event, StreamEnded) and not event.complete:
                if events.broken is not None:
                    raise AttemptFailed(of_transport(self.target, events.broken))
                raise AttemptFailed(of_cut(self.target, event.why))


def takes_usage_question(target: Target, *, is_own: bool | None = None) -> bool:
    """Whether a chat host may be asked for the tokens of a stream. `is_own`: whether the request
    was written for it, where that is known."""
    is_taken = takes_unknown("request", target, is_own=is_own)
    return is_taken or has_all(_WITH_USAGE, "request", target)


def _with_usage(request: Request, target: Target) -> Request:
    """`request` that asks for the usage of a chat stream, if the target takes the question.

    Nobody else wanted it, so it is no finding where it is left out.
    """
    is_own = request.domain == target.domain if request.domain else None
    if not takes_usage_question(target, is_own=is_own):
        return request
    native = request.native
    given = native.fields if native is not None and native.format == _CHAT else {}
    findings = (*request.findings, *foreign_fields(_CHAT, native))
    wanted = Native(_CHAT, {**_WITH_USAGE.fields, **given})
    return replace(request, native=wanted, findings=findings)
