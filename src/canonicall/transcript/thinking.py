"""How much the model shall think, asked for in the way that this model takes.

Some models are given a budget of tokens, others an effort and decide for themselves, and some
cannot stop thinking. What is asked for one way is said the other way here, and a finding tells so:
neither is exactly the other.
"""

from msgspec.structs import replace

from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Reasoning

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
_UNTOLD = "This model is told nothing about thinking."


def as_asked(target: Target, params: Params) -> Target:
    """`target` as it is in a request with these parameters: some models think only when told to."""
    asked = params.reasoning
    if target.thinks or asked is None or not (asked.enabled or asked.budget):
        return target
    return replace(target, thinks=True)


def fitted_reasoning(params: Params, target: Target) -> tuple[Reasoning | None, list[Finding]]:
    """The reasoning of `params` as `target` takes it."""
    asked = params.reasoning
    findings: list[Finding] = []
    if asked is not None and asked.budget is not None and not _is_count(asked.budget):
        why = "A budget is a number of tokens."
        findings.append(_dropped("params.reasoning.budget", why, ""))
        asked = replace(asked, budget=None)
    if asked is None or (not target.thinking and target.efforts is None):
        return asked, findings
    if asked.budget == 0:
        asked = Reasoning(enabled=False, effort=asked.effort)
    if asked.enabled is False or asked.effort == "none":
        asked = _switched_off(asked, target, findings)
    elif not _can_be_told(target):
        findings.append(_dropped("params.reasoning", _UNTOLD, "thinking"))
        asked = Reasoning()
    else:
        asked = _switched_on(asked, params.max_tokens, target, findings)
    asked = _with_known_effort(asked, target, findings)
    return (None if asked == Reasoning() else asked), findings


def _is_count(budget: object) -> bool:
    """Whether a value, which may come from a body as it is, counts tokens."""
    return type(budget) is int and budget >= 0


def _takes(kind: str, target: Target) -> bool:
    return not target.thinking or kind in target.thinking


def _can_be_told(target: Target) -> bool:
    """Whether there is a way to make it think; some models never do, or cannot but."""
    ways = {"adaptive", "enabled"} | ({"effort"} if target.efforts != () else set())
    return not target.thinking or not ways.isdisjoint(target.thinking)


def _switched_off(asked: Reasoning, target: Target, findings: list[Finding]) -> Reasoning:
    if "effort" in target.thinking:
        return _with_least_effort(target, findings)
    if _takes("disabled", target) or _takes("between_tools", target):
        return asked
    if target.thinking_limits is not None:
        least, _ = target.thinking_limits
        why = f"This model always thinks; its budget is the least, {least}."
        findings.append(_changed("params.reasoning", why, "thinking"))
        return Reasoning(budget=least)
    why = "This model always thinks; it cannot be told not to."
    findings.append(_dropped("params.reasoning", why, "thinking"))
    return Reasoning(effort=None if asked.effort == "none" else asked.effort)


def _with_least_effort(target: Target, findings: list[Finding]) -> Reasoning:
    known = target.efforts or ()
    if "none" in known:
        return Reasoning(enabled=False, effort="none")
    if not known:
        findings.append(_dropped("params.reasoning", _UNTOLD, "efforts"))
        return Reasoning()
    least = min(known, key=_rank)
    why = f"This model always thinks; it is told the least effort, {least}."
    findings.append(_changed("params.reasoning", why, "efforts"))
    return Reasoning(effort=least)


def _switched_on(
    asked: Reasoning, limit: int | None, target: Target, findings: list[Finding]
) -> Reasoning:
    if target.thinking == ("effort",):
        asked = _as_effort(asked, target, findings)
    elif asked.budget is not None:
        asked = _without_budget(asked, target, findings)
    else:
        asked = _with_budget(asked, limit, target, findings)
    return _within_limits(asked, target, findings)


def _as_effort(asked: Reasoning, target: Target, findings: list[Finding]) -> Reasoning:
    """What is asked in another way as an effort, where the model is told nothing else."""
    if asked.effort is not None:
        return replace(asked, budget=None)
    effort = _nearest(_USUAL if asked.budget is None else _meant(asked.budget), target)
    why = f"This model is told an effort; {effort} stands for what was asked."
    findings.append(_changed("params.reasoning", why, "thinking"))
    return Reasoning(effort=effort)


def _without_budget(asked: Reasoning, target: Target, findings: list[Finding]) -> Reasoning:
    """A budget as an effort, where the model decides itself how long it thinks."""
    if _takes("enabled", target):
        return asked
    effort = asked.effort or _meant(asked.budget or 0)
    why = f"This model is given no budget to think with; its effort is {effort}."
    findings.append(_changed("params.reasoning.budget", why, "thinking"))
    return Reasoning(enabled=True, effort=effort)


def _with_budget(
    asked: Reasoning, limit: int | None, target: Target, findings: list[Finding]
) -> Reasoning:
    """An effort as a budget, where the model cannot decide itself how long it thinks."""
    is_bare = asked.enabled and not _takes("adaptive", target)
    is_unknown = asked.effort is not None and target.efforts == ()
    if not (is_bare or is_unknown) or not _takes("enabled", target):
        return asked
    least = _LEAST if target.thinking_limits is None else target.thinking_limits[0]
    if limit is not None and limit <= least and _takes("disabled", target):
        why = f"{limit} tokens leave no room for thinking, which takes {least} at least."
        findings.append(_changed("params.reasoning", why, "thinking_limits"))
        return Reasoning(enabled=False)
    budget = _BUDGETS.get(asked.effort or _USUAL, _BUDGETS[_USUAL])
    if limit is not None:
        budget = min(budget, max(limit // 2, least))
    why = f"This model thinks with a budget; {budget} tokens stand for what was asked."
    findings.append(_changed("params.reasoning", why, "thinking"))
    effort = asked.effort if target.efforts else None
    return Reasoning(enabled=True, effort=effort, budget=budget)


def _with_known_effort(asked: Reasoning, target: Target, findings: list[Finding]) -> Reasoning:
    """The effort, or the next lower one that the model knows; where it knows none, none."""
    effort, known = asked.effort, target.efforts
    if effort in (None, "none") or known is None or effort in known:
        return asked
    if not known:
        why = "This model is told no effort."
        findings.append(_dropped("params.reasoning.effort", why, "efforts"))
        is_on = True if asked.enabled is None and "adaptive" in target.thinking else asked.enabled
        return replace(asked, enabled=is_on, effort=None)
    instead = _nearest(effort, target)
    why = f"This model does not know the effort {effort!r}; it is told {instead}."
    findings.append(_changed("params.reasoning.effort", why, "efforts"))
    return replace(asked, effort=instead)


def _within_limits(asked: Reasoning, target: Target, findings: list[Finding]) -> Reasoning:
    if asked.budget is None or target.thinking_limits is None:
        return asked
    least, most = target.thinking_limits
    budget = min(max(asked.budget, least), most)
    if budget != asked.budget:
        why = f"The budget of this model is {least} to {most} tokens; it is given {budget}."
        findings.append(_changed("params.reasoning.budget", why, "thinking_limits"))
    return replace(asked, budget=budget)


def _nearest(effort: str, target: Target) -> str:
    """The effort, or the next lower one that the model knows, or the one it lists first."""
    known = target.efforts
    if known is None or effort in known:
        return effort
    lower = [one for one in EFFORTS[: _rank(effort)] if one in known]
    return lower[-1] if lower else known[0]


def _rank(effort: str) -> int:
    return EFFORTS.index(effort) if effort in EFFORTS else EFFORTS.index(_USUAL)


def _meant(budget: int) -> str:
    """The effort that a budget stands for."""
    return next((effort for most, effort in _UP_TO if budget <= most), "high")


def _dropped(where: str, why: str, rule: str) -> Finding:
    return Finding("param_dropped", where, Action.DROPPED, why, Fault.RENDER, rule=rule)


def _changed(where: str, why: str, rule: str) -> Finding:
    return Finding("param_changed", where, Action.CHANGED, why, Fault.RENDER, rule=rule)
