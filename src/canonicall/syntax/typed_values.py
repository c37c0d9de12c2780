"""Arguments that are printed as bare text, given the types that the tool's schema says.

Engines disagree on every one of these, so they are decided here, once:

- No schema, or one that says nothing about types: the text is a string.
- A schema of strings alone: the text as it stands, also where it looks like JSON or like `null`.
- Several types: null, integer, number, boolean, object, array, string, in this order; the first
  that the text can be. So "123" for string-or-integer is 123.
- `null` in any case is null only where the schema allows null. So is Python's None, but only
  where no string is allowed: there it may be a word.
- A boolean is true or false in any case, or 1 or 0. Other words stay text: "yes" is not false.
- Integers are kept digit for digit, however long. "3.0" is an integer, "3.5" is not.
- Objects and arrays are JSON; where they are not, they are read as repair.py would, or as JSON
  that was escaped once too often.
- What fits none of the types stays text: what was said is not lost, and a validator will tell.
"""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from canonicall.syntax.repair import repaired_value

_ORDER = ("null", "integer", "number", "boolean", "object", "array", "string")
_ALIASES = {
    "string": ("str", "text", "varchar", "char", "enum", "date", "datetime"),
    "integer": ("int", "int32", "int64", "uint", "uint32", "uint64", "long", "short", "bigint"),
    "number": ("float", "float32", "float64", "double", "num", "numeric", "decimal"),
    "boolean": ("bool",),
    "object": ("dict", "map", "record", "struct"),
    "array": ("list", "arr", "tuple", "set"),
    "null": ("none", "nonetype"),
}
_TYPES = {alias: name for name, aliases in _ALIASES.items() for alias in (name, *aliases)}
_PYTHON_TYPES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
    type(None): "null",
}
_INTEGER = re.compile(r"([+-]?)([0-9]++)(?:\.0*+)?")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BOOLEANS = {"true": "true", "false": "false", "1": "true", "0": "false"}
_DEEPEST = 8
"""How many references and alternatives are followed: schemas may refer to themselves."""


def types_of(schema: Any, root: dict[str, Any]) -> tuple[str, ...]:
    """The types that a schema allows; empty where it says nothing. `root`: what it refers into."""
    found = set(_types_in(schema, root, _DEEPEST))
    return tuple(one for one in _ORDER if one in found)


def member_schema(schema: Any, name: str | None, root: dict[str, Any]) -> Any:
    """The schema of a member of an object, or of the items of an array where `name` is None."""
    found = []
    for one in _alternatives(schema, root, _DEEPEST):
        properties = one.get("properties")
        if name is None and "items" in one:
            found.append(one["items"])
        elif name is not None and isinstance(properties, dict) and name in properties:
            found.append(properties[name])
    return {"anyOf": found} if len(found) > 1 else next(iter(found), None)


def member_names(schema: Any, root: dict[str, Any]) -> tuple[str, ...]:
    """The names that an object is known to have, in order."""
    found: dict[str, None] = {}
    for one in _alternatives(schema, root, _DEEPEST):
        properties = one.get("properties")
        found |= dict.fromkeys(properties if isinstance(properties, dict) else ())
    return tuple(found)


def resolved(schema: Any, root: dict[str, Any]) -> Any:
    """A schema, or the one that it refers to."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, dict) or "$ref" not in schema:
            break
        schema = _referred(schema["$ref"], root)
    return schema


def is_text(types: tuple[str, ...]) -> bool:
    """Whether a value of these types is its text, whatever it says."""
    return not types or types == ("string",)


def is_text_or_null(types: tuple[str, ...]) -> bool:
    """Whether a value of these types is its text, unless it says null."""
    return types == ("null", "string")


def json_of(raw: str, types: tuple[str, ...]) -> tuple[str, bool]:
    """The JSON of a value of these types, and whether it had to be mended."""
    if is_text(types):
        return json_text(raw), False
    text = raw.strip()
    for one in types:
        if one in ("object", "array"):
            continue
        written = _scalar(text, one, types)
        if written is not None:
            return written, False
    containers = tuple(one for one in types if one in ("object", "array"))
    written, mended = _container(text, containers) if containers else (None, False)
    return (json_text(raw), False) if written is None else (written, mended)


def json_or_text(raw: str, types: tuple[str, ...] = ()) -> tuple[str, bool]:
    """The JSON of a value that says of itself that it is no string."""
    text = raw.strip()
    if _decoded(text) is not _UNREADABLE:
        return text, False
    written, mended = _container(text, ("object", "array"))
    if written is not None:
        return written, mended
    return json_of(raw, tuple(one for one in types if one != "string"))


def json_text(text: str) -> str:
    """A JSON string."""
    return f'"{escaped(text)}"'


def escaped(text: str) -> str:
    """Text as it stands inside a JSON string. Pieces may be escaped one by one."""
    return _SPECIAL.sub(_escape, text)


_SPECIAL = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}"


def _types_in(declared: Any, root: dict[str, Any], deeper: int) -> Iterable[str]:
    for schema in _alternatives(declared, root, deeper):
        said = schema.get("type")
        for one in said if isinstance(said, list) else [said]:
            if isinstance(one, str) and one.lower() in _TYPES:
                yield _TYPES[one.lower()]
        if schema.get("nullable") is True:
            yield "null"
        if said is None:
            yield from _types_of_values(schema)


def _alternatives(declared: Any, root: dict[str, Any], deeper: int) -> Iterable[dict[str, Any]]:
    """A schema and all that it refers to or is made of."""
    if not isinstance(declared, dict) or not deeper:
        return
    yield declared
    for word in ("anyOf", "oneOf", "allOf"):
        alternatives = declared.get(word)
        for one in alternatives if isinstance(alternatives, list) else ():
            yield from _alternatives(one, root, deeper - 1)
    yield from _alternatives(_referred(declared.get("$ref"), root), root, deeper - 1)


def _types_of_values(declared: dict[str, Any]) -> Iterable[str]:
    """Where no type is named the values tell it, or words that only one type has."""
    values = declared.get("enum")
    for value in values if isinstance(values, list) else ():
        yield _PYTHON_TYPES.get(type(value), "string")
    if "const" in declared:
        yield _PYTHON_TYPES.get(type(declared["const"]), "string")
    if isinstance(declared.get("properties"), dict):
        yield "object"
    if isinstance(declared.get("items"), dict):
        yield "array"


def _referred(reference: Any, root: dict[str, Any]) -> Any:
    """What a reference into the same schema points to."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: Any = root
    for step in reference[2:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _scalar(text: str, kind: str, types: tuple[str, ...]) -> str | None:
    if kind == "null":
        is_none = text == "None" and "string" not in types
        return "null" if is_none or text.lower() == "null" else None
    if kind == "integer":
        found = _INTEGER.fullmatch(text)
        return _whole_number(found) if found else None
    if kind == "number":
        written = _INTEGER.sub(_without_zeros, text, count=1)
        return written if _NUMBER.fullmatch(written) else None
    if kind == "boolean":
        return _BOOLEANS.get(text.lower())
    return None


def _without_zeros(found: re.Match[str]) -> str:
    """The beginning of a number without a plus and leading zeros; its end as it was."""
    return f"{_whole_number(found)}{found.string[found.end(2) : found.end()]}"


def _whole_number(found: re.Match[str]) -> str:
    """The digits before the point as JSON has them."""
    return f"{found[1].replace('+', '')}{found[2].lstrip('0') or '0'}"


_UNREADABLE = object()


def _container(text: str, kinds: tuple[str, ...]) -> tuple[str | None, bool]:
    fitting = tuple(dict if one == "object" else list for one in kinds)
    value = _decoded(text)
    if isinstance(value, fitting):
        return text, False
    if isinstance(value, str):
        text = value
    elif '\\"' in text:
        unescaped = _decoded(f'"{text}"')
        text = unescaped if isinstance(unescaped, str) else text
    if text[:1] not in ("{", "["):
        return None, False
    value = _decoded(text)
    if value is _UNREADABLE:
        value = repaired_value(text) if text[-1:] in ("}", "]") else None
    if isinstance(value, fitting):
        return msgspec.json.encode(value).decode(), True
    return None, False


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return _UNREADABLE
