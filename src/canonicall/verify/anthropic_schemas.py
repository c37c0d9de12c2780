"""The schemas of tools in the Messages API: the root, the names of parameters, strict mode.

Strict tools and the format of the reply are compiled into a grammar, all of a request together:
what the compiler does not know is refused, and so is too much of what it does know.
"""

import re
from collections.abc import Iterator

from canonicall.facts.target import Target
from canonicall.verify.metaschema import DRAFT_2020, faults
from canonicall.verify.node import Node, dotted
from canonicall.verify.schemas import (
    Spot,
    circle,
    is_union,
    optional_properties,
    references,
    resolve,
    walk,
)
from canonicall.verify.violation import Violation, refuse

MESSAGES = "platform.claude.com: messages API reference"
LIMITATIONS = "platform.claude.com: structured outputs, JSON Schema limitations"
RECORDED = "recorded traffic"
PARAMETER_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
MOST_STRICT_TOOLS = 20
MOST_OPTIONAL = 24
MOST_OPTIONAL_EACH = 23
MOST_UNIONS = 16
_BOUNDS = ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf")
# "For 'integer' type, properties maximum, minimum are not supported" (earendil-works/pi#9953).
NOT_STRICT = {
    "integer": _BOUNDS,
    "number": _BOUNDS,
    "string": ("maxLength", "minLength"),
    "array": ("contains", "maxContains", "maxItems", "minContains", "uniqueItems"),
    "object": ("maxProperties", "minProperties", "patternProperties", "propertyNames"),
}
# Tried with Claude Sonnet 4.5 on Bedrock (pydantic-ai 2.66.0, providers/bedrock.py).
TAKEN_BY_CONVERSE = ("maxLength", "minLength")
# anthropic 2.8.0, lib/_parse/_transform.py: other formats are moved into the description.
FORMATS = (
    *("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"),
)


def schema_violations(tools: list[Node], target: Target) -> Iterator[Violation]:
    """What is wrong with the schemas of a request's own tools."""
    sound: list[Node] = []
    for tool in tools:
        found = list(_root(tool)) or (list(_kinds(tool)) if target.schemas.checked else [])
        yield from found
        if not found:
            sound.append(tool)
    if not target.schemas.checked:
        return
    for tool in sound:
        yield from _names(tool)
    strict = [tool for tool in sound if tool.get("strict") is True]
    if len(strict) > MOST_STRICT_TOOLS:
        error = (
            f"Too many strict tools ({len(strict)}). The maximum number of strict tools supported "
            f"is {MOST_STRICT_TOOLS}. Try reducing the number of tools marked as strict."
        )
        yield refuse("too_many_strict_tools", "$.tools", error, source=RECORDED)
    yield from too_complex([_spot(tool) for tool in strict], "$.tools")
    for tool in strict:
        yield from held_violations(_spot(tool), f"{dotted(tool.where)}.custom: ")


def strict_roots(tools: list[Node]) -> list[Spot]:
    """The schemas that are compiled together with that of the reply."""
    return [_spot(tool) for tool in tools if tool.get("strict") is True]


def _spot(tool: Node) -> Spot:
    return Spot(tool.get("input_schema"), tool.at("input_schema"))


def _root(tool: Node) -> Iterator[Violation]:
    place = f"{dotted(tool.where)}.custom.input_schema"
    schema = tool.get("input_schema")
    if schema is None:
        error = f"{place}: Field required"
    elif not isinstance(schema, dict):
        error = f"{place}: Input does not match the expected shape."
    elif schema.keys() & {"oneOf", "allOf", "anyOf"}:
        error = f"{place}: input_schema does not support oneOf, allOf, or anyOf at the top level"
    elif "type" not in schema:
        error = f"{place}.type: Field required"
    elif schema["type"] != "object":
        error = f"{place}.type: Input should be 'object'"
    else:
        return
    yield refuse("bad_tool_schema", tool.at("input_schema"), error, source=MESSAGES)


def _kinds(tool: Node) -> Iterator[Violation]:
    error = (
        f"{dotted(tool.where)}.custom.input_schema: JSON schema is invalid. It must match JSON "
        "Schema draft 2020-12 (https://json-schema.org/draft/2020-12)."
    )
    for fault in faults(_spot(tool), DRAFT_2020):
        why = f"The schema of a tool is not valid JSON Schema: {fault.what}."
        source = "anthropics/claude-code#63673"
        yield refuse("invalid_schema", fault.where, error, source=source, why=why)


def _names(tool: Node) -> Iterator[Violation]:
    """Only the parameters themselves are looked at, not what is inside them."""
    for name in tool.node("input_schema").node("properties").fields:
        if not PARAMETER_NAME.fullmatch(name):
            error = f"{dotted(tool.where)}.custom.input_schema.properties: Property keys should "
            error += f"match pattern '^{PARAMETER_NAME.pattern}$'"
            where = f"{tool.at('input_schema')}.properties.{name}"
            source = "beautyfree/appstore-connect-mcp#2; top level only: aws-solutions-library-"
            source += "samples/accelerated-intelligent-document-processing-on-aws#709"
            yield refuse("bad_parameter_name", where, error, source=source)


def too_complex(roots: list[Spot], where: str) -> Iterator[Violation]:
    """More than the compiler takes in all the schemas of a request."""
    spots = [spot for root in roots for spot in walk(root) if isinstance(spot.schema, dict)]
    optional = sum(map(optional_properties, spots))
    if optional > MOST_OPTIONAL:
        error = (
            f"Schemas contains too many optional parameters ({optional}), which would make grammar "
            "compilation inefficient. Reduce the number of optional parameters in your tool "
            f"schemas (limit: {MOST_OPTIONAL})."
        )
        yield refuse("schema_too_complex", where, error, source="elie222/inbox-zero#2323")
    else:
        yield from _one_too_complex(roots)
    unions = sum(spot.is_property and is_union(spot) for spot in spots)
    if unions > MOST_UNIONS:
        error = (
            f"Schemas contains too many parameters with union types ({unions} parameters with type "
            "arrays or anyOf). This causes exponential compilation cost. Reduce the number of "
            f"nullable or union-typed parameters (limit: {MOST_UNIONS} parameters with unions)."
        )
        yield refuse("schema_too_complex", where, error, source="error text of the API")


def _one_too_complex(roots: list[Spot]) -> Iterator[Violation]:
    """Below the limit of the request, so many optional parameters in one schema are too many."""
    for root in roots:
        spots = (spot for spot in walk(root) if isinstance(spot.schema, dict))
        if sum(map(optional_properties, spots)) > MOST_OPTIONAL_EACH:
            error = "Schema is too complex for compilation. Try reducing the number of tools or "
            error += "simplifying tool schemas."
            source = "0xPlaygrounds/rig: recorded refusal of 24 in one schema, 24 in twelve pass"
            yield refuse("schema_too_complex", root.where, error, source=source)


def held_violations(root: Spot, place: str, taken: tuple[str, ...] = ()) -> Iterator[Violation]:
    """What the compiler does not know in a schema; `place`: how the API begins to tell it, `taken`:
    keywords that it knows where this is asked."""
    for spot in walk(root):
        for what in _bare(spot) if not isinstance(spot.schema, dict) else _strict(spot, taken):
            error = place + what if what else ""
            yield refuse("strict_schema", spot.where, error, source=LIMITATIONS)
    for spot, ref in references(root):
        where = f"{spot.where}.$ref"
        if not ref.startswith("#"):
            yield refuse("strict_schema", where, source=LIMITATIONS)
        elif not resolve(root, ref):
            error = f"{place}Reference to non-existent definition: {ref}"
            yield refuse("invalid_schema", where, error, source="error text of the API")
    if way := circle(root):
        names = " -> ".join(ref.rpartition("/")[2] for ref in way)
        error = (
            f"{place}Invalid schema: Circular reference detected in schema definitions: {names}. "
            "Self-referencing or mutually-referencing definitions are not supported."
        )
        yield refuse("strict_schema", root.where, error, source=RECORDED)


def _bare(spot: Spot) -> Iterator[str]:
    """`true` in place of a schema (recorded)."""
    if spot.is_property:
        yield "For 'object' type, property 'properties' is not supported"


def _strict(spot: Spot, taken: tuple[str, ...]) -> Iterator[str]:
    """What the compiler has against one schema; an empty text where its words are not known."""
    schema = spot.schema
    if not schema:
        yield "Empty schema ({}) that accepts any JSON value is not supported."
    if "oneOf" in schema:
        yield "Schema type 'oneOf' is not supported"
    for kind in spot.types():
        words = NOT_STRICT.get(kind, ())
        unknown = [word for word in words if word in schema and word not in taken]
        if len(unknown) == 1:
            yield f"For '{kind}' type, property '{unknown[0]}' is not supported"
        elif unknown:
            yield f"For '{kind}' type, properties {', '.join(unknown)} are not supported"
    if "object" in spot.types() and schema.get("additionalProperties") is not False:
        if schema.get("additionalProperties") is True:
            yield (
                "For 'object' type, 'additionalProperties: true' is not supported. Please set "
                "'additionalProperties' to false"
            )
        else:
            yield "For 'object' type, 'additionalProperties' must be explicitly set to false"
    if "array" in spot.types() and schema.get("minItems", 0) not in (0, 1):
        yield "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if _is_beyond_words(spot):
        yield ""


def _is_beyond_words(spot: Spot) -> bool:
    """Whether there is something that is refused, in words that nobody has reported."""
    format = spot.schema.get("format", FORMATS[0])
    is_formatted = "string" in spot.types() and format not in FORMATS
    values = [*spot.values("enum"), spot.schema.get("const")]
    return is_formatted or any(isinstance(value, dict | list) for value in values)
