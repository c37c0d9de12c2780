"""Native fields: which of them a target may be sent.

Hosts of one wire format invent fields of their own, and many hosts refuse what they do not know. A
field goes to one that is known to have it; to the provider that made it, and where nobody knows
whose it is to any, unless it refuses unknown fields in that place. What is refused in the history
goes to nobody: it would be sent, and refused, with every request to come.
"""

import re
from typing import Any

from canonicall.blocks import Block, Message, Native, Text, Thinking, ToolCall, ToolResult
from canonicall.facts.target import FieldPlace, FieldTree, Target, field_tree
from canonicall.findings import Action, Fault, Finding

# SDK direct_caller.py: replies say it of every call, so that clients send it back.
_UNSAID: dict[str, dict[str, Any]] = {"anthropic": {"caller": {"type": "direct"}}}
"""By format: fields with a value that says the same as no field. To lose one is to lose nothing."""
_LASTING: tuple[FieldPlace, ...] = ("message", "call", "text", "thinking", "result")


def kept_fields(
    native: Native | None,
    place: FieldPlace,
    target: Target,
    *,
    is_own: bool | None,
    where: str,
    findings: list[Finding],
) -> Native | None:
    """`native` as the target may get it. `is_own` is None where nobody knows who made it."""
    if native is None:
        return None
    if native.format != target.format:
        unsaid = _UNSAID.get(native.format, {})
        lost = [name for name, value in native.fields.items() if unsaid.get(name) != value]
        if lost:
            why = f"Fields of {native.format} mean nothing here: {', '.join(lost)}."
            findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.RENDER))
        return None
    if takes_unknown(place, target, is_own=is_own):
        return native
    return known_fields(native, place, target, where, findings)


def known_fields(
    native: Native, place: FieldPlace, target: Target, where: str, findings: list[Finding]
) -> Native | None:
    """`native` without the fields that the target is not known to have."""
    kept, lost = _parted(native.fields, field_tree(getattr(target.fields, place)))
    if not lost:
        return native
    why = f"The target is not known to have these fields: {', '.join(lost)}."
    findings.append(
        Finding("fields_dropped", where, Action.DROPPED, why, Fault.RENDER, rule="fields")
    )
    return Native(native.format, kept) if kept else None


def as_user_fields(
    native: Native | None, target: Target, where: str, findings: list[Finding]
) -> Native | None:
    """`native` of instructions that are sent as the user's words."""
    own = target.fields.instructions
    lost = [name for name in native.fields if name in own] if native is not None else []
    if native is None or not lost:
        return native
    why = f"Only instructions have these fields: {', '.join(lost)}."
    findings.append(
        Finding("fields_dropped", where, Action.DROPPED, why, Fault.RENDER, rule="fields")
    )
    kept = {name: field for name, field in native.fields.items() if name not in own}
    return Native(native.format, kept) if kept else None


def has_all(native: Native | None, place: FieldPlace, target: Target) -> bool:
    """Whether the target is known to have all these fields in this place."""
    fields = native.fields if native is not None else {}
    return not _parted(fields, field_tree(getattr(target.fields, place)))[1]


def _parted(
    fields: dict[str, Any], known: FieldTree, path: str = ""
) -> tuple[dict[str, Any], list[str]]:
    """The fields that are known, and the names of those that are not."""
    kept: dict[str, Any] = {}
    lost: list[str] = []
    for name, field in fields.items():
        inner = known.get(name)
        if inner is None:
            lost.append(f"{path}{name}")
        elif inner and field and isinstance(field, dict):
            within, gone = _parted(field, inner, f"{path}{name}.")
            lost += gone
            if within:
                kept[name] = within
        else:
            kept[name] = field
    return kept, lost


def takes_unknown(place: FieldPlace, target: Target, *, is_own: bool | None) -> bool:
    """Whether something that the target is not known to have may be sent in this place."""
    if place in target.fields.closed and not (is_own and place not in _LASTING):
        return False
    return is_own or is_own is None or not getattr(target.fields, place)


def takes_part(part: Native, message: Message | None, target: Target) -> bool:
    """Whether a part that was not understood may be sent to the target; of a `message`, if known.

    A host that lists the types of parts refuses all others. No host has a type that is no text.
    """
    if part.format != target.format or not isinstance(part.fields.get("type", ""), str):
        return False
    if target.part_types and part.fields.get("type") not in target.part_types:
        return False
    is_own = is_of(message, target) if message is not None else None
    return takes_unknown("part", target, is_own=is_own) or has_all(part, "part", target)


def with_good_name(
    native: Native | None, target: Target, where: str, findings: list[Finding]
) -> Native | None:
    """`native` of a message with a name of its speaker that the target takes."""
    name = native.fields.get("name") if native is not None else None
    if native is not None and not isinstance(name, str | None):
        why = "The name of the one who speaks is no text; it is left out."
        findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.RENDER))
        rest = {key: value for key, value in native.fields.items() if key != "name"}
        return Native(native.format, rest) if rest else None
    pattern = target.speaker_names
    if native is None or not isinstance(name, str) or not pattern or re.fullmatch(pattern, name):
        return native
    good = "".join(one if re.fullmatch(pattern, one) else "_" for one in name)
    why = f"The name of the one who speaks cannot be {name!r} here."
    findings.append(
        Finding("speaker_renamed", where, Action.CHANGED, why, Fault.RENDER, rule="speaker_names")
    )
    fields = {key: value for key, value in native.fields.items() if key != "name" or good}
    return Native(native.format, fields | ({"name": good} if good else {}))


def with_good_group(
    native: Native | None, target: Target, where: str, findings: list[Finding]
) -> Native | None:
    """`native` of a call without the name of a group of tools that the target refuses."""
    name = native.fields.get("namespace") if native is not None else None
    if native is None or not isinstance(name, str) or not target.group_names:
        return native
    if re.fullmatch(target.group_names, name):
        return native
    why = f"A group of tools cannot be called {name!r} here; the call names none."
    findings.append(
        Finding("fields_dropped", where, Action.DROPPED, why, Fault.RENDER, rule="group_names")
    )
    rest = {key: value for key, value in native.fields.items() if key != "namespace"}
    return Native(native.format, rest) if rest else None


def is_of(message: Message, target: Target) -> bool | None:
    """Whether the target's own provider made the message; None where nobody knows."""
    made_by = message.origin.provider if message.origin is not None else ""
    return made_by == target.provider if made_by and target.provider else None


def place_of(block: Block, target: Target) -> FieldPlace:
    """Where the native fields of a block stand; what the provider ran is a part of its own kind."""
    if isinstance(block, ToolCall) and block.kind != "server":
        return "call"
    if isinstance(block, ToolResult):
        if target.results == "tool_messages":
            return "message"
        return "result" if "result" in target.fields.closed else "part"
    place: FieldPlace = "thinking" if isinstance(block, Thinking) else "text"
    has_own_place = isinstance(block, (Text, Thinking)) and place in target.fields.closed
    return place if has_own_place else "part"
