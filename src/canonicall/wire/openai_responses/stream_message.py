"""A message of a streamed response: it grows part by part, and each part is a block."""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Text
from canonicall.events import Event
from canonicall.wire.openai_responses.stream_item import GrowingItem, Told, missing
from canonicall.wire.reading import list_at, object_at

_WORDS = {"output_text": "text", "refusal": "refusal"}
"""The parts that grow, and the field in which they do."""


class _Part:
    """A part of a message. Its words are put together once."""

    def __init__(self, fields: dict[str, Any], block: Block, index: int) -> None:
        self.fields = fields
        self.block = block
        self.index = index
        """The number of its block."""
        self.pieces: list[str] = []
        self.is_ended = False

    def whole(self) -> dict[str, Any]:
        if self.is_ended:
            return self.fields
        return {**self.fields, _WORDS[self.fields["type"]]: "".join(self.pieces)}


class GrowingMessage(GrowingItem):
    """A message: words, refusals."""

    def __init__(self, item: dict[str, Any], told: Told) -> None:
        super().__init__(item, told)
        self._parts: dict[int, _Part] = {}

    def start(self, events: list[Event]) -> None:  # noqa: ARG002  its parts are what is told
        """Nothing to tell: a message is its parts. It has to be readable, though."""
        self._told.decode(self.item)

    def add(self, kind: str, index: int, text: str, events: list[Event]) -> None:
        """Take more of a part in."""
        part = self._parts.get(index)
        if part is None:
            part = self._open(index, {"type": kind}, events)
        if text and not part.is_ended:
            part.pieces.append(text)
            self._told.blocks.text(part.index, text, events)

    def said(self, kind: str, index: int) -> str:  # noqa: ARG002  a part is of one kind
        """What a part said so far."""
        part = self._parts.get(index)
        return "" if part is None else "".join(part.pieces)

    def open_part(self, index: int, part: dict[str, Any], events: list[Event]) -> None:
        """A part begins."""
        kind = part.get("type")
        if index not in self._parts and isinstance(kind, str) and kind in _WORDS:
            self._open(index, {**part, _WORDS[kind]: ""}, events)

    def end_part(self, index: int, part: dict[str, Any], events: list[Event]) -> None:
        """A part is whole."""
        if index in self._parts:
            self._close(self._parts[index], part, self.item, events)

    def annotate(self, index: int, annotation: Any) -> None:
        """Keep what is said about the words of a part."""
        part = self._parts.get(index)
        if part is not None and not part.is_ended:
            known = part.fields.get("annotations")
            part.fields["annotations"] = [*(known if isinstance(known, list) else ()), annotation]

    def finish(self, item: dict[str, Any], events: list[Event]) -> None:
        """Take in the whole message. Hosts number its parts as they like; their order counts."""
        content = item.get("content")
        if isinstance(content, str):
            content = [{"type": "output_text", "text": content}]
        parts = [self._parts[index] for index in sorted(self._parts)]
        content = list_at(content, "$.item.content") or [part.whole() for part in parts]
        item = {**item, "content": content}
        blocks = self._told.decode(item)
        for part, value in zip(parts, content, strict=False):
            self._close(part, object_at(value, "$.item.content"), item, events)
        for part in parts[len(content) :]:
            self._close(part, part.whole(), item, events)
        for block in blocks[len(parts) :]:
            self._tell(block, events)
        self._end(item)

    def cut(self, events: list[Event]) -> None:
        """End the parts that are open."""
        for part in self._parts.values():
            self._close(part, part.whole(), self.item, events)

    def whole(self) -> dict[str, Any] | None:
        """The message as far as it came; None where it has said nothing."""
        if self.is_done or not self._parts:
            return self.item if self.is_done else None
        content = [self._parts[index].whole() for index in sorted(self._parts)]
        return {**self.item, "status": "incomplete", "content": content}

    def _open(self, index: int, fields: dict[str, Any], events: list[Event]) -> _Part:
        block = self._block({**fields, _WORDS[fields["type"]]: ""}, self.item)
        part = _Part(fields, block, self._told.blocks.start(block, events))
        self._parts[index] = part
        return part

    def _close(
        self, part: _Part, value: dict[str, Any], item: dict[str, Any], events: list[Event]
    ) -> None:
        if part.is_ended:
            return
        block = self._block(value, item)
        if isinstance(block, Text):
            rest = missing("".join(part.pieces), block.text)
            if rest:
                self._told.blocks.text(part.index, rest, events)
        self._told.blocks.end(part.index, block, events)
        part.fields = value
        part.is_ended = True

    def _tell(self, block: Block, events: list[Event]) -> None:
        """Tell of a part of which nothing came before."""
        begun = replace(block, text="") if isinstance(block, Text) else block
        index = self._told.blocks.start(begun, events)
        if isinstance(block, Text) and block.text:
            self._told.blocks.text(index, block.text, events)
        self._told.blocks.end(index, block, events)

    def _block(self, part: dict[str, Any], item: dict[str, Any]) -> Block:
        whole = {**item, "content": [part]}
        if whole.get("status") == "in_progress":
            del whole["status"]
        return self._told.decode(whole)[0]
