"""The arguments of a whole reply, held against the schemas of the tools that were offered."""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec.structs import replace

from canonicall.blocks import Block, ToolCall
from canonicall.findings import Action, Fault, Finding
from canonicall.guard.validation import Validated, examined
from canonicall.reply import Reply
from canonicall.request import Tool
from canonicall.transcript.grouping import OfferedTools


def checked_reply(
    reply: Reply,
    tools: Sequence[Tool],
    mode: Literal["repair", "report", "off"],
    *,
    count: Callable[[Validated], None] | None = None,
) -> Reply:
    """`reply` with calls that fit their schemas, as far as can be had without guessing.

    A call that does not fit goes to the client as it is: only the client can ask the model again.
    The findings say what is wrong with it. `count` hears of every call that was looked at.
    """
    if not tools or not reply.calls:
        return reply
    if mode == "off":
        looked_at = [one for one in reply.calls if one.kind == "function" and not one.truncated]
        for call in looked_at:
            if count is not None:
                count(Validated(call))
        return reply
    findings: list[Finding] = []
    blocks: list[Block] = []
    offered = OfferedTools(tools)
    for at, block in enumerate(reply.message.blocks):
        made = block
        if isinstance(block, ToolCall) and block.kind == "function" and not block.truncated:
            validated = examined(block, offered.for_call(block))
            if count is not None:
                count(validated)
            made = _checked(block, validated, f"reply.blocks[{at}]", mode == "repair", findings)
        blocks.append(made)
    if not findings:
        return reply
    message = replace(reply.message, blocks=tuple(blocks))
    return replace(reply, message=message, findings=(*reply.findings, *findings))


def _checked(
    call: ToolCall, validated: Validated, where: str, repairs: bool, findings: list[Finding]
) -> ToolCall:
    if validated.error is not None:
        why = f"The call of {call.name} does not fit what was offered: {validated.error.text}"
        findings.append(Finding("arguments_unfit", where, Action.KEPT, why, Fault.INPUT))
        return call
    if validated.call == call or not validated.findings:
        return call
    if not repairs:
        kept = [replace(one, action=Action.KEPT) for one in validated.findings]
        findings += kept
        return call
    findings += validated.findings
    return validated.call
