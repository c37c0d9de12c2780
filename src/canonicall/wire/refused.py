"""The fields of a finished body that the target refuses by name or by kind, taken out again.

In: a body and its target. Out: the body without them, and a finding for each. What a parameter is
called, of which kind it has to be, and in which company it is refused, is known only when the body
is written.
"""

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from canonicall.facts.parameter_kinds import Parameter, known_parameters
from canonicall.facts.target import Refusal, Target
from canonicall.findings import Action, Fault, Finding


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
            findings.append(
                Finding("param_dropped", where, Action.DROPPED, why, Fault.RENDER, rule="refusals")
            )
    return body, findings


def without_wrong_kinds(
    body: dict[str, Any], format: str, fault: Fault = Fault.RENDER
) -> tuple[dict[str, Any], list[Finding]]:
    """`body` without parameters of another kind than the format says; null is no value.

    Lists of objects, such as tools, are not looked at in a body that comes in: they are too much to
    be left out, and its decoder refuses them.
    """
    wrong = _wrong(body, known_parameters(format), (), with_objects=fault is not Fault.INPUT)
    findings: list[Finding] = []
    for path, kinds in wrong:
        body = _without(body, list(path))
        why = f"A value of the kind {' or '.join(kinds)} belongs here."
        where = f"$.{'.'.join(path)}"
        findings.append(Finding("param_dropped", where, Action.DROPPED, why, fault))
    return body, findings


def _wrong(
    fields: dict[str, Any],
    known: Mapping[str, Parameter],
    before: tuple[str, ...],
    *,
    with_objects: bool,
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The paths of values of a wrong kind, each with the right kinds."""
    found: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for name, value in fields.items():
        one = known.get(name)
        if one is None or value is None or type(value) in one.types:
            continue
        is_looked_at = one.kinds and (with_objects or "objects" not in one.kinds)
        if is_looked_at and not any(_FITS[kind](value) for kind in one.kinds):
            found.append(((*before, name), one.kinds))
        elif one.is_typed and type(value) is dict and not value.get("type"):
            found.append(((*before, name, "type"), one.inner["type"].kinds))
        elif type(value) is dict:
            found += _wrong(value, one.inner, (*before, name), with_objects=with_objects)
    return found


def _each(kind: type) -> Callable[[Any], bool]:
    kinds = {kind}
    return lambda value: type(value) is list and kinds.issuperset(map(type, value))


_FITS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: type(value) is str,
    "boolean": lambda value: type(value) is bool,
    "integer": lambda value: type(value) is int or (type(value) is float and value.is_integer()),
    "number": lambda value: type(value) is int or (type(value) is float and isfinite(value)),
    "numeral": lambda value: type(value) is str and bool(re.fullmatch(r"-?\d+(\.\d+)?", value)),
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
    "texts": _each(str),
    "objects": _each(dict),
}


def _is_refused(body: dict[str, Any], refusal: Refusal) -> bool:
    found = _at(body, refusal.field)
    if found is None or found in refusal.taken:
        return False
    if refusal.values and found not in refusal.values:
        return False
    beside = _at(body, refusal.beside) if refusal.beside else True
    wanted = refusal.beside_values
    return beside in wanted if wanted else beside not in (None, "", [], {})


def _at(body: Any, path: str) -> Any:
    for name in path.split("."):
        if not isinstance(body, dict) or name not in body:
            return None
        body = body[name]
    return body


def _without(body: dict[str, Any], path: list[str]) -> dict[str, Any]:
    """`body` without one field. An object is nothing without its `type`, or with nothing left."""
    name, *rest = path
    if name not in body:
        return body  # What it was in is gone already.
    inner = _without(body[name], rest) if rest and rest != ["type"] else {}
    left = {key: value for key, value in body.items() if key != name or inner}
    return {**left, name: inner} if inner else left
