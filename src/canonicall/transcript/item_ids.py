"""Stored items: each is sent once.

In: the blocks of one message, as they would be sent. Out: the same without what an item before them
is already. An id that another item has is taken off; a block that is nothing without its id is left
out. "Duplicate item found with id msg_a. Remove duplicate items from your input and try again."
(Responses)
"""

from msgspec.structs import replace

from canonicall.blocks import Block, Text, Thinking, ToolCall, Unknown
from canonicall.findings import Action, Fault, Finding
from canonicall.transcript.projection import Projection

_ID, _WHOLE = "item_id", "server_block"


def without_second_items(
    blocks: list[Block], projection: Projection, where: str, findings: list[Finding]
) -> list[Block]:
    """`blocks` without items that were sent before; parts of one message share its id."""
    kept: list[Block] = []
    calls = (block for block in blocks if isinstance(block, ToolCall))
    seen: set[str] = set().union(*map(server_items, calls))
    before = ""
    for block in blocks:
        id = item_id(block)
        is_second = id in seen or id in projection.items
        is_same_message = id == before and _is_part(block)
        before = id if _is_part(block) else ""
        if not id or not is_second or is_same_message:
            kept.append(block)
            seen.add(id)
        elif isinstance(block, Unknown):
            why = f"The item {id} is sent once; this is left out."
            findings.append(Finding("block_dropped", where, Action.DROPPED, why, Fault.STATE))
            before = ""
        else:
            opaque = tuple(one for one in block.opaque if one.kind != _ID)
            before = ""
            if not opaque and _is_only_id(block):
                why = f"Another item has the id {id}, and this is nothing else; it is left out."
                findings.append(Finding("block_dropped", where, Action.DROPPED, why, Fault.STATE))
                continue
            why = f"Another item has the id {id}; this is sent without it."
            findings.append(Finding("opaque_dropped", where, Action.DROPPED, why, Fault.STATE))
            kept.append(replace(block, opaque=opaque))
    return kept


def _is_only_id(block: Block) -> bool:
    """Whether nothing of a block can be sent without the state that it carries."""
    return isinstance(block, Thinking) or (isinstance(block, Text) and not block.text.strip())


def item_id(block: Block) -> str:
    """The id of the stored item that a block is, or is a part of; "" for any other."""
    if isinstance(block, Unknown) and block.native is not None:
        named = block.native.fields.get("approval_request_id")
        if isinstance(named, str):
            return f"answer to {named}"  # An item is answered once.
        id = block.native.fields.get("id")
        if isinstance(id, str):
            return id
    for one in block.opaque:
        if one.kind == _ID and isinstance(one.value, str):
            return one.value
    return ""


def _is_part(block: Block) -> bool:
    """Whether a block is a part of the message whose id it has."""
    if isinstance(block, Unknown):
        return block.native is None or "id" not in block.native.fields
    return isinstance(block, Text)


def server_items(call: ToolCall) -> set[str]:
    """The ids of a call that the provider ran, as its block has them."""
    if call.kind != "server":
        return set()
    whole = next((one.value for one in call.opaque if one.kind == _WHOLE), None)
    named = (whole.get("id"), whole.get("call_id")) if isinstance(whole, dict) else ()
    return {id for id in (call.raw_id, *named) if id and isinstance(id, str)}
