"""Plain JSON values: the only thing that may sit inside a block.

In: any Python value. Out: a snapshot of its own, made of dict, list, str, int, float, bool and
None. A cycle is cut and reported; a value JSON has no form for is refused with its path.
"""

import math
from typing import Any

from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding

Json = Any
"""A plain JSON value. An alias for reading: the type system cannot say more without casts."""

MAX_DEPTH = 256
"""Deeper nesting is refused. Providers and JSON parsers give up between 100 and 1,000 levels."""

CUT = "[circular]"
"""What stands where a value contained itself."""

_HINTS = {
    "datetime": "Pass text, for example value.isoformat().",
    "date": "Pass text, for example value.isoformat().",
    "bytes": "Pass base64 text, or a Media block.",
    "set": "Pass a list.",
    "frozenset": "Pass a list.",
    "Decimal": "Pass a float, or text to keep every digit.",
}


def plain_json(value: Any, where: str) -> tuple[Json, list[Finding]]:
    """A plain copy of `value`, and what had to be changed to get it."""
    try:
        return _copy_clean(value, MAX_DEPTH), []
    except (_NotCleanError, UnicodeEncodeError):
        findings: list[Finding] = []
        return _copy(value, where, findings, ()), findings


def clean_text(text: str, where: str) -> tuple[str, list[Finding]]:
    """`text` with lone surrogates replaced: they have no UTF-8 form, so nothing could send them."""
    if text.isascii():
        return text, []
    try:
        text.encode()
    except UnicodeEncodeError:
        finding = Finding(
            "lone_surrogate",
            where,
            Action.CHANGED,
            "The text held surrogates, which UTF-8 cannot carry:"
            " pairs were joined, a lone half became U+FFFD.",
            Fault.INPUT,
        )
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), [finding]
    return text, []


class _NotCleanError(Exception):
    """The value needs the careful copy, which keeps paths and tells what it changes."""


def _copy_clean(value: Any, depth: int) -> Json:
    """The quick copy for what nearly every value is: parsed JSON, without fault or path."""
    kind = type(value)
    if kind is str:
        if not value.isascii():
            value.encode()
        return value
    if kind is dict and depth:
        made = {}
        for key, item in value.items():
            if type(key) is not str:
                raise _NotCleanError
            if not key.isascii():
                key.encode()
            made[key] = _copy_clean(item, depth - 1)
        return made
    if kind is list and depth:
        return [_copy_clean(item, depth - 1) for item in value]
    if kind is int or kind is bool or value is None or (kind is float and math.isfinite(value)):
        return value
    raise _NotCleanError


def _copy(value: Any, where: str, findings: list[Finding], inside: tuple[int, ...]) -> Json:
    kind = type(value)
    if kind is str:
        return _copy_text(value, where, findings)
    if kind is int or kind is bool or value is None:
        return value
    if kind is float:
        return _copy_number(value, where)
    if kind is dict or kind is list or kind is tuple:
        return _copy_container(value, where, findings, inside)
    return _copy_subclass(value, where, findings, inside)


def _copy_text(value: str, where: str, findings: list[Finding]) -> str:
    if value.isascii():
        return value
    text, more = clean_text(value, where)
    findings += more
    return text


def _copy_number(value: float, where: str) -> float:
    if math.isfinite(value):
        return value
    raise InvalidValue(
        f"{value} is not a JSON number.", where=where, help="Pass None, or text such as 'NaN'."
    )


def _copy_container(
    value: Any, where: str, findings: list[Finding], inside: tuple[int, ...]
) -> Json:
    if id(value) in inside:
        findings.append(
            Finding(
                "circular_value",
                where,
                Action.CHANGED,
                "The value contains itself; the inner occurrence was cut.",
                Fault.INPUT,
            )
        )
        return CUT
    if len(inside) >= MAX_DEPTH:
        raise InvalidValue(
            f"the value is nested more than {MAX_DEPTH} levels deep.",
            where=where,
            help="Flatten it, or pass the inner part as JSON text.",
        )
    inside = (*inside, id(value))
    if isinstance(value, dict):
        return {
            _key(key, where, findings): _copy(item, f"{where}.{key}", findings, inside)
            for key, item in value.items()
        }
    return [_copy(item, f"{where}[{index}]", findings, inside) for index, item in enumerate(value)]


def _key(key: Any, where: str, findings: list[Finding]) -> str:
    if isinstance(key, str):
        return _copy_text(str(key), where, findings)
    raise InvalidValue(
        f"the key {key!r} is {_article(key)}, and JSON keys are text.",
        where=where,
        help="Use str(key).",
    )


def _copy_subclass(
    value: Any, where: str, findings: list[Finding], inside: tuple[int, ...]
) -> Json:
    """Enums, named tuples and other subclasses count as the plain type they extend."""
    for plain in (str, int, float):
        if isinstance(value, plain):
            return _copy(plain(value), where, findings, inside)
    if isinstance(value, (dict, list, tuple)):
        return _copy_container(value, where, findings, inside)
    raise InvalidValue(
        f"{_article(value)} is not a JSON value.",
        where=where,
        help=_HINTS.get(type(value).__name__, "Convert it to text, a number, a list or a dict."),
    )


def _article(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
