"""A whole reply as the pieces of a stream, and the faults that only streams have."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.events import ArgumentsAdded, Event, StreamEnded, TextAdded, ThinkingAdded
from canonicall.folding import events_of
from canonicall.reply import Reply
from canonicall.streams import StreamEncoder
from canonicall.testing.exchange import Pause, Piece
from canonicall.testing.faults import Fault

PIECE = 12
"""How many characters come at a time."""
_PAUSE = 0.05
_HEAD = b"data: "


def stream_of(reply: Reply, format: str, faults: frozenset[Fault]) -> list[bytes]:
    """The bytes of the stream that tells `reply`, as they are sent."""
    events = list(in_pieces(reply))
    if Fault.ERROR_IN_200 in faults:
        why = "The server had an error while processing your request."
        broken = StreamEnded(_partial(reply), complete=False, why=why)
        events = [*events[: max(len(events) // 2, 1)], broken]
    encoder = StreamEncoder(format)
    sent = [encoder.feed(event) for event in events] + [encoder.close()]
    pieces = [piece for piece in sent if piece]
    if Fault.INDEX_ZERO in faults:
        pieces = _changed(pieces, _with_index_zero)
    if Fault.LATE_NAMES in faults:
        pieces = _changed(pieces, _LateNames().change)
    return pieces


def paced(pieces: Iterator[Piece], faults: frozenset[Fault]) -> Iterator[Piece]:
    """The pieces with the pauses that the faults ask for."""
    for index, piece in enumerate(pieces):
        if Fault.STALLED_STREAM in faults and index == 2:
            yield Pause()
        if Fault.SLOW_STREAM in faults:
            yield Pause(_PAUSE)
        yield piece


def cut(pieces: Sequence[Piece]) -> list[Piece]:
    """The first half of the bytes, so that the last frame is broken in its midst."""
    data = [piece for piece in pieces if isinstance(piece, bytes)]
    left = max(sum(map(len, data)) // 2, 1)
    kept: list[Piece] = []
    for piece in data:
        kept.append(piece[:left])
        left -= len(piece)
        if left <= 0:
            break
    return kept


def in_pieces(reply: Reply) -> Iterator[Event]:
    """The events of a reply, its words and arguments a few characters at a time."""
    for event in events_of(reply):
        if isinstance(event, TextAdded | ThinkingAdded | ArgumentsAdded):
            for at in range(0, len(event.text), PIECE):
                yield type(event)(event.index, event.text[at : at + PIECE])
        else:
            yield event


def _partial(reply: Reply) -> Reply:
    return replace(reply, message=replace(reply.message, partial=True))


def _changed(pieces: list[bytes], change: Any) -> list[bytes]:
    """The pieces with each chat chunk that has calls changed."""
    made = []
    for piece in pieces:
        events = piece.split(b"\n\n")
        made.append(b"\n\n".join(_event(one, change) for one in events))
    return made


def _event(event: bytes, change: Any) -> bytes:
    if not event.startswith(_HEAD + b"{"):
        return event
    chunk = msgspec.json.decode(event[len(_HEAD) :])
    for choice in chunk.get("choices", ()):
        for call in choice.get("delta", {}).get("tool_calls", ()):
            change(call)
    return _HEAD + msgspec.json.encode(chunk)


def _with_index_zero(call: dict[str, Any]) -> None:
    call["index"] = 0


class _LateNames:
    """Holds the name of each call back until its first arguments have been sent."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}

    def change(self, call: dict[str, Any]) -> None:
        function = call.get("function", {})
        index = call.get("index")
        if function.get("name"):
            self._names[index] = function.pop("name")
        elif index in self._names:
            function["name"] = self._names.pop(index)
