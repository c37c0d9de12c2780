"""Where a reference leads. Only inside the schema: nothing is ever fetched.

Known are JSON Pointers, anchors, `$id`s of embedded schemas, and definitions that are looked for in
the wrong place (`#/components/schemas/Pet` of an OpenAPI document whose schemas came as `$defs`).
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from canonicall.schema.keywords import DEFINITIONS, HOLDERS, MAPS, REFERENCES
from canonicall.schema.losses import At, escaped, pointer_to, unescaped

_PATIENCE = 20_000
"""How many references are followed to find recursion, in one schema."""
_ANCHORS = ("$anchor", "$dynamicAnchor")
_ESCAPED = re.compile("(?:%[0-9A-Fa-f]{2})+")


class Referenced(Struct, frozen=True):
    """The schema a reference leads to, and the JSON Pointer of its place."""

    pointer: str
    schema: Any


class References:
    """The references of one schema."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._named: dict[str, Referenced] | None = None
        self._found: dict[str, Referenced | None] = {}
        self._recursive: dict[str, bool] = {}
        self._looked_at = 0

    def find(self, reference: Any) -> Referenced | None:
        """What `reference` stands for, past references that only lead on; None where nothing is."""
        if not isinstance(reference, str):
            return None
        if reference not in self._found:
            self._found[reference] = self._followed(reference)
        return self._found[reference]

    def own_place(self, reference: Any, found: Referenced) -> Referenced:
        """What `reference` itself names among the definitions that stay, else `found`.

        A definition that only leads on stays where it is: it may have said more before.
        """
        if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
            return found
        return self._at(reference) or found

    def is_recursive(self, found: Referenced) -> bool:
        """Whether the schema leads to itself again, or has too many references to find out."""
        known = self._recursive.get(found.pointer)
        if known is None:
            known = self._recursive[found.pointer] = self._reaches(found)
        return known

    def _reaches(self, start: Referenced) -> bool:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            inner = references_in(waiting.pop().schema)
            self._looked_at += 1 + len(inner)
            if self._looked_at > _PATIENCE:
                return True
            for reference in inner:
                found = self.find(reference)
                if found is None:
                    continue
                # A reference to something around the start leads to it as well.
                if found.pointer == start.pointer or start.pointer.startswith(f"{found.pointer}/"):
                    return True
                if found.pointer not in seen:
                    seen.add(found.pointer)
                    waiting.append(found)
        return False

    def _followed(self, reference: str) -> Referenced | None:
        seen: set[str] = set()
        found = self._at(reference)
        while found is not None and found.pointer not in seen:
            seen.add(found.pointer)
            onward = reference_of(found.schema)
            if onward is None or len(found.schema) > 1:
                return found
            found = self._at(onward) if isinstance(onward, str) else None
        return None

    def _at(self, reference: str) -> Referenced | None:
        if reference in ("#", ""):
            return Referenced("", self._root)
        if not reference.startswith("#/"):
            return self._names().get(reference)
        steps = [_name_of(step) for step in reference[2:].split("/")]
        return self._walked(steps) or self._elsewhere(steps[-1])

    def _walked(self, steps: list[str]) -> Referenced | None:
        here: Any = self._root
        for step in steps:
            if isinstance(here, dict) and step in here:
                here = here[step]
            elif isinstance(here, list) and step.isdecimal() and int(step) < len(here):
                here = here[int(step)]
            else:
                return None
        if not isinstance(here, (dict, bool)):
            return None
        return Referenced("".join(f"/{escaped(step)}" for step in steps), here)

    def _elsewhere(self, name: str) -> Referenced | None:
        for steps in (["$defs"], ["definitions"], ["components", "schemas"]):
            found = self._walked([*steps, name])
            if found is not None:
                return found
        return None

    def _names(self) -> dict[str, Referenced]:
        """Schemas that have a name of their own: `#anchor`, or the `$id` they are known by."""
        if self._named is None:
            self._named = {}
            for at, node in _each_node(self._root):
                own = node.get("$id", node.get("id"))
                names = [f"#{node[name]}" for name in _ANCHORS if isinstance(node.get(name), str)]
                if isinstance(own, str) and own:
                    names += [own, f"{own.rstrip('#')}#"]
                if not names:
                    continue
                named = Referenced(pointer_to(at), node)
                self._named = dict.fromkeys(names, named) | self._named
        return self._named


def reference_of(node: Any) -> Any:
    """What a schema refers to, by whichever keyword; None where it does not."""
    if isinstance(node, dict):
        for keyword in REFERENCES:
            if keyword in node:
                return node[keyword]
    return None


def references_in(schema: Any) -> list[str]:
    """Every reference in a schema, its definitions apart."""
    found = []
    for _, node in _each_node(schema, definitions=False):
        reference = reference_of(node)
        if isinstance(reference, str):
            found.append(reference)
    return found


def _each_node(schema: Any, *, definitions: bool = True) -> Iterator[tuple[At, dict[str, Any]]]:
    """Each schema in `schema` with its place. A loop, for schemas can be deeper than the stack."""
    waiting: list[tuple[At, Any]] = [(None, schema)]
    while waiting:
        at, node = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield at, node
        for keyword, value in node.items():
            if not definitions and keyword in DEFINITIONS:
                continue
            here: At = (at, keyword)
            if keyword == "components" and isinstance(value, dict):
                waiting += _values(value.get("schemas"), (here, "schemas"))
            elif keyword in MAPS or keyword == "dependencies":
                waiting += _values(value, here)
            elif keyword in HOLDERS and isinstance(value, list):
                waiting += [((here, n), one) for n, one in enumerate(value)]
            elif keyword in HOLDERS:
                waiting.append((here, value))


def _values(value: Any, at: At) -> list[tuple[At, Any]]:
    return [((at, n), one) for n, one in value.items()] if isinstance(value, dict) else []


def _name_of(step: str) -> str:
    plain = _ESCAPED.sub(lambda one: _decoded(one[0]), step) if "%" in step else step
    return unescaped(plain)


def _decoded(escaped: str) -> str:
    return bytes.fromhex(escaped.replace("%", "")).decode(errors="replace")
