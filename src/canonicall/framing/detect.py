"""Which framing a stream has, told by its first byte that is not blank.

A frame of AWS begins with the high byte of its length, which is zero; JSON with a bracket; every
other stream is server-sent events.
"""

from canonicall.framing.eventstream import EventStream
from canonicall.framing.frame import Frame, Framing
from canonicall.framing.json_values import JsonValues
from canonicall.framing.limits import DEFAULT_LIMITS, ReplyLimits
from canonicall.framing.sse import ServerSentEvents


class AnyFraming:
    """Finds frames in a stream of any framing."""

    def __init__(self, limits: ReplyLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._framing: Framing | None = None

    @property
    def is_between(self) -> bool:
        """Whether the next bytes begin a server-sent event."""
        return isinstance(self._framing, ServerSentEvents) and self._framing.is_between

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that these bytes complete."""
        if self._framing is None:
            data = data.lstrip(b" \t\r\n")
            if not data:
                return []
            self._framing = _framing_of(data[0], self._limits)
        return self._framing.feed(data)

    def close(self) -> list[Frame]:
        """What is left when nothing more comes."""
        return [] if self._framing is None else self._framing.close()


def _framing_of(first: int, limits: ReplyLimits) -> Framing:
    if first == 0:
        return EventStream()
    return JsonValues(limits) if first in b"{[" else ServerSentEvents(limits)
