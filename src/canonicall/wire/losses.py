"""Findings for what a request asks and a format cannot say.

Nothing is lost in silence: a parameter that is left out, native fields of another format and a tool
choice that is met only in part each have their finding. The words beyond that are the format's.
"""

from canonicall.blocks import Native
from canonicall.findings import Action, Fault, Finding


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
    why = f"Fields of {native.format} that have no place here: {', '.join(native.fields)}."
    return [dropped("native", why)]


def weakened(why: str, where: str = "tool_choice", *, rule: str = "") -> Finding:
    """A choice among tools that is met only in part."""
    return Finding("choice_weakened", where, Action.CHANGED, why, Fault.RENDER, rule=rule)


def unknown_choice(where: str) -> Finding:
    """A choice among tools that its format does not have."""
    why = "The format has no such tool choice; the model may choose."
    return Finding("unknown_choice", where, Action.DROPPED, why, Fault.INPUT)
