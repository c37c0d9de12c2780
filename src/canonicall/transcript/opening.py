"""Blocks that open a conversation: a provider's own summary, in place of all that it sums up.

Its issuer takes one such block, and only as the very first. In a log it may stand later, behind the
messages that it sums up: then these are sent, and the summary is not.
"""

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Unknown
from canonicall.findings import Action, Fault, Finding

OPENING = "opening"
"""The kind of opaque state that such a block has."""


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
