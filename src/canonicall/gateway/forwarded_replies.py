"""What a forwarded reply says, for the store: read beside the bytes, which stay as they are.

In a stream, the event that ends the reply is held back until the reply is stored. The one thing
that is added to a reply are fields in which it repeats what its provider was not sent.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamDecoder
from canonicall.errors import CanonicallError
from canonicall.events import StreamEnded

_RESPONSES = "openai-responses"
_LAST = {
    _RESPONSES: r"response\.(?:completed|incomplete|failed)",
    "anthropic": "message_stop",
}
"""The events that end a reply, by format. JSON has no line inside: text cannot look so."""
_ENDS = {
    format: re.compile(
        rf'^(?:event: ?(?:{event})\s*$|data: ?\{{\s*"type"\s*:\s*"(?:{event})")'.encode(),
        re.MULTILINE,
    )
    for format, event in _LAST.items()
}


_RESPONSE = re.compile(rb'^(data: ?)(\{.*"response"\s*:.*\})', re.MULTILINE)
_READ_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""The values stay as they are written."""


class ReplyReader:
    """Reads one forwarded stream. Pieces are whole events."""

    def __init__(self, format: str, provider: str) -> None:
        self._format = format
        self._decoder = StreamDecoder(format, provider=provider)
        self._end = _ENDS[format]
        self._last = b""

    def split(self, piece: bytes) -> tuple[bytes, bytes]:
        """What may be sent at once, and the event that ends the reply with all after it."""
        if self._format != _RESPONSES:
            self._decoder.feed(piece)
        found = self._end.search(piece)
        if found is None:
            return piece, b""
        at = found.start()
        self._last = piece[at:]
        return piece[:at], self._last

    def reply(self) -> dict[str, Any] | None:
        """The body of the whole reply; None where the stream has not ended with one."""
        if not self._last:
            return None
        if self._format == _RESPONSES:
            _, _, data = self._last.partition(b"data:")
            event = _object(data.partition(b"\n")[0])
            response = event.get("response") if event else None
            return response if isinstance(response, dict) else None
        *_, end = self._decoder.close()
        if not isinstance(end, StreamEnded) or not end.complete:
            return None
        try:
            return encode_response(end.reply, self._format)
        except CanonicallError:
            return None


def with_fields(data: bytes, fields: Mapping[str, Any]) -> bytes:
    """A reply with these fields in it."""
    try:
        body = _READ_FIELDS.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return data
    return msgspec.json.encode({**body, **fields})


def events_with_fields(events: bytes, fields: Mapping[str, Any]) -> bytes:
    """Events of a stream, with these fields in each reply that is in one of them."""
    if b'"response"' not in events:
        return events
    return _RESPONSE.sub(partial(_event_with_fields, fields), events)


def _event_with_fields(fields: Mapping[str, Any], found: re.Match[bytes]) -> bytes:
    prefix, data = found.groups()
    try:
        event = _READ_FIELDS.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return found[0]
    if "response" not in event:
        return found[0]
    response = msgspec.Raw(with_fields(bytes(event["response"]), fields))
    return prefix + msgspec.json.encode(event | {"response": response})


def reply_in(data: bytes) -> dict[str, Any] | None:
    """The reply in a body."""
    return _object(data)


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
