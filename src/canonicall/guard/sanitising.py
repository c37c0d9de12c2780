"""Arguments without what no tool should get: control characters and halves of characters.

Characters below 32 are taken out, except newline, tab and carriage return; a lone surrogate becomes
U+FFFD. Names of arguments are treated like their values. Every place that changed is reported.
"""

import re
from typing import Any

import msgspec

from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding
from canonicall.plain import MAX_DEPTH, clean_text, plain_json

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class Limits(msgspec.Struct, frozen=True):
    """How large the arguments of a call may be."""

    max_bytes: int = 4_000_000
    """As JSON. A model writes far less in one reply."""
    max_depth: int = MAX_DEPTH
    """Objects and lists inside of each other."""


LIMITS = Limits()


def oversize(args: dict[str, Any], limits: Limits) -> str:
    """What is too large about plain arguments; empty if nothing is."""
    if _is_deeper(args, limits.max_depth):
        return f"they are nested more than {limits.max_depth} levels deep"
    if len(msgspec.json.encode(args)) > limits.max_bytes:
        return f"they are larger than {limits.max_bytes:,} bytes"
    return ""


def sanitised(args: dict[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """A plain copy of `args`, fit for a tool, and what was changed in it.

    Raises `InvalidValue` where there is something in it that is no JSON.
    """
    plain, findings = plain_json(args, "args")
    return _cleaned(plain, "args", findings), findings


def sanitised_text(text: str, where: str) -> tuple[str, list[Finding]]:
    """`text`, fit for a tool, and what was changed in it."""
    text, findings = clean_text(text, where)
    return _without_control(text, where, findings), findings


def _cleaned(value: Any, where: str, findings: list[Finding]) -> Any:
    if isinstance(value, str):
        return _without_control(value, where, findings)
    if isinstance(value, list):
        return [_cleaned(one, f"{where}[{at}]", findings) for at, one in enumerate(value)]
    if isinstance(value, dict):
        return _members(value, where, findings)
    return value


def _members(value: dict[str, Any], where: str, findings: list[Finding]) -> dict[str, Any]:
    cleaned: dict[str, Any] = {}
    for key, one in value.items():
        name = _without_control(key, where, findings)
        if name in cleaned or (name != key and name in value):
            raise InvalidValue(
                f"two names differ in control characters only: {name!r}.", where=where
            )
        cleaned[name] = _cleaned(one, f"{where}.{name}", findings)
    return cleaned


def _without_control(text: str, where: str, findings: list[Finding]) -> str:
    # Most text prints as it is, and that is known quickly.
    if text.isprintable():
        return text
    cleaned, count = _CONTROL.subn("", text)
    if count:
        why = f"{count} control character{'s' if count > 1 else ''} were taken out."
        findings.append(Finding("control_characters", where, Action.CHANGED, why, Fault.INPUT))
    return cleaned


def _is_deeper(value: Any, limit: int) -> bool:
    """Whether objects and lists are nested more than `limit` levels deep; plain values end."""
    level = [value]
    for _ in range(limit):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True
