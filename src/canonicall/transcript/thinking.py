"""How much the model shall think, asked for in the way that this model takes.

Some models are given a budget of tokens, others an effort and decide for themselves, and some
cannot stop thinking. What is asked for one way is said the other way here, and a finding tells so:
neither is exactly the other.
"""

from msgspec.structs import replace

from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Reasoning
from canonicall.target import Target

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_BUDGETS = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 20480,
    "max": 20480,
}
"""Tokens for an effort. With the usual limit for the answer, all of them stay below the 32,000 that
Claude Opus 4 writes at most."""
_USUAL = "medium"
_LEAST = 1024
"""Claude API: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"."""
_UP_TO = ((4096, "low"), (12288, "medium"))
"""The efforts that a budget stands for; above them it is high."""


def as_asked(target: Target, params: Params) -> Target:
    """`target` as it is in a request with these parameters: some models think only when told to."""
    asked = params.reasoning
    if target.thinks or asked is None or not (asked.enabled or asked.budget):
        return target
    return replace(target, thinks=True)


def fitted_reasoning(params: Params, target: Target) -> tuple[Reasoning | None, list[Finding]]:
    """The reasoning of `params` as `target` takes it."""
    asked = params.reasoning
    if asked is None or (not target.thinking and target.efforts is None):
        return asked, []
    findings: list[Finding] = []
    if asked.enabled is False or asked.effort == "none":
        asked = _switched_off(asked, target, findings)
    elif asked.budget is not None:
        asked = _without_budget(asked, target, findings)
    else:
        asked = _with_budget(asked, params.max_tokens, target, findings)
    asked = _with_known_effort(asked, target, findings)
    return (None if asked == Reasoning() else asked), findings


def _takes(kind: str, target: Target) -> bool:
    return not target.thinking or kind in target.thinking


def _switched_off(asked: Reasoning, target: Target, findings: list[Finding]) -> Reasoning:
    if _takes("disabled", target) or _takes("between_tools", target):
        return asked
    why = "This model always thinks; it cannot be told not to."
    findings.append(Finding("param_dropped", "params.reasoning", Action.DROPPED, why, Fault.RENDER))
    return Reasoning(effort=None if asked.effort == "none" else asked.effort)


def _without_budget(asked: Reasoning, target: Target, findings: list[Finding]) -> Reasoning:
    """A budget as an effort, where the model decides itself how long it thinks."""
    budget = asked.budget or 0
    if _takes("enabled", target):
        return asked
    meant = next((effort for most, effort in _UP_TO if budget <= most), "high")
    effort = asked.effort or meant
    why = f"This model is given no budget to think with; its effort is {effort}."
    findings.append(_changed("params.reasoning.budget", why))
    return Reasoning(enabled=True, effort=effort)


def _with_budget(
    asked: Reasoning, limit: int | None, target: Target, findings: list[Finding]
) -> Reasoning:
    """An effort as a budget, where the model cannot decide itself how long it thinks."""
    is_bare = asked.enabled and not _takes("adaptive", target)
    is_unknown = asked.effort is not None and target.efforts == ()
    if not (is_bare or is_unknown) or not _takes("enabled", target):
        return asked
    if limit is not None and limit <= _LEAST:
        why = f"{limit} tokens leave no room for thinking, which takes {_LEAST} at least."
        findings.append(_changed("params.reasoning", why))
        return Reasoning(enabled=False)
    budget = _BUDGETS.get(asked.effort or _USUAL, _BUDGETS[_USUAL])
    if limit is not None:
        budget = min(budget, max(limit // 2, _LEAST))
    why = f"This model thinks with a budget; {budget} tokens stand for what was asked."
    findings.append(_changed("params.reasoning", why))
    effort = asked.effort if target.efforts else None
    return Reasoning(enabled=True, effort=effort, budget=budget)


def _with_known_effort(asked: Reasoning, target: Target, findings: list[Finding]) -> Reasoning:
    """The effort, or the next lower one that the model knows; where it knows none, none."""
    effort, known = asked.effort, target.efforts
    if effort in (None, "none") or known is None or effort in known:
        return asked
    if not known:
        why = "This model is told no effort."
        place = "params.reasoning.effort"
        findings.append(Finding("param_dropped", place, Action.DROPPED, why, Fault.RENDER))
        return replace(asked, effort=None)
    at = EFFORTS.index(effort) if effort in EFFORTS else EFFORTS.index(_USUAL)
    lower = [one for one in EFFORTS[:at] if one in known]
    instead = lower[-1] if lower else known[0]
    why = f"This model does not know the effort {effort!r}; it is told {instead}."
    findings.append(_changed("params.reasoning.effort", why))
    return replace(asked, effort=instead)


def _changed(where: str, why: str) -> Finding:
    return Finding("param_changed", where, Action.CHANGED, why, Fault.RENDER)
