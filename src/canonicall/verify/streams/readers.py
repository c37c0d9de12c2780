"""Framings as strict as the clients that read them: JSON lines, and frames of AWS.

The decoders read what hosts write; here the question is what an official client can read. A frame
of AWS is therefore read a second time, apart from `canonicall.framing`.
"""

import struct
from collections.abc import Iterator
from zlib import crc32

from canonicall.errors import MalformedBody
from canonicall.framing.frame import Frame

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_TEXT = 7
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""The sizes of header values by type; those of 6 and 7 stand before the value."""
_LARGEST = 24 * 1024 * 1024
_NAMED = {"event": ":event-type", "exception": ":exception-type"}


class Lines:
    """One payload a line; empty lines mean nothing."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The lines that these bytes complete."""
        if b"\n" not in data:
            self._pending.append(data)
            return
        *whole, rest = b"".join((*self._pending, data)).split(b"\n")
        self._pending = [rest]
        for line in whole:
            if line.strip():
                yield Frame("", line)

    def close(self) -> list[Frame]:
        """The line that no line end follows."""
        rest = b"".join(self._pending)
        return [Frame("", rest)] if rest.strip() else []


class AwsFrames:
    """Frames named `event:TYPE` or `exception:TYPE`; what is damaged raises `MalformedBody`."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._size = 0
        self._needed = _PRELUDE.size

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete."""
        self._pending.append(data)
        self._size += len(data)
        if self._size < self._needed:
            return
        whole = b"".join(self._pending)
        at = 0
        while (left := len(whole) - at) >= (needed := _frame_size(whole, at)):
            yield _frame(whole[at : at + needed])
            at += needed
        self._pending, self._size, self._needed = [whole[at:]], left, needed

    def close(self) -> list[Frame]:
        """The frame whose end never came."""
        rest = b"".join(self._pending)
        return [Frame("", rest)] if rest else []


def _frame_size(data: bytes, at: int) -> int:
    """The size of the frame that begins at a place; that of a prelude until one is there."""
    if len(data) - at < _PRELUDE.size:
        return _PRELUDE.size
    size, headers, checksum = _PRELUDE.unpack_from(data, at)
    _compare(checksum, data[at : at + 8])
    if not _PRELUDE.size + headers + _CRC.size <= size <= _LARGEST:
        raise MalformedBody("the lengths of a frame contradict each other.")
    return int(size)


def _frame(data: bytes) -> Frame:
    _compare(_CRC.unpack(data[-4:])[0], data[:-4])
    behind_headers = _PRELUDE.size + int.from_bytes(data[4:8], "big")
    try:
        headers = dict(_headers(data[_PRELUDE.size : behind_headers]))
    except (IndexError, KeyError, UnicodeError):
        raise MalformedBody("the headers of a frame cannot be read.") from None
    kind = headers.get(":message-type", "")
    name = headers.get(_NAMED.get(kind, ""))
    if name is None:
        raise MalformedBody("the headers of a frame do not say what it is.")
    return Frame(f"{kind}:{name}", data[behind_headers:-4])


def _compare(expected: int, data: bytes) -> None:
    calculated = crc32(data)
    if calculated != expected:
        raise MalformedBody(
            f"Checksum mismatch: expected 0x{expected:08x}, calculated 0x{calculated:08x}"
        )


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    """The headers that are text."""
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        name = data[at + 1 : name_end].decode()
        kind, at = data[name_end], name_end + 1
        if kind in (_TEXT, _TEXT - 1):
            size = int.from_bytes(data[at : at + 2], "big")
            at += 2
        else:
            size = _SIZES[kind]
        if kind == _TEXT:
            yield name, data[at : at + size].decode()
        at += size
