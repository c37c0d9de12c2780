"""Server-sent events that pass in whole events, so that something else can be said behind them."""

import re

from canonicall.events import ErrorReported
from canonicall.streams import StreamDecoder
from canonicall.target import Target

_ENDS = (b"\n\n", b"\r\n\r\n")
_BETWEEN = max(map(len, _ENDS)) - 1
"""So much of the end of an event may have come with the bytes before."""
_LAST_PIECES = 8
"""So many pieces tell how a stream ended: usage and `[DONE]` follow the last words."""
_MOST_KEPT = 4 * 1024 * 1024
"""Bytes of one stream that are kept for the case that it breaks off."""
_LAST_EVENTS = {
    "openai-chat": (b"[DONE]", b"data: [DONE]\n\n"),
    "anthropic": (b"message_stop", b'event: message_stop\ndata: {"type":"message_stop"}\n\n'),
}
"""What some clients wait for though the reply is whole without it, and what it is known by."""
_ENDING = re.compile(
    rb"^(?:data: ?\[DONE\]|event: ?(?:message_stop|response\.(?:completed|incomplete|failed)))"
    rb'|"finishReason"\s*:\s*"',
    re.MULTILINE,
)
"""What clients take for the end of the reply. In JSON no line ends, and in its texts quotes are
escaped."""
_SIGNS = (
    *(b"[DONE]", b"message_stop", b"finishReason"),
    *(b"response.completed", b"response.incomplete", b"response.failed"),
)
"""Without one of these there is none: to look for them is faster."""


def ends_reply(events: bytes) -> bool:
    """Whether a client that has got these events may close the connection: it has the reply."""
    return any(sign in events for sign in _SIGNS) and _ENDING.search(events) is not None


class WholeFrames:
    """What is given on of one stream ends where an event ends."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._held: list[bytes] = []
        self._edge = b""
        """The last bytes of what is held."""
        self._kept: list[bytes] = []
        self._size = 0
        self.is_ended = False
        """Whether the provider has said that it ended, or that it failed; `rest` finds out."""
        self.is_failed = False

    def feed(self, data: bytes) -> bytes:
        """What may be given on."""
        if not self._held and data.endswith(_ENDS):
            self._keep(data)
            return data
        seen = self._edge + data
        end = max(seen.rfind(one) + len(one) if one in seen else 0 for one in _ENDS)
        end -= len(self._edge)
        if end <= 0:
            self._hold(data)
            return b""
        whole = b"".join([*self._held, data[:end]])
        self._held, self._edge = [], b""
        if data[end:]:
            self._hold(data[end:])
        self._keep(whole)
        return whole

    def rest(self) -> bytes:
        """What is missing at the end of a reply that is whole: an empty line, or the event that
        says so once more. Nothing more may come then."""
        rest = self._last_event()
        is_done, is_error = self._tells(self.last + rest)
        self.is_ended, self.is_failed = is_done or is_error, is_error
        sign, event = _LAST_EVENTS.get(self.target.format, (b"", b""))
        if is_done and not is_error and sign not in self.last + rest:
            rest += event
        if rest:
            self._keep(rest)
        return rest

    @property
    def is_whole(self) -> bool:
        """Whether `given` is all that was given on: what is too much is not kept."""
        return self._size <= _MOST_KEPT

    @property
    def given(self) -> bytes:
        """What was given on, as far as it was kept."""
        return b"".join(self._kept)

    @property
    def size(self) -> int:
        """Bytes that were given on, kept or not."""
        return self._size

    @property
    def last(self) -> bytes:
        """The last pieces of it."""
        return b"".join(self._kept[-_LAST_PIECES:])

    def _last_event(self) -> bytes:
        """The event that has no empty line behind it, where it is whole all the same."""
        held = b"".join(self._held).strip()
        self._held, self._edge = [], b""
        return held + b"\n\n" if held and self._tells(held + b"\n\n")[0] else b""

    def _hold(self, data: bytes) -> None:
        self._held.append(data)
        self._edge = (self._edge + data[-_BETWEEN:])[-_BETWEEN:]

    def _keep(self, data: bytes) -> None:
        self._kept.append(data)
        self._size += len(data)
        if not self.is_whole:
            del self._kept[:-_LAST_PIECES]

    def _tells(self, data: bytes) -> tuple[bool, bool]:
        """Whether these bytes tell that the reply is whole, and whether they tell of an error."""
        decoder = StreamDecoder(self.target.format)
        events = decoder.feed(data)
        return decoder.done, any(isinstance(one, ErrorReported) for one in events)


class StreamCut(Exception):
    """A stream that was given on ended before its provider said so."""

    def __init__(self, frames: WholeFrames, why: str) -> None:
        self.frames = frames
        self.why = why
        super().__init__(why)
