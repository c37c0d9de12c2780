"""The parameters of a request, as one target takes them.

In: a request. Out: the same request without the parameters that the target refuses, with thinking
asked for in its way, and with the stream it insists on; a finding for each of them.
"""

from math import isfinite
from typing import Any, get_type_hints

from msgspec import ValidationError, convert
from msgspec.structs import replace

from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Request
from canonicall.transcript.thinking import fitted_reasoning

_UNSET = Params()
_KINDS = get_type_hints(Params)


def fitted_params(request: Request, target: Target) -> tuple[Request, list[Finding]]:
    """`request` with parameters that `target` takes."""
    request, findings = _right_kinds(request)
    request, about_stream = _streamed(request, target)
    request, about_thinking = _thinking(request, target)
    findings += (*about_stream, *about_thinking)
    refused = [
        name
        for name in target.refused_params
        if getattr(request.params, name, None) != getattr(_UNSET, name, None)
    ]
    if not refused:
        return request, findings
    why = "This model refuses to be told it."
    findings += (
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
    return replace(request, params=params), findings


def _right_kinds(request: Request) -> tuple[Request, list[Finding]]:
    """`request` without parameters that are not of the kind that `Params` declares."""
    if request.params == _UNSET:
        return request, []
    wrong = [
        name
        for name, kind in _KINDS.items()
        if not _fits(getattr(request.params, name), kind, getattr(_UNSET, name))
    ]
    if not wrong:
        return request, []
    why = "Its value is of another kind than this parameter has."
    findings = [
        Finding("param_dropped", f"params.{name}", Action.DROPPED, why, Fault.INPUT)
        for name in wrong
    ]
    params = replace(request.params, **{name: getattr(_UNSET, name) for name in wrong})
    return replace(request, params=params), findings


def _fits(value: Any, kind: Any, unset: Any) -> bool:
    if value is unset or value == unset:
        return True
    try:
        convert(value, kind)
    except ValidationError:
        return False
    return not isinstance(value, float) or isfinite(value)


def _thinking(request: Request, target: Target) -> tuple[Request, list[Finding]]:
    """`request` with thinking asked for as the target takes it."""
    reasoning, findings = fitted_reasoning(request.params, target)
    if reasoning == request.params.reasoning:
        return request, findings
    return replace(request, params=replace(request.params, reasoning=reasoning)), findings


def _streamed(request: Request, target: Target) -> tuple[Request, list[Finding]]:
    """`request` with a stream asked for where there is no other reply."""
    asked = request.params.stream
    if asked is True or not target.stream_only:
        return request, []
    why = "This host replies in streams only; who wants a whole reply has to fold it."
    code, action, fault = "param_added", Action.ADDED, Fault.NONE
    if asked is False:
        code, action, fault = "param_changed", Action.CHANGED, Fault.RENDER
    finding = Finding(code, "params.stream", action, why, fault, rule="stream_only")
    return replace(request, params=replace(request.params, stream=True)), [finding]
