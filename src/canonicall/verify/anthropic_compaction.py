"""Blocks of Claude's compaction: a summary in place of the messages before it.

There are two kinds. One that the API writes by itself, at a threshold, stands behind the messages
it sums up, and there may be several. One that was asked for is signed and takes their place: it
comes first, and alone. A block without content is a compaction that failed; the API reads past it.
"""

from collections.abc import Iterator

from canonicall.verify.node import Node, dotted
from canonicall.verify.violation import Violation, refuse

KIND = "compaction"
FIRST = "$.messages[0].content[0]"
ON_DEMAND = "platform.claude.com: compaction on demand; error text of the API"
SDK = "anthropic 2.8.0, types/compaction_block_ambiguous_error_details.py; the words are not known"
BLOCK = "anthropic 2.8.0, types/beta/beta_compaction_block_param.py; the words are not known"


def compaction_violations(blocks: list[Node]) -> Iterator[Violation]:
    """`blocks`: all blocks of this kind, in their order."""
    signed = [block for block in blocks if block.get("signature") and block.get("content")]
    for block in signed[:1]:
        if block.where != FIRST:
            error = f"{dotted(block.where)}: `compaction` block must be sent first, in place of the"
            error += " messages it summarizes; remove those messages"
            yield refuse("compaction_misplaced", block.where, error, source=ON_DEMAND)
    for block in signed[1:]:
        error = f"{dotted(block.where)}: `messages` holds more than one `compaction` block with "
        error += "content; send only the block the conversation returned last"
        yield refuse("compaction_repeated", block.where, error, source=SDK)
    for block in blocks:
        if block.get("content") == "":
            error = f"{dotted(block.where)}.compaction.content: content must not be empty"
            yield refuse("blank_text", block.at("content"), error, source=BLOCK)
