"""Bytes that need no change: sent as they came, and what comes back given on as it is.

Only where client and target speak the same format, and the judge finds nothing to refuse.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.client.exchange import is_content
from canonicall.client.failure import (
    REFUSED,
    AttemptFailed,
    Failure,
    of_cut,
    of_event,
    of_transport,
)
from canonicall.client.key_masks import mask_of
from canonicall.client.rendering import Renderings
from canonicall.client.secrets import Secret, hide
from canonicall.client.sending import post
from canonicall.client.transport import (
    Response,
    TooMuch,
    TransportError,
    whole_body,
)
from canonicall.codec import decode_request
from canonicall.errors import CanonicallError
from canonicall.events import ErrorReported, Event
from canonicall.facts.endpoint import endpoint_of
from canonicall.facts.registry import get_profile
from canonicall.facts.target import Target
from canonicall.folding import WHY_CUT
from canonicall.gateway.backs import Backs
from canonicall.gateway.forwarded_events import UnfitEvent
from canonicall.gateway.turns import Turn
from canonicall.gateway.usage import size_in, without_usage
from canonicall.gateway.whole_frames import StreamCut, WholeFrames
from canonicall.streams import StreamDecoder
from canonicall.syntax.recovery import Recover, reads_text
from canonicall.verify.judge import verify
from canonicall.wire.formats import get_format

_FIELD = b'"model"'
_BETWEEN = re.compile(rb"\s*:\s*")
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
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


def is_met_as_it_is(body: Mapping[str, Any], target: Target, fitted: Target) -> bool:
    """Whether a body needs nothing of what earlier refusals have taught about its target; `fitted`
    is the target with that. Only where something was learnt is it worth finding out."""
    if fitted is target:
        return True
    try:
        request = decode_request({**body, "model": target.model}, target.format)
        one, other = (Renderings().rendered(request, each) for each in (target, fitted))
    except CanonicallError:
        return True
    return one.data == other.data


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


class Forwarded:
    """One request that is sent as it is. Each of `open` and `whole` sends it once."""

    def __init__(
        self,
        backs: Backs,
        target: Target,
        data: bytes,
        *,
        stream: bool,
        compacts: bool = False,
        hides_usage: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`compacts`: whether it asks for a summary of the conversation, at the path for that.
        `hides_usage`: whether the client did not ask for the tokens in the stream.
        `headers`: of the client, where they belong to the body."""
        self._compacts = compacts
        self._headers = headers
        self._backs = backs
        self._hides_usage = hides_usage
        self._data = data
        self._stream = stream
        self._first = b""
        self._key = Secret("")
        self._keys_left = 0
        self._chunks: AsyncIterator[bytes] | None = None
        self._response: Response | None = None
        self._secrets: tuple[Secret, ...] = ()
        self._mask = mask_of(())
        self._limits = backs.means.config.replies
        self._frames = WholeFrames(target)
        self.target = target
        self.content_type = "application/json"

    async def open(self) -> bytes:
        """Wait for the first content of a stream, and return as much as it begins with.
        `AttemptFailed` where there will be none: until here somebody else can be asked."""
        chunks = await self._sent()
        self._frames = WholeFrames(self.target, self._mask, self._limits)
        try:
            first = self._first = await self._until_content(chunks)
        except TransportError as error:
            self.close()
            raise AttemptFailed(of_transport(self.target, error)) from error
        except UnfitEvent as error:
            self.close()
            raise AttemptFailed(of_cut(self.target, f"{error}.")) from error
        except BaseException:
            self.close()
            raise
        return first

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

    def takes_another_key(self, failure: Failure) -> bool:
        """Whether the key is to blame, and another one is ready that was not tried yet."""
        means = self._backs.means
        is_ready = means.keys.failed(self.target.provider, self._key, failure, means.elapsed())
        if not is_ready or not self._keys_left:
            return False
        self._keys_left -= 1
        return True

    def _choose(self, provider: str, keys: tuple[Secret, ...]) -> Secret:
        if not self._key:
            self._keys_left = len(keys) - 1
        self._key = self._backs.means.keys.next(provider, keys, self._backs.means.elapsed())
        return self._key

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The bytes of a stream that was opened as they come, in whole events: behind those
        something else can be said. `StreamCut` where they end too early."""
        frames, why, goes_on = self._frames, WHY_CUT, True
        try:
            if shown := self._shown(self._first):
                yield shown
            if self._chunks is not None:
                async for chunk in self._chunks:
                    if (whole := frames.feed(chunk)) and (shown := self._shown(whole)):
                        yield shown
        except TransportError as error:
            why, goes_on = str(error), not isinstance(error, TooMuch)
        except UnfitEvent as error:
            why, goes_on = str(error), False
        finally:
            self.close()
        if (rest := frames.rest()) and (shown := self._shown(rest)):
            yield shown
        if not frames.is_ended:
            raise StreamCut(frames, why, goes_on=goes_on)

    def _shown(self, events: bytes) -> bytes:
        """Events as the client gets them."""
        return without_usage(events) if self._hides_usage else events

    async def whole(self) -> bytes:
        """The body of a reply that is not streamed. `AttemptFailed` where it is none."""
        chunks = await self._sent()
        try:
            body = await whole_body(chunks, self._limits)
        except TransportError as error:
            raise AttemptFailed(of_transport(self.target, error)) from error
        finally:
            self.close()
        if b'"error"' in body:
            self._refuse_error(self._error_in(body))
        if not _is_reply(body):
            raise AttemptFailed(of_cut(self.target, "there is no message in the reply."))
        return self._mask.data(body)

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

    def close(self) -> None:
        """Let go of the connection."""
        if self._response is not None:
            self._response.close()

    async def _sent(self) -> AsyncIterator[bytes]:
        response, sent = await post(
            self._backs.means,
            self.target,
            self._data,
            stream=self._stream,
            compacts=self._compacts,
            choose=self._choose,
            headers=self._headers,
        )
        self._response, self._secrets = response, sent.secrets
        self._mask = mask_of(sent.credentials)
        self.content_type = hide(
            response.headers.get("content-type", self.content_type), sent.secrets
        )
        self._chunks = response.chunks()
        return self._chunks

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


def _begins_stream(data: bytes) -> bool:
    """Whether these can be the first bytes of server-sent events."""
    begin = data.lstrip(b"\xef\xbb\xbf\r\n ")[:6]
    return any(begin.startswith(one[: len(begin)]) for one in _FIELDS)
