"""What a keyword may hold. Providers that check schemas refuse one whole for a single slip.

Sources: the meta-schemas of draft-07 and 2020-12.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from canonicall.schema.keywords import COUNTS, TYPES

_TYPES = frozenset(TYPES)
_ANCHOR = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")


def unsound_keywords(node: dict[str, Any]) -> list[str]:
    """The keywords of a schema that hold something they cannot hold."""
    return [
        name
        for name, value in node.items()
        if (check := CHECKS.get(name)) is not None and not check(value)
    ]


def _is_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    return bool(value) and _is_names(value) and _TYPES.issuperset(value)


def _is_schema(value: Any) -> bool:
    return isinstance(value, (dict, bool))


def _is_list_of_schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _is_items(value: Any) -> bool:
    return _is_schema(value) or _is_list_of_schemas(value)


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_anchor(value: Any) -> bool:
    return isinstance(value, str) and _ANCHOR.fullmatch(value) is not None


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_names(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    for one in value:
        if not isinstance(one, str):
            return False
    return len(set(value)) == len(value)


def _is_name_lists(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_names, value.values()))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    if type(value) is int:
        return value >= 0
    return _is_number(value) and value >= 0 and value == int(value)


def _is_regex(value: Any) -> bool:
    return isinstance(value, str) and _compiles(value)


def _is_regex_map(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_regex, value))


@lru_cache(maxsize=1024)
def _compiles(pattern: str) -> bool:
    # Loaded here: it takes longer to load than all the rest, and few schemas have patterns.
    validators = import_module("jsonschema_rs")
    try:
        validators.validator_for({"pattern": pattern}, offline=True)
    except ValueError:
        return False
    return True


CHECKS: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "enum": _is_list,
    "required": _is_names,
    "properties": _is_map,
    "patternProperties": _is_regex_map,
    "dependentSchemas": _is_map,
    "dependentRequired": _is_name_lists,
    "dependencies": _is_map,
    "$defs": _is_map,
    "definitions": _is_map,
    "items": _is_items,
    "pattern": _is_regex,
    "multipleOf": _is_positive,
    "examples": _is_list,
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _is_flag),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _is_list_of_schemas),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("title", "description", "format", "$ref", "$id"), _is_text),
    **dict.fromkeys(("$schema", "$comment", "$dynamicRef"), _is_text),
    **dict.fromkeys(("contentMediaType", "contentEncoding"), _is_text),
    **dict.fromkeys(("$anchor", "$dynamicAnchor"), _is_anchor),
    **dict.fromkeys(("additionalProperties", "additionalItems", "contains"), _is_schema),
    **dict.fromkeys(("not", "if", "then", "else", "propertyNames"), _is_schema),
    **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), _is_schema),
    **dict.fromkeys(COUNTS, _is_count),
}
"""By keyword: whether a value is one it may hold."""
