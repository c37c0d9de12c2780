"""The parts of a request beside its conversation, as JSON can write them.

In: a request. Out: the same request, in which tools and parameters hold no half characters, with a
finding for each place. Numbers that JSON does not have are left out. The conversation has been
through the same when it was made.
"""

from math import isfinite
from operator import attrgetter, is_
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding
from canonicall.plain import plain_json
from canonicall.request import Request

_PARTS = ("tools", "tool_choice", "params", "model", "native", "spelled", "continues")


parts_of = attrgetter(*_PARTS)
"""The parts of a request beside its conversation."""


def plain_request(request: Request) -> tuple[Request, list[Finding]]:
    """`request` as it can be sent. A value that JSON has no form for raises `InvalidValue`."""
    values = parts_of(request)
    if request.source is not None and all(map(is_, values, request.source.parts or (None,))):
        return request, []  # It was read from JSON, and nothing was put in since.
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
        return request, []
    findings: list[Finding] = []
    return replace(request, **_plain(parts, findings)), findings


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
