"""Google's own schema dialect: read as plain JSON Schema, and told apart from it.

The fields `parameters` of a declaration and `responseSchema` hold a `Schema`, a subset of OpenAPI
3.0 as a proto message: types in capitals or as numbers of their enum, `nullable`, names in
camelCase or snake_case, limits and enums as text. Everything behind this file knows
JSON Schema alone.

Source: google-genai, types.py, `Schema` and `Type`; ai.google.dev/api/caching#Schema.
"""

import re
from collections.abc import Callable
from typing import Any

from canonicall.facts.vocabulary import vocabulary

# `Type`, in the order of its numbers.
_TYPES = vocabulary("gemini").schema_types
_NAMES = {
    "any_of": "anyOf",
    "property_ordering": "propertyOrdering",
    "additional_properties": "additionalProperties",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_properties": "minProperties",
    "max_properties": "maxProperties",
    "defs": "$defs",
    "ref": "$ref",
}
_LIMITS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_ONE = ("items", "additionalProperties", "not")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("properties", "$defs", "definitions", "patternProperties")
# What both APIs know. `additionalProperties`, `ref` and `defs` are Vertex's alone: 'Unknown name
# "additionalProperties" at 'tools[0].function_declarations[0].parameters': Cannot find field.'
_DIALECT = {
    *("type", "format", "title", "description", "nullable", "default", "example", "enum"),
    *("items", "properties", "required", "anyOf", "propertyOrdering", "minimum", "maximum"),
    *("pattern", *_LIMITS),
}
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")
_DEEPEST = 64
"""Below this, schemas stay as they are: no API takes them, and recursion has to end."""


def plain_parameters(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a function's arguments as JSON Schema: they are an object, and never null."""
    root = {name: value for name, value in schema.items() if name != "nullable"}
    return {"type": "object", **_each_schema(root, _plain)}


def plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a reply as JSON Schema."""
    return _each_schema(schema, _plain)


def spelled_out(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with the words of types that came as numbers, which only servers read."""
    return _each_schema(schema, _with_word)


def is_dialect(schema: Any, depth: int = 0) -> bool:
    """Whether `schema` can be written as a `Schema`: nothing in it that only JSON Schema has."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return False
    fields = _named(schema)
    texts = fields.get("enum")
    # "items: missing field." (API error text)
    is_complete = _TYPES[5] not in (fields.get("type"), str(fields.get("type")).upper())
    return (
        (is_complete or "items" in fields)
        and fields.keys() <= _DIALECT
        and isinstance(fields.get("type", ""), (str, int))
        and (texts is None or (isinstance(texts, list) and all(isinstance(t, str) for t in texts)))
        and _makes_sense(fields)
        and all(is_dialect(one, depth + 1) for one in _inner(fields))
    )


def _makes_sense(fields: dict[str, Any]) -> bool:
    """Whether nothing in it contradicts the rest; in JSON Schema that is nobody's concern."""
    # "required[0]: property is not defined", "enum: only allowed for STRING type" and
    # "enum[0]: cannot be empty" (API error texts)
    required, properties = fields.get("required") or [], fields.get("properties") or {}
    texts, kind = fields.get("enum"), fields.get("type")
    is_text = kind == 1 or str(kind).upper() == "STRING" or fields.get("format") == "enum"
    if not isinstance(required, list) or not isinstance(properties, dict):
        return False
    return all(isinstance(name, str) and name in properties for name in required) and (
        not texts or (is_text and "" not in texts)
    )


def _named(schema: dict[str, Any]) -> dict[str, Any]:
    """The keywords of `schema` by the names they have in JSON Schema."""
    return {_NAMES.get(name, name): value for name, value in schema.items()}


def _inner(fields: dict[str, Any]) -> list[Any]:
    """The schemas inside one of the dialect."""
    properties, options = fields.get("properties"), fields.get("anyOf")
    return [
        *([fields["items"]] if "items" in fields else ()),
        *(properties.values() if isinstance(properties, dict) else ()),
        *(options if isinstance(options, list) else ()),
    ]


def _each_schema(
    schema: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]], depth: int = 0
) -> dict[str, Any]:
    """`schema` with each schema inside it changed, and then itself."""
    if depth > _DEEPEST:
        return schema

    def inside(value: Any) -> Any:
        return _each_schema(value, change, depth + 1) if isinstance(value, dict) else value

    changed = dict(schema)
    for name, value in schema.items():
        keyword = _NAMES.get(name, name)
        if keyword in _ONE:
            changed[name] = inside(value)
        elif keyword in _LISTS and isinstance(value, list):
            changed[name] = [inside(one) for one in value]
        elif keyword in _MAPS and isinstance(value, dict):
            changed[name] = {key: inside(one) for key, one in value.items()}
    return change(changed)


def _with_word(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if type(kind) is int and 0 <= kind < len(_TYPES):
        return {**schema, "type": _TYPES[kind]}
    return schema


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """One schema, without those inside it, as JSON Schema."""
    # In a proto message null is as good as absent, but not as a value.
    plain = {
        name: value
        for name, value in _with_word(_named(schema)).items()
        if value is not None or name == "default"
    }
    kind = plain.get("type")
    if isinstance(kind, str) and kind.upper() in _TYPES:
        plain["type"] = kind.lower()
    if plain.get("type") == "type_unspecified":
        del plain["type"]
    for name in _LIMITS:
        if isinstance(plain.get(name), str):
            plain[name] = _as_number(plain[name])
    if plain.get("type") in ("integer", "number") and isinstance(plain.get("enum"), list):
        # {type: INTEGER, format: enum, enum: ["101", "201"]} (`Schema.enum`).
        plain["enum"] = [_as_number(one) for one in plain["enum"]]
    if isinstance(plain.get("$ref"), str):
        plain["$ref"] = plain["$ref"].replace("#/defs/", "#/$defs/", 1)
    return _or_null(plain) if plain.pop("nullable", None) is True else plain


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that allows null besides; every keyword that limits the value has to let it pass."""
    null = {"type": "null"}
    if "$ref" in schema:
        rest = {name: value for name, value in schema.items() if name != "$ref"}
        return {**rest, "anyOf": [{"$ref": schema["$ref"]}, null]}
    wider = dict(schema)
    if isinstance(schema.get("type"), str) and schema["type"] != "null":
        wider["type"] = [schema["type"], "null"]
    if isinstance(schema.get("anyOf"), list) and null not in schema["anyOf"]:
        wider["anyOf"] = [*schema["anyOf"], null]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        wider["enum"] = [*schema["enum"], None]
    return wider


def _as_number(value: Any) -> Any:
    """The number in a text, where there is one."""
    if not isinstance(value, str) or _NUMBER.fullmatch(value) is None:
        return value
    return float(value) if "." in value else int(value)
