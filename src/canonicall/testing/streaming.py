"""A whole reply as the pieces of a stream, and the faults that only streams have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.codec.streams import StreamEncoder
from canonicall.events import ArgumentsAdded, Event, StreamEnded, TextAdded, ThinkingAdded
from canonicall.folding import events_of
from canonicall.reply import ERROR, Reply
from canonicall.testing.exchange import Pause, Piece
from canonicall.testing.faults import Fault

PIECE = 12
"""How many characters come at a time."""
_PAUSE = 0.05
_HEAD = b"data: "


def stream_of(
    reply: Reply,
    format: str,
    faults: frozenset[Fault],
    *,
    created: int = 0,
    repeats: Mapping[str, Any] | None = None,
) -> list[bytes]:
    """The pieces of the stream that tells `reply`, as the owner of the format sends them.

    `created`: the time in it. `repeats`: the fields that it repeats of its request.
    """
    events = list(in_pieces(reply))
    if Fault.ERROR_IN_200 in faults:
        why = "The server had an error while processing your request."
        broken = StreamEnded(_failed(reply), complete=False, why=why)
        events = [*events[: max(len(events) // 2, 1)], broken]
    encoder = StreamEncoder(format, created=created, repeats=repeats)
    sent = [encoder.feed(event) for event in events] + [encoder.close()]
    return [piece for piece in sent if piece]


def spoilt(pieces: list[bytes], faults: frozenset[Fault]) -> list[bytes]:
    """The pieces of a chat stream with the faults that are in how calls are told."""
    if Fault.INDEX_ZERO in faults:
        pieces = _changed(pieces, _with_index_zero)
    if Fault.LATE_NAMES in faults:
        pieces = _changed(pieces, _LateNames().change)
    return pieces


def whole_calls(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of a chat stream with each call in one chunk, where many hosts have it."""
    waiting: dict[Any, dict[str, Any]] = {}
    head: dict[str, Any] = {}
    for event in b"".join(pieces).split(b"\n\n"):
        chunk = _chunk_of(event)
        calls = _calls_of(chunk)
        for call in calls:
            _add_to(waiting.setdefault(call["index"], {"function": {}}), call)
        if calls:
            head = chunk
            continue
        if waiting:
            delta = {"tool_calls": list(waiting.values())}
            choice = {"index": 0, "delta": delta, "finish_reason": None}
            yield _HEAD + msgspec.json.encode({**head, "choices": [choice]}) + b"\n\n"
            waiting = {}
        if event:
            yield event + b"\n\n"


def with_usage_at_the_end(pieces: list[bytes]) -> list[bytes]:
    """The pieces with the usage in the chunk that ends the choice, not in one of its own."""
    events = [event for event in b"".join(pieces).split(b"\n\n") if event]
    chunks = {at: _chunk_of(event) for at, event in enumerate(events)}
    counted = next((at for at, chunk in chunks.items() if chunk.get("usage")), None)
    ended = next((at for at, chunk in chunks.items() if _ends(chunk)), None)
    if counted is None or ended is None or chunks[counted].get("choices"):
        return pieces
    joined = {**chunks[ended], "usage": chunks[counted]["usage"]}
    events[ended] = _HEAD + msgspec.json.encode(joined)
    return [event + b"\n\n" for at, event in enumerate(events) if at != counted]


def _ends(chunk: dict[str, Any]) -> bool:
    return any(choice.get("finish_reason") for choice in chunk.get("choices") or ())


def _chunk_of(event: bytes) -> dict[str, Any]:
    """The chunk that an event of a chat stream has; empty for `[DONE]` and comments."""
    if not event.startswith(_HEAD + b"{"):
        return {}
    chunk: dict[str, Any] = msgspec.json.decode(event[len(_HEAD) :])
    return chunk


def _add_to(whole: dict[str, Any], call: dict[str, Any]) -> None:
    """Add what one delta tells of a call to what the ones before it told."""
    told = {**call.get("function", {})}
    said = whole["function"].get("arguments", "") + told.pop("arguments", "")
    rest = {name: value for name, value in call.items() if name != "function"}
    whole |= rest | {"function": {**whole["function"], **told, "arguments": said}}


def _calls_of(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    choices = chunk.get("choices") or ()
    return [call for choice in choices for call in choice.get("delta", {}).get("tool_calls", ())]


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


def _failed(reply: Reply) -> Reply:
    return replace(reply, message=replace(reply.message, partial=True, finish=ERROR))


def _changed(pieces: list[bytes], change: Any) -> list[bytes]:
    """The pieces with each chat chunk that has calls changed."""
    made = []
    for piece in pieces:
        events = piece.split(b"\n\n")
        made.append(b"\n\n".join(_event(one, change) for one in events))
    return made


def _event(event: bytes, change: Any) -> bytes:
    chunk = _chunk_of(event)
    if not chunk:
        return event
    for call in _calls_of(chunk):
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
