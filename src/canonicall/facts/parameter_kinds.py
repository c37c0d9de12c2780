"""Which kinds of value the parameters of a request may have, by wire format.

The data is `parameter_kinds.toml`. A kind is "text", "integer", "number", "boolean", "object",
"array", "texts" and "objects" for lists of one kind, or "numeral" for a number in quotes. An object
that is "typed" says nothing without its `type`.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pkgutil import get_data
from typing import Any

from msgspec import Struct

_TYPES = {"text": str, "boolean": bool, "integer": int, "number": int, "array": list}


class Parameter(Struct, frozen=True):
    """One parameter, and those inside of it."""

    kinds: tuple[str, ...] = ()
    """The kinds it may have; () for any."""
    inner: Mapping[str, "Parameter"] = {}
    is_typed: bool = False
    types: frozenset[type] = frozenset()
    """The types whose values all fit, whatever they hold."""


@cache
def known_parameters(format: str) -> Mapping[str, Parameter]:
    """The parameters of a format by their names, in all spellings that it reads."""
    tree: dict[str, Any] = {}
    table = dict(_table().get(format, {}))
    in_snake_case = table.pop("snake_case", False)
    typed = table.pop("typed", [])
    for kinds, paths in table.items():
        for path in paths:
            place = tree
            *outer, name = path.split(".")
            for step in outer:
                place = place.setdefault(step, {}).setdefault("inner", {})
            place.setdefault(name, {})["kinds"] = tuple(kinds.split(" or "))
    for path in typed:
        place = {"inner": tree}
        for step in path.split("."):
            place = place["inner"][step]
        place["typed"] = True
    return _built(tree, in_snake_case=in_snake_case)


def _built(tree: Mapping[str, Any], *, in_snake_case: bool) -> Mapping[str, Parameter]:
    known = {
        name: Parameter(
            one.get("kinds", ()),
            _built(one.get("inner", {}), in_snake_case=in_snake_case),
            one.get("typed", False),
            frozenset(_TYPES[kind] for kind in one.get("kinds", ()) if kind in _TYPES),
        )
        for name, one in tree.items()
    }
    if not in_snake_case:
        return known
    return {re.sub("([A-Z])", r"_\1", name).lower(): one for name, one in known.items()} | known


@cache
def _table() -> dict[str, dict[str, Any]]:
    data = get_data("canonicall.facts", "parameter_kinds.toml") or b""
    return tomllib.loads(data.decode())
