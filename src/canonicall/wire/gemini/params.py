"""`generationConfig` to parameters and back. What has no canonical meaning stays as it is."""

from typing import Any

from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Reasoning
from canonicall.wire.carried import with_rest
from canonicall.wire.gemini.fields import fields_at
from canonicall.wire.losses import dropped

_NUMBERS = {
    "maxOutputTokens": "max_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "seed": "seed",
}
_WHOLE = ("maxOutputTokens", "topK", "seed")
_LEVELS = {"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
_ABOVE_HIGH = ("xhigh", "max")
_DYNAMIC = -1
"""A budget that lets the model decide (ai.google.dev/gemini-api/docs/thinking)."""
_SHOWN = 40
"""Characters of a value in a finding."""


def decode_params(config: Any) -> tuple[Params, dict[str, Any]]:
    """The parameters in a `generationConfig`, and the rest of it."""
    where = "$.generationConfig"
    rest = fields_at(config, where) if config is not None else {}
    found: dict[str, Any] = {}
    for wire, own in _NUMBERS.items():
        number = _number(rest.get(wire), whole=wire in _WHOLE)
        if number is not None:
            found[own] = number
            del rest[wire]
    stop = rest.get("stopSequences")
    if isinstance(stop, list) and all(isinstance(text, str) for text in stop):
        found["stop"] = tuple(rest.pop("stopSequences"))
    if "thinkingConfig" in rest:
        thinking = fields_at(rest.pop("thinkingConfig"), f"{where}.thinkingConfig")
        found["reasoning"], rest["thinkingConfig"] = _decode_thinking(thinking)
    return Params(**found), rest


def encode_params(
    params: Params,
    native: dict[str, Any],
    findings: list[Finding],
    efforts: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """The `generationConfig`. `native` is the rest of a decoded one, `efforts` are all that the
    model knows, where that is known."""
    rest = dict(native)
    thinking = rest.pop("thinkingConfig", {})
    config = {
        wire: getattr(params, own)
        for wire, own in _NUMBERS.items()
        if getattr(params, own) is not None
    }
    if params.stop:
        config["stopSequences"] = list(params.stop)
    if params.reasoning is not None:
        thinking = _encode_thinking(params.reasoning, thinking, findings, efforts)
        if thinking:
            config["thinkingConfig"] = thinking
    return with_rest(config, rest)


def _decode_thinking(config: dict[str, Any]) -> tuple[Reasoning, dict[str, Any]]:
    """How much to think, and the rest, which always says whether thoughts are to be shown."""
    rest = dict(config)
    shown = rest["includeThoughts"] = rest.get("includeThoughts") is True
    budget = rest.get("thinkingBudget")
    level = rest.get("thinkingLevel")
    if type(budget) is int and budget >= 0:
        del rest["thinkingBudget"]
        return Reasoning(enabled=budget > 0, budget=budget or None), rest
    if isinstance(level, str) and level.lower() in _LEVELS:
        del rest["thinkingLevel"]
        return Reasoning(enabled=True, effort=level.lower()), rest
    return Reasoning(enabled=True if shown or budget == _DYNAMIC else None), rest


def _encode_thinking(
    reasoning: Reasoning,
    native: dict[str, Any],
    findings: list[Finding],
    efforts: tuple[str, ...] | None,
) -> dict[str, Any]:
    rest = dict(native)
    # Elsewhere thoughts are shown when they are asked for; here that is a switch of its own.
    shown = rest.pop("includeThoughts", reasoning.enabled is True)
    amount = _amount(reasoning, findings)
    if amount:
        # "You can only set only one of thinking budget and thinking level" (API error text).
        rest.pop("thinkingBudget", None)
        rest.pop("thinkingLevel", None)
    budget = rest.get("thinkingBudget")
    if type(budget) is int and budget < _DYNAMIC:
        del rest["thinkingBudget"]
        why = "There is no budget below zero; the model decides."
        findings.append(dropped("params.reasoning.budget", why))
    level = rest.get("thinkingLevel")
    if isinstance(level, str) and efforts is not None and level.lower() not in efforts:
        del rest["thinkingLevel"]
        why = f"This model does not know the level {level[:_SHOWN]!r}."
        findings.append(dropped("params.reasoning.effort", why, "efforts"))
    return {**({"includeThoughts": True} if shown else {}), **amount, **rest}


def _amount(reasoning: Reasoning, findings: list[Finding]) -> dict[str, Any]:
    """The budget or the level, whichever says it better."""
    effort = reasoning.effort
    if reasoning.enabled is False or effort == "none":
        return {"thinkingBudget": 0}
    if reasoning.budget is not None:
        return {"thinkingBudget": reasoning.budget}
    if effort is None:
        return {}
    level = "HIGH" if effort in _ABOVE_HIGH else _LEVELS.get(effort)
    if effort not in _LEVELS:
        why = f"There is no effort {effort!r} here; {level or 'the default'} is asked for."
        place = "params.reasoning.effort"
        findings.append(Finding("param_changed", place, Action.CHANGED, why, Fault.RENDER))
    return {"thinkingLevel": level} if level else {}


def _number(value: Any, *, whole: bool) -> float | None:
    """`value` if it is a number; 40.0 counts as whole."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not whole or isinstance(value, int):
        return value
    return int(value) if value.is_integer() else None
