"""The arguments of calls, held against the schemas of the tools that were offered."""

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from canonicall.blocks import Block, ToolCall
from canonicall.findings import Action, Fault, Finding
from canonicall.guard.validation import validate_call
from canonicall.reply import Reply
from canonicall.request import Tool
from canonicall.wire.grouping import tools_for


def checked(reply: Reply, tools: Sequence[Tool], mode: Literal["repair", "report", "off"]) -> Reply:
    """`reply` with calls that fit their schemas, as far as can be had without guessing.

    A call that does not fit goes to the client as it is: only the client can ask the model again.
    The findings say what is wrong with it.
    """
    if mode == "off" or not tools or not reply.calls:
        return reply
    findings: list[Finding] = []
    blocks: list[Block] = []
    for at, block in enumerate(reply.message.blocks):
        made = block
        if isinstance(block, ToolCall) and block.kind == "function" and not block.truncated:
            made = _checked(block, tools, f"reply.blocks[{at}]", mode == "repair", findings)
        blocks.append(made)
    if not findings:
        return reply
    message = replace(reply.message, blocks=tuple(blocks))
    return replace(reply, message=message, findings=(*reply.findings, *findings))


def _checked(
    call: ToolCall, tools: Sequence[Tool], where: str, repairs: bool, findings: list[Finding]
) -> ToolCall:
    validated = validate_call(call, tools_for(call, tools))
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
