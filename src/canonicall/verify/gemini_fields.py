"""Fields that protobuf does not find in the messages of generateContent, in either spelling.

Where the target's places are closed, they are refused; what stands deeper is read elsewhere.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from canonicall.facts.target import FieldPlace, FieldRule, FieldTree, field_tree
from canonicall.verify.node import Node, plain
from canonicall.verify.violation import Violation, refuse

SOURCE = (
    "google-genai 3.1.0, types.py; error text: Unknown name [...] Cannot find field. "
    "(google-gemini/gemini-cli#13972, NoeFabris/opencode-antigravity-auth#242, "
    "googleapis/go-genai#83)"
)
CONTENT = ("parts", "role")
DECLARATION = (
    *("name", "description", "parameters", "parametersJsonSchema", "response"),
    *("responseJsonSchema", "behavior"),
)
# A signature stands beside the call, not in it; that it is not found there, all know.
_MISPLACED = ("thoughtSignature", "thought_signature")
# A result remembers its response under this name; no part has it on the wire.
_REMEMBERED = "response"


class KnownFields(Struct, frozen=True):
    """The fields that the messages of a target have; None where others are taken."""

    request: FieldTree | None
    content: FieldTree | None
    part: FieldTree | None
    """All of it but calls, which are a place of their own."""
    call: FieldTree | None
    function: FieldTree | None
    """Of tools, only functions are looked at: others may be newer than what is known here."""


@lru_cache(maxsize=64)
def known_fields(rule: FieldRule) -> KnownFields:
    """What is known of a target, in all spellings."""

    def closed(place: FieldPlace, names: tuple[str, ...]) -> FieldTree | None:
        return _spelled(field_tree(names)) if place in rule.closed else None

    part = closed("part", tuple(name for name in rule.part if name != _REMEMBERED))
    call = closed("call", rule.call)
    return KnownFields(
        closed("request", rule.request),
        closed("message", CONTENT),
        {**part, "functionCall": {}, "function_call": {}} if part is not None else None,
        call["functionCall"] if call is not None else None,
        closed("tool", DECLARATION),
    )


def unknown_in(node: Node, known: FieldTree | None) -> Sequence[Violation]:
    """The fields of a node, and of the objects in it, that are not known."""
    found: list[Violation] = []
    if known is not None:
        _look(node.fields, node.where, known, found)
    return found


def unknown_in_call(call: Node, known: FieldTree | None) -> Sequence[Violation]:
    if known is not None:
        return unknown_in(call, known)
    return [_not_found(name, call.where) for name in _MISPLACED if name in call.fields]


def flat(name: str) -> str:
    """A name as it is in camelCase and in snake_case alike."""
    return name.replace("_", "").lower()


def _snake(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()


def _spelled(tree: FieldTree) -> FieldTree:
    """The tree with every name in both spellings."""
    inner = {name: _spelled(one) for name, one in tree.items()}
    return {**inner, **{_snake(name): one for name, one in inner.items()}}


def _look(value: Any, where: str, known: FieldTree, found: list[Violation]) -> None:
    if isinstance(value, dict):
        for name, field in value.items():
            inner = known.get(name)
            if inner is None:
                found.append(_not_found(name, where))
            elif inner:
                _look(field, f"{where}.{name}", inner, found)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            _look(item, f"{where}[{at}]", known, found)


def proto_place(where: str) -> str:
    """A path in the names that protobuf has for fields: `contents[0].parts[1].function_call`."""
    return _snake(plain(where))


def _not_found(name: str, where: str) -> Violation:
    place = proto_place(where)
    at = f" at '{place}'" if place else ""
    error = f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.'
    return refuse("unknown_field", f"{where}.{name}", error, source=SOURCE)
