"""Schemas of older drafts, read as 2020-12, one schema at a time.

Draft-04 says with a flag that a limit is exclusive; up to draft 2019-09 a list of items is called
`items` and what follows it `additionalItems`; up to draft-07 there is one `dependencies` for two
things. Meaning is never changed here.
"""

from typing import Any

from canonicall.schema.equivalents import without
from canonicall.schema.keywords import COUNTS, NUMBER_LIMITS

_EXCLUSIVE = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_NUMBERS = COUNTS | NUMBER_LIMITS
_OLD = frozenset({"exclusiveMinimum", "exclusiveMaximum", "dependencies", "additionalItems"})


def modern(node: dict[str, Any], draft: str) -> dict[str, Any]:
    """`node` without what `draft` has no longer; the same object where there is nothing of it."""
    if not _OLD.isdisjoint(node) or ("items" in node and isinstance(node["items"], list)):
        node = _with_numeric_limits(node)
        if draft == "2020-12":
            node = _with_prefix_items(_with_dependents(node))
    if not _NUMBERS.isdisjoint(node) and any(
        isinstance(node[name], str) for name in _NUMBERS & node.keys()
    ):
        # bifrost#5433: integer limits that were serialised as strings.
        node = {name: _number(name, value) for name, value in node.items()}
    return node


def _with_numeric_limits(node: dict[str, Any]) -> dict[str, Any]:
    for limit, exclusive in _EXCLUSIVE:
        flag = node.get(exclusive)
        if not isinstance(flag, bool):
            continue
        node = without(node, exclusive)
        if flag and limit in node:
            node = {exclusive if name == limit else name: value for name, value in node.items()}
    return node


def _with_prefix_items(node: dict[str, Any]) -> dict[str, Any]:
    first, rest = node.get("items"), node.get("additionalItems")
    if not isinstance(first, list):
        # Beside a schema for all items, or none, it says nothing.
        return without(node, "additionalItems") if "additionalItems" in node else node
    plain: dict[str, Any] = {}
    for name, value in node.items():
        if name == "items" and first:
            plain["prefixItems"] = first
        elif name not in ("additionalItems", "items"):
            plain[name] = value
    if rest is not None:
        plain["items"] = rest
    return plain


def _with_dependents(node: dict[str, Any]) -> dict[str, Any]:
    both = node.get("dependencies")
    if not isinstance(both, dict) or {"dependentRequired", "dependentSchemas"} & node.keys():
        return node
    names = {key: value for key, value in both.items() if isinstance(value, list)}
    schemas = {key: value for key, value in both.items() if not isinstance(value, list)}
    plain = without(node, "dependencies")
    if names:
        plain["dependentRequired"] = names
    if schemas:
        plain["dependentSchemas"] = schemas
    return plain


def _number(name: str, value: Any) -> Any:
    """The number in a text, where there is one."""
    if name not in _NUMBERS or not isinstance(value, str):
        return value
    try:
        return int(value)
    except ValueError:
        pass
    try:
        number = float(value)
    except ValueError:
        return value
    return number if number - number == 0 else value
