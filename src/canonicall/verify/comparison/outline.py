"""The outline of a request body: what it says, without the words of its wire format.

One reader for each format makes an `Outline` of raw JSON. A reader never fails: what has a wrong
type is read as absent, or as a part that nothing is known of. Values are compared by meaning, so
arguments and schemas are kept in one spelling (`spelled`), and media by what they hold.
"""

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, field

PieceKind: TypeAlias = Literal[
    "text", "thinking", "call", "result", "media", "server", "part", "speaker"
]
PieceRole: TypeAlias = Literal["instruction", "user", "assistant", "tool"]


class Piece(Struct, frozen=True, gc=False):
    """One thing that a conversation holds."""

    kind: PieceKind
    role: PieceRole
    path: str
    text: str = ""
    """What is said, thought or answered; of a part, its type."""
    id: str = ""
    """Of a call its own id, of a result that of its call."""
    name: str = ""
    """The tool of a call or a result."""
    value: str = ""
    """The arguments of a call, or what media holds, in one spelling."""
    signature: str = ""
    """The opaque state that came with it."""
    error: bool = False
    free: bool = False
    """Whether the arguments of a call are free text."""


class OfferedTool(Struct, frozen=True, gc=False):
    """A tool that the model may call."""

    name: str
    path: str
    kind: Literal["function", "custom", "server"] = "function"
    description: str = ""
    schema: str = ""
    strict: bool = False


class Setting(Struct, frozen=True, gc=False):
    """A parameter and where it is said."""

    path: str
    value: Any


class Outline(Struct):
    """What a request says, in the order in which it is said."""

    format: str
    pieces: list[Piece] = field(default_factory=list)
    tools: list[OfferedTool] = field(default_factory=list)
    settings: dict[str, Setting] = field(default_factory=dict)
    """Parameters that mean the same in every format, by one name for all."""
    fields: dict[str, Setting] = field(default_factory=dict)
    """Parameters of this format alone, by their path."""

    def set(self, name: str, path: str, value: Any) -> None:
        """Note a parameter, unless nothing is said by it."""
        if not is_empty(value):
            self.settings.setdefault(name, Setting(path, value))


def is_empty(value: Any) -> bool:
    """Whether a field with this value says nothing."""
    return value is None or value in ("", [], {})


def parsed(body: Any) -> Any:
    """The value of a body, which may be JSON."""
    if not isinstance(body, (bytes, bytearray, str)):
        return body
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        return json.loads(body)
    except (ValueError, UnicodeError, RecursionError):
        return None


def obj(value: Any) -> dict[str, Any]:
    """An object, empty where the value is none."""
    return value if isinstance(value, dict) else {}


def many(value: Any) -> list[Any]:
    """A list; one value alone is a list of one."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def text(value: Any) -> str:
    """A text, empty where the value is none; a number is taken by its digits."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def numbered(value: Any, path: str) -> Iterator[tuple[Any, str]]:
    """Each value of a list, with its path."""
    for index, one in enumerate(many(value)):
        yield one, f"{path}[{index}]"


_MAYBE_FRACTION = re.compile(r"\d\.\d|\de[+-]?\d", re.IGNORECASE)


def spelled(value: Any) -> str:
    """JSON in one spelling: sorted keys, 1.0 as 1."""
    try:
        written = json.dumps(value, sort_keys=True, separators=(",", ":"))
        if _MAYBE_FRACTION.search(written):
            written = json.dumps(_whole(value), sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return repr(value)
    return written


def compact(value: Any) -> str:
    """A JSON value as the text that a result says it with."""
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _whole(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {key: _whole(one) for key, one in value.items()}
    return value


NO_ARGUMENTS = "{}"


def arguments(value: Any) -> str:
    """The arguments of a call in one spelling; text that is no object stays as it is."""
    if isinstance(value, str):
        if not value.strip():
            return NO_ARGUMENTS
        inside = parsed(value)
        if isinstance(inside, dict):
            return spelled(inside)
        return NO_ARGUMENTS if value.strip() == "null" else value
    return NO_ARGUMENTS if value is None else spelled(value)


_SAYS_NOTHING = {"type", "properties", "required", "additionalProperties", "$schema"}


def schema(value: Any) -> str:
    """A schema of arguments in one spelling; that of a tool which takes none is empty."""
    if not isinstance(value, dict):
        return ""
    value = {name: one for name, one in value.items() if one != ""}
    is_bare = value.keys() <= _SAYS_NOTHING and not value.get("properties")
    if is_bare and not value.get("additionalProperties") and not value.get("required"):
        return ""
    return spelled(value)


_DATA_ADDRESS = re.compile(r"data:[^,]*?(;base64)?,", re.IGNORECASE)


def content_of(source: str) -> str:
    """What tells media apart: a digest of its data, or its address."""
    inline = _DATA_ADDRESS.match(source)
    if inline is not None:
        source = source[inline.end() :]
    elif "://" in source[:12]:
        return source
    data = source.translate(_ONE_ALPHABET).rstrip("=")
    return sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:24]


_ONE_ALPHABET = str.maketrans("-_", "+/", "\r\n ")


def rest(fields: dict[str, Any], known: Iterable[str], path: str) -> dict[str, Setting]:
    """The fields that are not known and say something, by their path."""
    return {
        f"{path}.{name}": Setting(f"{path}.{name}", spelled(value))
        for name, value in fields.items()
        if name not in known and not is_empty(value)
    }
