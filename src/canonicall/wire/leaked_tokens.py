"""Names of tools that a host has left special tokens of the model in.

In: a call, or a reply, of any format. Out: the same, the tokens and what stands behind them left
off. gpt-oss writes where a call goes and which channel it is in, and hosts pass both on as a name:
`get<|channel|>commentary` (vllm-project/vllm#32587, recorded at Bedrock as well). No name that a
provider takes has such characters.
"""

from msgspec.structs import replace

from canonicall.blocks import ToolCall
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import Reply

_OPENS = "<|"
"""How such a token begins."""


def without_tokens(call: ToolCall) -> ToolCall:
    """`call` under its own name; unchanged where nothing would be left of the name."""
    if _OPENS not in call.name:
        return call
    name = call.name.partition(_OPENS)[0].strip()
    return replace(call, name=name) if name else call


def with_own_names(reply: Reply) -> Reply:
    """`reply` with all calls under their own names."""
    names = [block.name for block in reply.message.blocks if type(block) is ToolCall]
    if _OPENS not in " ".join(names):
        return reply
    findings: list[Finding] = []
    blocks = list(reply.message.blocks)
    for at, block in enumerate(blocks):
        if not isinstance(block, ToolCall):
            continue
        blocks[at] = own = without_tokens(block)
        if own is not block:
            why = f"The host left tokens of the model in the name {block.name!r}; it is {own.name}."
            where = f"message.blocks[{at}].name"
            findings.append(Finding("name_cleaned", where, Action.CHANGED, why, Fault.INPUT))
    message = replace(reply.message, blocks=tuple(blocks))
    return replace(reply, message=message, findings=(*reply.findings, *findings))
