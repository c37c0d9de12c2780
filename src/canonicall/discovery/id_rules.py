"""Ids of calls: from some that were seen, and whether others were taken, to a rule."""

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

_NUMBERED = re.compile(r"functions\.(?P<name>[\w.-]+):\d+")
_WORD = re.compile(r"[A-Za-z0-9]+")
_HEAD = re.compile(r"[A-Za-z]+(?:-[a-z]+)*[_-]")
_PATTERN = "[A-Za-z0-9_-]+"
_USUAL = 40
"""The longest ids that everybody takes who takes ids not their own."""


class Seen(Struct, frozen=True):
    """What ids that came have in common."""

    style: str
    """numbered, short, prefixed, or echoed where calls have no ids."""
    prefix: str
    longest: int

    @property
    def told(self) -> str:
        """For people."""
        match self.style:
            case "numbered":
                return "functions.NAME:NUMBER"
            case "short":
                return f"{self.longest} letters and digits"
            case "echoed":
                return "calls have no ids"
            case _:
                return f"{self.prefix or 'no prefix'}, at most {self.longest} characters seen"


def seen_ids(calls: Sequence[tuple[str, str]]) -> Seen | None:
    """What the ids of some calls look like, each with the name of its tool; None without calls."""
    ids = [id for id, _ in calls if id]
    if not calls:
        return None
    if not ids:
        return Seen("echoed", "", 0)
    longest = max(map(len, ids))
    if all((found := _NUMBERED.fullmatch(id)) and found["name"] == name for id, name in calls):
        return Seen("numbered", "functions.", longest)
    if len({len(id) for id in ids}) == 1 and all(map(_WORD.fullmatch, ids)):
        return Seen("short", "", longest)
    if all(id.startswith(name) for id, name in calls):
        # Ids that begin with the tool have no prefix of their own.
        return Seen("prefixed", "", longest)
    return Seen("prefixed", _prefix(ids), longest)


def id_rule(seen: Seen | None, *, foreign: bool | None, plain: bool | None) -> dict[str, Any]:
    """The entries of a profile's rule for ids; empty where the format's own rule is as good.

    `foreign`: ids of any form were taken. `plain`: those like OpenAI's were.
    """
    if seen is None or seen.style == "echoed":
        return {}
    if seen.style == "numbered":
        # Taken or not: a model that numbers its calls is led astray by other ids.
        return {
            "style": "numbered",
            "pattern": r"functions\.[\w.-]+:\d+",
            "max_length": 100,
            "refused": foreign is False and plain is False,
        }
    if foreign:
        return {"prefix": seen.prefix or "call_", "pattern": "[A-Za-z0-9_.:-]+", "max_length": 64}
    if plain is False and seen.style == "short":
        pattern = f"[A-Za-z0-9]{{{seen.longest}}}"
        return {"style": "short", "prefix": "", "pattern": pattern, "max_length": seen.longest}
    if plain is False:
        return {"prefix": seen.prefix, "pattern": _PATTERN, "max_length": max(seen.longest, 24)}
    # An id that the endpoint itself gave is taken back, however long it is.
    longest = max(seen.longest, _USUAL)
    return {"prefix": seen.prefix or "call_", "pattern": _PATTERN, "max_length": longest}


def _prefix(ids: Sequence[str]) -> str:
    """What all ids begin with, up to a mark: `call_`, `toolu_`, `chatcmpl-tool-`."""
    found = _HEAD.match(ids[0])
    head = found[0] if found else ""
    return head if all(id.startswith(head) for id in ids) else ""
