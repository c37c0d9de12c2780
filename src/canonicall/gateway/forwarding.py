"""Bytes that need no change: sent as they came, and what comes back given on as it is.

Only where client and target speak the same format, and the judge finds nothing to refuse.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from typing import Any

import msgspec

from canonicall.client.failure import AttemptFailed, Failure, of_cut, of_event, of_transport
from canonicall.client.secrets import Secret
from canonicall.client.sending import post
from canonicall.client.transport import Response, TransportError
from canonicall.events import ErrorReported
from canonicall.gateway.backs import Backs
from canonicall.providers.endpoint import endpoint_of
from canonicall.providers.registry import get_profile
from canonicall.streams import StreamDecoder
from canonicall.target import Target
from canonicall.verify.judge import verify
from canonicall.wire.formats import get_format

_FIELD = b'"model"'
_BETWEEN = re.compile(rb"\s*:\s*")
_SEALED = ("anthropic", "gemini", "openai-responses")
"""The formats whose replies have state that only its issuer can read."""


def can_forward(
    body: Mapping[str, Any], format: str, target: Target, *, reads_leaks: bool = True
) -> bool:
    """Whether the target takes the body as it is, and its client the reply.

    `reads_leaks`: whether calls are looked for in the words of the reply.
    """
    if target.format != format:
        return False
    if not _is_readable(body, target, reads_leaks):
        return False
    return not verify({**body, "model": target.model} if "model" in body else dict(body), target)


def _is_readable(body: Mapping[str, Any], target: Target, reads_leaks: bool) -> bool:
    """Whether a client of the format can read what the target replies, unseen.

    The owner of a format writes it as its clients read it. A host that only speaks it seals state
    that would come back as the owner's own, writes thoughts into the content (Mistral), and lets
    its models print calls into their words: such replies are read before they are passed on.
    """
    if target.domain == get_format(target.format).target.domain:
        return True
    if target.format in _SEALED or target.reasoning_field == "content":
        return False
    return not (reads_leaks and body.get("tools"))


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
    """One request that is sent as it is, once."""

    def __init__(self, backs: Backs, target: Target, data: bytes, *, stream: bool) -> None:
        self._backs = backs
        self._data = data
        self._stream = stream
        self._first = b""
        self._key = Secret("")
        self._keys_left = 0
        self._chunks: AsyncIterator[bytes] | None = None
        self._response: Response | None = None
        self.target = target
        self.content_type = "application/json"

    async def open(self) -> None:
        """Wait for the first bytes. `AttemptFailed` where they are none of a reply: until here
        somebody else can be asked."""
        response, sent = await post(
            self._backs.means, self.target, self._data, stream=self._stream, choose=self._choose
        )
        self._response = response
        self.content_type = response.headers.get("content-type", self.content_type)
        chunks = self._chunks = response.chunks()
        try:
            self._first = await anext(chunks, b"")
        except TransportError as error:
            self.close()
            raise AttemptFailed(of_transport(self.target, error)) from error
        error_told = self._error_in(self._first)
        if not self._first or error_told is not None:
            self.close()
            failure = (
                of_cut(self.target, "the reply is empty.")
                if error_told is None
                else of_event(self.target, error_told, sent.secrets)
            )
            raise AttemptFailed(failure)

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
        """The bytes as they come. Where they break off, so does this: `TransportError`."""
        try:
            yield self._first
            if self._chunks is not None:
                async for chunk in self._chunks:
                    yield chunk
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the connection."""
        if self._response is not None:
            self._response.close()

    def _error_in(self, data: bytes) -> ErrorReported | None:
        """The error that the first bytes tell of; hosts send one under a 200."""
        if b'"error"' not in data and b"event: error" not in data:
            return None
        if not self._stream:
            try:
                body = msgspec.json.decode(data, type=dict)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                return None
            if not body.get("error"):
                return None
            said = get_format(self.target.format).decode_error(body)
            return ErrorReported(said.message, said.type, body)
        events = StreamDecoder(self.target.format, provider=self.target.provider).feed(data)
        return next((one for one in events if isinstance(one, ErrorReported)), None)
