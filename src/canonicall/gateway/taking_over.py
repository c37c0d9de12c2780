"""A stream that was forwarded and broke off, at the point where its translation would be."""

import re

import msgspec
from msgspec.structs import replace

from canonicall.events import Event, FinishReported, MessageStarted, StreamEnded
from canonicall.gateway.whole_frames import StreamCut
from canonicall.streams import StreamDecoder, StreamEncoder
from canonicall.target import Target

_NUMBER = re.compile(rb'"sequence_number"\s*:\s*(\d+)')


class TakenOver:
    """What the client has of it, and a way to say more."""

    def __init__(self, cut: StreamCut, format: str, *, seed: str) -> None:
        frames = cut.frames
        self.target: Target = frames.target
        decoder = StreamDecoder(format, provider=self.target.provider)
        self.events = decoder.feed(frames.given)
        if not any(isinstance(one, MessageStarted) for one in self.events):
            # So much was given on that its beginning was not kept.
            self.events.insert(0, MessageStarted())
        *closing, end = decoder.close()
        assert isinstance(end, StreamEnded)  # noqa: S101  the last event always is
        self.closing = closing
        self.end = replace(end, complete=False, why=cut.why)
        self._encoder = StreamEncoder(format, seed=seed)
        # Some formats hold a whole call back until something follows; here the client has it.
        self._encoder.feed_all([*self.events, FinishReported("")])
        numbers = _NUMBER.findall(frames.last)
        self._number = int(numbers[-1]) if numbers else None
        """Of the last event, in Responses: there items have names that only their provider knows,
        so that nothing but an error can be said behind them."""
        self.can_go_on = frames.is_whole and self._number is None

    def feed_all(self, events: list[Event]) -> bytes:
        """The bytes of events that follow."""
        if self._number is None:
            return self._encoder.feed_all(events)
        return self.close() if isinstance(events[-1], StreamEnded) else b""

    def close(self) -> bytes:
        """The end of the stream, where it never came."""
        if self._number is None:
            return self._encoder.close()
        error = {"type": "server_error", "code": None, "message": self.end.why, "param": None}
        told = {"type": "error", "error": error, "sequence_number": self._number + 1}
        return b"event: error\ndata: " + msgspec.json.encode(told) + b"\n\n"
