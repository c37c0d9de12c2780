"""References and what they stand for, as a target takes them.

Kept references lead to `$defs` at the root, whichever place their schemas came from; each of them
is fitted once. Where references are not taken, the schema stands in their place: recursive ones are
unrolled a little and then cut, and what all of this may add to a schema is bounded.
"""

import re
from collections.abc import Callable
from operator import is_
from typing import Any, TypeAlias

from msgspec import Struct

from canonicall.schema.cutting import bare, cut
from canonicall.schema.equivalents import Schema, without
from canonicall.schema.keywords import DEFINITIONS, LIMITS, REFERENCES
from canonicall.schema.limits import Limits
from canonicall.schema.losses import At, escaped, unescaped
from canonicall.schema.merging import both
from canonicall.schema.references import Referenced, reference_of
from canonicall.schema.wording import Wording

UNROLLED = 2
"""How often a recursive schema stands inside itself before it is cut."""
BUDGET = 5_000
"""How many schemas may be put in the place of references."""

Fit: TypeAlias = Callable[[Any, At, int], Any]
"""The walk through schemas. It is handed on, not held: the two would hold each other, and memory
would have to wait for the garbage collector."""


class _Inlined(Struct, frozen=True):
    schema: Any
    size: int


class Definitions:
    """The definitions of one schema, on their way to a target."""

    def __init__(self, root: Schema, limits: Limits, words: Wording) -> None:
        self.collects = False
        """Whether references are rewritten to lead to `$defs`."""
        self.root_changed = False
        """Whether the root is another than the one that references to it mean."""
        self.embedded = 0
        """How many schemas with an address of their own are around the place."""
        self.cuts = 0
        self._root = root
        self._limits = limits
        self._words = words
        self._names: dict[str, str] = {}
        kept = root.get("$defs")
        self._taken: set[str] = set(kept) if isinstance(kept, dict) else set()
        self._repeats: dict[str, int] = {}
        self._fitted: dict[str, Any] = {}
        self._waiting: list[Referenced] = []
        self._open: list[str] = [""]
        self._stack: list[str] = []
        self._inlined: dict[tuple[str, int], _Inlined] = {}
        self._made = 0

    def taken_out(self, root: Schema) -> Schema:
        """`root` without its definitions, which are fitted apart."""
        if self._limits.refs in ("all", "acyclic"):
            for keyword in ("$defs", "definitions"):
                held = self._root.get(keyword)
                for name, schema in held.items() if isinstance(held, dict) else ():
                    pointer = f"/{keyword}/{escaped(str(name))}"
                    self._named(pointer)
                    self._waiting.append(Referenced(pointer, schema))
        stays = "$defs" if self._limits.refs in ("all", "acyclic") else ""
        for name in [name for name in DEFINITIONS if name in root and name != stays]:
            what = f"What `{name}` holds stands where it is referred to, or in `$defs`."
            self._words.lose("reworded", None, what)
        return without(root, *DEFINITIONS)

    def put_back(self, root: Schema, fit: Fit) -> Schema:
        """`root` with the definitions that it needs, in the place where they stood."""
        self._open.clear()
        for found in self._waiting:  # It grows while its definitions are fitted.
            self._define(found, 1, fit)
        kept = {
            name: self._fitted[pointer]
            for pointer, name in self._names.items()
            if pointer in self._fitted
        }
        before = self._root.get("$defs")
        if isinstance(before, dict) and _is_same(kept, before):
            kept = before
        whole = {name: root.get(name) for name in self._root if name in root or name == "$defs"}
        whole |= root
        if kept:
            whole["$defs"] = kept
        else:
            whole.pop("$defs", None)
        return self._root if _is_same(whole, self._root) else whole

    def resolved(self, node: Schema, at: At, depth: int, fit: Fit) -> tuple[Any, bool]:
        """`node` with its reference as the target takes it; True where nothing is left to do."""
        reference = reference_of(node)
        found = self._words.refs.find(reference)
        if not self.collects and found is not None and isinstance(found.schema, dict):
            return node, False
        rest = without(node, *REFERENCES)
        if self.embedded and str(reference).startswith("#"):
            found = None
        if found is None or not isinstance(found.schema, dict):
            self._words.lose("weakened", at, f"The reference {_short(reference)} leads nowhere.")
            return rest, False
        refs = self._limits.refs
        if refs == "none" or (refs == "inline" and not self._words.refs.is_recursive(found)):
            return self._in_place(found, rest, at, depth, fit), True
        if refs == "acyclic" and found.pointer in self._open:
            self._words.lose("weakened", at, "Recursion is not taken; it ends here.")
            return {**bare(found.schema), **rest}, False
        named = self._words.refs.own_place(reference, found)
        return self._leading(node, self._reference_to(named, reference, depth, fit), at), False

    def alone(self, node: Schema, at: At) -> Schema:
        """`node` with nothing beside its reference, where the target wants that."""
        strict = self._limits.strict
        if strict is None or not strict.ref_alone or len(node) == 1:
            return node
        if "anyOf" in node:
            self._words.lose("weakened", at, "A reference beside `anyOf` was left out.")
            return without(node, "$ref")
        self._words.lose("reworded", at, "A reference stands alone, as the only option.")
        return {
            "anyOf" if name == "$ref" else name: [{"$ref": value}] if name == "$ref" else value
            for name, value in node.items()
        }

    def _leading(self, node: Schema, reference: str, at: At) -> Schema:
        if node.get("$ref") == reference and len(set(REFERENCES) & node.keys()) == 1:
            return node
        self._words.lose("reworded", at, "The reference leads to `$defs` now.")
        return {"$ref": reference} | without(node, *REFERENCES)

    def _reference_to(self, found: Referenced, reference: Any, depth: int, fit: Fit) -> str:
        if not found.pointer and not self.root_changed:
            return "#"
        is_known = found.pointer in self._names
        name = self._named(found.pointer)
        if self._limits.refs == "acyclic":
            self._define(found, depth + 1, fit)
        elif not is_known:
            self._waiting.append(found)
        kept_place = found.pointer == f"/$defs/{escaped(name)}"
        if kept_place and isinstance(reference, str) and reference.startswith("#/$defs/"):
            return reference
        return f"#/$defs/{escaped(name)}"

    def _define(self, found: Referenced, depth: int, fit: Fit) -> None:
        if found.pointer in self._fitted or found.pointer in self._open:
            return
        at: At = None if found.pointer else (None, "$defs")
        for step in found.pointer.split("/")[1:]:
            at = (at, unescaped(step))
        self._open.append(found.pointer)
        self._fitted[found.pointer] = fit(found.schema, at, depth)
        self._open.pop()

    def _named(self, pointer: str) -> str:
        """The name of a definition in `$defs`."""
        known = self._names.get(pointer)
        if known is not None:
            return known
        place, _, last = pointer.rpartition("/")
        own = unescaped(last)
        wanted = own if place == "/$defs" else re.sub(r"[^A-Za-z0-9._-]+", "_", own) or "schema"
        name = wanted
        while place != "/$defs" and name in self._taken:
            self._repeats[wanted] = self._repeats.get(wanted, 1) + 1
            name = f"{wanted}_{self._repeats[wanted]}"
        self._taken.add(name)
        self._names[pointer] = name
        return name

    def _in_place(self, found: Referenced, rest: Schema, at: At, depth: int, fit: Fit) -> Any:
        """The schema of a reference, fitted, where the reference stood."""
        key = (found.pointer, depth)
        known = self._inlined.get(key) if not rest else None
        size = known.size if known is not None else 1
        if self._stack.count(found.pointer) >= UNROLLED or self._made + size > BUDGET:
            self.cuts += 1
            why = "Recursion" if found.pointer in self._stack else "So large a schema"
            self._words.lose("weakened", at, f"{why} is not taken; only its type is left.")
            return cut(found.schema, without(rest, *LIMITS), at, self._words)
        self._words.lose("reworded", at, "What a reference stands for was put in its place.")
        if known is not None:
            self._made += known.size
            return known.schema
        cuts, made = self.cuts, self._made
        self._made += 1
        self._stack.append(found.pointer)
        fitted = fit(self._joined(found.schema, rest, at), at, depth + 1)
        self._stack.pop()
        if not rest and self.cuts == cuts:
            self._inlined[key] = _Inlined(fitted, self._made - made)
        return fitted

    def _joined(self, schema: Schema, rest: Schema, at: At) -> Schema:
        """What a reference stands for, and what is said beside it."""
        own = without(schema, *DEFINITIONS) if _has_definitions(schema) else schema
        if not rest:
            return own
        joined = both(rest, own) if reference_of(own) is None else None
        if joined is not None:
            return joined
        if not LIMITS.isdisjoint(rest):
            self._words.lose("weakened", at, "What stands beside a reference was left out.")
        return own | without(rest, *LIMITS)


def _has_definitions(schema: Schema) -> bool:
    return any(name in schema for name in DEFINITIONS)


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether both hold the same objects in the same order."""
    return list(one) == list(other) and all(map(is_, one.values(), other.values()))


def _short(reference: Any) -> str:
    text = repr(reference)
    return text if len(text) <= 80 else f"{text[:77]}..."
