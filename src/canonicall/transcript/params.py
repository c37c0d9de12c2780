"""The parameters of a request, as JSON can write them and as one target takes them.

In: a request. Out: the same request without half characters and numbers that JSON does not have,
without the parameters that the target refuses, with thinking asked for in its way, and with the
stream it insists on; a finding for each of them.
"""

from math import isfinite
from operator import attrgetter, is_
from typing import Any, get_type_hints

import msgspec
from msgspec import ValidationError, convert
from msgspec.structs import replace

from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding
from canonicall.plain import plain_json
from canonicall.request import Params, Request
from canonicall.transcript.policy import Goal
from canonicall.transcript.thinking import fitted_reasoning

_UNSET = Params()
_KINDS = get_type_hints(Params)
_PARTS = ("tools", "tool_choice", "params", "model", "native", "spelled", "continues")


parts_of = attrgetter(*_PARTS)
"""The parts of a request beside its conversation."""


def plain_request(request: Request, goal: Goal) -> Request:
    """`request` as it can be sent. A value that JSON has no form for raises `InvalidValue`.

    The conversation has been through the same when it was made.
    """
    values = parts_of(request)
    if request.source is not None and all(map(is_, values, request.source.parts or (None,))):
        return request  # It was read from JSON, and nothing was put in since.
    parts = {name: part for name, part in zip(_PARTS, values, strict=True) if part is not None}
    try:
        data = msgspec.json.encode(parts)
    except (UnicodeEncodeError, TypeError):
        is_plain = False
    except RecursionError:
        # A schema that holds itself: it is cut where schemas are fitted.
        is_plain = True
    else:
        # A number that JSON does not have is written as null.
        is_plain = b"null" not in data or _is_finite(msgspec.to_builtins(parts))
    if is_plain:
        return request
    return replace(request, **_plain(parts, goal.findings))


def _is_finite(value: Any) -> bool:
    """Whether all numbers in `value` are such of JSON, however deep they are in it."""
    held = [value]
    while held:
        one = held.pop()
        if isinstance(one, dict):
            held += one.values()
        elif isinstance(one, (list, tuple)):
            held += one
        elif isinstance(one, float) and not isfinite(one):
            return False
    return True


def _numbers(value: Any, where: str, findings: list[Finding]) -> Any:
    """`value` without the numbers that JSON does not have; in a list there is null.

    A native field that held nothing else is left out with them: some formats read it as absent. In
    a schema an empty object has a meaning.
    """
    if isinstance(value, dict):
        places = ((name, f"{where}.{name}", inner) for name, inner in value.items())
        made = {name: _numbers(inner, place, findings) for name, place, inner in places}
        nothing: tuple[Any, ...] = (None, {}) if where.startswith("native.fields") else (None,)
        return {
            name: inner
            for name, inner in made.items()
            if inner not in nothing or inner == value[name]
        }
    if isinstance(value, (list, tuple)):
        return [_numbers(one, f"{where}[{n}]", findings) for n, one in enumerate(value)]
    if isinstance(value, float) and not isfinite(value):
        why = f"{value} is not a number of JSON; it is left out."
        findings.append(Finding("param_dropped", where, Action.DROPPED, why, Fault.INPUT))
        return None
    return value


def _plain(parts: dict[str, Any], findings: list[Finding]) -> dict[str, Any]:
    kinds = {one.name: one.type for one in msgspec.structs.fields(Request)}
    made = {}
    for name, part in parts.items():
        try:
            numbered = _numbers(msgspec.to_builtins(part), name, findings)
        except (TypeError, RecursionError) as error:
            raise InvalidValue(f"{error}.", where=name) from None
        plain, told = plain_json(numbered, name)
        findings += told
        try:
            made[name] = msgspec.convert(plain, kinds[name])
        except msgspec.ValidationError:
            made[name] = part  # Parameters of a wrong kind are taken out of the finished body.
    return made


def with_model(request: Request, goal: Goal) -> Request:
    """`request` with the model of the target."""
    model = goal.target.model
    return replace(request, model=model) if model and model != request.model else request


def right_kinds(request: Request, goal: Goal) -> Request:
    """`request` without parameters that are not of the kind that `Params` declares."""
    if request.params == _UNSET:
        return request
    wrong = [
        name
        for name, kind in _KINDS.items()
        if not _fits(getattr(request.params, name), kind, getattr(_UNSET, name))
    ]
    if not wrong:
        return request
    why = "Its value is of another kind than this parameter has."
    goal.findings += (
        Finding("param_dropped", f"params.{name}", Action.DROPPED, why, Fault.INPUT)
        for name in wrong
    )
    params = replace(request.params, **{name: getattr(_UNSET, name) for name in wrong})
    return replace(request, params=params)


def _fits(value: Any, kind: Any, unset: Any) -> bool:
    if value is unset or value == unset:
        return True
    try:
        convert(value, kind)
    except ValidationError:
        return False
    return not isinstance(value, float) or isfinite(value)


def streamed(request: Request, goal: Goal) -> Request:
    """`request` with a stream asked for where there is no other reply."""
    target, asked = goal.target, request.params.stream
    if asked is True or not target.stream_only:
        return request
    why = "This host replies in streams only; who wants a whole reply has to fold it."
    code, action, fault = "param_added", Action.ADDED, Fault.NONE
    if asked is False:
        code, action, fault = "param_changed", Action.CHANGED, Fault.RENDER
    goal.findings.append(Finding(code, "params.stream", action, why, fault, rule="stream_only"))
    return replace(request, params=replace(request.params, stream=True))


def thinking_as_taken(request: Request, goal: Goal) -> Request:
    """`request` with thinking asked for as the target takes it."""
    asked = request.params.reasoning
    if asked is None:
        return request
    reasoning, findings = fitted_reasoning(request.params, goal.target)
    goal.findings += findings
    if reasoning == asked:
        return request
    return replace(request, params=replace(request.params, reasoning=reasoning))


def without_refused_params(request: Request, goal: Goal) -> Request:
    """`request` without the parameters that the model refuses."""
    target = goal.target
    refused = [
        name
        for name in target.refused_params
        if getattr(request.params, name, None) != getattr(_UNSET, name, None)
    ]
    if not refused:
        return request
    why = "This model refuses to be told it."
    goal.findings += (
        Finding(
            "param_dropped",
            f"params.{name}",
            Action.DROPPED,
            why,
            Fault.RENDER,
            rule="refused_params",
        )
        for name in refused
    )
    params = replace(request.params, **{name: getattr(_UNSET, name) for name in refused})
    return replace(request, params=params)
