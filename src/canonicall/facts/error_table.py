"""All error texts that are known, and whose they are: `errors.toml` and the files of the hosts.

Of a host's file only the `[errors]` table is read, so that a first error costs no more than its
texts. Texts of single hosts come before those that many have: special ones before general ones.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pkgutil import get_data
from typing import Any, NamedTuple

from msgspec import Struct

from canonicall.facts.conversion import convert
from canonicall.facts.host_errors import ErrorText, HostErrors
from canonicall.facts.registry import built_in_names, registered_profiles

_PACKAGE = "canonicall.facts"
_FILE = "errors.toml"
_TABLE = re.compile(r"^(?=\[)", re.MULTILINE)
_OF_ERRORS = ("[errors", "[[errors")


class KnownText(NamedTuple):
    """A text with the hosts that say it; none where it is known of a format, or of many hosts."""

    text: ErrorText
    hosts: tuple[str, ...]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    error: tuple[ErrorText, ...]


def known_texts() -> Iterator[KnownText]:
    """Every text: those of `errors.toml` in their order, then those of single hosts."""
    hosts = {**_built_in(), **{one.name: one.errors for one in registered_profiles()}}
    for text in shared_texts():
        said_by = (name for name, one in hosts.items() if text.name and text.name in one.says)
        yield KnownText(text, tuple(said_by))
    for name, errors in hosts.items():
        for text in errors.texts:
            yield KnownText(text, (name,))


@cache
def shared_texts() -> tuple[ErrorText, ...]:
    """The texts in `errors.toml`."""
    data = get_data(_PACKAGE, _FILE) or b""
    table: _File = convert(tomllib.loads(data.decode()), _File, f"{_FILE}: ")
    return table.error


@cache
def _built_in() -> dict[str, HostErrors]:
    errors = {name: _errors_of(name) for name in sorted(built_in_names())}
    return {name: one for name, one in errors.items() if one.texts or one.says}


def _errors_of(host: str) -> HostErrors:
    text = (get_data(_PACKAGE, f"hosts/{host}.toml") or b"").decode()
    read: HostErrors = convert(errors_in(text), HostErrors, f"{host}.toml: errors")
    return read


def errors_in(text: str) -> dict[str, Any]:
    """The `[errors]` table in the text of a host's file; the other tables are not parsed."""
    parts = [part for part in _TABLE.split(text) if part.startswith(_OF_ERRORS)]
    table: dict[str, Any] = tomllib.loads("".join(parts)).get("errors", {})
    return table
