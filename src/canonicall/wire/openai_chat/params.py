"""The parameters that mean the same everywhere, under the names that this format has for them.

Where the format has several names for one thing, the native fields of the request keep the one
that was used, with what stood there. Only the canonical value counts; the name is remembered.
"""

import math
from collections.abc import Mapping
from typing import Any

from canonicall.errors import MalformedBody
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Reasoning
from canonicall.target import Target
from canonicall.wire.openai_chat.target import TARGET
from canonicall.wire.reading import kind_of, list_at, object_at, text_at

_REASONING = ("reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget")

PLAIN_FIELDS = ("temperature", "top_p", "top_k", "stop", "seed", "stream")
"""Fields that have one name only."""
REMEMBERED_FIELDS = ("max_tokens", "max_completion_tokens", "random_seed", *_REASONING)
"""Fields that stay in the native fields, so that their name is known again."""


def decode_params(body: dict[str, Any], findings: list[Finding]) -> Params:
    """The parameters of a request body."""
    limit, newer = _number(body, "max_tokens"), _number(body, "max_completion_tokens")
    if limit is not None and newer is not None and limit != newer:
        why = "Two different token limits are given; max_completion_tokens counts."
        where = "$.max_tokens"
        findings.append(Finding("two_limits", where, Action.DROPPED, why, Fault.INPUT))
    seed = _number(body, "seed")
    stream = body.get("stream")
    return Params(
        max_tokens=_whole(limit if newer is None else newer),
        temperature=_number(body, "temperature"),
        top_p=_number(body, "top_p"),
        top_k=_whole(_number(body, "top_k")),
        stop=_decode_stop(body.get("stop")),
        seed=_whole(_number(body, "random_seed") if seed is None else seed),
        stream=stream if isinstance(stream, bool) else None,
        reasoning=_decode_reasoning(body),
    )


def encode_params(
    params: Params, native: Mapping[str, Any], target: Target
) -> tuple[dict[str, Any], list[Finding]]:
    """The fields for `params`; `native` are this format's own fields of the request."""
    fields: dict[str, Any] = {}
    findings: list[Finding] = []
    if params.max_tokens is not None:
        fields[_limit_name(native, target)] = params.max_tokens
    if params.temperature is not None:
        fields["temperature"] = params.temperature
    if params.top_p is not None:
        fields["top_p"] = params.top_p
    if params.top_k is not None and target.domain != TARGET.domain:
        fields["top_k"] = params.top_k
    elif params.top_k is not None:
        # "Unrecognized request argument supplied: top_k"
        findings.append(_dropped("top_k", "OpenAI has no such parameter."))
    if params.stop:
        fields["stop"] = list(params.stop)
    if params.seed is not None:
        fields["random_seed" if "random_seed" in native else "seed"] = params.seed
    if params.stream is not None:
        fields["stream"] = params.stream
    reasoning, lost = _encode_reasoning(params.reasoning, native)
    return fields | reasoning, findings + lost


def _limit_name(native: Mapping[str, Any], target: Target) -> str:
    """The name that was used, else the one that all models of the target know.

    "Unsupported parameter: 'max_tokens' is not supported with this model. Use
    'max_completion_tokens' instead." (o-series and later); most other hosts know the old name only.
    """
    for name in ("max_completion_tokens", "max_tokens"):
        if name in native:
            return name
    return "max_completion_tokens" if target.domain == TARGET.domain else "max_tokens"


def _decode_stop(stop: Any) -> tuple[str, ...]:
    if isinstance(stop, str):
        return (stop,)
    return tuple(
        text_at(one, f"$.stop[{index}]") for index, one in enumerate(list_at(stop, "$.stop"))
    )


def _decode_reasoning(body: Mapping[str, Any]) -> Reasoning | None:
    """How much to think: `reasoning_effort` (OpenAI), `reasoning` (OpenRouter), `thinking`
    (DeepSeek, Kimi, Z.ai), `enable_thinking` and `thinking_budget` (Qwen).
    """
    routed = object_at(body.get("reasoning") or {}, "$.reasoning")
    thinking = object_at(body.get("thinking") or {}, "$.thinking")
    effort = text_at(body.get("reasoning_effort"), "$.reasoning_effort")
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
        _number(thinking, "budget_tokens", "$.thinking"),
        _number(body, "thinking_budget"),
        _number(routed, "max_tokens", "$.reasoning"),
    ]
    reasoning = Reasoning(
        enabled=enabled[0] if enabled else None,
        effort=effort or None,
        budget=_whole(next((budget for budget in budgets if budget is not None), None)),
    )
    return None if reasoning == Reasoning() else reasoning


def _encode_reasoning(
    reasoning: Reasoning | None, native: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Finding]]:
    """The fields that said it, where they still say the same; else `reasoning_effort`."""
    if _decode_reasoning(native) == reasoning:
        return {name: native[name] for name in _REASONING if native.get(name) is not None}, []
    if reasoning is None:
        return {}, []
    if reasoning.effort is not None:
        return {"reasoning_effort": reasoning.effort}, []
    if reasoning.enabled is False or reasoning.budget is not None:
        why = "This format can only say an effort."
        return {}, [_dropped("reasoning", why)]
    return {}, []


def _dropped(name: str, why: str) -> Finding:
    return Finding("param_dropped", f"params.{name}", Action.DROPPED, why, Fault.RENDER)


def _number(body: Mapping[str, Any], name: str, where: str = "$") -> int | float | None:
    value = body.get(name)
    if value is None or (type(value) in (int, float) and math.isfinite(value)):
        return value
    raise MalformedBody(f"expected a number, got {kind_of(value)}.", where=f"{where}.{name}")


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)
