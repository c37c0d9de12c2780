"""Blocks of Claude's compaction: a summary in place of the messages before it.

There are two kinds. One that the API writes by itself, at a threshold, stands behind the messages
it sums up, and there may be several. One that was asked for is signed and takes their place: it
comes first, and alone. A block without content is a compaction that failed; the API reads past it.
A request that asks for such a summary is answered with nothing else, so it cannot shape a reply.
"""

from collections.abc import Iterator

from canonicall.facts.target import Target
from canonicall.verify.node import Node, dotted
from canonicall.verify.violation import Violation, refuse

KIND = "compaction"
FIRST = "$.messages[0].content[0]"
ON_DEMAND = "platform.claude.com: compaction on demand; error text of the API"
SDK = "anthropic 2.8.0, types/compaction_block_ambiguous_error_details.py; the words are not known"
REQUEST = "platform.claude.com: compaction on demand; the words are not known"
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


def asked_violations(root: Node, target: Target) -> Iterator[Violation]:
    """What cannot stand beside `compaction`, which asks for a summary in place of a reply."""
    if not root.has(KIND) or "request" not in target.fields.closed:
        return
    choice = root.node("tool_choice")
    refused = {
        root.at("context_management"): root.has("context_management"),
        root.at("stop_sequences"): bool(root.values("stop_sequences")),
        root.node("output_config").at("format"): root.node("output_config").has("format"),
        choice.where: choice.get("type") in ("any", "tool"),
    }
    for where, is_given in refused.items():
        if is_given:
            error = f"compaction: {dotted(where)} cannot be set on a compaction request"
            yield refuse("parameter_unsupported", where, error, source=REQUEST)
