"""Server-sent events that pass in whole events, so that something else can be said behind them."""

import re

from canonicall.client.key_masks import KeyMask
from canonicall.client.transport import TooMuch
from canonicall.codec.streams import StreamDecoder
from canonicall.errors import ReplyTooLarge
from canonicall.events import ErrorReported
from canonicall.facts.target import Target
from canonicall.framing.limits import DEFAULT_LIMITS, ReplyLimits
from canonicall.gateway.forwarded_events import ForwardedEvents, UnfitEvent

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
_SIGNS = {
    "openai-chat": (b"[DONE]",),
    "anthropic": (b"message_stop",),
    "openai-responses": (b"response.completed", b"response.incomplete", b"response.failed"),
    "gemini": (b"finishReason",),
}
"""Without one of these there is none: to look for them is faster."""
_NO_KEYS = KeyMask(())


def ends_reply(events: bytes, format: str) -> bool:
    """Whether a client that has got these events may close the connection: it has the reply."""
    for sign in _SIGNS[format]:
        if sign in events:
            return _ENDING.search(events) is not None
    return False


class WholeFrames:
    """What is given on of one stream ends where an event ends."""

    def __init__(
        self,
        target: Target,
        mask: KeyMask = _NO_KEYS,
        limits: ReplyLimits = DEFAULT_LIMITS,
    ) -> None:
        """`mask`: of the keys that must not be given on. `limits`: the most that is read."""
        self.target = target
        self._limits = limits
        self._events = ForwardedEvents(target.format, mask, limits)
        self._held: list[bytes] = []
        self._held_size = 0
        self._came, self._most = 0, limits.total_bytes
        self._edge = b""
        """The last bytes of what is held."""
        self._kept: list[bytes] = []
        self._size = 0
        self.is_ended = False
        """Whether the provider has said that it ended, or that it failed; `rest` finds out."""
        self.is_failed = False

    def feed(self, data: bytes) -> bytes:
        """What may be given on. `UnfitEvent` or `TooMuch` where the stream cannot go on."""
        self._came += len(data)
        if self._came > self._most:
            raise TooMuch(self._limits.too_many_bytes())
        if not self._held and data.endswith(_ENDS):
            if given := self._events.feed(data):
                self._keep(given)
            return given
        seen = self._edge + data
        end = max(seen.rfind(one) + len(one) if one in seen else 0 for one in _ENDS)
        end -= len(self._edge)
        if end <= 0:
            self._hold(data)
            return b""
        whole = b"".join([*self._held, data[:end]])
        self._held, self._edge, self._held_size = [], b"", 0
        if data[end:]:
            self._hold(data[end:])
        if given := self._events.feed(whole):
            self._keep(given)
        return given

    def waiting(self) -> bytes:
        """Events that have waited for another one, where none follows."""
        given = self._events.close()
        if given:
            self._keep(given)
        return given

    def rest(self) -> bytes:
        """What is missing at the end of a reply that is whole: an empty line, or the event that
        says so once more. Nothing more may come then."""
        rest = self._events.close() + self._last_event()
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
        self._held, self._edge, self._held_size = [], b"", 0
        if not held or not self._tells(held + b"\n\n")[0]:
            return b""
        try:
            return self._events.feed(held + b"\n\n") + self._events.close()
        except (UnfitEvent, TooMuch):
            return b""

    def _hold(self, data: bytes) -> None:
        self._held.append(data)
        self._edge = (self._edge + data[-_BETWEEN:])[-_BETWEEN:]
        self._held_size += len(data)
        if self._held_size > self._limits.event_bytes:
            self._held = []
            try:
                self._limits.check_event(self._held_size)
            except ReplyTooLarge as error:
                raise TooMuch(error) from None

    def _keep(self, data: bytes) -> None:
        self._kept.append(data)
        self._size += len(data)
        if self._size > _MOST_KEPT:
            del self._kept[:-_LAST_PIECES]

    def _tells(self, data: bytes) -> tuple[bool, bool]:
        """Whether these bytes tell that the reply is whole, and whether they tell of an error."""
        decoder = StreamDecoder(self.target.format)
        events = decoder.feed(data)
        return decoder.done, any(isinstance(one, ErrorReported) for one in events)


class StreamCut(Exception):
    """A stream that was given on ended before its provider said so.

    `goes_on`: whether another attempt may go on with it. What is damaged or too large is not asked
    for again.
    """

    def __init__(self, frames: WholeFrames, why: str, *, goes_on: bool = True) -> None:
        self.frames = frames
        self.why = why
        self.goes_on = goes_on
        super().__init__(why)
