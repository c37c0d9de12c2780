"""How much to think, in the ways that hosts of this format have for it.

`reasoning_effort` is OpenAI's and known nearly everywhere. A host may have a switch of its own as
well: `thinking` (DeepSeek, Kimi, Z.ai), `enable_thinking` with `thinking_budget` (Qwen),
`reasoning` (OpenRouter). What was said in the words of a host is said in the same words again,
unless the target is known to have others.
"""

from collections.abc import Mapping
from typing import Any

from canonicall.facts.target import Target
from canonicall.findings import Finding
from canonicall.request import Reasoning
from canonicall.wire.losses import dropped
from canonicall.wire.reading import number_at, object_at, text_at, whole

EFFORT = "reasoning_effort"
SWITCHES = ("reasoning", "thinking", "enable_thinking", "thinking_budget")
_SAID = (EFFORT, *SWITCHES)
_CANONICAL = {
    "reasoning": ("effort", "max_tokens", "enabled"),
    "thinking": ("type", "budget_tokens"),
}
_WORDS = {
    "": _SAID,
    "thinking": (EFFORT, "thinking"),
    "enable_thinking": (EFFORT, "enable_thinking", "thinking_budget"),
    "reasoning": (EFFORT, "reasoning"),
}
"""The fields that a host reads, by the one it switches thinking with; any where that is unknown."""


def decode_effort(body: Mapping[str, Any]) -> Reasoning | None:
    """What a body says of it, in whatever way."""
    if body.keys().isdisjoint(_SAID):
        return None
    routed = object_at(body.get("reasoning") or {}, "$.reasoning")
    thinking = object_at(body.get("thinking") or {}, "$.thinking")
    effort = text_at(body.get(EFFORT), f"$.{EFFORT}")
    effort = effort or text_at(routed.get("effort"), "$.reasoning.effort")
    switch = text_at(thinking.get("type"), "$.thinking.type")
    enabled = [
        flag
        for flag in (
            switch != "disabled" if switch else None,
            body.get("enable_thinking"),
            routed.get("enabled"),
            False if effort == "none" else None,
        )
        if isinstance(flag, bool)
    ]
    budgets = [
        number_at(thinking, "budget_tokens", "$.thinking"),
        number_at(body, "thinking_budget"),
        number_at(routed, "max_tokens", "$.reasoning"),
    ]
    reasoning = Reasoning(
        enabled=enabled[0] if enabled else None,
        effort=effort or None,
        budget=whole(next((budget for budget in budgets if budget is not None), None)),
    )
    return None if reasoning == Reasoning() else reasoning


def effort_extras(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the objects that ask for reasoning hold beyond what is canonical."""
    if body.keys().isdisjoint(_CANONICAL):
        return {}
    extras = {
        name: {key: item for key, item in held.items() if key not in known and item is not None}
        for name, known in _CANONICAL.items()
        if isinstance(held := body.get(name), dict)
    }
    return {name: held for name, held in extras.items() if held}


def asks_effort(name: str, field: Any) -> bool:
    """Whether a field asks for reasoning: an object that only says something else does not."""
    known = _CANONICAL.get(name)
    if known is None or not isinstance(field, dict):
        return field is not None
    said = [key for key, item in field.items() if item is not None]
    return not said or any(key in known for key in said)


def encode_effort(
    reasoning: Reasoning | None, spelled: Mapping[str, Any], target: Target
) -> tuple[dict[str, Any], list[Finding]]:
    """The fields that said it, where the target reads them and they still say the same; else those
    that the target has."""
    words = {name: spelled[name] for name in _SAID if name in spelled}
    read = _WORDS[target.thinking_field]
    is_read = all(name in read and target.fields.takes(name) for name in words)
    if is_read and decode_effort(words) == reasoning:
        return words, []
    if reasoning is None:
        return {}, []
    said, lost = _restated(reasoning, target)
    if not all(target.fields.takes(name) for name in said):
        return {}, [_dropped("reasoning", "The target cannot be told how much to think.", "fields")]
    return said, lost


def _restated(reasoning: Reasoning, target: Target) -> tuple[dict[str, Any], list[Finding]]:
    effort = {} if reasoning.effort is None else {EFFORT: reasoning.effort}
    # A budget is a wish to think as well.
    enabled = True if reasoning.enabled is None and reasoning.budget else reasoning.enabled
    no_budget = (
        []
        if reasoning.budget is None
        else [_dropped("reasoning.budget", _NO_BUDGET, "thinking_field")]
    )
    match target.thinking_field:
        case "thinking" if enabled is not None:
            # The switch says it already, and "none" is an effort that few of these hosts know.
            effort = {} if reasoning.effort == "none" else effort
            switch = {"type": "enabled" if enabled else "disabled"}
            return {**effort, "thinking": switch}, no_budget
        case "enable_thinking" if enabled is not None:
            budget = {} if reasoning.budget is None else {"thinking_budget": reasoning.budget}
            return {"enable_thinking": enabled, **budget}, _unsaid_effort(reasoning)
        case "reasoning":
            return {"reasoning": _routed(reasoning)}, no_budget if effort else []
    if reasoning.budget is not None or (reasoning.enabled is not None and not effort):
        return effort, [
            _dropped("reasoning", "The target can only be told an effort.", "thinking_field")
        ]
    return effort, []


_NO_BUDGET = "The target is given no budget to think with."


def _routed(reasoning: Reasoning) -> dict[str, Any]:
    """OpenRouter: an effort or a budget, never both; "none" is refused where a model always thinks,
    and known to be."""
    if reasoning.effort is not None:
        return {"effort": reasoning.effort}
    if reasoning.enabled is False:
        return {"effort": "none"}
    if reasoning.budget is not None:
        return {"max_tokens": reasoning.budget}
    return {"enabled": True}


def _unsaid_effort(reasoning: Reasoning) -> list[Finding]:
    if reasoning.effort in (None, "none"):
        return []
    why = "The target is told whether to think, not how hard."
    return [_dropped("reasoning.effort", why, "thinking_field")]


def _dropped(name: str, why: str, rule: str) -> Finding:
    return dropped(f"params.{name}", why, rule)
