"""A thought of a stream while it is open: its summary, or the text itself, in parts.

What the whole item says has to be what its pieces said. Where the parts of a thought are known only
at its end, a piece that begins with the space between parts begins a part: so the decoder of this
format tells of parts. If the thought turns out to have others, those that were written count.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Thinking
from canonicall.wire.openai_responses.fields import own_fields
from canonicall.wire.openai_responses.reasoning import BETWEEN_PARTS, encode_reasoning
from canonicall.wire.openai_responses.stream_frames import (
    Frames,
    head_of,
    item_frame,
    with_item_id,
)

SUMMARY, CONTENT = "summary", "content"
_TYPES = {SUMMARY: "summary_text", CONTENT: "reasoning_text"}
_TEXT_EVENTS = {SUMMARY: "response.reasoning_summary_text", CONTENT: "response.reasoning_text"}
_PART_EVENTS = {SUMMARY: "response.reasoning_summary_part", CONTENT: "response.content_part"}


class OpenThought:
    """A reasoning item. `own` thoughts, those of this format, may have several parts."""

    def __init__(self, frames: Frames, block: Thinking, id: str, place: int, *, own: bool) -> None:
        self._frames = frames
        self._block = block
        self._id = id
        self._own = own
        self._place = {"item_id": id, "output_index": place}
        self._lists = {name: _Parts(frames, name, self._place) for name in _TYPES}
        self._shown = CONTENT if own_fields(block.native).get(CONTENT) else SUMMARY
        """The list that its pieces belong to."""

    def begin(self) -> bytes:
        """The item, empty."""
        item = {"type": "reasoning", "id": self._id, "summary": []}
        return item_frame(self._frames, "added", item, self._place)

    def add(self, text: str) -> bytes:
        """Write a piece."""
        parts = self._lists[self._shown]
        if not parts.said:
            known = _texts(encode_reasoning(self._block), self._shown)
            if len(known) > 1 and BETWEEN_PARTS.join(known) == text:
                return b"".join(map(parts.whole, known))
            return parts.begin() + parts.piece(text)
        is_next = self._own and text.startswith(BETWEEN_PARTS) and len(text) > len(BETWEEN_PARTS)
        if is_next:
            return parts.close() + parts.begin() + parts.piece(text[len(BETWEEN_PARTS) :])
        return parts.piece(text)

    def end(self, block: Block) -> bytes:
        """What has not been written of the item, and its end."""
        item = self.item(block)
        written = self._lists[self._shown].close()
        for name, parts in self._lists.items():
            written += b"".join(map(parts.whole, _texts(item, name)[len(parts.said) :]))
        return written + item_frame(self._frames, "done", item, self._place)

    def item(self, block: Block) -> dict[str, Any]:
        """The whole item."""
        thought = block if isinstance(block, Thinking) else self._block
        item = encode_reasoning(with_item_id(thought, self._id))
        said = ["".join(pieces) for pieces in self._lists[self._shown].said]
        if _texts(item, self._shown)[: len(said)] != said:
            item[self._shown] = [{"type": _TYPES[self._shown], "text": text} for text in said]
        return item

    def so_far(self) -> Block:
        """The thought as far as it came."""
        said = ("".join(pieces) for pieces in self._lists[self._shown].said)
        return replace(self._block, text=BETWEEN_PARTS.join(said), native=None)


class _Parts:
    """One of the two lists of a reasoning item, as far as it has been written."""

    def __init__(self, frames: Frames, name: str, place: dict[str, Any]) -> None:
        self.said: list[list[str]] = []
        """The pieces of each part."""
        self._frames = frames
        self._name = name
        self._item = place
        self._place: dict[str, Any] = {}
        self._head = b""
        self._is_open = False

    def begin(self) -> bytes:
        """A part, empty."""
        self._place = self._item | {f"{self._name}_index": len(self.said)}
        self._head = head_of(f"{_TEXT_EVENTS[self._name]}.delta", self._place)
        self._is_open = True
        self.said.append([])
        return self._part("added", "")

    def piece(self, text: str) -> bytes:
        """More of the part."""
        self.said[-1].append(text)
        return self._frames.piece(self._head, text)

    def close(self) -> bytes:
        """The end of the part, if one is open."""
        if not self._is_open:
            return b""
        self._is_open = False
        text = "".join(self.said[-1])
        done = self._frames.frame(f"{_TEXT_EVENTS[self._name]}.done", self._place | {"text": text})
        return done + self._part("done", text)

    def whole(self, text: str) -> bytes:
        """A part that came in one piece."""
        return self.begin() + (self.piece(text) if text else b"") + self.close()

    def _part(self, what: str, text: str) -> bytes:
        fields = self._place | {"part": {"type": _TYPES[self._name], "text": text}}
        return self._frames.frame(f"{_PART_EVENTS[self._name]}.{what}", fields)


def _texts(item: dict[str, Any], name: str) -> list[str]:
    return [part.get("text") or "" for part in item.get(name) or ()]
