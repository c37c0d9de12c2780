"""How large a reply may be, and the refusal of one that is larger.

In: bytes of a reply, as they are after unpacking. Out: nothing, or `ReplyTooLarge`. A limit is
checked before anything is built of what it is about: 3 bytes of JSON can become 70 in memory, and
1 packed byte can become 1,000.
"""

from msgspec import Struct

from canonicall.errors import ReplyTooLarge

_LARGE = 1024 * 1024
"""Values are counted in bodies and events of this size on: smaller ones cannot have too many."""


class ReplyLimits(Struct, frozen=True, kw_only=True):
    """The most that is read of one reply. Each limit is far beyond what models write."""

    total_bytes: int = 64 * 1024 * 1024
    """Bytes of the whole reply, unpacked: several images in base64, or 15 million tokens."""
    event_bytes: int = 32 * 1024 * 1024
    """Bytes of one event of a stream, or of a line that does not end: an image in base64 is one."""
    events: int = 1_000_000
    """Events of one stream: models write one for each token, and at most some 100,000 tokens."""
    values: int = 1_000_000
    """JSON values in a whole reply or in one event, counted by its brackets and commas."""

    @property
    def small(self) -> int:
        """The size up to which neither an event nor the JSON in it can be too large."""
        return min(_LARGE, self.event_bytes, self.values)

    def check_event(self, size: int) -> None:
        """Refuse an event of this size, whole or not."""
        if size > self.event_bytes:
            what = f"an event of the stream has more than {self.event_bytes:,} bytes."
            raise ReplyTooLarge(what, limit="event_bytes")

    def check_events(self, count: int) -> None:
        """Refuse so many events."""
        if count > self.events:
            what = f"the stream has more than {self.events:,} events."
            raise ReplyTooLarge(what, limit="events")

    def too_many_bytes(self) -> ReplyTooLarge:
        """The refusal of a reply with more than `total_bytes`."""
        return ReplyTooLarge(f"it has more than {self.total_bytes:,} bytes.", limit="total_bytes")

    def check_json(self, data: bytes) -> None:
        """Refuse JSON with too many values, before it is parsed."""
        if len(data) <= self.small:
            return
        if data.count(b",") + data.count(b"[") + data.count(b"{") > self.values:
            raise ReplyTooLarge(f"it has more than {self.values:,} JSON values.", limit="values")


DEFAULT_LIMITS = ReplyLimits()
