"""Frames of the AWS event stream (`application/vnd.amazon.eventstream`), both ways.

A frame: its length, the length of its headers, a checksum of both; headers; payload; a checksum of
all. Numbers are big-endian. The name of a frame is its `:event-type`, or its `:exception-type`. An
error that the service has no type for comes in headers alone; its payload is made from them.
"""

import struct
from functools import cache, lru_cache
from zlib import crc32

import msgspec

from canonicall.errors import MalformedBody
from canonicall.framing.frame import Frame

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_SMALLEST = _PRELUDE.size + _CRC.size
LARGEST = 16 * 1024 * 1024
"""The protocol's limit for one frame."""

# The sizes of header values by type; None for those that say their own size.
_SIZES: dict[int, int | None] = {
    0: 0,
    1: 0,
    2: 1,
    3: 2,
    4: 4,
    5: 8,
    6: None,
    7: None,
    8: 8,
    9: 16,
}
_STRING = 7
_UNREADABLE = "a frame of the AWS event stream has unreadable headers."


class EventStream:
    """Finds frames. Bytes are copied once, however small the pieces.

    Behind damaged bytes no frame can be found again, so the damage is raised and nothing is read
    any more. Frames before it are given out first, in whichever pieces the bytes came: the damage
    is then raised by the next call.
    """

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._size = 0
        self._needed = _PRELUDE.size
        self._damage: MalformedBody | None = None

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that these bytes complete."""
        self._raise_damage()
        self._pending.append(data)
        self._size += len(data)
        if self._size < self._needed:
            return []
        frames: list[Frame] = []
        try:
            self._find(b"".join(self._pending), frames)
        except MalformedBody as error:
            self._damage = error
            self._pending.clear()
        if not frames:
            self._raise_damage()
        return frames

    def close(self) -> list[Frame]:
        """Nothing: a frame that was cut off cannot be read."""
        self._pending.clear()
        self._raise_damage()
        return []

    def _find(self, whole: bytes, frames: list[Frame]) -> None:
        at = 0
        self._needed = _PRELUDE.size
        while len(whole) - at >= _PRELUDE.size:
            length = _length(whole, at)
            if len(whole) - at < length:
                self._needed = length
                break
            frames.append(_read(whole[at : at + length]))
            at += length
        self._pending = [whole[at:]]
        self._size = len(whole) - at

    def _raise_damage(self) -> None:
        if self._damage is not None:
            raise self._damage


def write_frame(name: str, payload: bytes, *, exception: bool = False) -> bytes:
    """One frame with a JSON payload."""
    headers = _headers_for(name, "exception" if exception else "event")
    length = _PRELUDE.size + len(headers) + len(payload) + _CRC.size
    lengths = struct.pack(">II", length, len(headers))
    frame = lengths + _CRC.pack(crc32(lengths)) + headers + payload
    return frame + _CRC.pack(crc32(frame))


def _length(data: bytes, at: int) -> int:
    length, _, checksum = _PRELUDE.unpack_from(data, at)
    if crc32(data[at : at + 8]) != checksum or not _SMALLEST <= length <= LARGEST:
        raise MalformedBody("the bytes are not frames of an AWS event stream.")
    return int(length)


def _read(frame: bytes) -> Frame:
    (checksum,) = _CRC.unpack(frame[-4:])
    if crc32(frame[:-4]) != checksum:
        raise MalformedBody("a frame of the AWS event stream was damaged on its way.")
    end = _PRELUDE.size + int.from_bytes(frame[4:8], "big")
    if end > len(frame) - _CRC.size:
        raise MalformedBody(_UNREADABLE)
    headers = _headers(frame[_PRELUDE.size : end])
    if headers.get(":message-type") == "error":
        return _untyped_error(headers)
    name = headers.get(":event-type") or headers.get(":exception-type", "")
    return Frame(name, frame[end:-4])


def _untyped_error(headers: dict[str, str]) -> Frame:
    """An error that is told in headers, with the payload that a typed one has."""
    code = headers.get(":error-code", "")
    body = {"__type": code, "message": headers.get(":error-message", "")}
    return Frame(code, msgspec.json.encode(body))


@lru_cache(maxsize=64)
def _headers(data: bytes) -> dict[str, str]:
    """The headers that are text. A stream has a handful of them, over and over."""
    headers: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            name_end = at + 1 + data[at]
            name = data[at + 1 : name_end].decode("utf-8", "replace")
            kind, at = data[name_end], name_end + 1
            size = _SIZES[kind]
            if size is None:
                size = int.from_bytes(data[at : at + 2], "big")
                at += 2
            if kind == _STRING:
                headers[name] = data[at : at + size].decode("utf-8", "replace")
            at += size
    except (IndexError, KeyError):
        raise MalformedBody(_UNREADABLE) from None
    if at != len(data):
        raise MalformedBody(_UNREADABLE)
    return headers


@cache
def _headers_for(name: str, kind: str) -> bytes:
    return b"".join(
        _header(key, value)
        for key, value in (
            (f":{kind}-type", name),
            (":content-type", "application/json"),
            (":message-type", kind),
        )
    )


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return bytes((len(key),)) + key + bytes((_STRING,)) + struct.pack(">H", len(text)) + text
