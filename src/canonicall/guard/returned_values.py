"""Any Python value as plain JSON, for results. Equal values give equal text in every process.

Dataclasses, msgspec structs, attrs classes, pydantic models, enums, dates, sets: what has a form in
JSON gets it without a word. What has none becomes text, and a finding says so. Values that contain
themselves are cut, and so is what is nested too deeply: results come from tools, and tools return
all kinds of things.
"""

import math
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

import msgspec

from canonicall.findings import Action, Fault, Finding
from canonicall.plain import CUT, clean_text

_DEEPEST = 64
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
_TOO_DEEP = "[nested too deeply]"
_BUILT_IN = (int, bool, type(None))
_DUMPS = ("model_dump", "to_dict", "_asdict")
"""Methods by which values give themselves as an object, in the order they are tried."""


class AsJson:
    """Makes values plain and remembers what that took."""

    def __init__(self, findings: list[Finding]) -> None:
        self._findings = findings
        self._inside: list[int] = []

    def value(self, value: Any, where: str = "value") -> Any:
        """`value` in plain JSON."""
        if isinstance(value, str) and not isinstance(value, Enum):
            text, more = clean_text(str(value), where)
            self._findings += more
            return text
        if type(value) in _BUILT_IN:
            return value
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else self._text(str(value), where, "number")
        if id(value) in self._inside:
            return self._cut(where)
        if len(self._inside) >= _DEEPEST:
            return self._text(_TOO_DEEP, where, "value nested so deeply")
        self._inside.append(id(value))
        try:
            return self._compound(value, where)
        finally:
            self._inside.pop()

    def _compound(self, value: Any, where: str) -> Any:
        if isinstance(value, Enum):
            return self.value(value.value, where)
        if isinstance(value, type):
            return self._text(value.__qualname__, where, "class")
        members = value if isinstance(value, Mapping) else _members(value)
        if members is not None:
            return self._object(members, where)
        return self._several(value, where)

    def _several(self, value: Any, where: str) -> Any:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._bytes(bytes(value), where)
        if isinstance(value, AbstractSet):
            items = [self.value(one, f"{where}[]") for one in value]
            return sorted(items, key=msgspec.json.encode)
        if isinstance(value, Sequence):
            return [self.value(one, f"{where}[{at}]") for at, one in enumerate(value)]
        return self._other(value, where)

    def _object(self, members: Mapping[Any, Any], where: str) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, one in members.items():
            name = _name(key)
            if name in made:
                name = f"{name} ({type(key).__name__})"
                self._note(where, "Two keys have the same text; the second says its type.")
            made[clean_text(name, where)[0]] = self.value(one, f"{where}.{name}")
        return made

    def _bytes(self, data: bytes, where: str) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError:
            return self._text(b64encode(data).decode(), where, "piece of bytes")

    def _other(self, value: Any, where: str) -> Any:
        """Dates, decimals and ids as msgspec writes them; anything else in its own words."""
        if isinstance(value, int):
            return int(value)
        try:
            made = msgspec.to_builtins(value)
        except (TypeError, ValueError, RecursionError):
            return self._text(_in_words(value), where, type(value).__name__)
        is_plain = isinstance(made, (str, int)) and not isinstance(value, Decimal)
        return made if is_plain else str(made)

    def _text(self, text: str, where: str, what: str) -> str:
        self._note(where, f"A {what} has no form in JSON; it is told as text.")
        return clean_text(text, where)[0]

    def _cut(self, where: str) -> str:
        self._note(where, "The value contains itself; the inner occurrence was cut.")
        return CUT

    def _note(self, where: str, why: str) -> None:
        self._findings.append(Finding("value_as_text", where, Action.CHANGED, why, Fault.INPUT))


def _members(value: Any) -> Mapping[Any, Any] | None:
    """The members of a value that is an object by nature; None for any other."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name, None) for field in fields(value)}
    if isinstance(value, msgspec.Struct):
        tag = value.__struct_config__.tag_field
        tagged = {tag: value.__struct_config__.tag} if tag else {}
        return tagged | msgspec.structs.asdict(value)
    if hasattr(type(value), "__attrs_attrs__"):
        return {one.name: getattr(value, one.name, None) for one in type(value).__attrs_attrs__}
    for name in _DUMPS:
        made = _called(getattr(value, name, None))
        if isinstance(made, Mapping):
            return made
    return None


def _called(dump: Callable[[], Any] | None) -> Any:
    """What a value says of itself. It is foreign code: if it fails, there are other ways."""
    try:
        return dump() if callable(dump) else None
    except Exception:  # noqa: BLE001
        return None


def _name(key: Any) -> str:
    """A key as text; JSON has no others."""
    if isinstance(key, Enum):
        key = key.value
    if isinstance(key, str):
        return str(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return _in_words(key)


def _in_words(value: Any) -> str:
    """The text of a value, without the address that Python gives to what has no text of its own."""
    try:
        text = str(value)
    except Exception:  # noqa: BLE001  # foreign code again
        text = ""
    return f"<{type(value).__name__}>" if not text or _ADDRESS.search(text) else text
