"""Arguments as XML elements, the fallback for what is no JSON.

`<city>Basel</city>` is an argument, `<parameter name="city">Basel</parameter>` as well, and so are
the attributes of a lone tag: `<arguments city="Basel"/>`. One element around all of them means
nothing. Elements inside elements are members, or the items of a list. Each text gets the type that
the schema gives it there; where that is a string, it stays as it stands, elements and all.
"""

import re
from typing import Any, NamedTuple

import msgspec

from canonicall.syntax.typed_values import json_of, json_text, member_schema, types_of

_TAG = re.compile(
    r"\s*<(?P<name>[A-Za-z_][\w.:-]*)"
    r"(?P<attributes>(?:\s+[\w.:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*)\s*(?P<empty>/?)>"
)
_ANY_TAG = re.compile(r"<(?P<closes>/?)(?P<name>[A-Za-z_][\w.:-]*)(?:\s[^<>]*)?/?>")
_ATTRIBUTE = re.compile(r"([\w.:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_WRAPPERS = frozenset({"arguments", "args", "parameters", "params", "input", "tool", "tool_call"})
_NAMED = frozenset({"parameter", "param", "arg", "argument"})
_ITEM = "item"
_DEEPEST = 32
"""Elements inside of more elements than this stay text."""


class _Element(NamedTuple):
    name: str
    attributes: dict[str, str]
    inner: str


def element_arguments(text: str, schema: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments, None if the text does not consist of whole elements."""
    found = _elements(text)
    while found and len(found) == 1 and _is_wrapper(found[0], schema):
        outer = found[0]
        if outer.attributes and not outer.inner.strip():
            found = [_Element(key, {}, value) for key, value in outer.attributes.items()]
            break
        found = _elements(outer.inner)
    if not found:
        return None
    written = _object([_member(one) for one in found], schema, schema, 0)
    try:
        args = msgspec.json.decode(written)
    except msgspec.DecodeError:
        return None
    return args if isinstance(args, dict) else None


def _is_wrapper(element: _Element, schema: dict[str, Any]) -> bool:
    """Whether an element is only there to hold the others: it is no argument of the tool."""
    if member_schema(schema, element.name, schema) is not None:
        return False
    return element.name.lower() in _WRAPPERS or (bool(element.attributes) and not element.inner)


def _member(element: _Element) -> tuple[str, str]:
    """The name of an argument, and its text."""
    if element.name.lower() in _NAMED and "name" in element.attributes:
        return element.attributes["name"], element.inner
    return element.name, element.inner


def _elements(text: str) -> list[_Element] | None:
    """The elements of a text, None if there is anything else in it."""
    found: list[_Element] = []
    at = 0
    while begin := _TAG.match(text, at):
        attributes = {
            name: double or single for name, double, single in _ATTRIBUTE.findall(begin[0])
        }
        if begin["empty"]:
            found.append(_Element(begin["name"], attributes, ""))
            at = begin.end()
            continue
        end = _end(text, begin.end(), begin["name"])
        if end is None:
            return None
        found.append(_Element(begin["name"], attributes, text[begin.end() : end.start()]))
        at = end.end()
    return found if not text[at:].strip() else None


def _end(text: str, at: int, name: str) -> re.Match[str] | None:
    """The closing tag of an element, with elements of the same name inside it."""
    depth = 1
    for found in _ANY_TAG.finditer(text, at):
        if found["name"] != name or found[0].endswith("/>"):
            continue
        depth += -1 if found["closes"] else 1
        if not depth:
            return found
    return None


def _object(members: list[tuple[str, str]], schema: Any, root: dict[str, Any], depth: int) -> str:
    """The JSON of an object. A name that stands several times is a list, item by item."""
    said: dict[str, list[str]] = {}
    for name, text in members:
        said.setdefault(name, []).append(text)
    written = []
    for name, texts in said.items():
        inner = member_schema(schema, name, root)
        if len(texts) == 1:
            value = _value(texts[0], inner, root, depth + 1)
        else:
            item = member_schema(inner, None, root)
            value = f"[{', '.join(_value(text, item, root, depth + 1) for text in texts)}]"
        written.append(f"{json_text(name)}: {value}")
    return "{" + ", ".join(written) + "}"


def _value(text: str, schema: Any, root: dict[str, Any], depth: int) -> str:
    """The JSON of one value."""
    types = types_of(schema, root)
    children = _elements(text) if depth < _DEEPEST else None
    may_have_elements = not types or "object" in types or "array" in types
    if not children or not may_have_elements:
        return json_of(text, types)[0]
    is_items = all(one.name == _ITEM for one in children)
    if is_items or ("array" in types and "object" not in types):
        inner = member_schema(schema, None, root)
        return f"[{', '.join(_value(one.inner, inner, root, depth + 1) for one in children)}]"
    return _object([_member(one) for one in children], schema, root, depth)
