"""The strict form of one schema: objects closed and complete, and no "anything".

Closing an object and demanding a property that may be missing make a schema allow less: such losses
are the reason why a tool is made strict only where the caller wants that.
"""

from typing import Any

from msgspec import Struct

from canonicall.schema.equivalents import Schema, or_null
from canonicall.schema.keywords import HOLDERS, MAPS
from canonicall.schema.losses import At
from canonicall.schema.wording import Wording

_SAYS_WHAT = {"type", "enum", "const", "anyOf", "allOf", "$ref"}


def closed(node: Schema, at: At, words: Wording) -> Schema:
    """`node` as strict mode wants it."""
    rule = words.limits.strict
    if rule is None:
        return node
    if not rule.any_json and _SAYS_WHAT.isdisjoint(node):
        words.lose("narrowed", at, "Any JSON cannot be said in strict mode; it has to be text.")
        return {"type": "string", **node}
    kind = node.get("type")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        return node
    if rule.closed and node.get("additionalProperties") is not False:
        what = "Only properties that are declared can be given in strict mode."
        words.lose("narrowed", at, what)
        node = {**node, "additionalProperties": False}
    return _complete(node, at, words) if rule.all_required else node


def _complete(node: Schema, at: At, words: Wording) -> Schema:
    properties, required = node.get("properties"), node.get("required")
    if not isinstance(properties, dict):
        properties = {}
    listed = required if isinstance(required, list) else []
    missing = [name for name in properties if name not in listed]
    surplus = [name for name in listed if name not in properties]
    if not missing and not surplus:
        return node
    for name in surplus:
        words.lose("weakened", at, f"{name!r} is required, but not declared.")
    for name in missing:
        what = "It has to be given in strict mode; null says that it is not there."
        words.lose("narrowed", ((at, "properties"), name), what)
    whole = {
        name: or_null(one) if name in missing and isinstance(one, dict) else one
        for name, one in properties.items()
    }
    return {**node, "properties": whole, "required": list(whole)}


class Counts(Struct, frozen=True):
    """What the limits of strict mode count in one schema."""

    optional: int = 0
    unions: int = 0
    properties: int = 0
    values: int = 0
    fields: int = 0
    """The properties of all strict tools so far."""
    optional_each: int = 0
    """The optional properties of the last of them alone."""
    structured: int = 0
    """Listed values that are objects or lists."""
    characters: int = 0
    """Of the names of properties and definitions and of listed texts."""


def counted(schema: Schema) -> Counts:
    """The counts of a schema. A loop, for schemas can be deep."""
    optional = unions = properties = 0
    listed: list[Any] = []
    names: list[str] = []
    consts: list[Any] = []
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        if not isinstance(node, dict):
            continue
        declared, required = node.get("properties"), node.get("required")
        if isinstance(declared, dict):
            needed = required if isinstance(required, list) else []
            properties += len(declared)
            optional += sum(name not in needed for name in declared)
        if isinstance(node.get("enum"), list):
            listed += node["enum"]
        consts.append(node.get("const"))
        unions += "anyOf" in node or isinstance(node.get("type"), list)
        for name, value in node.items():
            if name in MAPS and isinstance(value, dict):
                waiting += value.values()
                names += value
            elif name in HOLDERS:
                waiting.append(value)
    return Counts(
        optional,
        unions,
        properties,
        len(listed),
        structured=sum(isinstance(one, dict | list) for one in (*listed, *consts)),
        characters=sum(len(one) for one in (*names, *listed) if isinstance(one, str)),
    )
