"""Server-sent events, as the HTML standard defines them and as hosts write them.

Lines end in LF, CR or CRLF; the blank behind `data:` is optional; several data lines are one
payload; comments and unknown fields mean nothing. An event that the end of the stream cuts off is
given out all the same: hosts forget the last empty line.
"""

from functools import lru_cache

from canonicall.framing.frame import Frame
from canonicall.framing.limits import DEFAULT_LIMITS, ReplyLimits

_BOM = b"\xef\xbb\xbf"
_tuple = tuple.__new__


class ServerSentEvents:
    """Finds events. Bytes are searched once, however small the pieces.

    An event or a line that does not end is `ReplyTooLarge` as soon as it is beyond its limit.
    """

    def __init__(self, limits: ReplyLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._pending: list[bytes] = []
        self._size = 0
        self._last = 0
        """The last byte of what is pending: the empty line may be split as well."""
        self._after_cr = False
        self._began = False
        self.is_between = False
        """Whether an event ended with the last bytes."""

    def feed(self, data: bytes) -> list[Frame]:
        """The events that these bytes complete."""
        if self.is_between and data[-2:] == b"\n\n" and b"\r" not in data:
            frame = _usual(data)
            if frame is not None:
                return [frame]
        frames = self._find(data)
        self.is_between = self._began and not self._pending and not self._after_cr
        return frames

    def _find(self, data: bytes) -> list[Frame]:
        if not data:
            return []
        if not self._began:
            data = self._without_bom(data)
        if self._after_cr or b"\r" in data:
            data = self._with_plain_lines(data)
        straddles = self._last == 10 and data[:1] == b"\n"
        if not straddles and b"\n\n" not in data:
            self._hold(data)
            self._limits.check_event(self._size)
            return []
        *whole, rest = b"".join((*self._pending, data)).split(b"\n\n")
        self._pending.clear()
        self._last = self._size = 0
        self._hold(rest)
        return [frame for event in whole if (frame := _frame(event)) is not None]

    def close(self) -> list[Frame]:
        """The event that was cut off, if there is one."""
        frame = _frame(b"".join(self._pending))
        self._pending.clear()
        return [] if frame is None else [frame]

    def _hold(self, data: bytes) -> None:
        if data:
            self._pending.append(data)
            self._last = data[-1]
            self._size += len(data)

    def _without_bom(self, data: bytes) -> bytes:
        data = b"".join((*self._pending, data))
        self._pending.clear()
        self._size = 0
        self._began = not _BOM.startswith(data)
        return data.removeprefix(_BOM)

    def _with_plain_lines(self, data: bytes) -> bytes:
        """`data` with every end of line as LF. A CR at the end may be half of a CRLF."""
        if self._after_cr and data[:1] == b"\n":
            data = data[1:]
        self._after_cr = data[-1:] == b"\r"
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _usual(data: bytes) -> Frame | None:
    """The only event in `data`, if it is one line of payload with or without a name before it."""
    if data[:6] == b"data: ":
        return _tuple(Frame, ("", data[6:-2])) if data.find(b"\n") == len(data) - 2 else None
    name, _, rest = data.partition(b"\n")
    if name[:7] != b"event: " or rest[:6] != b"data: " or rest.find(b"\n") != len(rest) - 2:
        return None
    return _tuple(Frame, (_text(name), rest[6:-2]))


def _frame(event: bytes) -> Frame | None:
    """The name and the payload of one event; None where it has no payload."""
    event = event.strip(b"\n")
    if event[:6] == b"data: " and b"\n" not in event:
        return Frame("", event[6:])
    name = b""
    payload: list[bytes] = []
    for line in event.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            payload.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    return Frame(name.decode("utf-8", "replace"), b"\n".join(payload)) if payload else None


@lru_cache(maxsize=32)
def _text(line: bytes) -> str:
    """The name in the line that says it. Streams have few of them, again and again."""
    return line[7:].decode("utf-8", "replace")
