"""Fields of a proto message in JSON, as Google's servers read them.

Names come in camelCase or snake_case and mean the same, null means absent, and one object may stand
where a list belongs. Everything behind this file knows camelCase alone. Only the levels that belong
to the protocol are renamed: arguments, responses and schemas are the user's own.
"""

import re
from functools import partial
from typing import Any

from canonicall.findings import Action, Fault, Finding
from canonicall.wire import carried
from canonicall.wire.gemini import FORMAT
from canonicall.wire.reading import list_at, object_at, text_at

DATA = (
    *("functionCall", "functionResponse", "toolCall", "toolResponse", "executableCode"),
    *("codeExecutionResult", "inlineData", "fileData", "text"),
)
"""The fields of a part that say what it is; it has one of them."""
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")
own_fields = partial(carried.fields_of, FORMAT)
"""The native fields of this format, nothing for those of another one."""
native_of = partial(carried.native_of, FORMAT)
"""Some fields as native fields of this format, None if there are none."""


def fields_at(value: Any, where: str) -> dict[str, Any]:
    """The fields of an object that are set, by their camelCase names."""
    found: dict[str, Any] = {}
    for name, field in object_at(value, where).items():
        if field is None:
            continue
        camel = _camel(name) if "_" in name else name
        if camel is name or camel not in found:
            found[camel] = field
    return found


def many_at(value: Any, where: str) -> list[Any]:
    """The items of a repeated field: a list, or a single object in its place."""
    return [value] if isinstance(value, dict) else list_at(value, where)


def split_part(fields: dict[str, Any], where: str, findings: list[Finding]) -> list[dict[str, Any]]:
    """The fields of a part, as one set for each of those that hold data."""
    present = [name for name in fields if name in DATA]
    if len(present) < 2:
        return [fields]
    why = f"A part holds one of these, not several: {', '.join(present)}. Each became a block."
    findings.append(Finding("part_split", where, Action.CHANGED, why, Fault.INPUT))
    first = min(present, key=DATA.index)
    return [
        {key: value for key, value in fields.items() if key == name or key not in present}
        if name == first
        else {name: fields[name]}
        for name in present
    ]


def enum_at(value: Any, where: str) -> str:
    """The word of an enum; its number as digits, where a client writes numbers."""
    return str(value) if type(value) is int else text_at(value, where)


def _camel(name: str) -> str:
    if _SNAKE.fullmatch(name) is None:
        return name
    head, *tail = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in tail)
