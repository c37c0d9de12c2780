"""Most schemas fit as they are. One quick pass tells so, and the careful walk of `fitting` ends.

It is never wrong when it says yes. Where it would have to think (old drafts, recursion, keywords
that few schemas have) it says no, and the walk goes on.
"""

from typing import Any

from canonicall.facts.schema_rules import References, SchemaRule
from canonicall.schema.keywords import COUNTS, DEFINITIONS, MAPS, REFERENCES, TYPES
from canonicall.schema.soundness import CHECKS

# How the value of a keyword is looked at. Plain numbers: they are compared for every keyword.
_NOT, _TEXT, _TYPE, _SCALAR, _CHECK, _REFERENCE, _DOUBT = range(7)
_MAP, _DEFINITIONS, _FLAG, _SCHEMA, _SCHEMAS = range(7, 12)
_MAPPED, _SINGLE = (_MAP, _DEFINITIONS), (_FLAG, _SCHEMA)

_LOOKS = {
    **dict.fromkeys(("title", "description", "format", "$schema", "$comment"), _TEXT),
    "type": _TYPE,
    "properties": _MAP,
    "$defs": _DEFINITIONS,
    **dict.fromkeys(("items", "additionalProperties", "unevaluatedProperties"), _FLAG),
    **dict.fromkeys(("not", "if", "then", "else", "contains", "propertyNames"), _SCHEMA),
    "unevaluatedItems": _SCHEMA,
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _SCHEMAS),
    **dict.fromkeys(COUNTS, _CHECK),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _CHECK),
    **dict.fromkeys(("multipleOf", "pattern", "uniqueItems", "enum", "required"), _CHECK),
    **dict.fromkeys(("dependentRequired", "examples", "readOnly", "writeOnly"), _CHECK),
    **dict.fromkeys(("deprecated", "contentMediaType", "contentEncoding"), _CHECK),
    "const": _NOT,
    "$ref": _REFERENCE,
}
# Where a target does not take these, another word may say the same; or they are too seldom for a
# look of their own.
_DOUBTED = frozenset(
    {"allOf", "oneOf", "nullable", "const", "prefixItems", "exclusiveMinimum", "exclusiveMaximum"}
    | {*REFERENCES, *DEFINITIONS, *MAPS, "$id", "$anchor", "$dynamicAnchor", "additionalItems"}
    | {"dependencies"}
)
_PLAIN = {"type": _SCALAR, "title": _TEXT, "description": _TEXT}
_SCALARS = frozenset({"string", "number", "integer", "boolean", "null"})
_TYPES = frozenset(TYPES)
_TYPES_ALONE = _TYPES - {"array"}
"""Types that say enough without a word on what is inside."""
_DEFINED = "#/$defs/"
_ESCAPES = frozenset("/~%")


def looks_of(
    rule: SchemaRule, keywords: frozenset[str] | None, refs: References, *, strict: bool
) -> dict[str, int]:
    """How each keyword is looked at under a rule; under "" how all others are."""
    if strict:
        # Of what strict mode wants, only a plain value is seen at a glance.
        plain = {name: look for name, look in _PLAIN.items() if not keywords or name in keywords}
        return {**plain, "": _DOUBT}
    is_open = keywords is None or rule.others == "ignored"
    looks = {"": _NOT if is_open else _DOUBT, **dict.fromkeys(_DOUBTED, _DOUBT)} | {
        name: look
        for name, look in _LOOKS.items()
        if keywords is None or name in keywords or (is_open and name not in _DOUBTED)
    }
    return looks if refs == "all" else looks | {"$ref": _DOUBT, "$defs": _DOUBT}


def fits(schema: Any, room: int, rule: SchemaRule, looks: dict[str, int], definitions: Any) -> bool:
    """Whether a schema is seen to fit, the rules of roots apart. `room` is how deep it may be."""
    if looks.get("type") == _SCALAR and "type" not in schema:
        return False
    look_at, other = looks.get, looks[""]
    level: list[Any] = [schema]
    while level and room > 0:
        room -= 1
        below: list[Any] = []
        for node in level:
            if type(node) is not dict:
                return False
            for name, value in node.items():
                look = look_at(name, other)
                if look == _TYPE:
                    is_plain = type(value) is str and value in _TYPES_ALONE
                    is_fine = is_plain or _is_type(value, node, rule)
                elif look == _TEXT:
                    is_fine = type(value) is str
                elif look == _CHECK:
                    is_fine = CHECKS[name](value)
                else:
                    is_fine = look == _NOT or _is_held(look, value, below, definitions)
                if not is_fine:
                    return False
        level = below
    return not level


def _is_type(value: Any, node: dict[str, Any], rule: SchemaRule) -> bool:
    if type(value) is str:
        if value != "array" or not rule.items_required:
            return value in _TYPES
        return "items" in node or "prefixItems" in node
    if not CHECKS["type"](value) or (rule.items_required and "array" in value):
        return False
    return rule.type_lists == "all" or (len(value) == 2 and "null" in value)


def _is_held(look: int, value: Any, below: list[Any], definitions: Any) -> bool:
    """The same for keywords that hold schemas, which are put `below`, and for rare ones."""
    kind = type(value)
    if look in _MAPPED:
        if kind is dict:
            below += value.values()
        return kind is dict and (look == _MAP or bool(value))
    if look in _SINGLE:
        if look == _SCHEMA or kind is not bool:
            below.append(value)
        return True
    if look == _SCHEMAS:
        if kind is list:
            below += value
        return kind is list and bool(value)
    if look == _SCALAR:
        return kind is str and value in _SCALARS
    return look == _REFERENCE and _is_defined(value, definitions)


def _is_defined(reference: Any, definitions: Any) -> bool:
    """Whether a reference leads straight to a definition at the root."""
    if not isinstance(reference, str) or not reference.startswith(_DEFINED):
        return False
    name = reference[len(_DEFINED) :]
    if not isinstance(definitions, dict) or not _ESCAPES.isdisjoint(name):
        return False
    found = definitions.get(name)
    return isinstance(found, dict) and found.keys().isdisjoint(REFERENCES)
