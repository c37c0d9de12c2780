"""The arguments of a call, read from their text.

JSON first. Then, in this order: several JSON objects in one text, XML, and the closed list of
repairs in `syntax/repair.py`. Text that ends inside its object was cut off, and nothing is made of
it: a path or an amount that lost its end would still look whole.
"""

import json
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from canonicall.arguments import parse_arguments
from canonicall.findings import Action, Fault, Finding
from canonicall.growing import GrowingJson
from canonicall.guard.elements import element_arguments
from canonicall.syntax.repair import repaired_object

_MOST_OBJECTS = 100
_LONGEST_MENDED = 262_144
"""Longer text is read as JSON or not at all: anything else is slow."""
_NOT_READ = "they are not a JSON object and could not be read"
_WHERE = "raw"


class Arguments(Struct, frozen=True):
    """What could be read. Without `args`, `why` says what the text is instead."""

    args: dict[str, Any] | None
    findings: tuple[Finding, ...] = ()
    is_cut: bool = False
    why: str = ""


def read_arguments(raw: str | None, schema: dict[str, Any]) -> Arguments:
    """The arguments in `raw`. `schema` gives the text between XML tags its types."""
    args = parse_arguments(raw)
    if args is not None:
        return Arguments(args, _unwrapped(raw or ""))
    text = (raw or "").strip()
    inner = _text_in(text)
    if inner is not None:
        found = read_arguments(inner, schema)
        return found if found.args is None else replace(found, findings=_unwrapped(text))
    if text[0] in "{[":
        return _from_braces(text)
    if text[0] == "<":
        return _from_elements(text, schema)
    return Arguments(None, why=_told(text))


def _unwrapped(raw: str) -> tuple[Finding, ...]:
    if not raw.lstrip().startswith('"'):
        return ()
    why = "The arguments came as a JSON text that holds their JSON; it was read as meant."
    return (Finding("arguments_unwrapped", _WHERE, Action.CHANGED, why, Fault.INPUT),)


def _text_in(text: str) -> str | None:
    """The text inside a JSON text that is shorter than it."""
    if text[0] != '"':
        return None
    try:
        inner = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return inner if isinstance(inner, str) and inner[:1] in ("{", "<", '"') else None


def _from_braces(text: str) -> Arguments:
    """Text that begins like JSON and is no JSON object."""
    if len(text) > _LONGEST_MENDED:
        return Arguments(None, is_cut=text[-1] not in "}]", why=_NOT_READ)
    growing = GrowingJson()
    growing.feed(text)
    if not growing.is_broken:
        # It is JSON so far: what is whole is no object, or one that is nested too deeply.
        return Arguments(None, is_cut=not growing.is_whole, why=_told(text))
    objects = _objects(text)
    if objects is not None:
        return _one_of(objects)
    mended = repaired_object(text, closed=True)
    if mended is None:
        return Arguments(None, why=_told(text))
    why = "The arguments were no JSON; they were mended."
    return Arguments(
        mended, (Finding("arguments_repaired", _WHERE, Action.CHANGED, why, Fault.INPUT),)
    )


def _objects(text: str) -> list[dict[str, Any]] | None:
    """The objects that a text consists of, None if it is anything else."""
    found: list[dict[str, Any]] = []
    decoder = json.JSONDecoder()
    at = 0
    try:
        while at < len(text) and len(found) < _MOST_OBJECTS:
            value, at = decoder.raw_decode(text, at)
            if not isinstance(value, dict):
                return None
            found.append(value)
            at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,;"))
    except (ValueError, RecursionError):
        return None
    return found if at >= len(text) and found else None


def _one_of(objects: list[dict[str, Any]]) -> Arguments:
    """The object that is meant: where all that say something say the same, there is no doubt."""
    said = [one for one in objects if one]
    if len({json.dumps(one, sort_keys=True) for one in said}) > 1:
        why = f"they are {len(objects)} JSON objects in one text. Make a call of its own for each"
        return Arguments(None, why=why)
    args = parse_arguments(json.dumps(said[0] if said else {}))
    if args is None:
        return Arguments(None, why=_NOT_READ)
    why = f"The arguments held {len(objects)} JSON objects, all empty or equal; one was taken."
    return Arguments(
        args, (Finding("repeated_arguments", _WHERE, Action.CHANGED, why, Fault.INPUT),)
    )


def _from_elements(text: str, schema: dict[str, Any]) -> Arguments:
    args = element_arguments(text, schema) if len(text) <= _LONGEST_MENDED else None
    if args is None:
        return Arguments(None, why="they are neither a JSON object nor whole XML elements")
    why = "The arguments came as XML; each element was read as an argument."
    return Arguments(
        args, (Finding("arguments_from_xml", _WHERE, Action.CHANGED, why, Fault.INPUT),)
    )


def _told(text: str) -> str:
    """What stands where an object belongs."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_READ
    kinds = {list: "a list", str: "a text", bool: "true or false", int: "a number"}
    return f"they are {kinds.get(type(value), 'a number')} and not a JSON object"
