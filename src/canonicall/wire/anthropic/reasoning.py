"""How much the model shall think: `thinking` and `output_config.effort`, both ways.

What these fields say beyond the canonical words (`display`, `between_tools`, an output format) is
native and comes back in its place. What this format alone demands of thinking is decided here, by
passes that precede the encoder: a limit above the budget, and a tool loop that began with a
thought.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Native, Thinking, ToolResult
from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Reasoning, Request
from canonicall.transcript.policy import Goal
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.anthropic.extras import FORMAT, own_fields
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
    reasoning: Reasoning | None, native: dict[str, Any], target: Target, findings: list[Finding]
) -> dict[str, Any]:
    """The fields `thinking` and `output_config`, with their native rest.

    What is asked has been fitted to the target before; only words of this format are chosen here.
    """
    if reasoning is None and not native:
        return {}
    asked = reasoning or Reasoning()
    fields: dict[str, Any] = {}
    rest = native.get("thinking") or {}
    if not _has_switch(rest.get("type"), target):
        # Without a switch of the model's own, nothing else of the field means anything.
        rest = {} if asked.enabled is None else {key: rest[key] for key in rest if key != "type"}
    is_closed = "request" in target.fields.closed
    thinking = _encode_thinking(asked, rest, target)
    if thinking:
        fields["thinking"] = _known_thinking(thinking, findings) if is_closed else thinking
    output = ({"effort": asked.effort} if asked.effort else {}) | (
        native.get("output_config") or {}
    )
    if output:
        fields["output_config"] = output
    return fields


def known_thinking(request: Request, transcript: Transcript, goal: Goal) -> Request:
    """The request with thinking as this format and this conversation can have it.

    An effort is one of the format, a budget is not too small for it and smaller than the limit, and
    there is none in a tool loop that began without a thought.
    """
    asked, native = request.params.reasoning or Reasoning(), request.native
    fitted = _known_effort(asked, goal)
    if fitted.budget is not None and fitted.enabled is not False:
        fitted = _budget_in_time(fitted, request, transcript, goal)
        if fitted.enabled is False and native is not None and native.format == FORMAT:
            # What else was said of thinking means nothing where there is none.
            rest = {name: held for name, held in native.fields.items() if name != "thinking"}
            native = Native(FORMAT, rest)
    if fitted == asked:
        return request
    return replace(request, params=replace(request.params, reasoning=fitted), native=native)


def _known_effort(asked: Reasoning, goal: Goal) -> Reasoning:
    """`asked` with an effort that the format has. SDK output_config_param.py: low, medium, high,
    xhigh, max."""
    where = "params.reasoning.effort"
    match asked.effort:
        case "none":
            return replace(asked, effort=None, enabled=False)
        case "minimal":
            goal.findings.append(_changed(where, "The least effort is called low."))
            return replace(asked, effort="low")
        case str(effort) if effort not in _NAMES.efforts and "request" in goal.target.fields.closed:
            goal.findings.append(dropped(where, f"There is no effort {effort!r}."))
            return replace(asked, effort=None)
        case _:
            return asked


def _budget_in_time(
    asked: Reasoning, request: Request, transcript: Transcript, goal: Goal
) -> Reasoning:
    """`asked` with a budget that the limit leaves room for, or without thinking."""
    budget, limit = asked.budget or 0, request.params.max_tokens or 0
    if budget < _LEAST_BUDGET:
        why = f"The least budget is {_LEAST_BUDGET} tokens."
        goal.findings.append(_changed("params.reasoning.budget", why))
        budget = _LEAST_BUDGET
    stored = request.continues
    continues = stored is not None and stored.format == FORMAT and bool(stored.fields)
    off = replace(asked, enabled=False, budget=None)
    if _answers_without_thought(transcript.turns, continues=continues):
        # "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
        why = "Thinking cannot begin inside a tool loop that began without it; it is off this time."
        goal.findings.append(_changed("params.reasoning", why))
        return off
    # "`max_tokens` must be greater than `thinking.budget_tokens`."
    if budget >= limit and limit <= _LEAST_BUDGET:
        why = f"{limit} tokens leave no room for thinking, which takes {_LEAST_BUDGET} at least."
        goal.findings.append(_changed("params.reasoning", why))
        return off
    if budget >= limit:
        why = f"The budget for thinking has to be smaller than the limit of {limit} tokens."
        goal.findings.append(_changed("params.reasoning.budget", why))
        budget = max(limit // 2, _LEAST_BUDGET)
    return replace(asked, budget=budget)


def without_last_thoughts(
    request: Request, transcript: Transcript, goal: Goal
) -> tuple[Request, Transcript]:
    """The transcript without the thoughts in words that the model shall continue while it does not
    think.

    "When thinking is disabled, an `assistant` message in the final position cannot contain
    `thinking`."
    """
    asked, turns = request.params.reasoning, transcript.turns
    if asked is None or asked.enabled is not False or not turns or turns[-1].role != "assistant":
        return request, transcript
    last = turns[-1]
    kept = tuple(block for block in last.blocks if not isinstance(block, Thinking))
    if len(kept) == len(last.blocks) or not _is_disabled(request, goal.target):
        return request, transcript
    why = "While thinking is off, words that the model shall continue can hold no thoughts."
    place = f"turns[{len(turns) - 1}]"
    goal.findings.append(Finding("thinking_dropped", place, Action.DROPPED, why, Fault.RENDER))
    return request, replace(transcript, turns=(*turns[:-1], replace(last, blocks=kept)))


def _is_disabled(request: Request, target: Target) -> bool:
    """Whether thinking that is off is said so; there may be other words for it."""
    native = own_fields(request.native).get("thinking") or {}
    kind = native.get("type") if _has_switch(native.get("type"), target) else None
    return (kind or _off(target)) == "disabled"


def _has_switch(kind: Any, target: Target) -> bool:
    """Whether a model may know this way of switching thinking: what is new is not known here."""
    return not target.thinking or kind not in _SWITCHES or kind in target.thinking


def _off(target: Target) -> str:
    """How a model is told not to think."""
    return "disabled" if not target.thinking or "disabled" in target.thinking else "between_tools"


def _encode_thinking(asked: Reasoning, native: dict[str, Any], target: Target) -> dict[str, Any]:
    if asked.enabled is False:
        return {"type": _off(target)} | native
    rest = {name: field for name, field in native.items() if name != "type"}
    if asked.budget is not None:
        return {"type": "enabled", "budget_tokens": asked.budget} | rest
    return {"type": "adaptive"} | rest if asked.enabled else native


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
