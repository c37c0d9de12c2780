"""The kinds of a request's parameters, read from the types of the providers' SDKs.

A path leads to the kinds of JSON value that may stand there: "text", "number", "integer",
"boolean", "object", "texts", "objects" and "array". What the SDK leaves open has no entry, nor have
the messages and what is inside lists: each format's own rules read those.
"""

import gzip
import json
import types as python_types
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

from typing_extensions import (
    TypeAliasType,
    get_type_hints,
    is_typeddict,
)

HISTORY = {"messages", "input", "contents", "systemInstruction"}
"""Fields that hold the conversation."""
DEPTH = 3
PLAIN = {str: "text", bytes: "text", int: "integer", float: "number", bool: "boolean"}
KINDS = (
    *("text", "name", "integer", "number", "numeral", "boolean", "object", "texts", "objects"),
    "array",
)
PROTOBUF = {
    "name": ("text", "integer"),
    "integer": ("integer", "numeral"),
    "number": ("number", "numeral"),
    "texts": ("text", "texts"),
    "objects": ("object", "objects"),
}
"""What protobuf's JSON takes besides: numbers in quotes, the number of a name, one for a list."""


def typed_dict(owner: Any) -> dict[str, Any]:
    """The types of the fields of a TypedDict, or of the arguments of a function."""
    return get_type_hints(owner)


def of_hints(hints: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The kinds of the fields with these types."""
    return _flat({name: _kinds(hint, 1) for name, hint in hints.items() if name not in HISTORY})


def _flat(tree: Mapping[str, Any], before: str = "") -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, (kinds, inner) in tree.items():
        if kinds:
            found[before + name] = tuple(sorted(kinds, key=KINDS.index))
        found |= _flat(inner, f"{before}{name}.")
    return found


def _kinds(hint: Any, depth: int) -> tuple[set[str], dict[str, Any]]:
    """The kinds of a type, and the fields inside of it; no kinds for one that may be anything."""
    hint = _bare(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, python_types.UnionType):
        return _of_union(inner, depth)
    if origin is Literal:
        return {_plain(type(one)) for one in inner}, {}
    if is_typeddict(hint) or _is_model(hint):
        return {"object"}, _fields(hint, depth) if depth < DEPTH else {}
    if isinstance(origin, type):
        is_object = issubclass(origin, Mapping)
        return {"object" if is_object else _listed(_kinds(inner[0], DEPTH)[0])}, {}
    return {name for kind, name in PLAIN.items() if hint is kind} or _name(hint), {}


def _bare(hint: Any) -> Any:
    if isinstance(hint, TypeAliasType):
        return _bare(hint.__value__)
    is_wrapped = get_origin(hint) in (Annotated, Required, NotRequired)
    return _bare(get_args(hint)[0]) if is_wrapped else hint


def _of_union(inner: Sequence[Any], depth: int) -> tuple[set[str], dict[str, Any]]:
    known = [one for one in inner if one is not type(None)]
    if any(get_origin(one) is Literal for one in known):
        # Cohere's SDK has enumerations to which anything may be added.
        known = [one for one in known if one is not Any]
    return _united([_kinds(one, depth) for one in known])


def _name(hint: Any) -> set[str]:
    return {"name"} if isinstance(hint, type) and issubclass(hint, Enum) else set()


def _fields(hint: Any, depth: int) -> dict[str, Any]:
    """The fields of an object with the kinds of each."""
    if _is_model(hint):
        return _of_model(hint, depth)
    return {name: _kinds(one, depth + 1) for name, one in get_type_hints(hint).items()}


def _plain(kind: type) -> str:
    return PLAIN[kind]


def _listed(kinds: set[str]) -> str:
    return {"text": "texts", "name": "texts", "object": "objects"}.get("".join(kinds), "array")


def _united(found: list[tuple[set[str], dict[str, Any]]]) -> tuple[set[str], dict[str, Any]]:
    """What any of the types says; of fields in objects alike."""
    if any(not kinds for kinds, _ in found):
        return set(), {}
    inner: dict[str, Any] = {}
    for _, fields in found:
        for name, one in fields.items():
            inner[name] = _united([inner[name], one]) if name in inner else one
    kinds = set().union(*(kinds for kinds, _ in found))
    if "number" in kinds:
        kinds -= {"integer"}
    return kinds, inner


def _is_model(hint: Any) -> bool:
    return isinstance(hint, type) and hasattr(hint, "model_fields")


def _of_model(hint: Any, depth: int) -> dict[str, Any]:
    return {
        one.alias or name: _kinds(one.annotation, depth + 1)
        for name, one in hint.model_fields.items()
    }


def of_model(model: Any) -> dict[str, tuple[str, ...]]:
    """The kinds of the fields of a pydantic model."""
    fields = {name: one for name, one in _of_model(model, 0).items() if name not in HISTORY}
    return _flat(fields)


def of_shape(name: str) -> dict[str, tuple[str, ...]]:
    """The kinds of the members of a shape of the bedrock-runtime service."""
    import botocore  # noqa: PLC0415

    folder = Path(botocore.__file__).parent / "data" / "bedrock-runtime" / "2023-09-30"
    with gzip.open(folder / "service-2.json.gz") as file:
        shapes = json.load(file)["shapes"]
    plain = {"string": "text", "blob": "text", "integer": "integer", "long": "integer"}
    plain |= {"float": "number", "double": "number", "boolean": "boolean", "map": "object"}

    def kinds(name: str, depth: int) -> tuple[set[str], dict[str, Any]]:
        shape = shapes[name]
        if shape.get("document"):
            return set(), {}
        if shape["type"] == "structure":
            return {"object"}, members(shape, depth) if depth < DEPTH else {}
        if shape["type"] == "list":
            return {_listed(kinds(shape["member"]["shape"], DEPTH)[0])}, {}
        return {plain[shape["type"]]}, {}

    def members(shape: Any, depth: int) -> dict[str, Any]:
        return {
            one: kinds(member["shape"], depth + 1)
            for one, member in shape["members"].items()
            if one not in HISTORY
        }

    return _flat(members(shapes[name], 0))


def in_protobuf(kinds: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The same for a service that reads its JSON by protobuf."""
    wider = {
        path: {more for one in known for more in PROTOBUF.get(one, (one,))}
        for path, known in kinds.items()
    }
    return {path: tuple(sorted(known, key=KINDS.index)) for path, known in wider.items()}
