"""Calls that come in pieces, whichever way a host numbers them.

Hosts leave the index out, give every call the same one, or count pieces instead of calls; they
repeat ids and names, send them late, or empty. The rules that put pieces to their calls:

1. A piece belongs to the call of its index; without an index, to the last call. Of several pieces
   without index, id and name, the first belongs to the first of so many calls, and so on.
2. It opens a call of its own where it brings an id that no call has, or a name behind complete
   arguments; an id that is known is that of its call, whatever began since. Arguments without a
   name go on with a call that has one, under whatever id: hosts make up a new one each time.
3. A known id with another name opens a call too, once the arguments of the first have begun.
4. An index never seen, without a name and without a new id, goes on with the last call.
5. The `function_call` of old that comes beside `tool_calls` is one of those calls once more.
"""

from collections import deque
from typing import Any

import msgspec

from canonicall.blocks import CallKind, ToolCall
from canonicall.events import Event
from canonicall.wire.openai_chat.calls import LEGACY, decode_call, decode_legacy, is_twin
from canonicall.wire.reading import list_at, object_at, text_at
from canonicall.wire.streaming import Blocks, Growth

_CALL = ("choices", 0, "delta", "tool_calls", 0)
_PATHS: dict[str, tuple[str | int, ...]] = {
    "function": (*_CALL, "function", "arguments"),
    "custom": (*_CALL, "custom", "input"),
}
"""Where the arguments of the only call in a chunk stand."""


_SAME_ID = 16
"""How many calls with one id are kept in mind: the last ones."""


class GrowingCall:
    """One call as far as it has come."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.rest: dict[str, Any] = {}
        self.function_rest: dict[str, Any] = {}
        self.block: int | None = None
        """The number of its block, once it has been told of."""
        self.told = 0
        """How many pieces have been told."""
        self.is_named = False
        """Its name cannot grow any more: the host has gone on to the arguments."""
        self.ended = False
        self.is_legacy = False
        """It is the `function_call` of old, which has no id."""

    @property
    def kind(self) -> CallKind:
        return "custom" if self.rest.get("type") == "custom" else "function"

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def add(self, said: Any) -> None:
        """Add to the arguments. An object is written out once."""
        self.is_named |= said is not None
        if isinstance(said, str):
            if said:
                self.pieces.append(said)
        elif said is not None:
            self.pieces.append(msgspec.json.encode(said).decode())

    def add_told(self, text: str, events: list[Event]) -> None:
        """Add to the arguments of a call that has been told of."""
        self.pieces.append(text)
        self.told += 1
        self._blocks.arguments(self.block or 0, text, events)

    def whole(self) -> dict[str, Any]:
        """The call as it stands in a response without streaming."""
        said = "input" if self.kind == "custom" else "arguments"
        held = {"name": self.name, said: self.arguments} | self.function_rest
        if self.is_legacy:
            return held
        return {"id": self.id, "type": "function"} | self.rest | {self.kind: held}


class GrowingCalls:
    """The calls of one message."""

    def __init__(self, blocks: Blocks) -> None:
        self.calls: list[GrowingCall] = []
        self.growth: Growth | None = None
        """The call that the last pieces only added arguments to."""
        self._by_index: dict[int, GrowingCall] = {}
        self._by_id: dict[str, deque[GrowingCall]] = {}
        self._blocks = blocks
        self._legacy: GrowingCall | None = None
        """The `function_call`. Beside `tool_calls` it is none of the calls before its end."""

    def add(self, pieces: Any, where: str, events: list[Event] | None) -> None:
        """Take the `tool_calls` of one delta in; tell of them if there are `events`."""
        pieces = [pieces] if isinstance(pieces, dict) else list_at(pieces, where)
        if len(pieces) == 1 and events is not None and self._goes_on(pieces[0], events):
            return
        for number, value in enumerate(pieces):
            place = f"{where}[{number}]"
            piece = object_at(value, place)
            inner = "custom" if piece.get("custom") else "function"
            held = object_at(piece.get(inner) or {}, f"{place}.{inner}")
            id = text_at(piece.get("id"), f"{place}.id")
            name = text_at(held.get("name"), f"{place}.{inner}.name")
            text_at(piece.get("type"), f"{place}.type")
            said = held.get("input" if inner == "custom" else "arguments")
            index = piece.get("index")
            call = self._beside(number, len(pieces)) if index is None and not (id or name) else None
            call = call or self._call_for(index, id, name, bool(said), events)
            if id and not call.id:
                self._by_id.setdefault(id, deque(maxlen=_SAME_ID)).append(call)
            _merge(call, piece, held, id, name)
            call.add(said)
            if events is not None:
                self.tell(call, events)
            is_bare = len(pieces) == 1 and not id and not name
            is_told = call.block is not None and not call.ended
            self.growth = Growth(_PATHS[inner], call.add_told) if is_bare and is_told else None

    def _goes_on(self, piece: Any, events: list[Event]) -> bool:
        """Take in a piece that is nothing but more arguments of a call; most are no more."""
        if piece.__class__ is not dict or len(piece) != 2:
            return False
        index, function = piece.get("index"), piece.get("function")
        if index.__class__ is not int or function.__class__ is not dict or len(function) != 1:
            return False
        call, said = self._by_index.get(index), function.get("arguments")
        if call is None or call.block is None or call.ended or said.__class__ is not str:
            return False
        if said:
            call.add_told(said, events)
        self.growth = Growth(_PATHS["function"], call.add_told)
        return True

    def add_legacy(self, value: Any, where: str, events: list[Event] | None) -> None:
        """Take the `function_call` of one delta in: there is one for each message."""
        function = object_at(value, where)
        call = self._legacy
        if call is None:
            call = GrowingCall(self._blocks) if self.calls else self._new(None, events)
            call.is_legacy = True
            self._legacy = call
        call.name = call.name or text_at(function.get("name"), f"{where}.name")
        call.add(function.get("arguments"))
        if events is not None and call in self.calls:
            self.tell(call, events)

    def whole(self) -> dict[str, Any]:
        """The fields of the message that hold the calls."""
        calls = [call.whole() for call in self.calls if not call.is_legacy]
        fields: dict[str, Any] = {"tool_calls": calls} if calls else {}
        if self._legacy is not None:
            fields["function_call"] = self._legacy.whole()
        return fields

    def end(self, events: list[Event], *, is_limited: bool = False) -> None:
        """Tell that the calls are whole; the last one may not be, where a limit was reached."""
        calls = self._unended()
        if is_limited and calls and calls[-1] is self.calls[-1] and not _is_whole(calls[-1]):
            self._tell_all(calls.pop(), events)
        for call in calls:
            self._end(call, events)

    def cut(self, events: list[Event]) -> None:
        """The stream broke off: only calls that cannot grow are whole, the others stay open."""
        for call in self._unended():
            if _is_whole(call):
                self._end(call, events)
            else:
                self._tell_all(call, events)

    def _unended(self) -> list[GrowingCall]:
        legacy = self._legacy
        if legacy is not None and legacy not in self.calls and not self._has_twin(legacy):
            self.calls.append(legacy)
        return [
            call for call in self.calls if not call.ended and (call.id or call.name or call.pieces)
        ]

    def _has_twin(self, legacy: GrowingCall) -> bool:
        """Whether the `function_call` is one of the `tool_calls`."""
        said = decode_legacy(legacy.whole(), "$")
        return any(is_twin(decode_call(call.whole(), "$"), said) for call in self.calls)

    def tell(self, call: GrowingCall, events: list[Event]) -> None:
        """Tell of what is new of a call; nothing before its name is known as a whole."""
        if not call.ended and (call.block is not None or (call.name and call.is_named)):
            self._tell_all(call, events)

    def _tell_all(self, call: GrowingCall, events: list[Event]) -> int:
        if call.block is None:
            native = LEGACY if call.is_legacy else None
            block = ToolCall(id=call.id, name=call.name, kind=call.kind, native=native)
            call.block = self._blocks.start(block, events)
        for text in call.pieces[call.told :]:
            self._blocks.arguments(call.block, text, events)
        call.told = len(call.pieces)
        return call.block

    def _end(self, call: GrowingCall, events: list[Event]) -> None:
        call.ended = True
        decode = decode_legacy if call.is_legacy else decode_call
        self._blocks.end(self._tell_all(call, events), decode(call.whole(), "$"), events)

    def _beside(self, number: int, count: int) -> GrowingCall | None:
        """The call that one of several pieces goes on with, by its place among them."""
        return self.calls[number - count] if 1 < count <= len(self.calls) else None

    def _call_for(
        self, index: Any, id: str, name: str, has_arguments: bool, events: list[Event] | None
    ) -> GrowingCall:
        last = self.calls[-1] if self.calls else None
        known = self._by_index.get(index) if isinstance(index, int) else last
        if known is None:
            is_numbered_piece = last is not None and not name and id in ("", last.id)
            if is_numbered_piece and last is not None:
                return last
        elif not _is_another(known, id, name, has_arguments):
            return known
        repeated = self._repeated(id, name, has_arguments)
        if repeated is None and known is not None and _is_more(known, name, has_arguments):
            return known
        return repeated or self._new(index, events)

    def _repeated(self, id: str, name: str, has_arguments: bool) -> GrowingCall | None:
        """The call that has had this id before, unless this would be more than there can be."""
        named = self._by_id.get(id, ())
        fitting = (call for call in named if not _is_another(call, id, name, has_arguments))
        return next((call for call in fitting if not (has_arguments and _is_whole(call))), None)

    def _new(self, index: Any, events: list[Event] | None) -> GrowingCall:
        last = self.calls[-1] if self.calls else None
        if last is not None and events is not None and not last.ended:
            # What is complete JSON cannot grow: the call before is whole.
            if _is_whole(last):
                self._end(last, events)
            elif last.name:
                self._tell_all(last, events)
        call = GrowingCall(self._blocks)
        self.calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        return call


def _merge(
    call: GrowingCall, piece: dict[str, Any], held: dict[str, Any], id: str, name: str
) -> None:
    """Put what a piece says to its call. Ids are set once; what is empty says nothing.

    Some hosts of Kimi send a name in pieces; behind the first argument it can only be repeated, or
    come late.
    """
    call.id = call.id or id
    if not call.name or (name != call.name and not call.pieces):
        call.name += name
    for field, value in piece.items():
        if field not in ("index", "id", "function", "custom") and value:
            call.rest[field] = value
    for field, value in held.items():
        if field not in ("name", "arguments", "input") and value is not None:
            call.function_rest[field] = value


def _is_another(call: GrowingCall, id: str, name: str, has_arguments: bool) -> bool:
    """Whether a piece cannot belong to `call`, although it has its place."""
    is_repeated = bool(id) and id == call.id
    if id and call.id and not is_repeated:
        return True
    if not name or not call.name:
        return False
    if name == call.name:
        return has_arguments and not is_repeated and _is_whole(call)
    # A name may come in pieces, but its id comes with the first of them.
    return call.is_named if is_repeated else bool(call.pieces)


def _is_more(call: GrowingCall, name: str, has_arguments: bool) -> bool:
    """Whether a piece with an id of its own can only be more of `call` (poolsideai/pool#9)."""
    return has_arguments and not name and bool(call.name) and not _is_whole(call)


def _is_whole(call: GrowingCall) -> bool:
    """Whether the arguments are complete JSON, so that nothing more can belong to them."""
    last = next((piece for piece in reversed(call.pieces) if piece.strip()), "")
    if call.kind == "custom" or not last.rstrip().endswith("}"):
        return False
    try:
        msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True
