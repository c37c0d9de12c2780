"""Fields that only instructions among the messages have: how long they hold, and the effort.

Whatever cannot stand in such a message is left out while it is read, with a finding: the API would
refuse the request, and every later one.
"""

from typing import Any

from canonicall.findings import Action, Fault, Finding
from canonicall.wire.anthropic.extras import without_mark

CLEAR_AT, EFFORT = "clear_at", "output_config"
FIELDS = (CLEAR_AT, EFFORT)
# SDK beta_system_message_param.py; "never" is the default.
_ONE_TURN, _TIMES = "next_user_message", ("next_user_message", "never")


def sound_instructions(
    message: dict[str, Any], where: str, findings: list[Finding]
) -> dict[str, Any]:
    """`message`, which has such a field, without what the API refuses beside or in it."""
    if message.get("role") != "system":
        why = "Only instructions have this field."
        return _without(message, FIELDS, where, why, findings)
    if message.get(CLEAR_AT) is not None and message[CLEAR_AT] not in _TIMES:
        why = "There is no such time; the instructions hold as long as they are sent."
        message = _without(message, (CLEAR_AT,), where, why, findings)
    if message.get(CLEAR_AT) != _ONE_TURN:
        return message
    why = "Instructions for one turn cannot set the effort."
    message = _without(message, (EFFORT,), where, why, findings)
    content = message.get("content")
    if isinstance(content, list):
        message = message | {"content": _text_only(content, f"{where}.content", findings)}
    return message


def _without(
    message: dict[str, Any],
    names: tuple[str, ...],
    where: str,
    why: str,
    findings: list[Finding],
) -> dict[str, Any]:
    lost = [name for name in names if message.get(name) is not None]
    for name in lost:
        place = f"{where}.{name}"
        findings.append(Finding("fields_dropped", place, Action.DROPPED, why, Fault.INPUT))
    return {name: field for name, field in message.items() if name not in lost}


def _text_only(content: list[Any], where: str, findings: list[Finding]) -> list[Any]:
    """The text of instructions for one turn, without cache marks."""
    kept: list[Any] = []
    for at, block in enumerate(content):
        place = f"{where}[{at}]"
        if isinstance(block, dict) and block.get("type") != "text":
            why = "Instructions for one turn can hold nothing but text."
            findings.append(Finding("block_dropped", place, Action.DROPPED, why, Fault.INPUT))
            continue
        if isinstance(block, dict) and block.get("cache_control") is not None:
            why = "What is cleared with the next turn is never read from a cache."
            findings.append(Finding("cache_mark_dropped", place, Action.DROPPED, why, Fault.INPUT))
            kept.append(without_mark(block))
            continue
        kept.append(block)
    return kept
