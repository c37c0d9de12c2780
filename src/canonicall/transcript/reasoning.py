"""Reasoning: which thoughts a target gets, block by block.

Opaque state goes only to the signing domain it belongs to. A thought the target cannot read is left
out, or sent as plain words if the policy says so; a target that demands a thought beside calls gets
its placeholder, one that demands a signature its sentinel. Nothing inside a kept thought changes.
"""

from collections.abc import Iterable
from itertools import pairwise

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.transcript.item_ids import item_id
from canonicall.transcript.policy import Policy

_MODEL_BOUND = ("signature", "encrypted", "details")


def keeps_opaque(opaque: Opaque, message: Message, target: Target) -> bool:
    """Whether the target can read this piece of opaque state."""
    if opaque.domain != target.domain or (opaque.kind == "file_id" and not target.file_ids):
        return False
    if not target.reasoning_same_model or opaque.kind not in _MODEL_BOUND:
        return True
    made_by = message.origin.model if message.origin is not None else ""
    # A reply names the dated model, a request often the family: one begins like the other.
    return made_by.startswith(target.model) or target.model.startswith(made_by)


def decide_thinking(
    block: Thinking, message: Message, target: Target, policy: Policy, where: str
) -> tuple[Block | None, list[Finding]]:
    """The block to send for a thought, None to leave it out."""
    if not block.text and not any(one.value for one in block.opaque):
        return None, []
    kept = tuple(one for one in block.opaque if keeps_opaque(one, message, target) and one.value)
    if target.reasoning == "signed" and kept and len(kept) == len(block.opaque):
        wanted = target.reasoning_state
        # A provider of several formats gives a thought another state in each of them.
        if not wanted or any(one.kind in wanted for one in kept):
            return block, []
    if target.reasoning == "open" and (block.text or kept) and _is_at_home(block, message, target):
        lost = [] if len(kept) == len(block.opaque) else [_unreadable(where)]
        return replace(block, opaque=kept), lost
    if policy.foreign_thinking == "text" and block.text.strip():
        why = "The target cannot read this reasoning; it is sent as plain words."
        told = Finding(
            "thinking_as_text", where, Action.CHANGED, why, Fault.RENDER, rule="reasoning"
        )
        return Text(text=block.text), [told]
    why = "The target cannot read this reasoning; it is left out."
    return None, [
        Finding("thinking_dropped", where, Action.DROPPED, why, Fault.RENDER, rule="reasoning")
    ]


def _unreadable(where: str) -> Finding:
    why = "State that only another provider can read is not sent."
    return Finding("opaque_dropped", where, Action.DROPPED, why, Fault.RENDER)


def _is_at_home(block: Thinking, message: Message, target: Target) -> bool:
    """Open reasoning is replayed to the provider it came from.

    Where nobody said who that was, the wire format it came in decides.
    """
    origin = message.origin
    if origin is None:
        return True
    if origin.provider:
        return target.provider in (origin.provider, "")
    return block.native is not None and block.native.format == target.format


def without_trailing_thoughts(
    blocks: list[Block], target: Target, where: str, findings: list[Finding]
) -> list[Block]:
    """`blocks` that do not end in a thought.

    A cut reply ends so. "An assistant turn may not end in a thinking block" (Anthropic); a
    reasoning item needs what follows it (Responses); chat hosts refuse a message of it alone.
    """
    end = len(blocks)
    while end and isinstance(blocks[end - 1], Thinking):
        end -= 1
    if end == len(blocks) or (end and target.reasoning == "open"):
        return blocks
    why = "No words and no call follow this reasoning; it is left out."
    findings.append(Finding("thinking_dropped", where, Action.DROPPED, why, Fault.RENDER))
    return blocks[:end]


def with_placeholder(blocks: list[Block], target: Target) -> list[Block]:
    """`blocks` of a message with calls, with the thought that the target demands there."""
    placeholder = target.reasoning_placeholder
    if (
        placeholder is None
        or not target.thinks
        or not any(isinstance(block, ToolCall) for block in blocks)
    ):
        return blocks
    for block in blocks:
        if isinstance(block, Thinking) and (block.text or block.opaque):
            return blocks
    rest = [block for block in blocks if not isinstance(block, Thinking)]
    return [Thinking(text=placeholder), *rest]


def with_sentinel(blocks: list[Block], target: Target) -> list[Block]:
    """`blocks` with the stand-in for a missing signature on the first call.

    Only the first call of a step is signed; a sentinel on the others is refused or billed.
    """
    if target.signature_sentinel is None:
        return blocks
    for index, block in enumerate(blocks):
        if isinstance(block, ToolCall) and block.kind != "server":
            if block.opaque and any(one.kind == "signature" for one in block.opaque):
                return blocks
            seal = Opaque(target.domain, "signature", target.signature_sentinel)
            signed = list(blocks)
            signed[index] = replace(block, opaque=(*block.opaque, seal))
            return signed
    return blocks


def without_parted_ids(
    blocks: list[Block], message: Message, target: Target, where: str, findings: list[Finding]
) -> list[Block]:
    """The blocks of a message without the ids of stored items, if one has lost what it belongs to.

    "Item 'fc_a' of type 'function_call' was provided without its required 'reasoning' item:
    'rs_a'." (Responses): if no id is sent, the provider looks for nothing. So it is if a thought
    has an id and the block after it has none: "Item 'rs_a' of type 'reasoning' was provided without
    its required following item." (langchain-ai/langchainjs#9082, earendil-works/pi#1035). A thought
    that is nothing but its id is left out then.
    """
    is_whole = _thoughts_in(blocks) == _thoughts_in(message.blocks)
    if not target.item_ids or (is_whole and not _has_parted_thought(blocks)):
        return blocks
    kept: list[Block] = []
    for block in blocks:
        left = tuple(one for one in block.opaque if one.kind != "item_id")
        if isinstance(block, Thinking) and block.opaque and not left:
            why = "What was made from this reasoning is not sent with its id; it is left out."
            findings.append(
                Finding(
                    "thinking_dropped", where, Action.DROPPED, why, Fault.RENDER, rule="item_ids"
                )
            )
        elif isinstance(block, Text) and block.opaque and not left and not block.text.strip():
            why = "Text of blanks only, sent for its id alone, is left out with it."
            findings.append(Finding("blank_dropped", where, Action.DROPPED, why, Fault.RENDER))
        else:
            kept.append(block if len(left) == len(block.opaque) else replace(block, opaque=left))
    return kept


def _has_parted_thought(blocks: list[Block]) -> bool:
    """Whether a thought with an id is followed by a block without one, or by a result: that was
    not made from it."""
    return any(
        isinstance(block, Thinking)
        and _has_id(block)
        and (isinstance(following, ToolResult) or not _has_id(following))
        for block, following in pairwise(blocks)
    )


def _has_id(block: Block) -> bool:
    kinds = {one.kind for one in block.opaque}
    return not kinds.isdisjoint({"item_id", "server_block"})


def _thoughts_in(blocks: Iterable[Block]) -> int:
    """How many thoughts there are; one that is there twice, by its id, counts once."""
    ids = [item_id(block) for block in blocks if isinstance(block, Thinking)]
    return len(set(filter(None, ids))) + ids.count("")
