"""The files of the wire formats, `formats/*.toml`, each parsed once."""

import tomllib
from functools import cache
from pkgutil import get_data
from typing import Any

from canonicall.errors import UnknownName
from canonicall.facts.target import FORMATS


@cache
def format_table(format: str) -> dict[str, Any]:
    """What the file of a format says. Do not change it."""
    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    data = get_data("canonicall.facts", f"formats/{format}.toml") or b""
    return tomllib.loads(data.decode())
