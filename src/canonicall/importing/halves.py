"""JSON with halves of characters in it, which no provider takes.

A text that was cut in the middle of a character, usually an emoji, is written with one surrogate
alone, as the escape `\\ud83d`: by json.dumps, JSON.stringify and their like. Strict parsers, the
providers' among them, refuse the whole document for it.
"""

import re

from canonicall.findings import Action, Fault, Finding

_SURROGATE = re.compile(
    # Behind an even number of backslashes: else the escape is that of a backslash.
    rb"(?<!\\)(?P<before>(?:\\\\)*)"
    rb"(?:(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def without_halves(data: bytes) -> bytes:
    """The JSON text with U+FFFD for every half of a character; whole ones stay."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _SURROGATE.sub(
        lambda found: found[0] if found["pair"] else found["before"] + b"\\ufffd", data
    )


def halves_replaced(where: str) -> Finding:
    why = (
        "A text holds half of a character, as where an emoji was cut; providers take that for no"
        " JSON. U+FFFD stands in its place."
    )
    return Finding("lone_surrogate", where, Action.CHANGED, why, Fault.INPUT)
