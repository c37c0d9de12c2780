"""Findings for what a request asks and a format cannot say.

Nothing is lost in silence: a parameter that is left out, native fields of another format and a tool
choice that is met only in part each have their finding. The words beyond that are the format's.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from canonicall.blocks import Native
from canonicall.findings import Action, Fault, Finding
from canonicall.wire.reading import list_at

FUNCTION_TYPES = ("", "function")
"""What a function says of itself where there are no other tools."""


def dropped(where: str, why: str, rule: str = "") -> Finding:
    """A parameter that is left out, by its canonical place."""
    return Finding("param_dropped", where, Action.DROPPED, why, Fault.RENDER, rule=rule)


def not_sent(name: str, why: str, where: str = "") -> Finding:
    """A parameter that is left out, by its name."""
    return dropped(where or f"params.{name}", f"{name} is not sent. {why}")


def foreign_fields(format: str, native: Native | None) -> list[Finding]:
    """That a request's native fields are of another format than `format`, if they are."""
    if native is None or native.format == format:
        return []
    why = f"Fields of {native.format} that have no place here: {listed_fields(native.fields)}."
    return [dropped("native", why)]


def left_out(value: Any, known: Collection[str], where: str) -> list[Finding]:
    """That an object of a body that comes in has fields that are not read, if it has any."""
    names = [name for name in value if name not in known] if isinstance(value, dict) else []
    if not names:
        return []
    why = f"These fields have no place here: {', '.join(names)}."
    return [Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT)]


def misplaced(
    message: Mapping[str, Any], names: Iterable[str], where: str, whose: str = "the model's"
) -> list[Finding]:
    """That a message has fields that only others have (`whose`), if it has any."""
    lost = [name for name in names if message.get(name) is not None]
    if not lost:
        return []
    why = f"Only {whose} messages have these fields: {', '.join(lost)}."
    return [Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT)]


def left_out_of_functions(body: dict[str, Any]) -> list[Finding]:
    """What is not read of tools and calls: tools that are no functions, and fields around them."""
    findings: list[Finding] = []
    for index, tool in enumerate(list_at(body.get("tools"), "$.tools")):
        where = f"$.tools[{index}]"
        if isinstance(tool, dict) and (tool.get("type") or "") not in FUNCTION_TYPES:
            why = f"The format has no tools of the type {tool['type']!r}."
            findings.append(Finding("tool_dropped", where, Action.DROPPED, why, Fault.INPUT))
        else:
            findings += left_out(tool, ("type", "function"), where)
    for number, message in enumerate(list_at(body.get("messages"), "$.messages")):
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        for index, call in enumerate(calls if isinstance(calls, list) else ()):
            where = f"$.messages[{number}].tool_calls[{index}].function"
            function = call.get("function") if isinstance(call, dict) else None
            findings += left_out(function, ("name", "arguments", "index"), where)
    return findings


def listed_fields(fields: Mapping[str, Any]) -> str:
    """The names of fields for a sentence, those inside an object with the name of the object."""
    return ", ".join(
        f"{name}.{inner}" if inner else name
        for name, value in fields.items()
        for inner in (value if isinstance(value, dict) and value else ("",))
    )


def weakened(why: str, where: str = "tool_choice", *, rule: str = "") -> Finding:
    """A choice among tools that is met only in part."""
    return Finding("choice_weakened", where, Action.CHANGED, why, Fault.RENDER, rule=rule)


def unknown_choice(where: str) -> Finding:
    """A choice among tools that its format does not have."""
    why = "The format has no such tool choice; the model may choose."
    return Finding("unknown_choice", where, Action.DROPPED, why, Fault.INPUT)
