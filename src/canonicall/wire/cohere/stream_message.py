"""The message of a Cohere stream as far as it has come: parts, the plan, calls."""

from typing import Any, Generic, TypeVar

import msgspec

from canonicall.blocks import Text, Thinking, ToolCall
from canonicall.events import Event
from canonicall.wire.cohere.content import decode_part
from canonicall.wire.cohere.messages import PLAN, decode_call
from canonicall.wire.reading import id_at, object_at, text_at
from canonicall.wire.streaming import Blocks

_GROWING: dict[str, Text | Thinking] = {"text": Text(text=""), "thinking": Thinking()}


class GrowingPart:
    """One part of the content. Text and thoughts grow; any other part is told when it is whole."""

    def __init__(self, part: dict[str, Any], blocks: Blocks) -> None:
        given = part.get("type") or ("thinking" if "thinking" in part else "text")
        self._type = text_at(given, "$.delta.message.content.type")
        self._blocks = blocks
        self._index: int | None = None
        self._rest: dict[str, Any] = {}
        self._whole: dict[str, Any] | None = None

    def add(self, part: dict[str, Any], events: list[Event]) -> None:
        """Take what a start or a delta says in."""
        said = part.get(self._type)
        if self._type not in _GROWING:
            self._rest |= part
            return
        text = text_at(said, f"$.delta.message.content.{self._type}")
        if self._index is None:
            self._index = self._blocks.start(_GROWING[self._type], events)
        if text and self._type == "text":
            self._blocks.text(self._index, text, events)
        elif text:
            self._blocks.thinking(self._index, text, events)
        if len(part) > 1:
            self._rest |= {k: v for k, v in part.items() if k not in ("type", self._type)}

    def end(self, events: list[Event]) -> None:
        """Tell that it is whole."""
        self._whole = self.wire()
        block = decode_part(self._whole, "$.content")
        if self._index is None:
            self._blocks.whole(block, events)
        else:
            self._blocks.end(self._index, block, events)

    def wire(self) -> dict[str, Any]:
        """The part of a response without streaming."""
        if self._whole is not None:
            return self._whole
        if self._index is None:
            return {"type": self._type, **self._rest}
        return {"type": self._type, self._type: self._blocks.said(self._index), **self._rest}


class GrowingCall:
    """One call."""

    def __init__(self, start: dict[str, Any], blocks: Blocks, events: list[Event]) -> None:
        where = "$.delta.message.tool_calls"
        function = object_at(start.get("function") or {}, f"{where}.function")
        self._call = {name: field for name, field in start.items() if name != "function"}
        self._function = function
        self._blocks = blocks
        call = ToolCall(
            id=id_at(start.get("id"), f"{where}.id"),
            name=text_at(function.get("name"), f"{where}.function.name"),
        )
        text = _arguments(start)
        self._index = blocks.start(call, events)
        self._whole: dict[str, Any] | None = None
        if text:
            blocks.arguments(self._index, text, events)

    def add(self, call: dict[str, Any], events: list[Event]) -> None:
        """Take more of the arguments in."""
        text = _arguments(call)
        if text:
            self._blocks.arguments(self._index, text, events)

    def end(self, events: list[Event]) -> None:
        """Tell that it is whole."""
        self._whole = self.wire()
        self._blocks.end(self._index, decode_call(self._whole, "$.tool_calls"), events)

    def wire(self) -> dict[str, Any]:
        """The call of a response without streaming."""
        if self._whole is not None:
            return self._whole
        function = {**self._function, "arguments": self._blocks.said(self._index)}
        return {**self._call, "function": function}


def _arguments(call: dict[str, Any]) -> str:
    """A piece of the arguments; a whole object is written out."""
    where = "$.delta.message.tool_calls.function"
    given = object_at(call.get("function") or {}, where).get("arguments")
    if isinstance(given, dict):
        return msgspec.json.encode(given).decode() if given else ""
    return text_at(given, f"{where}.arguments")


class GrowingPlan:
    """What the model says beside its calls. It has no end of its own: the next thing ends it."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._index: int | None = None
        self._ended: list[str] = []

    def add(self, text: str, events: list[Event]) -> None:
        """Take more of the plan in."""
        if not text:
            return
        if self._index is None:
            self._index = self._blocks.start(Text(text="", native=PLAN), events)
        self._blocks.text(self._index, text, events)

    def end(self, events: list[Event]) -> None:
        """Tell that it is whole, if it is open."""
        if self._index is None:
            return
        said = self._blocks.said(self._index)
        self._ended.append(said)
        self._blocks.end(self._index, Text(text=said, native=PLAN), events)
        self._index = None

    def wire(self) -> str:
        """The plan of a response without streaming."""
        return "".join(self._ended)


Grown = TypeVar("Grown", GrowingPart, GrowingCall)


class Numbered(Generic[Grown]):
    """Parts or calls in the order in which they came, and those that are open by their numbers."""

    def __init__(self) -> None:
        self._all: list[Grown] = []
        self._open: dict[int, Grown] = {}
        self._last = 0

    def __bool__(self) -> bool:
        return bool(self._all)

    def open(self, number: Any, one: Grown) -> None:
        """One starts; what was open under its number has ended before."""
        self._all.append(one)
        self._open[self._number(number)] = one

    def get(self, number: Any) -> Grown | None:
        """The one that is open under a number; without a number, under the last one."""
        return self._open.get(self._number(number))

    def end(self, number: Any, events: list[Event]) -> None:
        """One is whole."""
        one = self._open.pop(self._number(number), None)
        if one is not None:
            one.end(events)

    def end_all(self, events: list[Event]) -> None:
        """All are whole."""
        for number in list(self._open):
            self.end(number, events)

    def wire(self) -> list[dict[str, Any]]:
        """What a response without streaming has."""
        return [one.wire() for one in self._all]

    def _number(self, number: Any) -> int:
        if isinstance(number, int):
            self._last = number
        return self._last
