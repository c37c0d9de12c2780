"""A provider's own summary of a conversation, in place of all that it sums up.

Its issuer takes one signed summary, and only as the very first block. In a log it may stand later,
behind the messages that it sums up: then these are sent, and the summary is not. Other targets
have no such block; they get the text of a summary that has one.
"""

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Unknown
from canonicall.findings import Action, Fault, Finding

OPENING = "opening"
"""The kind of opaque state that such a block has."""


_TEXTS = {("anthropic", "compaction"): "content"}
"""Which field has the text of a summary, by the format and the type of its block."""
_INTRODUCTION = "Summary of the conversation before this point:\n\n"


def summary_text(block: Unknown) -> str:
    """What a summary says to targets that have no such block; empty where it is none, or sealed."""
    if block.native is None:
        return ""
    kind = block.native.fields.get("type")
    field = _TEXTS.get((block.native.format, kind)) if isinstance(kind, str) else None
    text = block.native.fields.get(field) if field is not None else None
    return _INTRODUCTION + text if isinstance(text, str) and text.strip() else ""


def opens(block: Block) -> bool:
    return type(block) is Unknown and any(one.kind == OPENING for one in block.opaque)


def with_one_opening(
    message: Message, where: str, findings: list[Finding], *, is_first: bool
) -> Message:
    """`message` without openings that nothing can begin with. `is_first`: nobody has spoken yet."""
    blocks = message.blocks
    if Unknown not in map(type, blocks) or not any(map(opens, blocks)):
        return message
    leading = 0
    while is_first and leading < len(blocks) and opens(blocks[leading]):
        leading += 1
    # The last of several sums up those before it.
    kept = leading - 1
    dropped = {at: None for at, block in enumerate(blocks) if opens(block) and at != kept}
    for at in dropped:
        why = "Only the first block can be such a summary; what it sums up is sent as it is."
        if at < kept:
            why = "Only one such summary can be sent; the one behind it sums this up as well."
        place = f"{where}.blocks[{at}]"
        findings.append(Finding("block_dropped", place, Action.DROPPED, why, Fault.RENDER))
    left = tuple(block for at, block in enumerate(blocks) if at not in dropped)
    return replace(message, blocks=left) if dropped else message
