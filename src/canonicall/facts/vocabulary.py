"""Names that a format has and that nobody may invent: roles, efforts, fields, types, prefixes.

`[vocabulary]` in the file of a format. What writes a format and what judges it read them here, each
with code of its own; `tests/judges` compares them with the types of the official SDKs.
"""

from functools import cache
from typing import Literal

from msgspec import Struct

from canonicall.facts.conversion import convert
from canonicall.facts.format_files import format_table


class Vocabulary(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The names of one format; what it does not have is empty."""

    roles: tuple[str, ...] = ()
    """Roles of messages."""
    efforts: tuple[str, ...] = ()
    """Efforts that a request can ask for."""
    displays: tuple[str, ...] = ()
    """How reasoning can be shown."""
    thinking: dict[str, tuple[str, ...]] = {}
    """Kinds of the setting for thinking, each with its fields."""
    choices: dict[str, Literal["auto", "required", "none"]] = {}
    """Kinds of tool choices, each with what it means here."""
    mark_fields: tuple[str, ...] = ()
    """Fields of a cache mark."""
    lifetimes: tuple[str, ...] = ()
    """Lifetimes of a cache mark."""
    call_fields: tuple[str, ...] = ()
    """Fields of a call."""
    function_fields: tuple[str, ...] = ()
    """Fields of a declared function."""
    item_prefixes: dict[str, str] = {}
    """What the ids of items begin with, by their types."""
    storing_domains: tuple[str, ...] = ()
    """Signing domains in which items are looked up by such ids."""
    blocks: tuple[str, ...] = ()
    """Members of a content block, of which it has one."""
    media_formats: dict[str, tuple[str, ...]] = {}
    """Formats of media, by kind."""
    schema_types: tuple[str, ...] = ()
    """Types of a schema, in the order of their numbers."""


@cache
def vocabulary(format: str) -> Vocabulary:
    """The names of a format."""
    table = format_table(format).get("vocabulary", {})
    names: Vocabulary = convert(table, Vocabulary, f"{format}.toml: vocabulary")
    return names
