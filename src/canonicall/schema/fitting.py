"""A schema as a target takes it: the walk through it, its root, and its strict form.

A schema that fits comes back as it is, the same object; so what a provider accepts is not touched.
Everything else is a copy of what had to change. Losses name each change and its place. Recursion is
bounded, and so is the size of what is put in the place of references.
"""

from typing import Any

from canonicall.schema.cutting import bare, cut
from canonicall.schema.definitions import Definitions
from canonicall.schema.equivalents import Schema, without
from canonicall.schema.glance import fits as seen_to_fit
from canonicall.schema.keywords import HOLDERS, LISTS, MAPS, ONE, REFERENCES
from canonicall.schema.limits import DEEPEST, Limits, limits_of
from canonicall.schema.losses import At, Fitted
from canonicall.schema.references import References
from canonicall.schema.root import Root, is_root
from canonicall.schema.strict import closed
from canonicall.schema.wording import Wording
from canonicall.target import SchemaRule

_REFERENCES = frozenset(REFERENCES)
# One step down in the value, not only in the schema.
_DOWN = frozenset({"properties", "items", "prefixItems", "additionalProperties"})
_PLACES_FOR_FLAGS = frozenset({"additionalProperties", "items", "unevaluatedProperties"})
_UNDONE = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_GLANCES = 4
"""How far inside whole parts of a schema are glanced at."""


def fit_schema(schema: dict[str, Any], rule: SchemaRule, *, strict: bool = False) -> Fitted:
    """`schema` as `rule` takes it; with `strict`, as it takes it for a strict tool."""
    limits = limits_of(rule, strict=strict)
    if is_root(schema, rule) and seen_to_fit(
        schema, limits.deepest, rule, limits.looks, schema.get("$defs")
    ):
        return Fitted(schema)
    return _Fitting(schema, limits).fitted()


class _Fitting:
    """One walk through one schema."""

    def __init__(self, schema: Schema, limits: Limits) -> None:
        self._schema = schema
        self._limits = limits
        self._refs = References(schema)
        self._words = Wording(limits, self._refs)
        self._definitions = Definitions(schema, limits, self._words, self._fit)
        self._level = 0
        self._kept = schema.get("$defs")

    def fitted(self) -> Fitted:
        node = self._schema
        root = Root(self._limits, self._words).object(node)
        self._definitions.root_changed = root is not node
        self._definitions.collects = root is not node or (
            self._limits.keywords is not None or self._limits.refs != "all"
        )
        if self._definitions.collects:
            root = self._definitions.taken_out(root)
        fitted = self._fit(root, None, 1)
        schema = fitted if isinstance(fitted, dict) else {}
        if self._definitions.collects:
            schema = self._definitions.put_back(schema)
        if schema is self._schema:
            return Fitted(schema)
        return Fitted(schema, tuple(self._words.losses))

    def _fit(self, node: Any, at: At, depth: int) -> Any:
        if not isinstance(node, dict):
            return self._odd(node, at)
        if depth > DEEPEST or self._level >= self._limits.deepest:
            return self._cut(node, at)
        if at is not None and self._seen_to_fit(node, depth):
            return node
        if not _REFERENCES.isdisjoint(node):
            node, is_done = self._definitions.resolved(node, at, depth)
            if is_done:
                return node
        node = self._words.taken(node, at)
        if "$ref" in node:
            node = self._definitions.alone(node, at)
        if "$id" in node and at is not None:
            # References inside count from here, which is another schema: they are not followed.
            self._definitions.embedded += 1
            node = self._with_inner(node, at, depth)
            self._definitions.embedded -= 1
        elif not HOLDERS.isdisjoint(node):
            node = self._with_inner(node, at, depth)
        return node if self._limits.strict is None else closed(node, at, self._words)

    def _seen_to_fit(self, node: Schema, depth: int) -> bool:
        """A glance at a part; far inside only at parts without parts, so that time stays linear."""
        if self._definitions.embedded or (depth > _GLANCES and not HOLDERS.isdisjoint(node)):
            return False
        room = min(self._limits.deepest - self._level, DEEPEST + 1 - depth)
        return seen_to_fit(node, room, self._limits.rule, self._limits.looks, self._kept)

    def _odd(self, node: Any, at: At) -> Any:
        """A schema that is no object: yes and no of newer drafts, or nonsense."""
        if self._limits.keywords is None and (isinstance(node, bool) or not self._limits.checks):
            return node
        if node is True:
            self._words.lose("reworded", at, "`true` was said as an empty schema.")
        elif node is False:
            self._words.lose("weakened", at, "That nothing is allowed here cannot be said.")
        else:
            self._words.lose("weakened", at, "This is no schema; it was left out.")
        fitted: Schema = {}
        return fitted if self._limits.strict is None else closed(fitted, at, self._words)

    def _cut(self, node: Schema, at: At) -> Schema:
        """The end of what is too deep; nothing is lost where there is nothing below."""
        told = len(self._words.losses), self._words.lossy
        left = cut(node, {}, at, self._words)
        if left == node:
            del self._words.losses[told[0] :]
            self._words.lossy = told[1]
            return node
        if bare(node) != node:
            what = "The schema is nested too deep; only its type is left."
            self._words.lose("weakened", at, what)
            self._definitions.cuts += 1
        return left

    def _with_inner(self, node: Schema, at: At, depth: int) -> Schema:
        """`node` with every schema in it fitted."""
        changed = node
        hurt: list[str] = []
        for name, value in node.items():
            before = self._words.lossy
            if name in MAPS:
                fitted = self._map(name, value, at, depth)
            elif name in LISTS or (name == "items" and isinstance(value, list)):
                fitted = self._list(name, value, at, depth)
            elif name in ONE:
                fitted = self._one(name, value, at, depth)
            else:
                continue
            if fitted is not value:
                changed = dict(node) if changed is node else changed
                changed[name] = fitted
            if self._words.lossy > before:
                hurt.append(name)
        return self._safe(changed, hurt, at) if hurt else changed

    def _one(self, name: str, value: Any, at: At, depth: int) -> Any:
        if isinstance(value, bool) and name in _PLACES_FOR_FLAGS:
            return value
        return self._below(name, value, (at, name), depth)

    def _list(self, name: str, value: Any, at: At, depth: int) -> Any:
        if not isinstance(value, list):
            return value
        here: At = (at, name)
        fitted = [self._below(name, one, (here, n), depth) for n, one in enumerate(value)]
        same = all(one is other for one, other in zip(fitted, value, strict=True))
        return value if same else fitted

    def _map(self, name: str, value: Any, at: At, depth: int) -> Any:
        if not isinstance(value, dict):
            return value
        here: At = (at, name)
        changed = value
        is_down = name in _DOWN
        self._level += is_down
        for key, one in value.items():
            fitted = self._fit(one, (here, key), depth + 1)
            if fitted is not one:
                changed = dict(value) if changed is value else changed
                changed[key] = fitted
        self._level -= is_down
        return changed

    def _below(self, name: str, node: Any, at: At, depth: int) -> Any:
        is_down = name in _DOWN
        self._level += is_down
        fitted = self._fit(node, at, depth + 1)
        self._level -= is_down
        return fitted

    def _safe(self, node: Schema, hurt: list[str], at: At) -> Schema:
        """`node` without keywords that forbid more when what they hold (`hurt`) allows more."""
        gone: list[str] = [name for name in hurt if name in ("not", "if")]
        if "contains" in hurt and "maxContains" in node:
            gone.append("contains")
        gone += [name for name in node if name in _UNDONE]
        if "oneOf" in hurt and "anyOf" in node:
            gone.append("oneOf")
        elif "oneOf" in hurt:
            self._words.lose("weakened", at, "`oneOf` was said as `anyOf`.")
            node = {"anyOf" if name == "oneOf" else name: one for name, one in node.items()}
        for name in gone:
            self._words.lose("weakened", at, f"`{name}` holds what had to be changed.")
        if "if" in gone:
            gone += ["then", "else"]
        if "contains" in gone:
            gone += ["minContains", "maxContains"]
        return without(node, *gone) if gone else node
