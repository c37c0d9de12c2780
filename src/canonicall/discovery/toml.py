"""Values as TOML: as much of the language as profiles use."""

from collections.abc import Mapping
from typing import Any

import msgspec


def written(value: Any) -> str:
    """One value, on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            # JSON's strings are TOML's, but for one control character that JSON leaves as it is.
            return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
        case Mapping():
            return (
                "{ "
                + ", ".join(f"{written_key(k)} = {written(v)}" for k, v in value.items())
                + " }"
            )
        case _:
            return "[" + ", ".join(map(written, value)) + "]"


def written_key(key: str) -> str:
    """A key, bare where it can be."""
    is_bare = key.isascii() and key.replace("-", "a").replace("_", "a").isalnum()
    return key if is_bare else written(key)


def table(path: str, entries: Mapping[str, Any]) -> str:
    """A table with its heading; entries that are None are left out."""
    lines = [f"{written_key(k)} = {written(v)}" for k, v in entries.items() if v is not None]
    return "\n".join(([path] if path else []) + lines) + "\n"
