"""An object of a body together with its path, so that every rule can say where it looked.

Reading a value of another kind than the format says raises `WrongKind`; `verify` turns that into
the violation `malformed_body`. A field that is null counts as absent, as it does for providers.
"""

import re
from typing import Any

from msgspec import Struct

KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer"}


class WrongKind(Exception):
    """A value of another kind than the format says."""

    def __init__(self, where: str, wanted: str, value: object) -> None:
        self.where = where
        found = "null" if value is None else KINDS.get(type(value), "number")
        self.what = f"expected {wanted}, got {found}"
        super().__init__(f"{where}: {self.what}")


class Node(Struct, frozen=True, gc=False):
    """A JSON object and the path that leads to it."""

    fields: dict[str, Any]
    where: str = "$"

    @classmethod
    def of(cls, value: object, where: str) -> "Node":
        if not isinstance(value, dict):
            raise WrongKind(where, "object", value)
        return cls(value, where)

    def at(self, key: str, index: int | None = None) -> str:
        """The path of a field, or of one place in the list that it holds."""
        return f"{self.where}.{key}" if index is None else f"{self.where}.{key}[{index}]"

    def has(self, key: str) -> bool:
        return self.fields.get(key) is not None

    def get(self, key: str) -> Any:
        return self.fields.get(key)

    def text(self, key: str) -> str:
        """A text; absent is the empty text."""
        value = self.fields.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise WrongKind(self.at(key), "string", value)
        return value

    def integer(self, key: str) -> int | None:
        """A whole number; absent is None."""
        value = self.fields.get(key)
        if value is not None and type(value) is not int:
            raise WrongKind(self.at(key), "integer", value)
        return value

    def node(self, key: str) -> "Node":
        """An object; absent is the empty object."""
        value = self.fields.get(key)
        return Node.of({} if value is None else value, self.at(key))

    def values(self, key: str) -> list[Any]:
        """A list; absent is the empty list."""
        value = self.fields.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise WrongKind(self.at(key), "array", value)
        return value

    def nodes(self, key: str) -> list["Node"]:
        """A list of objects; absent is the empty list."""
        begin = f"{self.where}.{key}["
        return [
            Node(item, f"{begin}{at}]") if type(item) is dict else Node.of(item, self.at(key, at))
            for at, item in enumerate(self.values(key))
        ]


def dotted(where: str) -> str:
    """`$.messages[1].content[0]` as some providers write it: `messages.1.content.0`."""
    return re.sub(r"\[(\d+)\]", r".\1", plain(where))


def plain(where: str) -> str:
    """`$.messages[1]` as others write it: `messages[1]`."""
    return where.removeprefix("$").removeprefix(".")
