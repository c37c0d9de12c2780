"""When a run leads nowhere, so that the model is asked for words once more, and then no more."""

from canonicall.agent.commands import Finish
from canonicall.agent.progress import Progress
from canonicall.guard.budget import CorrectionBudget


def leads_nowhere(progress: Progress, budget: CorrectionBudget) -> Finish | None:
    """How the run is to end; None where it gets on."""
    told = progress.loop
    if told:
        return Finish("loop", told)
    spent = (budget.left(tool, refusal) == 0 for tool, refusal, _ in budget.spent)
    if budget.is_exhausted or any(spent):
        return Finish("corrections_exhausted", "calls were refused too often")
    return None
