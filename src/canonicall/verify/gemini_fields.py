"""Fields that protobuf does not find in the messages of generateContent, in either spelling.

Where the target's places are closed, they are refused; what stands deeper is read elsewhere.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from canonicall.target import FieldTree, Target, field_tree
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
_SIGNATURE = "thoughtsignature"
# A result remembers its response under this name; no part has it on the wire.
_REMEMBERED = "response"


def unknown_in_request(root: Node, target: Target) -> Iterator[Violation]:
    if "request" in target.fields.closed:
        yield from _unknown(root.fields, root.where, _flat_tree(target.fields.request))


def unknown_in_content(content: Node, target: Target) -> Iterator[Violation]:
    if "message" in target.fields.closed:
        yield from _unknown(content.fields, content.where, _flat_tree(CONTENT))


def unknown_in_part(part: Node, target: Target) -> Iterator[Violation]:
    """Of a part and all that stands in it; a call is a place of its own."""
    if "part" in target.fields.closed:
        yield from _unknown(part.fields, part.where, _part_tree(target.fields.part))


def unknown_in_call(call: Node, target: Target) -> Iterator[Violation]:
    """A signature stands beside the call, not in it; that it is not found there, all know."""
    if "call" in target.fields.closed:
        known = _flat_tree(target.fields.call)["functioncall"]
        yield from _unknown(call.fields, call.where, known)
        return
    for name in call.fields:
        if flat(name) == _SIGNATURE:
            yield _not_found(name, call.where)


def unknown_in_functions(declared: list[Node], target: Target) -> Iterator[Violation]:
    """Of tools, only functions are looked at: others may be newer than what is known here."""
    if "tool" in target.fields.closed:
        for declaration in declared:
            yield from _unknown(declaration.fields, declaration.where, _flat_tree(DECLARATION))


def flat(name: str) -> str:
    """A name as it is in camelCase and in snake_case alike."""
    return name.replace("_", "").lower()


@lru_cache(maxsize=64)
def _flat_tree(names: tuple[str, ...]) -> FieldTree:
    return field_tree(tuple(".".join(map(flat, name.split("."))) for name in names))


@lru_cache(maxsize=16)
def _part_tree(names: tuple[str, ...]) -> FieldTree:
    rest = {name: inner for name, inner in _flat_tree(names).items() if name != _REMEMBERED}
    return {**rest, "functioncall": {}}


def _unknown(fields: dict[str, Any], where: str, known: FieldTree) -> Iterator[Violation]:
    for name, value in fields.items():
        inner = known.get(flat(name))
        if inner is None:
            yield _not_found(name, where)
        elif inner:
            yield from _unknown_inside(value, f"{where}.{name}", inner)


def _unknown_inside(value: Any, where: str, known: FieldTree) -> Iterator[Violation]:
    if isinstance(value, dict):
        yield from _unknown(value, where, known)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _unknown_inside(item, f"{where}[{at}]", known)


def proto_place(where: str) -> str:
    """A path in the names that protobuf has for fields: `contents[0].parts[1].function_call`."""
    return re.sub("([A-Z])", r"_\1", plain(where)).lower()


def _not_found(name: str, where: str) -> Violation:
    place = proto_place(where)
    at = f" at '{place}'" if place else ""
    error = f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.'
    return refuse("unknown_field", f"{where}.{name}", error, source=SOURCE)
