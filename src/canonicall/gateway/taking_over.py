"""A stream that was forwarded and broke off, at the point where its translation would be."""

import re

import msgspec
from msgspec.structs import replace

from canonicall.events import Event, FinishReported, MessageStarted, StreamEnded
from canonicall.gateway.whole_frames import StreamCut
from canonicall.streams import StreamDecoder, StreamEncoder
from canonicall.target import Target
from canonicall.wire.openai_responses.target import FORMAT

_BLOCK = re.compile(rb'"content_block_start"[^{]*"index"\s*:\s*(\d+)')
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
        self.end = replace(end, complete=False, why=cut.why)
        self._encoder = StreamEncoder(format, seed=seed)
        # Some formats hold a whole call back until something follows; here the client has it.
        written = self._encoder.feed_all([*self.events, FinishReported("")])
        self._is_named = format == FORMAT
        """In Responses items have names that only their provider knows: nothing but an error can be
        said behind them."""
        self._last = frames.last
        # Some providers count blocks that nobody else knows: there its numbers are others.
        is_level = _BLOCK.findall(frames.given) == _BLOCK.findall(written)
        self.can_go_on = frames.is_whole and is_level and not self._is_named
        self.closing = closing if self.can_go_on else []

    def feed_all(self, events: list[Event]) -> bytes:
        """The bytes of events that follow."""
        if not self._is_named:
            return self._encoder.feed_all(events)
        is_end = bool(events) and isinstance(events[-1], StreamEnded)
        return self.close() if is_end else b""

    def close(self) -> bytes:
        """The end of the stream, where it never came."""
        if not self._is_named:
            return self._encoder.close()
        numbers = _NUMBER.findall(self._last)
        number = int(numbers[-1]) + 1 if numbers else 0
        error = {"type": "server_error", "code": None, "message": self.end.why, "param": None}
        told = {"type": "error", "error": error, "sequence_number": number}
        return b"event: error\ndata: " + msgspec.json.encode(told) + b"\n\n"
