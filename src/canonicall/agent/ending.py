"""How a run ends: when it leads nowhere, so that the model is asked for text once more and then
no more, and why there is no answer."""

from canonicall.agent.commands import Finish
from canonicall.agent.progress import Progress
from canonicall.blocks import Block, Message, Text, Thinking
from canonicall.guard.budget import CorrectionBudget
from canonicall.reply import STOP, TOOL_CALLS


def leads_nowhere(progress: Progress, budget: CorrectionBudget) -> Finish | None:
    """How the run is to end; None where it gets on."""
    told = progress.loop
    if told:
        return Finish("loop", told)
    spent = (budget.left(tool, refusal) == 0 for tool, refusal, _ in budget.spent)
    if budget.is_exhausted or any(spent):
        return Finish("corrections_exhausted", "calls were refused too often")
    return None


def no_answer(message: Message) -> str:
    """Why the last reply of a run is no answer; empty where it is one."""
    if any(call.kind != "server" for call in message.calls):
        return "the model called tools instead of answering"
    if any(not _is_silent(block) for block in message.blocks):
        return ""
    ended = "" if message.finish in ("", STOP, TOOL_CALLS) else f" ({message.finish})"
    return f"the model gave no answer{ended}"


def _is_silent(block: Block) -> bool:
    return isinstance(block, Thinking) or (isinstance(block, Text) and not block.text.strip())
