"""What OpenAI's two APIs refuse of the format of the reply: `response_format` and `text.format`.

Hosts that speak these formats are asked for less: their words and their checks are not known.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.verify.node import Node, plain
from canonicall.verify.openai_schemas import GUIDE, schema_violations
from canonicall.verify.outputs import Asked, OutputWords, of_output, output_violations
from canonicall.verify.stored_state import is_delta, names_items
from canonicall.verify.violation import Violation, refuse

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
UNKNOWN_MODE = "This response_format type is unavailable now"
CHAT_WORDS = OutputWords(
    GUIDE,
    UNKNOWN_MODE,
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type "
    "'json_object'.",
)
RESPONSES_WORDS = OutputWords(
    GUIDE,
    UNKNOWN_MODE,
    "Response input messages must contain the word 'json' in some form to use 'text.format' of "
    "type 'json_object'.",
)


class Named(Struct, frozen=True):
    """A format with its schema, where each API has it."""

    format: Node
    held: Node
    """What has the name and the schema."""
    called: str
    """What the API calls the format."""
    messages: Any


def chat_output(root: Node, target: Target) -> Iterator[Violation]:
    if root.has("response_format"):
        form = root.node("response_format")
        named = Named(form, form.node("json_schema"), "response_format", root.get("messages"))
        yield from _violations(named, target, CHAT_WORDS)


def responses_output(root: Node, target: Target) -> Iterator[Violation]:
    text = root.node("text")
    if text.has("format"):
        form = text.node("format")
        named = Named(form, form, "text.format", root.get("input"))
        # A message that the provider keeps may have the word.
        is_open = is_delta(root, target.format) or names_items(root)
        for one in _violations(named, target, RESPONSES_WORDS):
            if not is_open or one.code != "json_word_missing":
                yield one


def _violations(named: Named, target: Target, words: OutputWords) -> Iterator[Violation]:
    form = named.format
    match form.text("type"):
        case "json_object":
            asked = Asked(form.where, "object", named.messages)
            yield from output_violations(asked, target, words)
        case "json_schema":
            yield from output_violations(Asked(form.where, "schema"), target, words)
            if target.schemas.checked:
                yield from _schema(named)
        case "text":
            return
        case kind if target.schemas.checked:
            error = f"Invalid value: '{kind}'. Supported values are: 'json_object', 'json_schema', "
            error += "and 'text'."
            yield refuse("bad_output_format", form.at("type"), error, source=GUIDE)


def _schema(named: Named) -> Iterator[Violation]:
    held = named.held
    name, schema = held.text("name"), held.get("schema")
    if not NAME.fullmatch(name):
        place = plain(held.at("name"))
        error = f"Missing required parameter: '{place}'."
        if name:
            error = f"Invalid '{place}': string does not match pattern. Expected a string that "
            error += "matches the pattern '^[a-zA-Z0-9_-]+$'."
        yield refuse("bad_output_format", held.at("name"), error, source=GUIDE)
    if schema is not None:
        is_strict = held.get("strict") is True
        where = held.at("schema")
        found = schema_violations(name, schema, where, is_strict=is_strict, of=named.called)
        yield from of_output(found)
