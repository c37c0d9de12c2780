"""A stream that was forwarded and broke off, at the point where its translation would be."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.events import Event, FinishReported, MessageStarted, StreamEnded
from canonicall.facts.target import Target
from canonicall.gateway.whole_frames import StreamCut
from canonicall.reply import ERROR
from canonicall.wire.openai_responses import FORMAT

_BLOCK = re.compile(rb'"content_block_start"[^{]*"index"\s*:\s*(\d+)')
_STEP = re.compile(rb'^data: *(\{.*"response\.\w+(?:\.\w+)*\.(?:added|done)".*)$', re.MULTILINE)
_PLACE = ("type", "output_index", "content_index", "summary_index", "item_id")
_NUMBER = re.compile(rb'"sequence_number"\s*:\s*(\d+)')
_OWN_NUMBER = re.compile(rb'^(data: .*?"sequence_number":)(\d+)', re.MULTILINE)
"""Where our encoder writes it: before anything that others have said."""
_CREATED = re.compile(rb'"created(?:_at)?"\s*:\s*(\d+)')


class TakenOver:
    """What the client has of it, and a way to say more."""

    def __init__(
        self, cut: StreamCut, format: str, *, seed: str, repeats: Mapping[str, Any] | None = None
    ) -> None:
        frames = cut.frames
        self.target: Target = frames.target
        decoder = StreamDecoder(format, provider=self.target.provider)
        self.events = decoder.feed(frames.given)
        if not any(isinstance(one, MessageStarted) for one in self.events):
            # So much was given on that its beginning was not kept.
            self.events.insert(0, MessageStarted())
        *closing, end = decoder.close()
        assert isinstance(end, StreamEnded)  # noqa: S101  the last event always is
        failed = replace(end.reply, message=replace(end.reply.message, finish=ERROR))
        self.end = StreamEnded(failed, complete=False, why=cut.why)
        created = _CREATED.search(frames.given)
        self._encoder = StreamEncoder(
            format,
            seed=seed,
            created=int(created[1]) if created is not None else 0,
            repeats=repeats,
        )
        # Some formats hold a whole call back until something follows; here the client has it.
        written = self._encoder.feed_all([*self.events, FinishReported("")])
        self._is_named = format == FORMAT
        """In Responses events are numbered, and items have names that their provider gave them."""
        self._next_number = _last_number(frames.last) + 1
        self._shift = self._next_number - _last_number(written) - 1
        # Some providers count blocks that nobody else knows: there its numbers are others.
        self._is_level = frames.is_whole and list(_layout(frames.given)) == list(_layout(written))
        self.closing = closing if self._is_level else []

    @property
    def can_go_on(self) -> bool:
        """Whether more can be said behind what the client has, as if it came from one hand."""
        return self._is_level

    def completed(self, now: float) -> None:
        """Note when the reply is complete."""
        self._encoder.completed(now)

    def feed_all(self, events: list[Event]) -> bytes:
        """The bytes of events that follow."""
        if self._is_level or not self._is_named:
            return self._numbered(self._encoder.feed_all(events))
        is_end = bool(events) and isinstance(events[-1], StreamEnded)
        return self._error() if is_end else b""

    def close(self) -> bytes:
        """The end of the stream, where it never came."""
        if self._is_level or not self._is_named:
            return self._numbered(self._encoder.close())
        return self._error()

    def _numbered(self, data: bytes) -> bytes:
        """Events of ours with the numbers that follow those of the provider."""
        if not self._is_named or not self._shift:
            return data
        return _OWN_NUMBER.sub(lambda one: b"%b%d" % (one[1], int(one[2]) + self._shift), data)

    def _error(self) -> bytes:
        """All that can be said of a response whose items are not known."""
        error = {"type": "server_error", "code": None, "message": self.end.why, "param": None}
        told = {"type": "error", "error": error, "sequence_number": self._next_number}
        return b"event: error\ndata: " + msgspec.json.encode(told) + b"\n\n"


def _last_number(data: bytes) -> int:
    numbers = _NUMBER.findall(data)
    return int(numbers[-1]) if numbers else -1


def _layout(data: bytes) -> Iterator[Any]:
    """Which blocks, or items and parts, have begun and ended in a stream, under which names."""
    yield from _BLOCK.findall(data)
    for line in _STEP.findall(data):
        try:
            event = msgspec.json.decode(line, type=dict)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            continue
        item = event.get("item")
        named = item if isinstance(item, dict) else {}
        place = [event.get(name) for name in _PLACE]
        # What an item was at its end, the response at the end of the stream has to say again.
        is_whole = event.get("type") == "response.output_item.done"
        told = {name: value for name, value in named.items() if value is not None}
        yield *place, told if is_whole else named.get("id")
