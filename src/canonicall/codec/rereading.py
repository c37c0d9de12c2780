"""Requests of one conversation, read one after another: each costs what is new in it.

A client sends its whole history every time. What it sent before is compared, which takes next to
nothing, and only the rest is decoded. The request is the same as `decode_request` gives; that is a
law with a test. Clients that change their last messages (cache marks move on) are known as well:
two places are remembered, the end and a little before it.
"""

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Message, Origin
from canonicall.codec.body_fields import without_wrong_kinds
from canonicall.codec.decode import with_empty_reported
from canonicall.conversation import Conversation
from canonicall.findings import Fault, Finding
from canonicall.frameworks import refuse_framework
from canonicall.lookalikes import refuse_other_request
from canonicall.request import Incoming, Request
from canonicall.wire.formats import get_format
from canonicall.wire.reading import History

_LAST = 2
"""How many messages at the end may be others the next time."""


class _Place(Struct, frozen=True):
    """A conversation up to some message, as it was read."""

    head: tuple[Any, Origin]
    """What stands before the messages, and who is said to have made them."""
    messages: list[Any]
    conversation: Conversation
    findings: tuple[Finding, ...]

    @property
    def count(self) -> int:
        return len(self.messages)


class _Rest(Struct, frozen=True):
    """A request without its messages, as it was read."""

    digest: bytes
    """Of all fields: equal values may differ in what is sent (1, 1.0 and true are equal)."""
    request: Request
    findings: tuple[Finding, ...]


class Reading(Struct, frozen=True):
    """A body whose new messages have been read, and are not part of a conversation yet."""

    body: dict[str, Any]
    origin: Origin
    base: _Place | None
    parts: tuple[tuple[Message, ...], ...]
    """The new messages, those that may change again apart."""
    findings: tuple[tuple[Finding, ...], ...]
    """What was said of all messages up to the end of each part."""
    ends: tuple[int, ...]
    """How many messages of the body there are up to the end of each part."""
    wrong: list[Finding]
    """What was said of parameters, which are left out of the body."""
    source: Incoming


class Rereader:
    """Reads the requests of one client in one format."""

    def __init__(self, format: str) -> None:
        self._wire = get_format(format)
        self._places: tuple[_Place, ...] = ()
        self._known_rest: _Rest | None = None

    def decode(self, body: dict[str, Any]) -> Request:
        """The request in `body`."""
        reading = self.begin(body)
        return self.finish(reading, reading.parts)

    def begin(self, body: dict[str, Any]) -> Reading:
        """Read what is new in `body`."""
        wire = self._wire
        refuse_framework(body, wire.name)
        source = Incoming(body, wire.name)
        refuse_other_request(body, wire.name)
        body, wrong = without_wrong_kinds(body, wire.name, Fault.INPUT)
        model = body.get("model")
        origin = Origin("", wire.name, model=model if isinstance(model, str) else "")
        messages = body.get(_MESSAGES)
        if wire.decode_history is None or not isinstance(messages, list):
            return Reading(body, origin, None, (), (), (), wrong, source)
        base = self._known(body, messages, origin)
        start = base.count if base is not None else 0
        findings = list(base.findings) if base is not None else []
        parts, told, ends = [], [], []
        for end in (max(len(messages) - _LAST, start), len(messages)):
            if not end and messages:
                # What stands before the first message is read with it, once.
                continue
            part = {**body, _MESSAGES: messages[:end]}
            read = wire.decode_history(part, start, origin, wire.target.domain, findings)
            parts.append(tuple(read))
            told.append(tuple(findings))
            ends.append(end)
            start = end
            if end == len(messages):
                break
        return Reading(body, origin, base, tuple(parts), tuple(told), tuple(ends), wrong, source)

    def finish(self, reading: Reading, parts: tuple[tuple[Message, ...], ...]) -> Request:
        """The request with these new messages: those that were read, or what became of them."""
        wire, body = self._wire, reading.body
        if not reading.parts:
            request: Request = wire.decode_request(body, origin=reading.origin)
            findings = (*reading.wrong, *request.findings)
            request = replace(request, domain="", findings=findings, source=reading.source)
            return with_empty_reported(request)
        base = reading.base
        conversation = base.conversation.fork() if base is not None else Conversation()
        places = []
        for part, findings, end in zip(parts, reading.findings, reading.ends, strict=True):
            conversation.extend(part)
            known = body[_MESSAGES][:end]
            head = (_head_of(body), reading.origin)
            places.append(_Place(head, known, conversation.fork(), findings))
        self._places = tuple(reversed(places))
        rest = self._rest(reading, History(conversation, reading.findings[-1]))
        findings = (
            *reading.wrong,
            *reading.findings[-1],
            *rest.findings,
            *conversation.report,
        )
        request = replace(
            rest.request, conversation=conversation, findings=findings, source=reading.source
        )
        return with_empty_reported(request)

    def _rest(self, reading: Reading, history: History) -> _Rest:
        """All but the messages: tools and settings stay as they are through most conversations."""
        digest = _digest(reading.body)
        known = self._known_rest
        if known is not None and digest == known.digest:
            return known
        request = self._wire.decode_request(reading.body, origin=reading.origin, history=history)
        end = len(request.findings) - len(history.conversation.report)
        findings = request.findings[len(history.findings) : end]
        bare = replace(request, conversation=Conversation(), findings=(), domain="")
        made = _Rest(digest, bare, findings)
        self._known_rest = made if digest else None
        return made

    def _known(self, body: dict[str, Any], messages: list[Any], origin: Origin) -> _Place | None:
        """The longest conversation that was read before and that `body` goes on with."""
        head = (_head_of(body), origin)
        for place in self._places:
            is_begun = place.count > 0 and place.head == head
            if is_begun and messages[: place.count] == place.messages:
                return place
        return None


_MESSAGES = "messages"


def _head_of(body: dict[str, Any]) -> Any:
    return body.get("system")


def _digest(body: dict[str, Any]) -> bytes:
    """What tells the rest of a body from others; empty where it cannot be written."""
    rest = {name: value for name, value in body.items() if name != _MESSAGES}
    try:
        return sha256(msgspec.json.encode(rest)).digest()
    except (TypeError, ValueError, RecursionError):
        return b""
