"""Findings for what a request asks and a format cannot say.

Nothing is lost in silence: a parameter that is left out, native fields of another format and a tool
choice that is met only in part each have their finding. The words beyond that are the format's.
"""

from collections.abc import Mapping
from typing import Any

from canonicall.blocks import Native
from canonicall.findings import Action, Fault, Finding


def dropped(where: str, why: str) -> Finding:
    """A parameter that is left out, by its canonical place."""
    return Finding("param_dropped", where, Action.DROPPED, why, Fault.RENDER)


def not_sent(name: str, why: str) -> Finding:
    """A parameter that is left out, by its name."""
    return dropped("$", f"{name} is not sent. {why}")


def foreign_fields(format: str, native: Native | None) -> list[Finding]:
    """That a request's native fields are of another format than `format`, if they are."""
    if native is None or native.format == format:
        return []
    why = f"Fields of {native.format} that have no place here: {listed_fields(native.fields)}."
    return [dropped("native", why)]


def listed_fields(fields: Mapping[str, Any]) -> str:
    """The names of fields for a sentence, those inside an object with the name of the object."""
    return ", ".join(
        f"{name}.{inner}" if inner else name
        for name, value in fields.items()
        for inner in (value if isinstance(value, dict) and value else ("",))
    )


def weakened(why: str, where: str = "tool_choice") -> Finding:
    """A choice among tools that is met only in part."""
    return Finding("choice_weakened", where, Action.CHANGED, why, Fault.RENDER)
