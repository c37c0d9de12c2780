"""The blocks of a reply as items of this format, one by one: whole replies and streams need them.

A client wants an id on every item. Where no provider gave one it is made, the same for the same
reply and another one for each block.
"""

from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from canonicall.arguments import is_cut
from canonicall.blocks import (
    Block,
    Media,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.ids import base64url
from canonicall.wire.carried import opaque_value
from canonicall.wire.openai_responses import FORMAT, TARGET, searches
from canonicall.wire.openai_responses.fields import (
    ID_PREFIXES,
    ITEM_ID,
    made_id,
    native_of,
    own_fields,
)
from canonicall.wire.openai_responses.finish import COMPLETED, INCOMPLETE

REFUSED = native_of({"refusal": True})
"""What makes a text a refusal."""


def is_own(origin: Origin | None) -> bool:
    """Whether the state that blocks carry is of this format."""
    return origin is None or origin.format in ("", FORMAT)


def own_block(block: Block, *, own: bool) -> Block | None:
    """A block as this format has items for it; None where it has none.

    The state of other formats means nothing in it.
    """
    match block:
        case Unknown() if not own_fields(block.native):
            return None
        case ToolCall(kind="server") if not own:
            return None
        case Media():
            return _shown(block)
        case _:
            return block if own else _without_foreign_state(block)


def _without_foreign_state(block: Block) -> Block:
    kept = tuple(one for one in block.opaque if one.domain == TARGET.domain)
    return block if kept == block.opaque else replace(block, opaque=kept)


def complete_item(item: dict[str, Any], suffix: str) -> dict[str, Any]:
    """`item` with what an item has in a response, but not in a request."""
    match item.get("type"):
        case "function_call" | "custom_tool_call" | searches.CALL:
            return {**item, "status": item.get("status", COMPLETED)}
        case "image_generation_call":
            return {"id": made_id("ig", suffix), **item}
        case _:
            return item


class Naming:
    """Puts an item id on each block; texts in a row that have none share a message."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._position = 0
        self._message_id = ""

    def suffix(self, position: int) -> str:
        """The end of an id."""
        return base64url(sha256(f"{self._seed}|{position}".encode()).digest())[:24]

    def named(self, block: Block) -> Block:
        """The next block, with the id of its item. A call that was cut says so in its status."""
        suffix = self.suffix(self._position)
        self._position += 1
        kind = _item_type(block)
        known = opaque_value(block, ITEM_ID)
        id = known or (self._message_id if kind == "message" else "")
        id = id or made_id(ID_PREFIXES.get(kind, ""), suffix)
        self._message_id = id if kind == "message" and known is None else ""
        if not kind:
            return block
        if isinstance(block, ToolCall):
            block = _as_told(block, suffix)
        if known is None:
            block = replace(block, opaque=(*block.opaque, Opaque(TARGET.domain, ITEM_ID, id)))
        return block


def _as_told(call: ToolCall, suffix: str) -> ToolCall:
    if is_cut(call):
        fields = own_fields(call.native) | {"status": INCOMPLETE}
        call = replace(call, native=native_of(fields))
    return call if call.id else replace(call, id=f"call_{suffix}")


def _shown(media: Media) -> Block:
    """Media of the model: an image it drew is an item, of anything else only the place is told."""
    if media.data is None or not media.media_type.startswith("image/"):
        return Text(text=media.url or f"[{media.name or media.media_type}]")
    item = {"type": "image_generation_call", "status": COMPLETED, "result": media.data}
    return Unknown(native=native_of(item))


def _item_type(block: Block) -> str:
    """The type of a block's item, the empty text where the block is the item."""
    match block:
        case Thinking():
            return "reasoning"
        case ToolCall(kind="custom"):
            return "custom_tool_call"
        case ToolCall(kind="function") if searches.is_search(block, searches.CALL):
            return searches.CALL
        case ToolCall(kind="function"):
            return "function_call"
        case Unknown() | ToolCall() | ToolResult():
            return ""
        case _:
            return "message"
