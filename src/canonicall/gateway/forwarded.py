"""Bytes that need no change: sent as they came, and what comes back given on as it is.

Only where client and target speak the same format, and the judge finds nothing to refuse.
"""

import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.client.attempts import Again
from canonicall.client.endpoints import Outgoing
from canonicall.client.failure import (
    REFUSED,
    AttemptFailed,
    Failure,
    of_cut,
    of_event,
    of_transport,
)
from canonicall.client.key_masks import mask_of
from canonicall.client.reply_events import is_content
from canonicall.client.secrets import Secret, hide
from canonicall.client.transport import (
    Response,
    TooMuch,
    TransportError,
    whole_body,
)
from canonicall.codec.decode import decode_response
from canonicall.codec.streams import StreamDecoder
from canonicall.errors import CanonicallError
from canonicall.events import ErrorReported, Event
from canonicall.facts.endpoint import endpoint_of
from canonicall.facts.registry import get_profile
from canonicall.facts.target import Target
from canonicall.folding import WHY_CUT
from canonicall.framing.limits import ReplyLimits
from canonicall.gateway.forwarded_events import UnfitEvent
from canonicall.gateway.turns import Turn
from canonicall.gateway.usage import size_in, without_usage
from canonicall.gateway.whole_frames import StreamCut, WholeFrames
from canonicall.syntax.recovery import Recover, reads_text
from canonicall.verify.judge import verify
from canonicall.wire.formats import get_format

_FIELD = b'"model"'
_BETWEEN = re.compile(rb"\s*:\s*")
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_NO_CHOICE = re.compile(rb'"(?:choices|candidates)"\s*:\s*(?:null|\[\s*\])')
"""Inside of texts the quotes would be escaped."""
_SEALED = ("anthropic", "gemini", "openai-responses")
"""The formats whose replies have state that only its issuer can read."""


def can_forward(
    body: Mapping[str, Any], format: str, target: Target, *, recover: Recover = "known"
) -> bool:
    """Whether the target takes the body as it is, and its client the reply.

    `recover`: whether calls are read from the text of the reply.
    """
    if target.format != format:
        return False
    if not _is_readable(target) or (body.get("tools") and reads_text(recover, target)):
        return False
    return not verify({**body, "model": target.model} if "model" in body else dict(body), target)


def owns(target: Target, format: str) -> bool:
    """Whether a target is the provider whose format it is."""
    return target.format == format and target.provider == get_format(format).target.provider


def body_headers(turn: Turn, target: Target) -> dict[str, str]:
    """What its client says of the body in headers, for the owner of the format."""
    if not owns(target, turn.front.format):
        return {}
    given = turn.http.headers
    return {name: given[name] for name in turn.front.body_headers if name in given}


def _is_readable(target: Target) -> bool:
    """Whether a client of the format can read what the target replies, unseen.

    The owner of a format writes it as its clients read it. A host that only speaks it seals state
    that would come back as the owner's own, or writes thoughts into the content (Mistral): such
    replies are read before they are passed on.
    """
    if target.domain == get_format(target.format).target.domain:
        return True
    return target.format not in _SEALED and target.reasoning_field != "content"


def with_model(data: bytes, body: Mapping[str, Any], target: Target) -> bytes:
    """`data` with the name that the target has for its model; the rest stays byte for byte."""
    if endpoint_of(get_profile(target.provider).endpoints, target.format).names_model:
        return data
    named = body.get("model")
    if named == target.model or not isinstance(named, str):
        return data
    wanted, shown = msgspec.json.encode(target.model), msgspec.json.encode(named)
    places = list(_places(data, shown))
    if len(places) == 1:
        return data[: places[0]] + wanted + data[places[0] + len(shown) :]
    return msgspec.json.encode({**body, "model": target.model})


def _places(data: bytes, value: bytes) -> Iterator[int]:
    """Where a field `model` has this value. Inside of texts its quotes would be escaped."""
    at = data.find(_FIELD)
    while at >= 0:
        end = at + len(_FIELD)
        found = _BETWEEN.match(data, end)
        if found is not None and data.startswith(value, found.end()) and data[at - 1 : at] != b"\\":
            yield found.end()
        at = data.find(_FIELD, end)


class ForwardedForm:
    """A request that is sent as it came; fits `Form`. Its reply comes as bytes."""

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        target: Target,
        data: bytes,
        *,
        stream: bool,
        limits: ReplyLimits,
        after_refusal: "AfterRefusal",
        compacts: bool = False,
        hides_usage: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`after_refusal`: what is tried next where it is refused.
        `compacts`: whether it asks for a summary of the conversation, at the path for that.
        `hides_usage`: whether the client did not ask for the tokens in the stream.
        `headers`: of the client, where they belong to the body."""
        self.target = target
        self.data = data
        self.stream = stream
        self.compacts = compacts
        self.hides_usage = hides_usage
        self.headers = headers
        self.content_type = "application/json"
        self._after_refusal = after_refusal
        self._limits = limits
        self._secrets: tuple[Secret, ...] = ()
        self._frames = WholeFrames(target)

    def diagnostics(self) -> None:
        """Nothing was changed."""

    def notice(self) -> None:
        """Nothing is to be told."""

    def accepted(self) -> None:
        """Nothing was learnt."""

    async def refused(self, failure: Failure) -> Again[Any]:
        return await self._after_refusal(self, failure)

    async def read(self, response: Response, sent: Outgoing) -> AsyncGenerator[bytes, None]:
        """The body of the reply, or the bytes of a stream as they come, in whole events: behind
        those something else can be said. `StreamCut` where they end too early."""
        self._secrets = sent.secrets
        self.content_type = hide(
            response.headers.get("content-type", self.content_type), sent.secrets
        )
        mask = mask_of(sent.credentials)
        frames = self._frames = WholeFrames(self.target, mask, self._limits)
        why, goes_on = WHY_CUT, True
        try:
            if not self.stream:
                yield mask.data(await self._whole(response))
                return
            # The bytes of a stream are counted where its events are found.
            chunks = response.chunks()
            if shown := self._shown(await self._opened(chunks)):
                yield shown
            async for chunk in chunks:
                if (whole := frames.feed(chunk)) and (shown := self._shown(whole)):
                    yield shown
        except TransportError as error:
            why, goes_on = str(error), not isinstance(error, TooMuch)
        except UnfitEvent as error:
            why, goes_on = str(error), False
        finally:
            response.close()
        if (rest := frames.rest()) and (shown := self._shown(rest)):
            yield shown
        if not frames.is_ended:
            raise StreamCut(frames, why, goes_on=goes_on)

    async def _opened(self, chunks: AsyncIterator[bytes]) -> bytes:
        """As much as a stream begins with, up to the first content."""
        try:
            return await self._until_content(chunks)
        except TransportError as error:
            raise AttemptFailed(of_transport(self.target, error)) from error
        except UnfitEvent as error:
            raise AttemptFailed(of_cut(self.target, f"{error}.")) from error

    async def _until_content(self, chunks: AsyncIterator[bytes]) -> bytes:
        decoder = StreamDecoder(self.target.format, provider=self.target.provider)
        held: list[bytes] = []
        async for chunk in chunks:
            if not held and not _begins_stream(chunk):
                raise self._no_stream()
            held.append(self._frames.feed(chunk))
            if self._has_content(decoder, held[-1]):
                return b"".join(held)
        held.append(self._frames.waiting())
        if self._has_content(decoder, held[-1]):
            return b"".join(held)
        raise AttemptFailed(
            of_cut(self.target, WHY_CUT if len(held) > 1 else "the reply is empty.")
        )

    def _has_content(self, decoder: StreamDecoder, events: bytes) -> bool:
        """Whether events have content, or the end. What follows the first of it is not decoded."""
        for event in events.split(b"\n\n"):
            if not event:
                continue
            found = decoder.feed(event + b"\n\n")
            self._refuse_error(found)
            if decoder.done or any(map(is_content, found)):
                return True
        return False

    def _shown(self, events: bytes) -> bytes:
        """Events as the client gets them."""
        return without_usage(events) if self.hides_usage else events

    async def _whole(self, response: Response) -> bytes:
        """The body of a reply that is not streamed. `AttemptFailed` where it is none."""
        try:
            body = await whole_body(response.chunks(), self._limits)
        except TransportError as error:
            raise AttemptFailed(of_transport(self.target, error)) from error
        if b'"error"' in body:
            self._refuse_error(self._error_in(body))
        if not _is_reply(body) or _says_nothing(body, self.target):
            raise AttemptFailed(of_cut(self.target, "there is no message in the reply."))
        return body

    @property
    def given(self) -> bytes:
        """The stream so far; of a long one, its end."""
        return self._frames.given

    @property
    def said(self) -> int:
        """Bytes of what the model said in the stream so far. Of a long one the end is kept, from
        which the rest is estimated."""
        given = self.given
        size = size_in(given, self.target.format)
        return size if self._frames.is_whole else size * self._frames.size // max(len(given), 1)

    @property
    def last_bytes(self) -> bytes:
        """The end of the stream as far as it has come: tokens are told there."""
        return self._frames.last

    @property
    def is_failed(self) -> bool:
        """Whether the stream ended with an error that its provider told of."""
        return self._frames.is_failed

    def _no_stream(self) -> AttemptFailed:
        """Hosts that cannot stream answer with a whole body; what it is translated to is one."""
        failure = of_cut(self.target, "the reply is no stream.")
        return AttemptFailed(replace(failure, kind=REFUSED, passing=False))

    def _refuse_error(self, events: Iterable[Event]) -> None:
        """Raise where an error is told of; hosts send one under a 200."""
        for one in events:
            if isinstance(one, ErrorReported):
                raise AttemptFailed(of_event(self.target, one, self._secrets))

    def _error_in(self, data: bytes) -> list[Event]:
        try:
            body = msgspec.json.decode(data, type=dict)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return []
        if not body.get("error"):
            return []
        said = get_format(self.target.format).decode_error(body)
        return [ErrorReported(said.message, said.type, body)]


AfterRefusal: TypeAlias = Callable[[ForwardedForm, Failure], Awaitable[Again[Any]]]


class _Reply(Struct):
    """Where the formats have their message; nothing else is looked at."""

    choices: Any = None
    output: Any = None
    content: Any = None
    candidates: Any = None
    promptFeedback: Any = None  # noqa: N815  Gemini's own name: it stands alone in a refusal


_READ_REPLY = msgspec.json.Decoder(_Reply)


def _is_reply(body: bytes) -> bool:
    """Whether a body can be a reply: whole JSON, with a message where it belongs."""
    try:
        if not body.isascii():
            # What nobody looks at is not checked below, and clients read all of it.
            body.decode()
        found = _READ_REPLY.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    places = (found.choices, found.output, found.content, found.candidates)
    return found.promptFeedback is not None or any(isinstance(one, list) for one in places)


def _says_nothing(body: bytes, target: Target) -> bool:
    """Whether a body says 200 and nothing else. Hosts send no choice where thinking has eaten all
    tokens, or where they failed without telling (langwatch tasks#465). Clients read the first
    choice and break."""
    if _NO_CHOICE.search(body) is None:
        return False
    try:
        reply = decode_response(body, target.format)
    except CanonicallError:
        return False
    return not reply.message.blocks and not reply.finish


def _begins_stream(data: bytes) -> bool:
    """Whether these can be the first bytes of server-sent events."""
    begin = data.lstrip(b"\xef\xbb\xbf\r\n ")[:6]
    return any(begin.startswith(one[: len(begin)]) for one in _FIELDS)
