"""The schemas of function tools and replies at OpenAI, in Chat Completions and Responses alike.

They are judged where the target is known to read them (`SchemaRule.checked`): many hosts speak
these formats and take `strict` and most schemas unread.
"""

from collections.abc import Iterator
from typing import Any

from canonicall.verify.metaschema import common_faults, shown
from canonicall.verify.schemas import Spot, object_levels, resolve, walk
from canonicall.verify.violation import Violation, refuse

GUIDE = "platform.openai.com: structured outputs, supported schemas"
# The root: nspady/google-calendar-mcp#39, langchain-ai/langchainjs#9804.
AT_ROOT = "nspady/google-calendar-mcp#39"
NOT_AT_ROOT = ("oneOf", "anyOf", "allOf", "enum", "not")
# The first eight the guide names; the others are refused in the same words ("'uniqueItems' is not
# permitted", "'propertyNames' is not permitted", "'contains' is not permitted").
NOT_STRICT = (
    *("allOf", "oneOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else"),
    *("uniqueItems", "propertyNames", "contains"),
)
STRICT_FORMATS = {
    *("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"),
}
MOST_LEVELS = 10
MOST_PROPERTIES = 5_000
MOST_ENUM_VALUES = 1_000
MOST_CHARACTERS = 120_000
"""Of the names of properties and definitions and of the values of enums, together."""


def schema_violations(
    name: str, schema: Any, where: str, *, is_strict: bool, of: str = "function"
) -> Iterator[Violation]:
    """What is wrong with the parameters of one function; the first kind of fault hides the next.

    `of`: what the schema is of, in the words of the API.
    """
    start = f"Invalid schema for {of} '{name}': "
    root = Spot(schema, where)
    spots = [spot for spot in walk(root) if isinstance(spot.schema, dict)]
    for found in (_root(root, start), _kinds(root, start), _arrays(spots, start)):
        faults = list(found)
        yield from faults
        if faults:
            return
    if is_strict:
        for spot in spots:
            yield from _strict(spot, start)
            yield from _dead_reference(spot, root, start)
        yield from _size(root, spots, start)


def root_violations(name: str, schema: Any, where: str) -> Iterator[Violation]:
    """What every host of these formats has against a schema: that it is not one of an object."""
    kind = schema.get("type", "object") if isinstance(schema, dict) else schema
    if kind != "object":
        yield _not_object(Spot(schema, where), kind, f"Invalid schema for function '{name}': ")


def _not_object(root: Spot, kind: Any, start: str) -> Violation:
    found = kind if isinstance(kind, str) else shown(kind)
    error = f"{start}schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{found}\"'."
    return refuse("bad_tool_schema", root.where, error, source=GUIDE)


def _root(root: Spot, start: str) -> Iterator[Violation]:
    schema = root.schema
    if not isinstance(schema, dict) or "type" not in schema:
        error = start + "schema must be a JSON Schema of 'type: \"object\"', got 'type: null'."
        source = "chatanywhere/GPT_API_free#403"
        yield refuse("bad_tool_schema", root.where, error, source=source)
    elif schema["type"] != "object":
        yield _not_object(root, schema["type"], start)
    elif schema.keys() & set(NOT_AT_ROOT):
        listed = "/".join(f"'{word}'" for word in NOT_AT_ROOT)
        error = start + f"schema must have type 'object' and not have {listed} at the top level."
        yield refuse("bad_tool_schema", root.where, error, source=AT_ROOT)
    elif "properties" not in schema:
        error = start + "In context=(), object schema missing properties."
        source = "spring-projects/spring-ai#4776"
        yield refuse("bad_tool_schema", root.where, error, source=source)


def _kinds(root: Spot, start: str) -> Iterator[Violation]:
    source = "json-schema.org: metaschemas of draft-07 and 2020-12"
    for fault in common_faults(root):
        yield refuse("invalid_schema", fault.where, f"{start}{fault.what}.", source=source)


def _arrays(spots: list[Spot], start: str) -> Iterator[Violation]:
    for spot in spots:
        if "array" not in spot.types() or {"items", "prefixItems"} & spot.schema.keys():
            continue
        context = spot.path
        if isinstance(spot.schema["type"], list):
            context = (*context, "type", spot.schema["type"].index("array"))
        error = f"{start}In context={_context(context)}, array schema missing items."
        yield refuse("bad_tool_schema", spot.where, error, source="sigoden/aichat#1049")


def _context(path: tuple[str | int, ...]) -> str:
    return repr(tuple(map(str, path)))


def _strict(spot: Spot, start: str) -> Iterator[Violation]:
    schema = spot.schema

    def refused(what: str, source: str = GUIDE) -> Violation:
        error = f"{start}In context={_context(spot.path)}, {what}"
        return refuse("strict_schema", spot.where, error, source=source)

    yield from (refused(f"'{word}' is not permitted.") for word in NOT_STRICT if word in schema)
    if "object" in spot.types():
        yield from map(refused, _object_faults(spot))
    known = {"type", "anyOf", "oneOf", "allOf", "$ref", "enum"}
    if not known & schema.keys():
        yield refused("schema must have a 'type' key.", "error text of the OpenAI API")
    shape = schema.get("format")
    if "string" in spot.types() and isinstance(shape, str) and shape not in STRICT_FORMATS:
        yield refused(f"'{shape}' is not a valid format.")
    beside = sorted(schema.keys() - {"$ref", "$defs", "definitions"})
    if "$ref" in schema and spot.parent is not None and beside:
        error = f"{start}context={_context(spot.path)}, $ref cannot have keywords "
        error += "{" + ", ".join(map(repr, beside)) + "}."
        source = "openai 3.49.0 (Python), lib/_pydantic.py"
        yield refuse("strict_schema", spot.where, error, source=source)


def _object_faults(spot: Spot) -> Iterator[str]:
    if spot.schema.get("additionalProperties") is not False:
        yield "'additionalProperties' is required to be supplied and to be false."
    start = "'required' is required to be supplied and to be an array including every key in "
    required = set(spot.required)
    if missing := [name for name in spot.properties if name not in required]:
        yield f"{start}properties. Missing '{missing[0]}'."
    if extra := [name for name in spot.required if name not in spot.properties]:
        yield f"{start}properties. Extra required key '{extra[0]}' supplied."


def _dead_reference(spot: Spot, root: Spot, start: str) -> Iterator[Violation]:
    ref = spot.schema.get("$ref")
    if isinstance(ref, str) and ref.startswith("#") and not resolve(root, ref):
        error = f"{start}In context={_context(spot.path)}, reference to component '{ref}' "
        error += "which was not found in the schema."
        source = "error text of the OpenAI API"
        yield refuse("invalid_schema", f"{spot.where}.$ref", error, source=source)


def _size(root: Spot, spots: list[Spot], start: str) -> Iterator[Violation]:
    levels = object_levels(root)
    if levels > MOST_LEVELS:
        error = f"{start}{levels} levels of nesting exceeds limit of {MOST_LEVELS}."
        yield refuse("schema_too_complex", root.where, error, source=GUIDE)
    names: list[str] = []
    values: list[Any] = []
    for spot in spots:
        names += spot.properties
        values += spot.values("enum")
    if len(names) > MOST_PROPERTIES:
        error = f"{start}{len(names)} parameters exceeds limit of {MOST_PROPERTIES}."
        yield refuse("schema_too_complex", root.where, error, source=GUIDE)
    if len(values) > MOST_ENUM_VALUES:
        yield refuse("schema_too_complex", root.where, source=GUIDE)
    characters = sum(len(one) for one in (*names, *values) if isinstance(one, str))
    if characters > MOST_CHARACTERS:
        yield refuse("schema_too_complex", root.where, source=GUIDE)
