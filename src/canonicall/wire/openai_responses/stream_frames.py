"""The frames of a stream, numbered, and those of one block while it is open."""

from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from canonicall.arguments import is_cut
from canonicall.blocks import Block, Opaque, Text, Thinking, ToolCall
from canonicall.wire.openai_responses import TARGET
from canonicall.wire.openai_responses.fields import ITEM_ID
from canonicall.wire.openai_responses.finish import INCOMPLETE
from canonicall.wire.openai_responses.items import encode_call
from canonicall.wire.openai_responses.output import complete_item
from canonicall.wire.openai_responses.parts import encode_output_part, is_refusal

_json = msgspec.json.encode
_Named = TypeVar("_Named", Thinking, ToolCall)


class Frames:
    """Writes frames, each with its number."""

    def __init__(self) -> None:
        self._number = 0

    def frame(self, kind: str, fields: dict[str, Any]) -> bytes:
        """One frame."""
        data = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        return b"event: " + kind.encode() + b"\ndata: " + _json(data) + b"\n\n"

    def piece(self, head: bytes, text: str) -> bytes:
        """One frame of many that are alike, but for their text."""
        number = self._number
        self._number = number + 1
        return b'%b%d,"delta":%b}\n\n' % (head, number, _json(text))


def head_of(kind: str, fields: dict[str, Any]) -> bytes:
    """How the frames of `Frames.piece` begin."""
    data = _json({"type": kind, **fields})[:-1]
    return b"event: " + kind.encode() + b"\ndata: " + data + b',"sequence_number":'


class OpenMessage:
    """A message item; its parts come one after the other."""

    def __init__(self, item: dict[str, Any], place: int) -> None:
        self.item = item
        self.place = place
        self.parts: list[dict[str, Any]] = []

    def whole(self) -> dict[str, Any]:
        """The item with its parts."""
        return {**self.item, "content": self.parts}


class OpenPart:
    """Words that are one part of a message."""

    def __init__(self, frames: Frames, message: OpenMessage, block: Block) -> None:
        self._frames = frames
        self._message = message
        self._block = block
        self._kind = "refusal" if is_refusal(block) else "output_text"
        self._field = "refusal" if is_refusal(block) else "text"
        self._pieces: list[str] = []
        self._place: dict[str, Any] = {
            "item_id": message.item["id"],
            "output_index": message.place,
            "content_index": len(message.parts),
        }
        chances: dict[str, Any] = {} if is_refusal(block) else {"logprobs": []}
        self._head = head_of(f"response.{self._kind}.delta", self._place | chances)

    def begin(self) -> bytes:
        part = encode_output_part(self._block)
        if part.get("type") == self._kind:
            part[self._field] = ""
        return self._frames.frame("response.content_part.added", self._place | {"part": part})

    def add(self, text: str) -> bytes:
        self._pieces.append(text)
        return self._frames.piece(self._head, text)

    def end(self, block: Block) -> bytes:
        part = encode_output_part(block)
        self._message.parts.append(part)
        said = part.get(self._field)
        written = b""
        if part.get("type") == self._kind:
            if said and not self._pieces:
                written += self.add(said)
            fields = self._place | {self._field: said}
            if self._field == "text":
                fields["logprobs"] = part.get("logprobs", [])
            written += self._frames.frame(f"response.{self._kind}.done", fields)
        fields = self._place | {"part": part}
        return written + self._frames.frame("response.content_part.done", fields)

    def so_far(self) -> Block:
        """The block as far as it came."""
        said = "".join(self._pieces)
        return replace(self._block, text=said) if isinstance(self._block, Text) else self._block


class OpenCall:
    """The item of a call that the client runs."""

    def __init__(self, frames: Frames, call: ToolCall, id: str, place: int) -> None:
        self._frames = frames
        self._call = call
        self._id = id
        is_custom = call.kind == "custom"
        self._field = "input" if is_custom else "arguments"
        self._kind = "custom_tool_call_input" if is_custom else "function_call_arguments"
        self._pieces: list[str] = []
        self._place = {"item_id": id, "output_index": place}
        self._head = head_of(f"response.{self._kind}.delta", self._place)

    def begin(self) -> bytes:
        item = self.item(self._call) | {self._field: "", "status": "in_progress"}
        return item_frame(self._frames, "added", item, self._place)

    def add(self, text: str) -> bytes:
        self._pieces.append(text)
        return self._frames.piece(self._head, text)

    def end(self, block: Block) -> bytes:
        item = self.item(block)
        said = item[self._field]
        written = self.add(said) if said and not self._pieces else b""
        named = {"name": item["name"]} if self._field == "arguments" else {}
        fields = self._place | named | {self._field: said}
        written += self._frames.frame(f"response.{self._kind}.done", fields)
        return written + item_frame(self._frames, "done", item, self._place)

    def item(self, block: Block) -> dict[str, Any]:
        """The whole item."""
        call = block if isinstance(block, ToolCall) else self._call
        item = complete_item(encode_call(with_item_id(call, self._id)), "")
        if self._pieces:
            # The same arguments may be written in other ways; what was written counts.
            item[self._field] = "".join(self._pieces)
        return item | {"status": INCOMPLETE} if is_cut(call) else item

    def left(self) -> dict[str, Any]:
        """The item as far as it came. Arguments of which nothing came are no empty object."""
        said = "".join(self._pieces)
        return self.item(self.so_far()) | {self._field: said, "status": INCOMPLETE}

    def so_far(self) -> Block:
        """The call as far as it came, which is not far enough to run it."""
        return replace(self._call, args=None, raw="".join(self._pieces), truncated=True)


def with_item_id(block: _Named, id: str) -> _Named:
    """`block` with the id that its item began with, whatever became of it."""
    rest: list[Opaque] = [opaque for opaque in block.opaque if opaque.kind != ITEM_ID]
    return replace(block, opaque=(*rest, Opaque(TARGET.domain, ITEM_ID, id)))


def item_frame(frames: Frames, what: str, item: dict[str, Any], place: dict[str, Any]) -> bytes:
    """An item as it begins, or as it ended."""
    fields = {"output_index": place["output_index"], "item": item}
    return frames.frame(f"response.output_item.{what}", fields)
