"""One output item of a streamed response: its parts, its texts, and whether its end repeats them.

A text grows in deltas and is given once more as a whole: in its own `done`, in that of its part, in
that of its item, and in the terminal response. All of them have to say the same.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from canonicall.verify.node import Node
from canonicall.verify.streams.calls import is_object
from canonicall.verify.streams.grammar import Grammar
from canonicall.verify.violation import Violation


class Family(NamedTuple):
    """Where the text of one kind of delta belongs."""

    item: str
    """The type of the item."""
    field: str
    """The field that has the whole text."""
    list: str = ""
    """The list of the item whose part it is; empty where the text is the item's own."""
    part: str = ""
    """The type of the part."""


FAMILIES = {
    "response.output_text": Family("message", "text", "content", "output_text"),
    "response.refusal": Family("message", "refusal", "content", "refusal"),
    "response.reasoning_text": Family("reasoning", "text", "content", "reasoning_text"),
    "response.reasoning_summary_text": Family("reasoning", "text", "summary", "summary_text"),
    "response.function_call_arguments": Family("function_call", "arguments"),
    "response.custom_tool_call_input": Family("custom_tool_call", "input"),
    "response.mcp_call_arguments": Family("mcp_call", "arguments"),
    "response.code_interpreter_call_code": Family("code_interpreter_call", "code"),
}
_PART_FIELDS = {family.part: family.field for family in FAMILIES.values() if family.part}
_ITEM_FIELDS = {family.item: family.field for family in FAMILIES.values() if not family.list}
# What the client itself has to answer.
CALLS = {"function_call", "custom_tool_call"}
# Made anew each time it is written: an event may have another one than the terminal response.
_UNSTABLE = "encrypted_content"


class Growing:
    """A text that is streamed: of a part, or of an item itself."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.pieces: list[str] = []
        self.is_given = False
        """Its whole was given, so nothing may be added."""
        self.is_ended = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Item:
    """An item from its `added` to its `done`."""

    def __init__(self, added: Node, grammar: Grammar) -> None:
        self._grammar = grammar
        self.added = added
        self.type = added.text("type")
        self.own = Growing(self.type)
        self.parts: dict[str, list[Growing]] = {"content": [], "summary": []}
        self.done: dict[str, Any] | None = None

    def delta(self, family: Family, data: Node, index: int | None) -> Iterator[Violation]:
        """A piece of one of its texts."""
        growing = self._growing(family, index)
        if growing is None or growing.is_given:
            yield self._grammar.broken("block_not_open", data.where)
            return
        yield from self._grammar.missing(data, "delta")
        growing.pieces.append(data.text("delta"))

    def given(self, family: Family, data: Node, index: int | None) -> Iterator[Violation]:
        """The whole of one of its texts."""
        growing = self._growing(family, index)
        if growing is None or growing.is_given:
            yield self._grammar.broken("block_not_open", data.where)
            return
        growing.is_given = True
        yield from self._same(growing, data, family.field)

    def part_added(self, list: str, data: Node, index: int | None) -> Iterator[Violation]:
        parts = self.parts[list]
        if index != len(parts):
            yield self._grammar.broken("index_out_of_order", data.at(f"{list}_index"))
        part = data.node("part")
        parts.append(Growing(part.text("type")))
        if part.text("type") not in _PART_FIELDS:
            yield self._grammar.broken("delta_does_not_fit", part.at("type"))
        elif text := part.text(_PART_FIELDS[part.text("type")]):
            parts[-1].pieces.append(text)

    def part_done(self, list: str, data: Node, index: int | None) -> Iterator[Violation]:
        part = self._part(list, index)
        if part is None or part.is_ended:
            yield self._grammar.broken("block_not_open", data.where)
            return
        if not part.is_given:
            yield self._grammar.broken("block_left_open", data.where)
        part.is_given = part.is_ended = True
        yield from self._same(part, data.node("part"), _PART_FIELDS.get(part.kind, ""))

    def ended(self, item: Node) -> Iterator[Violation]:
        """Its `done`: everything in it is ended, and it is what the pieces made."""
        self.done = item.fields
        for key in ("type", "id", "call_id", "name"):
            if item.text(key) != self.added.text(key):
                error = "Completed output item identity changed."
                yield self._grammar.broken("done_differs", item.at(key), error)
        for list, parts in self.parts.items():
            if any(not part.is_ended for part in parts):
                yield self._grammar.broken("block_left_open", item.where)
            given = item.nodes(list) if self.type in ("message", "reasoning") else []
            if len(given) != len(parts):
                yield self._grammar.broken("done_differs", item.at(list))
            for part, node in zip(parts, given, strict=False):
                yield from self._same(part, node, _PART_FIELDS.get(part.kind, ""))
        if self.own.pieces or self.own.is_given or self.type in CALLS:
            if not self.own.is_given:
                yield self._grammar.broken("block_left_open", item.where)
            yield from self._same(self.own, item, _ITEM_FIELDS[self.type])
        is_cut = item.get("status") == "incomplete"
        if self.type == "function_call" and not is_cut and not is_object(item.text("arguments")):
            yield self._grammar.broken("arguments_not_json", item.at("arguments"))

    def same_as(self, final: Node) -> bool:
        """Whether the terminal response has the item as its `done` gave it."""
        done, last = dict(self.done or {}), dict(final.fields)
        done.pop(_UNSTABLE, None)
        last.pop(_UNSTABLE, None)
        return done == last

    def _growing(self, family: Family, index: int | None) -> Growing | None:
        if not family.list:
            return self.own if self.type == family.item else None
        part = self._part(family.list, index)
        return part if part is not None and part.kind == family.part else None

    def _part(self, list: str, index: int | None) -> Growing | None:
        parts = self.parts[list]
        return parts[index] if index is not None and 0 <= index < len(parts) else None

    def _same(self, growing: Growing, node: Node, field: str) -> Iterator[Violation]:
        if field and node.text(field) != growing.text:
            yield self._grammar.broken("done_differs", node.at(field))
