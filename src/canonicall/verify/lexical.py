"""How ids and names have to look: one answer for all formats, from the data on the target."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from canonicall.facts.target import IdRule, NameRule


class Declared(Struct, frozen=True):
    """A tool as the request declares it."""

    name: str
    where: str


@lru_cache(maxsize=128)
def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def id_fault(id: str, rule: IdRule) -> str:
    """The code of what is wrong with `id`, or nothing."""
    if not id:
        return "" if rule.style == "echoed" else "missing_call_id"
    if not rule.refused:
        # "Tool call id must be a non-empty string other than 'null'" (Mistral, from v13 on).
        return "bad_call_id" if rule.style == "short" and id == "null" else ""
    if rule.style == "short" and len(id) != (rule.max_length or len(id)):
        return "bad_call_id"
    if rule.max_length and len(id) > rule.max_length:
        return "call_id_too_long"
    return "" if _whole(rule.pattern).fullmatch(id) else "bad_call_id"


def is_tool_name(name: str, rule: NameRule) -> bool:
    if not rule.refused:
        return bool(name)
    fits = rule.min_length <= len(name) <= rule.max_length
    return fits and _whole(rule.pattern).fullmatch(name) is not None


def repeated_names(tools: Iterable[Declared]) -> Iterator[Declared]:
    seen: set[str] = set()
    for tool in tools:
        if tool.name in seen:
            yield tool
        seen.add(tool.name)
