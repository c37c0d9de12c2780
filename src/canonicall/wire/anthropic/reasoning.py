"""How much the model shall think: `thinking` and `output_config.effort`, both ways.

What these fields say beyond the canonical words (`display`, `between_tools`, an output format) is
native and comes back in its place.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Thinking, ToolResult
from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Reasoning
from canonicall.transcript.turns import Turn
from canonicall.wire.losses import dropped
from canonicall.wire.reading import object_at, text_at

# SDK thinking_config_param.py. `between_tools` is how newer models say that thinking is off.
_SWITCHES = {"adaptive": True, "enabled": True, "disabled": False, "between_tools": False}
_NAMES = vocabulary("anthropic")
# "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
_LEAST_BUDGET = 1024


def decode_reasoning(
    body: dict[str, Any], findings: list[Finding]
) -> tuple[Reasoning | None, dict[str, Any]]:
    """The reasoning a request asks for, and the native rest of the two fields."""
    thinking = dict(object_at(body.get("thinking") or {}, "$.thinking"))
    output = _output_config(body, findings)
    effort = text_at(output.pop("effort", None), "$.output_config.effort") or None
    enabled = _SWITCHES.get(text_at(thinking.get("type"), "$.thinking.type"))
    budget = None
    if enabled is not None and thinking["type"] != "between_tools":
        kind = thinking.pop("type")
        given = thinking.get("budget_tokens")
        if kind == "enabled" and isinstance(given, int | None):
            budget = thinking.pop("budget_tokens", None)
        if kind == "enabled" and given is None:
            where, why = "$.thinking.budget_tokens", "No budget is given; the model chooses it."
            findings.append(Finding("param_changed", where, Action.CHANGED, why, Fault.INPUT))
    native = {"thinking": thinking, "output_config": output}
    rest = {name: field for name, field in native.items() if field}
    if enabled is None and effort is None:
        return None, rest
    return Reasoning(enabled, effort, budget), rest


def _output_config(body: dict[str, Any], findings: list[Finding]) -> dict[str, Any]:
    """The field `output_config`, with the format of the output under its name of today."""
    output = dict(object_at(body.get("output_config") or {}, "$.output_config"))
    before = body.get("output_format")
    if before is not None:
        # Docs "Structured outputs": `output_format` of the beta has become `output_config.format`.
        why = "The field is deprecated; it is read as `output_config.format`, which counts if set."
        findings.append(
            Finding("legacy_field", "$.output_format", Action.CHANGED, why, Fault.INPUT)
        )
        output.setdefault("format", before)
    return output


def encode_reasoning(
    reasoning: Reasoning | None, native: dict[str, Any], target: Target
) -> tuple[dict[str, Any], list[Finding]]:
    """The fields `thinking` and `output_config`, with their native rest.

    What is asked has been fitted to the target before; only words of this format are chosen here.
    """
    findings: list[Finding] = []
    if reasoning is None and not native:
        return {}, findings
    asked = reasoning or Reasoning()
    effort, enabled = asked.effort, asked.enabled
    if effort == "none":
        effort, enabled = None, False
    elif effort == "minimal":
        # SDK output_config_param.py: low, medium, high, xhigh, max.
        findings.append(_changed("params.reasoning.effort", "The least effort is called low."))
        effort = "low"
    fields: dict[str, Any] = {}
    rest = native.get("thinking") or {}
    if not _has_switch(rest.get("type"), target):
        # Without a switch of the model's own, nothing else of the field means anything.
        rest = {} if enabled is None else {key: rest[key] for key in rest if key != "type"}
    is_closed = "request" in target.fields.closed
    thinking = _encode_thinking(enabled, asked.budget, rest, target, findings)
    if thinking:
        fields["thinking"] = _known_thinking(thinking, findings) if is_closed else thinking
    if is_closed and effort is not None and effort not in _NAMES.efforts:
        findings.append(dropped("params.reasoning.effort", f"There is no effort {effort!r}."))
        effort = None
    output = ({"effort": effort} if effort else {}) | (native.get("output_config") or {})
    if output:
        fields["output_config"] = output
    return fields, findings


def fit_thinking(
    fields: dict[str, Any], limit: int, turns: Sequence[Turn], *, continues: bool = False
) -> tuple[dict[str, Any], list[Finding]]:
    """`fields` with manual thinking as this request can have it: a smaller budget, or none."""
    budget = fields.get("thinking", {}).get("budget_tokens")
    if not isinstance(budget, int):
        return fields, []
    if _answers_without_thought(turns, continues=continues):
        # "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
        why = "Thinking cannot begin inside a tool loop that began without it; it is off this time."
        return fields | {"thinking": {"type": "disabled"}}, [_changed("params.reasoning", why)]
    # "`max_tokens` must be greater than `thinking.budget_tokens`."
    if budget < limit:
        return fields, []
    if limit <= _LEAST_BUDGET:
        why = f"{limit} tokens leave no room for thinking, which takes {_LEAST_BUDGET} at least."
        return fields | {"thinking": {"type": "disabled"}}, [_changed("params.reasoning", why)]
    why = f"The budget for thinking has to be smaller than the limit of {limit} tokens."
    smaller = fields["thinking"] | {"budget_tokens": max(limit // 2, _LEAST_BUDGET)}
    return fields | {"thinking": smaller}, [_changed("params.reasoning.budget", why)]


def fit_last_thoughts(
    turns: tuple[Turn, ...], fields: dict[str, Any], findings: list[Finding]
) -> tuple[Turn, ...]:
    """`turns` without the thoughts in words that the model shall continue while it does not think.

    "When thinking is disabled, an `assistant` message in the final position cannot contain
    `thinking`."
    """
    last = turns[-1] if turns else None
    is_off = fields.get("thinking", {}).get("type") == "disabled"
    if not is_off or last is None or last.role != "assistant":
        return turns
    kept = tuple(block for block in last.blocks if not isinstance(block, Thinking))
    if len(kept) == len(last.blocks):
        return turns
    why = "While thinking is off, words that the model shall continue can hold no thoughts."
    place = f"turns[{len(turns) - 1}]"
    findings.append(Finding("thinking_dropped", place, Action.DROPPED, why, Fault.RENDER))
    return (*turns[:-1], replace(last, blocks=kept))


def is_thinking(fields: dict[str, Any]) -> bool:
    """Whether `fields` switch thinking on."""
    return _SWITCHES.get(fields.get("thinking", {}).get("type"), False)


def _has_switch(kind: Any, target: Target) -> bool:
    """Whether a model may know this way of switching thinking: what is new is not known here."""
    return not target.thinking or kind not in _SWITCHES or kind in target.thinking


def _encode_thinking(
    enabled: bool | None,
    budget: int | None,
    native: dict[str, Any],
    target: Target,
    findings: list[Finding],
) -> dict[str, Any]:
    if enabled is False:
        is_usual = not target.thinking or "disabled" in target.thinking
        return {"type": "disabled" if is_usual else "between_tools"} | native
    rest = {name: field for name, field in native.items() if name != "type"}
    if budget is not None:
        if budget < _LEAST_BUDGET:
            why = f"The least budget is {_LEAST_BUDGET} tokens."
            findings.append(_changed("params.reasoning.budget", why))
        return {"type": "enabled", "budget_tokens": max(budget, _LEAST_BUDGET)} | rest
    return {"type": "adaptive"} | rest if enabled else native


def _known_thinking(thinking: dict[str, Any], findings: list[Finding]) -> dict[str, Any]:
    """`thinking` without what its kind does not have: a kind nobody knows stays as it is."""
    known = _NAMES.thinking.get(thinking["type"]) if "type" in thinking else None
    if known is None:
        return thinking
    lost = [name for name in thinking if name not in known]
    if "display" not in lost and thinking.get("display") not in (None, *_NAMES.displays):
        lost.append("display")
    for name in lost:
        why = f"Thinking that is {thinking['type']} has no such field, or no such value of it."
        findings.append(dropped(f"params.thinking.{name}", why))
    return {name: field for name, field in thinking.items() if name not in lost}


def _answers_without_thought(turns: Sequence[Turn], *, continues: bool) -> bool:
    """Whether a reply goes on, or results are answered, of a loop that began without a thought.

    `continues`: a loop without a beginning began in what the provider keeps.
    """
    loop: list[Turn] = []
    for turn in reversed(turns):
        if turn.role != "assistant" and not all(isinstance(one, ToolResult) for one in turn.blocks):
            break
        loop.append(turn)
    if continues and len(loop) == len(turns):
        return False
    replies = [turn for turn in loop if turn.role == "assistant" and turn.blocks]
    return bool(replies) and not isinstance(replies[-1].blocks[0], Thinking)


def _changed(where: str, why: str) -> Finding:
    return Finding("param_changed", where, Action.CHANGED, why, Fault.RENDER)
