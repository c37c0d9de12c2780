"""JSON values one behind the other: one a line (NDJSON), or the items of one large array.

Only brackets and quotes are looked at, so a value is found without being parsed. What stands
between values (commas, line ends, the brackets of the array) means nothing.
"""

import re

from canonicall.framing.frame import Frame
from canonicall.framing.limits import DEFAULT_LIMITS, ReplyLimits

_STRUCTURE = re.compile(rb'["{}\[\]]')
_STRING_END = re.compile(rb'["\\]')
_OPENING = b"{["


class JsonValues:
    """Finds objects. Bytes are searched once, however small the pieces.

    A value that does not end is `ReplyTooLarge` as soon as it is beyond its limit.
    """

    def __init__(self, limits: ReplyLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._pending: list[bytes] = []
        self._size = 0
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._began = False

    def feed(self, data: bytes) -> list[Frame]:
        """The values that these bytes complete."""
        frames: list[Frame] = []
        start = at = 0
        while at < len(data):
            if self._in_string:
                at = self._string_end(data, at)
                continue
            found = _STRUCTURE.search(data, at)
            if found is None:
                break
            at = found.end()
            char = data[at - 1]
            if char == 0x22:
                self._in_string = self._depth > 0
            elif char in _OPENING:
                start = self._open(char, at - 1, start)
            elif self._depth:
                self._depth -= 1
                if not self._depth:
                    self._pending.append(data[start:at])
                    frames.append(Frame("", b"".join(self._pending)))
                    self._pending.clear()
                    self._size = 0
                    start = at
        if self._depth:
            self._pending.append(data[start:])
            self._size += len(data) - start
            if not frames:
                self._limits.check_event(self._size)
        return frames

    def close(self) -> list[Frame]:
        """A value that was cut off, as far as it came."""
        rest = b"".join(self._pending)
        self._pending.clear()
        return [Frame("", rest)] if rest else []

    def _open(self, char: int, at: int, start: int) -> int:
        """Where the value starts that this bracket is in."""
        is_outer_array = not self._began and char == 0x5B
        self._began = True
        if is_outer_array or not (self._depth or char == 0x7B):
            return start
        self._depth += 1
        return start if self._depth > 1 else at

    def _string_end(self, data: bytes, at: int) -> int:
        """The place behind the string, or behind `data` where it goes on."""
        if self._escaped:
            self._escaped = False
            return at + 1
        found = _STRING_END.search(data, at)
        if found is None:
            return len(data)
        if found[0] == b"\\":
            self._escaped = True
        else:
            self._in_string = False
        return found.end()
