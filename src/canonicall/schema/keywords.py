"""The keywords of JSON Schema, by what they hold and what they are about.

A word that is not here (`x-order`, `strict`, `propertyOrdering`) limits nothing: it is a note for
readers, like `title`.
"""

from typing import Any

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")

ONE = frozenset(
    {"items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains"}
    | {"propertyNames", "unevaluatedProperties", "unevaluatedItems"}
)
"""Keywords that hold a schema (`items` of older drafts a list of them)."""
LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
"""Keywords that hold schemas by name. The names are anybody's, keywords among them."""
HOLDERS = ONE | LISTS | MAPS | {"dependencies"}

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
DEFINITIONS = ("$defs", "definitions", "components")

TEXT_LIMITS = frozenset({"minLength", "maxLength", "pattern", "format"})
NUMBER_LIMITS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
ARRAY_LIMITS = frozenset(
    {"items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains"}
    | {"minItems", "maxItems", "uniqueItems", "unevaluatedItems"}
)
OBJECT_LIMITS = frozenset(
    {"properties", "patternProperties", "additionalProperties", "propertyNames", "required"}
    | {"minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies"}
    | {"unevaluatedProperties"}
)
GENERAL_LIMITS = frozenset(
    {"type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "nullable"}
)
LIMITS = TEXT_LIMITS | NUMBER_LIMITS | ARRAY_LIMITS | OBJECT_LIMITS | GENERAL_LIMITS
"""Everything that can make a value invalid."""

LIMITS_OF_TYPE = {
    "string": TEXT_LIMITS,
    "number": NUMBER_LIMITS | {"format"},
    "integer": NUMBER_LIMITS | {"format"},
    "array": ARRAY_LIMITS,
    "object": OBJECT_LIMITS,
}

COUNTS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
    | {"minContains", "maxContains"}
)


def type_of(value: Any) -> str:
    """The JSON Schema type of a JSON value."""
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), (int, "integer"), (float, "number"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "object"
