"""What refusals teach about a target: `lessons.toml` as typed values. The client applies them."""

import re
import tomllib
from functools import cache
from pkgutil import get_data
from typing import Any, TypeAlias

from msgspec import Struct

from canonicall.facts.conversion import convert
from canonicall.facts.profile import RULE_FIELDS

Fields: TypeAlias = dict[str, Any]
"""Fields of a target, by name."""
_FILE = "lessons.toml"


class Lesson(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields that put some refusals right."""

    codes: tuple[str, ...]
    change: Fields
    formats: tuple[str, ...] = ()
    """The only formats it holds for; () for all."""
    why: str


class Demand(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that a host wants every request to say."""

    text: str
    """What it asks for it with, in lower case."""
    change: Fields
    source: str


class Reading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How texts name what is refused; patterns, but for the last two."""

    parameter: str
    token_limit: str
    field: str
    thinking: str
    levels: str
    values: str
    output: str
    beside_tools: str
    parameters: dict[str, str]
    """What `Params` calls a parameter, by what a text calls it."""
    output_fields: dict[str, tuple[str, ...]]
    """The fields that ask for a format of the reply, by format."""


class Figures(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a text states the figures of an overflow."""

    pattern: str
    source: str


class Lessons(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    lesson: tuple[Lesson, ...]
    narrowest: Fields
    hopeless: frozenset[str]
    chance: frozenset[str]
    of_one_conversation: frozenset[str]
    demand: tuple[Demand, ...]
    reading: Reading
    overflow: tuple[Figures, ...]

    def change(self, code: str, format: str) -> Fields:
        """The fields for a refusal; what a format has of its own comes first."""
        own = [one for one in self.lesson if code in one.codes and format in one.formats]
        found = own or [one for one in self.lesson if code in one.codes and not one.formats]
        return found[0].change if found else {}

    def is_of_format(self, code: str, format: str) -> bool:
        """Whether a format has a lesson of its own for a refusal."""
        return any(code in one.codes and format in one.formats for one in self.lesson)


@cache
def lessons() -> Lessons:
    """What is in `lessons.toml`."""
    table = tomllib.loads((get_data("canonicall.facts", _FILE) or b"").decode())
    for kind in ("lesson", "demand"):
        for index, one in enumerate(table[kind]):
            one["change"] = _fields(one["change"], f"{_FILE}: {kind}[{index}].change")
    table["narrowest"] = _fields(table["narrowest"], f"{_FILE}: narrowest")
    loaded: Lessons = convert(table, Lessons, f"{_FILE}: ")
    return loaded


@cache
def pattern(name: str) -> re.Pattern[str]:
    """One of the patterns of `reading`."""
    return re.compile(getattr(lessons().reading, name))


def _fields(table: dict[str, Any], where: str) -> Fields:
    return {
        field: convert(value, RULE_FIELDS[field], f"{where}.{field}")
        for field, value in table.items()
    }
