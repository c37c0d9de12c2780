"""Parameters whose value is of another kind than the format says, reported before anything else.

In: a body. Out: a violation for each of them, and the body without them, which the rules of the
format then look at. Null counts as absent. Messages, tools and other lists are read by the format's
own rules.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from canonicall.facts.parameter_kinds import Parameter, known_parameters
from canonicall.verify.node import KINDS, dotted, plain
from canonicall.verify.violation import Violation, refuse

SOURCE = "the types of the official SDK (parameter_kinds.toml)"
NAMES = {
    "text": "string",
    "texts": "array of strings",
    "objects": "array of objects",
    "numeral": "number",
}
"""What a kind is called, where that is another word."""
ELSEWHERE = {("ollama", "$.format")}
"""Parameters of which a rule of the format says the same in the provider's words."""
PLAIN: dict[str, type] = {"text": str, "boolean": bool, "object": dict}
LISTS: dict[str, type] = {"texts": str, "objects": dict, "array": object}
PYTHON = {"object": "dictionary", "array of strings": "list", "array of objects": "list"}
CLASSES = {
    "text": "<class 'str'>",
    "integer": "<class 'int'>",
    "number": "<class 'float'>, <class 'decimal.Decimal'>, <class 'int'>",
    "boolean": "<class 'bool'>",
    "object": "<class 'dict'>",
}
"""What botocore takes."""
GO = {"integer": "integer", "number": "float32", "boolean": "boolean", "text": "string"}
KINDS_OF_GO = {"integer": "number", "boolean": "bool"}
PROTOBUF = {
    "text": "TYPE_STRING",
    "integer": "TYPE_INT32",
    "number": "TYPE_FLOAT",
    "boolean": "TYPE_BOOL",
}


def wrong_kinds(body: dict[str, Any], format: str) -> tuple[list[Violation], dict[str, Any]]:
    """What is of the wrong kind, and the body without it."""
    found: list[Violation] = []
    return found, _looked(body, "$", known_parameters(format), format, found)


def _looked(
    fields: dict[str, Any],
    where: str,
    known: Mapping[str, Parameter],
    format: str,
    found: list[Violation],
) -> dict[str, Any]:
    kept = fields
    for name, value in fields.items():
        one = known.get(name)
        place = f"{where}.{name}"
        if one is None or value is None or (format, place) in ELSEWHERE:
            continue
        if one.kinds and not any(_is(value, kind) for kind in one.kinds):
            kept = {key: field for key, field in kept.items() if key != name}
            error = _words(format, place, one.kinds, value)
            why = f"expected {_wanted(one.kinds)}, got {kind_of(value)}."
            found.append(refuse("malformed_body", place, error, source=SOURCE, why=why))
        elif one.inner and isinstance(value, dict):
            inner = _looked(value, place, one.inner, format, found)
            if inner is not value:
                kept = {**kept, name: inner}
    return kept


def _is(value: Any, kind: str) -> bool:
    if kind in PLAIN:
        return isinstance(value, PLAIN[kind])
    if kind in LISTS:
        return isinstance(value, list) and all(isinstance(one, LISTS[kind]) for one in value)
    if kind == "numeral":
        return isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value) is not None
    is_float = isinstance(value, float) and math.isfinite(value)
    is_number = is_float or (isinstance(value, int) and not isinstance(value, bool))
    return is_number and (kind == "number" or value == int(value))


def kind_of(value: Any) -> str:
    """What a value is, in the words of JSON Schema."""
    return KINDS.get(type(value), "number")


def _wanted(kinds: tuple[str, ...]) -> str:
    return " or ".join(dict.fromkeys(NAMES.get(kind, kind) for kind in kinds))


def _words(format: str, where: str, kinds: tuple[str, ...], value: Any) -> str:
    """What the owner of a format answers; of Cohere nothing is known."""
    told = WORDS.get(format)
    return told(where, kinds, value) if told else ""


def _of_openai(where: str, kinds: tuple[str, ...], value: Any) -> str:
    wanted = _wanted(kinds)
    wanted = _article("decimal" if wanted == "number" else wanted)
    got = "decimal number" if kind_of(value) == "number" else kind_of(value)
    one_of = "one of " if len(kinds) > 1 else ""
    place = f"Invalid type for '{plain(where)}'"
    return f"{place}: expected {one_of}{wanted}, but got {_article(got)} instead."


def _of_anthropic(where: str, kinds: tuple[str, ...], _: Any) -> str:
    wanted = _wanted(kinds)
    return f"{dotted(where)}: Input should be a valid {PYTHON.get(wanted, wanted)}"


def _of_gemini(where: str, kinds: tuple[str, ...], _: Any) -> str:
    place = re.sub("([A-Z])", r"_\1", plain(where)).lower()
    return f"Invalid value at '{place}' ({PROTOBUF.get(kinds[0], 'Message')})"


def _of_bedrock(where: str, kinds: tuple[str, ...], value: Any) -> str:
    """As botocore says it before anything is sent."""
    valid = ", ".join(CLASSES.get(kind, "<class 'list'>, <class 'tuple'>") for kind in kinds)
    place = f"Invalid type for parameter {plain(where)}"
    return f"{place}, value: {value}, type: {type(value)}, valid types: {valid}"


def _of_ollama(where: str, kinds: tuple[str, ...], value: Any) -> str:
    wanted = GO.get(kinds[0], "array")
    if where.startswith("$.options."):
        return f'option "{plain(where).removeprefix("options.")}" must be of type {wanted}'
    got = KINDS_OF_GO.get(kind_of(value), kind_of(value))
    return f"json: cannot unmarshal {got} into Go struct field ChatRequest.{plain(where)}"


WORDS: dict[str, Callable[[str, tuple[str, ...], Any], str]] = {
    "openai-chat": _of_openai,
    "openai-responses": _of_openai,
    "anthropic": _of_anthropic,
    "gemini": _of_gemini,
    "bedrock": _of_bedrock,
    "ollama": _of_ollama,
}


def _article(words: str) -> str:
    return f"an {words}" if words[0] in "aio" else f"a {words}"
