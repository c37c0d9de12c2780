"""The schemas of function declarations: `parameters`, which is a message of its own kind, and
`parametersJsonSchema`, which is JSON Schema.

`parameters` is read twice, and each reading has its words: as protobuf, which refuses fields and
values that the message does not have, and as a schema, which refuses what does not go together.
"""

import re
from collections.abc import Iterator
from typing import Any

from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.gemini_fields import flat, proto_place
from canonicall.verify.metaschema import shown
from canonicall.verify.node import Node, plain
from canonicall.verify.schemas import Spot, Steps, walk
from canonicall.verify.violation import Violation, refuse

SDK = "google-genai 3.1.0, types.py: FunctionDeclaration and Schema"
CALLING = "ai.google.dev: function calling"
# `Schema`, in whichever spelling; what only Vertex has, its target says.
SCHEMA_FIELDS = {
    *("anyof", "default", "description", "enum", "example"),
    *("format", "items", "maxitems", "maxlength", "maxproperties", "maximum", "minitems"),
    *("minlength", "minproperties", "minimum", "nullable", "pattern", "properties"),
    *("propertyordering", "required", "title", "type"),
}
# Protobuf's JSON has names and numbers for the values of an enumeration.
TYPES = vocabulary("gemini").schema_types
PARAMETER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def schema_violations(declaration: Node, target: Target) -> Iterator[Violation]:
    for name in ("parameters", "response"):
        yield from _both(declaration, name)
    yield from _json_schema(declaration)
    root = Spot(declaration.get("parameters"), declaration.at("parameters"))
    if root.schema is None:
        return
    declared = plain(declaration.where).replace("functionDeclarations", "function_declarations")
    place = f"* GenerateContentRequest.{declared}.parameters"
    kind = _type(root)
    if kind and kind != "OBJECT":
        error = f"{place}.type: schema of a function has to be of type OBJECT"
        yield refuse("bad_tool_schema", root.where, error, source=CALLING)
    if target.schemas.root_filled and not root.properties:
        where = f"{root.where}.properties"
        error = f"{place}.properties: should be non-empty for OBJECT type"
        yield refuse("bad_tool_schema", where, error, source="lobehub/lobehub#5002")
    yield from dialect_violations(root, place, target)
    for name in root.properties:
        if not PARAMETER_NAME.fullmatch(name):
            where = f"{root.where}.properties.{name}"
            yield refuse("bad_parameter_name", where, source=SDK)


def dialect_violations(root: Spot, place: str, target: Target) -> Iterator[Violation]:
    """What is wrong with a schema in Google's own dialect; `place`: where, in the API's words."""
    known = SCHEMA_FIELDS | {flat(word) for word in target.schemas.own_words}
    for spot in walk(root, _inside):
        if isinstance(spot.schema, dict):
            yield from _message(spot, known)
            yield from _sense(spot, place)


def _json_name(declaration: Node, name: str) -> str:
    snake = f"{name}_json_schema"
    return snake if declaration.has(snake) else f"{name}JsonSchema"


def _both(declaration: Node, name: str) -> Iterator[Violation]:
    if declaration.has(name) and declaration.has(_json_name(declaration, name)):
        error = f"Invalid value at '{plain(declaration.where)}': {name} and {name}_json_schema are "
        error += "mutually exclusive."
        yield refuse("bad_tool_schema", declaration.where, error, source=SDK)


def _json_schema(declaration: Node) -> Iterator[Violation]:
    """It has to describe an object; beyond that, much more is taken than is documented."""
    name = _json_name(declaration, "parameters")
    schema = declaration.get(name)
    kind = schema.get("type", "object") if isinstance(schema, dict) else "object"
    if isinstance(kind, str) and kind.lower() != "object":
        yield refuse("bad_tool_schema", declaration.at(name), source=SDK)


def _inside(schema: dict[str, Any]) -> Iterator[tuple[Steps, Any]]:
    for name, value in schema.items():
        if name == "items":
            yield (name,), value
        elif name in {"properties", "defs"} and isinstance(value, dict):
            yield from (((name, key), option) for key, option in value.items())
        elif flat(name) == "anyof" and isinstance(value, list):
            yield from (((name, at), option) for at, option in enumerate(value))


def _type(spot: Spot) -> str:
    """The type in the words of the message; nothing where it is not given or not known."""
    kind = spot.schema.get("type") if isinstance(spot.schema, dict) else None
    if isinstance(kind, int) and 0 <= kind < len(TYPES):
        return TYPES[kind]
    return kind.upper() if isinstance(kind, str) and kind.upper() in TYPES else ""


def _unknown(spot: Spot, name: str, what: str) -> str:
    place = _place(spot)
    return f"Invalid JSON payload received. Unknown name \"{name}\" at '{place}': {what}"


def _place(spot: Spot) -> str:
    """Where it stands, as protobuf tells it: fields by their names, entries of a map by numbers.

    `tools[0].function_declarations[5].parameters.properties[8].value.any_of[0]` (zed#44875)
    """
    if spot.parent is None:
        return proto_place(spot.base)
    name, *inner = spot.steps
    place = f"{_place(spot.parent)}.{proto_place(str(name))}"
    if inner and isinstance(inner[0], str):
        return f"{place}[{list(spot.parent.schema[name]).index(inner[0])}].value"
    return f"{place}[{inner[0]}]" if inner else place


def _message(spot: Spot, known: set[str]) -> Iterator[Violation]:
    """What protobuf has against a schema."""
    for name in spot.schema:
        if flat(name) not in known:
            error = _unknown(spot, name, "Cannot find field.")
            yield refuse("bad_tool_schema", spot.where, error, source=CALLING)
    kind = spot.schema.get("type")
    if isinstance(kind, list):
        error = _unknown(spot, "type", "Proto field is not repeating, cannot start list.")
        source = "BerriAI/litellm#14154"
        yield refuse("bad_tool_schema", f"{spot.where}.type", error, source=source)
    elif isinstance(kind, str) and not _type(spot):
        error = f"Invalid value at '{_place(spot)}.type' "
        error += f'(type.googleapis.com/google.ai.generativelanguage.v1beta.Type), "{kind}"'
        source = "google-gemini/deprecated-generative-ai-js#320"
        yield refuse("bad_tool_schema", f"{spot.where}.type", error, source=source)
    for at, value in enumerate(spot.values("enum")):
        if not isinstance(value, str):
            place = f"{_place(spot)}.enum[{at}]"
            error = f"Invalid value at '{place}' (TYPE_STRING), {_json(value)}"
            source = "microsoft/azure-devops-mcp#145"
            yield refuse("bad_tool_schema", f"{spot.where}.enum[{at}]", error, source=source)


def _json(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else shown(value)


def _sense(spot: Spot, root: str) -> Iterator[Violation]:
    """What the API has against a schema that is a message."""
    schema = spot.schema

    def refused(key: str, what: str, source: str) -> Violation:
        error = f"{root}{_bracketed(spot.path)}.{key}: {what}"
        return refuse("bad_tool_schema", f"{spot.where}.{key}", error, source=source)

    if _type(spot) == "ARRAY" and "items" not in schema:
        yield refused("items", "missing field.", "cline/cline#7339")
    # The SDK documents numbers as choices as well, marked by their format.
    if spot.values("enum") and _type(spot) != "STRING" and schema.get("format") != "enum":
        yield refused("enum", "only allowed for STRING type", "anomalyco/opencode#28397")
    for at, value in enumerate(spot.values("enum")):
        if value == "":
            yield refused(f"enum[{at}]", "cannot be empty", "BerriAI/litellm#14155")
    for at, name in enumerate(spot.required):
        if name not in spot.properties:
            source = "iBUHub/AIStudioToAPI#154"
            yield refused(f"required[{at}]", "property is not defined", source)


def _bracketed(path: Steps) -> str:
    """`properties[url].items`: names of properties stand in brackets."""
    text, is_name = "", False
    for step in path:
        text += f"[{step}]" if is_name or isinstance(step, int) else f".{step}"
        is_name = not is_name and step in {"properties", "defs"}
    return text
