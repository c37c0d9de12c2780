"""The end of a schema that is too deep or too large: type and notes, as a target takes them."""

from typing import Any

from canonicall.schema.equivalents import Schema
from canonicall.schema.keywords import TYPES
from canonicall.schema.losses import At
from canonicall.schema.strict import closed
from canonicall.schema.wording import Wording


def bare(schema: Any) -> Schema:
    """What can be kept of a schema without looking inside: its type and its description."""
    left: Schema = {}
    if isinstance(schema, dict):
        if isinstance(schema.get("type"), str) and schema["type"] in TYPES:
            left["type"] = schema["type"]
        if isinstance(schema.get("description"), str):
            left["description"] = schema["description"]
    return left


def cut(schema: Any, notes: Schema, at: At, words: Wording) -> Schema:
    """What is left of a schema that ends here, with `notes` of the place itself."""
    left = words.taken({**bare(schema), **notes}, at)
    if words.limits.strict is None:
        return left
    if isinstance(left.get("items"), dict):
        left = {**left, "items": closed(left["items"], (at, "items"), words)}
    return closed(left, at, words)
