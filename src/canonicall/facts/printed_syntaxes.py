"""Which models print which syntax: `printed_syntaxes.toml` as typed values."""

import tomllib
from functools import cache
from pkgutil import get_data

from msgspec import Struct

from canonicall.facts.conversion import convert

_FILE = "printed_syntaxes.toml"


class PrintedSyntax(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The models that print a syntax."""

    models: tuple[str, ...] = ()
    """Patterns of their names."""
    text_after_calls: bool = False
    """Whether they write text after their calls."""


@cache
def printed_syntaxes() -> dict[str, PrintedSyntax]:
    """The models of each syntax, by its name."""
    table = tomllib.loads((get_data("canonicall.facts", _FILE) or b"").decode())
    printed: dict[str, PrintedSyntax] = convert(table, dict[str, PrintedSyntax], f"{_FILE}: ")
    return printed
