"""Two schemas as one: both at once (`allOf`), or either of them (`anyOf` of objects).

`both` is exact or None. `either` gives one object that allows what any of the options does, and
more: it is for targets that take no alternatives at the root.
"""

from collections.abc import Callable, Iterable
from typing import Any

from canonicall.schema.equivalents import Schema
from canonicall.schema.keywords import LIMITS, TYPES

_HIGHER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_LOWER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
# What is said of the properties or items that nothing else speaks of: it depends on its
# neighbours, so it cannot move to others.
_RESTS = ("additionalProperties", "patternProperties", "unevaluatedProperties")
_ITEM_RESTS = ("prefixItems", "additionalItems", "unevaluatedItems", "contains")
# Parts of one statement.
_TOGETHER = ({"if", "then", "else"}, {"contains", "minContains", "maxContains"})


def both(first: Schema, second: Schema) -> Schema | None:
    """One schema that allows what both allow; None where that cannot be said in one."""
    if _is_torn(first, second):
        return None
    merged = dict(first)
    for name, value in second.items():
        if name not in merged:
            merged[name] = value
            continue
        if merged[name] == value and type(merged[name]) is type(value):
            continue
        if name not in LIMITS:
            continue  # Notes: those of the schema itself come first.
        merge = _MERGED.get(name)
        value = merge(merged[name], value) if merge else None  # noqa: PLW2901
        if value is None:
            return None
        merged[name] = value
    return merged


def either(options: list[Schema]) -> Schema:
    """An object schema that allows at least what each of the options allows."""
    names: dict[str, list[Any]] = {}
    for option in options:
        for name, schema in _properties(option).items():
            names.setdefault(name, []).append(schema)
    merged: Schema = {
        "type": "object",
        "properties": {name: _any_of(schemas) for name, schemas in names.items()},
    }
    required = [
        name for name in names if all(name in (option.get("required") or ()) for option in options)
    ]
    if required:
        merged["required"] = required
    if all(map(_is_closed, options)):
        merged["additionalProperties"] = False
        return merged
    # What one option says of a property, an open one that does not know it does not.
    unknown = {
        name
        for option in options
        if not _is_closed(option)
        for name in names.keys() - _properties(option).keys()
    }
    merged["properties"].update({name: {} for name in names if name in unknown})
    return merged


def _is_closed(option: Schema) -> bool:
    return option.get("additionalProperties") is False and "patternProperties" not in option


def _properties(option: Schema) -> dict[str, Any]:
    found = option.get("properties")
    return found if isinstance(found, dict) else {}


def _any_of(schemas: list[Any]) -> Any:
    unlike = [one for n, one in enumerate(schemas) if one not in schemas[:n]]
    return unlike[0] if len(unlike) == 1 else {"anyOf": unlike}


def _is_torn(first: Schema, second: Schema) -> bool:
    """Whether one says something of all that the other does not speak of."""
    for rests, spoken in ((_RESTS, "properties"), (_ITEM_RESTS, "items")):
        for one, other in ((first, second), (second, first)):
            if not any(one.get(rest) not in (None, True) for rest in rests):
                continue
            if any(rest in other and other[rest] != one.get(rest) for rest in rests):
                return True
            if not _names(other.get(spoken)) <= _names(one.get(spoken)):
                return True
    return any(parts & first.keys() and parts & second.keys() for parts in _TOGETHER)


def _names(spoken: Any) -> set[str]:
    if isinstance(spoken, dict):
        return set(spoken)
    return set() if spoken is None else {"items"}


def _common_types(first: Any, second: Any) -> Any:
    mine, theirs = _listed(first), _listed(second)
    common = [one for one in TYPES if _allows(mine, one) and _allows(theirs, one)]
    if "number" in common:
        common = [one for one in common if one != "integer"]
    return (common[0] if len(common) == 1 else common) or None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _allows(types: list[Any], one: str) -> bool:
    return one in types or (one == "integer" and "number" in types)


def _merged_properties(first: Any, second: Any) -> Any:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return None
    merged = dict(first)
    for name, schema in second.items():
        merged[name] = _all_of(merged[name], schema) if name in merged else schema
    return merged


def _all_of(first: Any, second: Any) -> Any:
    return first if first == second else {"allOf": [first, second]}


def _joined(first: Any, second: Any) -> Any:
    if not isinstance(first, list) or not isinstance(second, list):
        return None
    return [*first, *(one for one in second if one not in first)]


def _common_values(first: Any, second: Any) -> Any:
    if not isinstance(first, list) or not isinstance(second, list):
        return None
    return [one for one in first if any(_same(one, other) for other in second)] or None


def _same(one: Any, other: Any) -> bool:
    """1 and True are equal in Python, not in JSON."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _pick(choose: Callable[[Iterable[Any]], Any]) -> Callable[[Any, Any], Any]:
    def chosen(first: Any, second: Any) -> Any:
        numbers = isinstance(first, (int, float)) and isinstance(second, (int, float))
        return choose((first, second)) if numbers else None

    return chosen


_MERGED: dict[str, Callable[[Any, Any], Any]] = {
    "type": _common_types,
    "properties": _merged_properties,
    "required": _joined,
    "enum": _common_values,
    "items": _all_of,
    **dict.fromkeys(_HIGHER, _pick(max)),
    **dict.fromkeys(_LOWER, _pick(min)),
}
