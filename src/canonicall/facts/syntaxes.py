"""Which syntaxes the models of a family print their calls in: `[[syntaxes]]` of `families/*.toml`.

An entry has the `name` of a syntax, the globs of the models that print it (`match`), and whether
they write text after their calls (`text_after_calls`, with its source).
"""

import tomllib
from functools import cache
from importlib import import_module

import msgspec
from msgspec import Struct


class PrintedSyntax(Struct, frozen=True, forbid_unknown_fields=True):
    """What families say of one syntax."""

    name: str
    match: tuple[str, ...]
    text_after_calls: bool = False
    source: str = ""


@cache
def printed_syntaxes() -> dict[str, PrintedSyntax]:
    """What all families say of each syntax, by its name."""
    found: dict[str, PrintedSyntax] = {}
    # Loads a dozen modules, which nobody needs who reads no calls from text.
    folder = import_module("importlib.resources").files("canonicall.facts").joinpath("families")
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        table = tomllib.loads(file.read_text("utf-8"))
        for one in msgspec.convert(table.get("syntaxes", []), list[PrintedSyntax]):
            said = found.get(one.name)
            found[one.name] = one if said is None else _joined(said, one)
    return found


def _joined(first: PrintedSyntax, second: PrintedSyntax) -> PrintedSyntax:
    return PrintedSyntax(
        name=first.name,
        match=(*first.match, *second.match),
        text_after_calls=first.text_after_calls or second.text_after_calls,
        source=first.source or second.source,
    )
