"""The parameters that mean the same everywhere, under the names that this format has for them.

Where the format has several ways to say one thing, the request remembers what was said. Only the
canonical value counts; it is said in the same way again where the target has no way of its own.
"""

import math
from collections.abc import Mapping
from typing import Any

from canonicall.errors import MalformedBody
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Reasoning
from canonicall.target import Target
from canonicall.wire.openai_chat.output_format import FIELD as OUTPUT
from canonicall.wire.openai_chat.output_format import decode_output, encode_output
from canonicall.wire.reading import kind_of, list_at, object_at, text_at

_REASONING = ("reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget")
_CANONICAL = {
    "reasoning": ("effort", "max_tokens", "enabled"),
    "thinking": ("type", "budget_tokens"),
}

PLAIN_FIELDS = ("temperature", "top_p", "top_k", "stop", "seed", "stream")
"""Fields that have one name only."""
SPELLED_FIELDS = ("max_tokens", "max_completion_tokens", "random_seed", *_REASONING)
"""Fields that are remembered, because there are several ways to say the same."""


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
        output=decode_output(body.get(OUTPUT)),
    )


def encode_params(
    params: Params, spelled: Mapping[str, Any], target: Target
) -> tuple[dict[str, Any], list[Finding]]:
    """The fields for `params`; `spelled` are the words of this format that said some of them."""
    fields = {
        _limit_name(spelled, target): params.max_tokens,
        "temperature": params.temperature,
        "top_p": params.top_p,
        "top_k": params.top_k,
        "stop": list(params.stop) or None,
        target.seed_field: params.seed,
        "stream": params.stream,
    }
    said = {name: field for name, field in fields.items() if field is not None}
    # "Unrecognized request argument supplied: top_k" (OpenAI)
    lost = [name for name in said if not _is_known(name, target)]
    findings = [_dropped(name, "The target has no such parameter.") for name in lost]
    reasoning, more = _encode_reasoning(params.reasoning, spelled, target)
    findings += more
    output = encode_output(params.output, spelled, findings)
    if not all(_is_known(name, target) for name in output):
        findings.append(_dropped("output", "The target cannot be told the form of its reply."))
        output = {}
    kept = {name: field for name, field in said.items() if name not in lost}
    return kept | reasoning | output, findings


def _is_known(name: str, target: Target) -> bool:
    return "request" not in target.fields.closed or name in target.fields.request


def _limit_name(spelled: Mapping[str, Any], target: Target) -> str:
    """The target's name, else the one that was used, else the one that most hosts know.

    "Unsupported parameter: 'max_tokens' is not supported with this model. Use
    'max_completion_tokens' instead." (o-series and later); many other hosts know the old name only.
    """
    if target.token_limit_field:
        return target.token_limit_field
    return "max_completion_tokens" if "max_completion_tokens" in spelled else "max_tokens"


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


def reasoning_extras(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the objects that ask for reasoning hold beyond what is canonical."""
    extras = {
        name: {key: item for key, item in held.items() if key not in known and item is not None}
        for name, known in _CANONICAL.items()
        if isinstance(held := body.get(name), dict)
    }
    return {name: held for name, held in extras.items() if held}


def _encode_reasoning(
    reasoning: Reasoning | None, spelled: Mapping[str, Any], target: Target
) -> tuple[dict[str, Any], list[Finding]]:
    """The fields that said it, where they still say the same; else `reasoning_effort`."""
    words = {name: spelled[name] for name in _REASONING if name in spelled}
    if _decode_reasoning(words) == reasoning and all(_is_known(name, target) for name in words):
        return words, []
    if reasoning is None:
        return {}, []
    effort = {} if reasoning.effort is None else {"reasoning_effort": reasoning.effort}
    if not all(_is_known(name, target) for name in effort):
        return {}, [_dropped("reasoning", "The target cannot be told how much to think.")]
    if reasoning.budget is not None or (reasoning.enabled is False and not effort):
        return effort, [_dropped("reasoning", "The target can only be told an effort.")]
    return effort, []


def _dropped(name: str, why: str) -> Finding:
    return Finding("param_dropped", f"params.{name}", Action.DROPPED, why, Fault.RENDER)


def _number(body: Mapping[str, Any], name: str, where: str = "$") -> int | float | None:
    value = body.get(name)
    if value is None or (type(value) in (int, float) and math.isfinite(value)):
        return value
    raise MalformedBody(f"expected a number, got {kind_of(value)}.", where=f"{where}.{name}")


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)
