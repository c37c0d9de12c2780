"""The fields of a finished body that the target refuses by name, taken out again.

In: a body and its target. Out: the body without them, and a finding for each. What a parameter is
called, and in which company it is refused, is known only when the body is written.
"""

from typing import Any

from canonicall.findings import Action, Fault, Finding
from canonicall.target import Refusal, Target


def without_refused(body: dict[str, Any], target: Target) -> tuple[dict[str, Any], list[Finding]]:
    """`body` without what the target's refusals name."""
    findings: list[Finding] = []
    for refusal in target.refusals:
        if _is_refused(body, refusal):
            body = _without(body, refusal.field.split("."))
            why = (
                "This model refuses it."
                if not refusal.beside
                else (f"This model refuses it beside {refusal.beside}.")
            )
            where = f"$.{refusal.field}"
            findings.append(Finding("param_dropped", where, Action.DROPPED, why, Fault.RENDER))
    return body, findings


def _is_refused(body: dict[str, Any], refusal: Refusal) -> bool:
    found = _at(body, refusal.field)
    if found is None or found in refusal.taken:
        return False
    if refusal.values and found not in refusal.values:
        return False
    beside = _at(body, refusal.beside) if refusal.beside else True
    wanted = refusal.beside_values
    return beside in wanted if wanted else beside not in (None, [], {})


def _at(body: Any, path: str) -> Any:
    for name in path.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body


def _without(body: dict[str, Any], path: list[str]) -> dict[str, Any]:
    """`body` without one field. An object is nothing without its `type`, or with nothing left."""
    name, *rest = path
    inner = _without(body[name], rest) if rest and rest != ["type"] else {}
    left = {key: value for key, value in body.items() if key != name or inner}
    return {**left, name: inner} if inner else left
