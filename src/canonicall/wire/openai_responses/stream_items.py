"""Thoughts and calls of a streamed response: each item is a block, which comes in pieces."""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Thinking, ToolCall
from canonicall.events import Event, SignatureAdded
from canonicall.folding import raw_arguments
from canonicall.wire.openai_responses.fields import ITEM_ID
from canonicall.wire.openai_responses.reasoning import BETWEEN_PARTS
from canonicall.wire.openai_responses.stream_item import GrowingItem, Told, missing

_THOUGHTS = {"summary": "summary_text", "content": "reasoning_text"}


class GrowingReasoning(GrowingItem):
    """A thought: a summary, or the text itself, in parts."""

    def __init__(self, item: dict[str, Any], told: Told) -> None:
        super().__init__(item, told)
        self._parts: dict[tuple[str, int], list[str]] = {}
        self._shown = ""
        """Which of the two is told. A host that sends both has sent it first."""
        self._index: int | None = None

    def start(self, events: list[Event]) -> None:
        """The thought begins.

        OpenAI's is told at once: its first words may be long in coming. Other hosts, which give
        thoughts a status, may send a summary or the text itself; the first piece tells.
        """
        if self.item.get("status") is None:
            self._begin("summary", events)

    def _begin(self, kind: str, events: list[Event]) -> int:
        """Tell of the thought. What it is sealed with now is not its last seal."""
        item = {"type": "reasoning", "id": self.item.get("id")}
        if kind == "content":
            item["content"] = [{"type": _THOUGHTS[kind], "text": ""}]
        self._index = self._told.blocks.start(self._told.decode(item)[0], events)
        return self._index

    def add(self, kind: str, index: int, text: str, events: list[Event]) -> None:
        """Take more of the thought in."""
        if not text:
            return
        begun = self._index if self._index is not None else self._begin(kind, events)
        self._shown = self._shown or kind
        pieces = self._parts.get((kind, index))
        told = text
        if pieces is None:
            is_first = not any(shown == kind for shown, _ in self._parts)
            pieces = self._parts[kind, index] = []
            told = text if is_first else BETWEEN_PARTS + text
        pieces.append(text)
        if kind == self._shown:
            self._told.blocks.thinking(begun, told, events)

    def said(self, kind: str, index: int) -> str:
        """What a part said so far."""
        return "".join(self._parts.get((kind, index), ()))

    def finish(self, item: dict[str, Any], events: list[Event]) -> None:
        """Take in the whole thought, with its seal."""
        if not item.get("summary") and not item.get("content"):
            item = {**item, **self._said()}
        self._close(item, events)
        self._end(item)

    def cut(self, events: list[Event]) -> None:
        """The thought ends where it is, without a seal."""
        self._close(self.whole(), events)

    def whole(self) -> dict[str, Any]:
        """The thought as far as it came. A seal that came before its end fits nothing."""
        if self.is_done:
            return self.item
        kept = ("type", "id")
        return {name: self.item.get(name) for name in kept} | self._said()

    def _said(self) -> dict[str, Any]:
        said: dict[str, list[Any]] = {"summary": []}
        for kind, index in sorted(self._parts):
            text = "".join(self._parts[kind, index])
            said.setdefault(kind, []).append({"type": _THOUGHTS[kind], "text": text})
        return said

    def _close(self, item: dict[str, Any], events: list[Event]) -> None:
        block = self._told.decode(item)[0]
        blocks = self._told.blocks
        index = self._index
        if index is None:
            index = self._begin("content" if item.get("content") else "summary", events)
        if isinstance(block, Thinking):
            rest = missing(blocks.said(index), block.text)
            if rest:
                blocks.thinking(index, rest, events)
        seals = (opaque for opaque in block.opaque if opaque.kind != ITEM_ID)
        events.extend(SignatureAdded(index, seal) for seal in seals)
        blocks.end(index, block, events)


class GrowingCall(GrowingItem):
    """A call of the client's: a function, or a custom tool."""

    def __init__(self, item: dict[str, Any], told: Told) -> None:
        super().__init__(item, told)
        self._field = "input" if item.get("type") == "custom_tool_call" else "arguments"
        self._pieces: list[str] = []
        self._index: int | None = None

    @property
    def is_call(self) -> bool:
        """It is one."""
        return True

    def start(self, events: list[Event]) -> None:
        """Tell of the call, once its id and its name are known."""
        begun = {name: field for name, field in self.item.items() if name != "status"}
        block = self._told.decode({**begun, self._field: ""})[0]
        if isinstance(block, ToolCall) and block.id and block.name:
            self._begin(block, events)

    def add(self, kind: str, index: int, text: str, events: list[Event]) -> None:  # noqa: ARG002
        """Take more of the arguments in."""
        if text:
            self._pieces.append(text)
            if self._index is not None:
                self._told.blocks.arguments(self._index, text, events)

    def said(self, kind: str, index: int) -> str:  # noqa: ARG002
        """The arguments so far."""
        return "".join(self._pieces)

    def finish(self, item: dict[str, Any], events: list[Event]) -> None:
        """Take in the whole call. What it leaves out stands where it began."""
        known = {name: self.item.get(name) for name in ("type", "id", "call_id", "name")}
        known[self._field] = "".join(self._pieces) or self.item.get(self._field)
        item = {**item, **{name: known[name] for name in known if not item.get(name)}}
        block = self._told.decode(item)[0]
        if isinstance(block, ToolCall):
            index = self._index if self._index is not None else self._begin(block, events)
            self.add("", 0, missing("".join(self._pieces), raw_arguments(block)), events)
            self._told.blocks.end(index, block, events)
        self._end(item)

    def whole(self) -> dict[str, Any]:
        """The call as far as it came, which is not far enough to run it."""
        if self.is_done:
            return self.item
        said = "".join(self._pieces) or self.item.get(self._field) or ""
        return {**self.item, self._field: said, "status": "incomplete"}

    def _begin(self, call: ToolCall, events: list[Event]) -> int:
        self._index = self._told.blocks.start(replace(call, args=None, raw=None), events)
        for text in self._pieces:
            self._told.blocks.arguments(self._index, text, events)
        return self._index
