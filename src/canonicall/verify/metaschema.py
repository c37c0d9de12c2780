"""Is a schema valid JSON Schema? What the metaschemas of two drafts say about each keyword.

Only the kind of a keyword's value is judged, as the metaschemas do: whether a pattern compiles or a
reference leads anywhere is another question. The words are those of the `jsonschema` library,
which providers print as they come.
"""

import re
from collections.abc import Callable, Iterator
from reprlib import Repr
from typing import Any, TypeAlias

from msgspec import Struct

from canonicall.verify.schemas import MOST, Spot, Steps

NAMES = ("array", "boolean", "integer", "null", "number", "object", "string")
_ANCHOR = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")
_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 3, 60, 60

Check: TypeAlias = Callable[[Any], str]
"""What is wrong with the value of a keyword, or nothing."""


class Fault(Struct, frozen=True):
    """A keyword whose value is of the wrong kind."""

    spot: Spot
    keyword: str
    what: str

    @property
    def where(self) -> str:
        return f"{self.spot.where}.{self.keyword}" if self.keyword else self.spot.where


def shown(value: Any) -> str:
    """A value as Python writes it, cut short: it can be of any size."""
    return _SHORT.repr(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


def _not_of(value: Any, *kinds: str) -> str:
    return f"{shown(value)} is not of type {', '.join(map(repr, kinds))}"


def _kind(kind: str, fits: Callable[[Any], bool]) -> Check:
    return lambda value: "" if fits(value) else _not_of(value, kind)


def _limit(value: Any) -> str:
    if not _is_integer(value):
        return _not_of(value, "integer")
    return "" if value >= 0 else f"{value!r} is less than the minimum of 0"


def _multiple(value: Any) -> str:
    if not _is_number(value):
        return _not_of(value, "number")
    return "" if value > 0 else f"{value!r} is less than or equal to the minimum of 0"


def _names(value: Any) -> str:
    if not isinstance(value, list):
        return _not_of(value, "array")
    for one in value:
        if not isinstance(one, str):
            return _not_of(one, "string")
    return "" if len(set(value)) == len(value) else f"{shown(value)} has non-unique elements"


def _name_lists(value: Any) -> str:
    if not isinstance(value, dict):
        return _not_of(value, "object")
    return next(filter(None, map(_names, value.values())), "")


def _type(value: Any) -> str:
    names = value if isinstance(value, list) else [value]
    known = bool(names) and all(isinstance(name, str) and name in NAMES for name in names)
    if known and len(set(names)) == len(names):
        return ""
    return f"{shown(value)} is not valid under any of the given schemas"


def _anchor(value: Any) -> str:
    if not isinstance(value, str):
        return _not_of(value, "string")
    return "" if _ANCHOR.fullmatch(value) else f"{shown(value)} does not match the pattern"


_STRING = _kind("string", lambda value: isinstance(value, str))
_BOOLEAN = _kind("boolean", lambda value: isinstance(value, bool))
_NUMBER = _kind("number", _is_number)
_ARRAY = _kind("array", lambda value: isinstance(value, list))

_VALUES: dict[str, Check] = {
    **dict.fromkeys(("$id", "$schema", "$ref", "$comment", "title", "description"), _STRING),
    **dict.fromkeys(("format", "pattern", "contentMediaType", "contentEncoding"), _STRING),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly"), _BOOLEAN),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _limit),
    **dict.fromkeys(("minProperties", "maxProperties"), _limit),
    "multipleOf": _multiple,
    "enum": _ARRAY,
    "examples": _ARRAY,
    "required": _names,
    "type": _type,
}
_SCHEMAS = ("additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_SCHEMA_MAPS = ("properties", "patternProperties", "definitions")
_SCHEMA_LISTS = ("allOf", "anyOf", "oneOf")


class Draft(Struct, frozen=True):
    """The keywords a draft knows, by what their values have to be."""

    values: dict[str, Check]
    schemas: tuple[str, ...]
    maps: tuple[str, ...]
    lists: tuple[str, ...]
    either: tuple[str, ...] = ()
    """A schema or a list of schemas."""


DRAFT_7 = Draft(
    values=_VALUES,
    schemas=(*_SCHEMAS, "additionalItems"),
    maps=_SCHEMA_MAPS,
    lists=_SCHEMA_LISTS,
    either=("items",),
)
DRAFT_2020 = Draft(
    values={
        **_VALUES,
        **dict.fromkeys(("minContains", "maxContains"), _limit),
        "dependentRequired": _name_lists,
        "deprecated": _BOOLEAN,
        "$anchor": _anchor,
        "$dynamicAnchor": _anchor,
        "$dynamicRef": _STRING,
    },
    schemas=(*_SCHEMAS, "items", "unevaluatedItems", "unevaluatedProperties", "contentSchema"),
    maps=(*_SCHEMA_MAPS, "$defs", "dependentSchemas"),
    lists=(*_SCHEMA_LISTS, "prefixItems"),
)


def faults(root: Spot, draft: Draft) -> Iterator[Fault]:
    """Every keyword that the draft's metaschema refuses, from the outside in."""
    waiting = [root]
    for _ in range(MOST):
        if not waiting:
            return
        spot = waiting.pop()
        if not isinstance(spot.schema, dict):
            if not isinstance(spot.schema, bool):
                yield Fault(spot, "", _not_of(spot.schema, "object", "boolean"))
            continue
        inner: list[Spot] = []
        for keyword, value in spot.schema.items():
            if what := _what(keyword, value, draft):
                yield Fault(spot, keyword, what)
                continue
            inner += [
                Spot(one, root.base, spot, steps) for steps, one in _inside(keyword, value, draft)
            ]
        waiting += reversed(inner)


def common_faults(root: Spot) -> Iterator[Fault]:
    """What is wrong whichever of the drafts a provider reads."""
    older = {fault.where for fault in faults(root, DRAFT_7)}
    yield from (fault for fault in faults(root, DRAFT_2020) if fault.where in older)


def _what(keyword: str, value: Any, draft: Draft) -> str:
    if keyword in draft.values:
        return draft.values[keyword](value)
    if keyword in draft.maps or keyword == "dependencies":
        return "" if isinstance(value, dict) else _not_of(value, "object")
    if keyword in draft.lists or (keyword in draft.either and isinstance(value, list)):
        if not isinstance(value, list):
            return _not_of(value, "array")
        return "" if value else "[] should be non-empty"
    return ""


def _inside(keyword: str, value: Any, draft: Draft) -> Iterator[tuple[Steps, Any]]:
    """The schemas that the value of a keyword is, or is made of."""
    if keyword in draft.maps:
        yield from (((keyword, name), one) for name, one in value.items())
    elif keyword in draft.lists or (keyword in draft.either and isinstance(value, list)):
        yield from (((keyword, at), one) for at, one in enumerate(value))
    elif keyword in draft.schemas or keyword in draft.either:
        yield (keyword,), value
    elif keyword == "dependencies":
        yield from (((keyword, name), one) for name, one in value.items() if _names(one))
