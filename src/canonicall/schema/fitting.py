"""A schema as a target takes it: the walk through it, its root, and its strict form.

A schema that fits comes back as it is, the same object; so what a provider accepts is not touched.
Everything else is a copy of what had to change. Losses name each change and its place. Recursion is
bounded, and so is the size of what is put in the place of references.
"""

from operator import is_
from typing import Any

from canonicall.facts.schema_rules import SchemaRule
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

_REFERENCES = frozenset(REFERENCES)
# One step down in the value, not only in the schema.
_DOWN = frozenset({"properties", "items", "prefixItems", "additionalProperties"})
_PLACES_FOR_FLAGS = frozenset({"additionalProperties", "items", "unevaluatedProperties"})
_GLANCES = 4
"""How far inside whole parts of a schema are glanced at."""
_WALKED = MAPS | LISTS | ONE
_UNDONE = frozenset({"unevaluatedProperties", "unevaluatedItems"})


def fit_schema(schema: dict[str, Any], rule: SchemaRule, *, strict: bool = False) -> Fitted:
    """`schema` as `rule` takes it; with `strict`, as it takes it for a strict tool."""
    limits = limits_of(rule, strict=strict)
    is_object = is_root(schema, rule)
    if is_object and seen_to_fit(schema, limits.deepest, rule, limits.looks, schema.get("$defs")):
        return Fitted(schema)
    return _Fitting(schema, limits).fitted(is_object=is_object)


class _Fitting:
    """One walk through one schema."""

    def __init__(self, schema: Schema, limits: Limits) -> None:
        self._schema = schema
        self._limits = limits
        self._looks = limits.looks
        self._rule = limits.rule
        self._deepest = limits.deepest
        self._words = Wording(limits, References(schema))
        self._definitions = Definitions(schema, limits, self._words)
        self._level = 0
        self._kept = schema.get("$defs")
        """The definitions that references lead to."""

    def fitted(self, *, is_object: bool) -> Fitted:
        """The schema as the rule takes it; `is_object` tells that its root can stay."""
        root = node = self._schema
        if not is_object:
            root = Root(self._limits, self._words).object(node)
        definitions = self._definitions
        definitions.root_changed = root is not node
        definitions.collects = root is not node or (
            self._limits.keywords is not None or self._limits.refs != "all"
        )
        if definitions.collects:
            root = definitions.taken_out(root)
        fitted = self._fit(root, None, 1)
        schema = fitted if isinstance(fitted, dict) else {}
        if definitions.collects:
            schema = definitions.put_back(schema, self._fit)
        if schema is node:
            return Fitted(schema)
        return Fitted(schema, tuple(self._words.losses))

    def _fit(self, node: Any, at: At, depth: int) -> Any:
        if not isinstance(node, dict):
            return self._odd(node, at)
        room = self._deepest - self._level
        if room + depth > DEEPEST:
            room = DEEPEST + 1 - depth
        if room <= 0:
            return self._cut(node, at)
        # Far inside only parts without parts, so that time stays linear. A root, which has rules
        # of its own, was looked at before.
        if (
            at is not None
            and (depth <= _GLANCES or HOLDERS.isdisjoint(node))
            and seen_to_fit(node, room, self._rule, self._looks, self._kept)
        ):
            return node
        return self._with_care(node, at, depth)

    def _with_care(self, node: Schema, at: At, depth: int) -> Any:
        """A schema that is not seen to fit as it is."""
        if not _REFERENCES.isdisjoint(node):
            node, is_done = self._definitions.resolved(node, at, depth, self._fit)
            if is_done:
                return node
        node = self._words.taken(node, at)
        if "$ref" in node:
            node = self._definitions.alone(node, at)
        if "$id" in node and at is not None:
            node = self._embedded(node, at, depth)
        elif not HOLDERS.isdisjoint(node):
            node = self._with_inner(node, at, depth)
        return node if self._limits.strict is None else closed(node, at, self._words)

    def _embedded(self, node: Schema, at: At, depth: int) -> Schema:
        """References inside count from here, which is another schema: they are not followed."""
        kept, self._kept = self._kept, None
        self._definitions.embedded += 1
        node = self._with_inner(node, at, depth)
        self._definitions.embedded -= 1
        self._kept = kept
        return node

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
        words = self._words
        for name, value in node.items():
            if name not in _WALKED:
                continue
            before = words.lossy
            fitted = self._part(name, value, at, depth + 1)
            if fitted is not value:
                changed = dict(node) if changed is node else changed
                changed[name] = fitted
            if words.lossy > before:
                hurt.append(name)
        return self._safe(changed, hurt, at) if hurt else changed

    def _part(self, name: str, value: Any, at: At, depth: int) -> Any:
        """What one keyword holds, with every schema in it fitted."""
        is_down = name in _DOWN
        self._level += is_down
        here: At = (at, name)
        fitted = value
        if name in MAPS:
            if isinstance(value, dict):
                fitted = self._map(value, here, depth)
        elif name in LISTS or (name == "items" and isinstance(value, list)):
            if isinstance(value, list):
                fitted = self._list(value, here, depth)
        elif not isinstance(value, bool) or name not in _PLACES_FOR_FLAGS:
            fitted = self._fit(value, here, depth)
        self._level -= is_down
        return fitted

    def _list(self, value: list[Any], at: At, depth: int) -> list[Any]:
        fitted = [self._fit(one, (at, n), depth) for n, one in enumerate(value)]
        return value if all(map(is_, fitted, value)) else fitted

    def _map(self, value: dict[str, Any], at: At, depth: int) -> dict[str, Any]:
        changed = value
        for key, one in value.items():
            fitted = self._fit(one, (at, key), depth)
            if fitted is not one:
                changed = dict(value) if changed is value else changed
                changed[key] = fitted
        return changed

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
