"""The root of a schema: arguments are an object, and most providers want to see that at once."""

import re
from functools import cache
from typing import Any

from canonicall.facts.schema_rules import SchemaRule
from canonicall.schema.equivalents import Schema, without
from canonicall.schema.keywords import DEFINITIONS, LIMITS, REFERENCES
from canonicall.schema.limits import DEEPEST, Limits
from canonicall.schema.losses import Change
from canonicall.schema.merging import both, either
from canonicall.schema.references import reference_of
from canonicall.schema.wording import Wording


class Root:
    """Makes the root of a schema that of an object."""

    def __init__(self, limits: Limits, words: Wording) -> None:
        self._limits = limits
        self._words = words

    def object(self, node: Schema) -> Schema:
        """`node`, which is none as it is (`is_root`), as the root of the parameters."""
        rule = self._limits.rule
        if rule.object_root:
            node = self._resolved(node)
            node = self._without_refused(node, rule)
            node = self._typed(node)
        if rule.properties_required and not isinstance(node.get("properties"), dict):
            change: Change = "weakened" if "properties" in node else "reworded"
            self._words.lose(change, None, "The root has to list its properties: none.")
            node = {**node, "properties": {}}
        if rule.property_pattern and isinstance(node.get("properties"), dict):
            node = self._with_good_names(node, rule.property_pattern)
        return node

    def _resolved(self, node: Schema) -> Schema:
        for _ in range(DEEPEST):
            reference = reference_of(node)
            if reference is None:
                return node
            found = self._words.refs.find(reference)
            rest = without(node, *REFERENCES)
            if found is None or not found.pointer or not isinstance(found.schema, dict):
                self._words.lose("weakened", None, "The reference at the root leads nowhere.")
                return rest
            node = self._joined(rest, found.schema, "The reference at the root was resolved.")
        return without(node, *REFERENCES)

    def _without_refused(self, node: Schema, rule: SchemaRule) -> Schema:
        """`node` without what may not stand at a root; what one stood for may bring another."""
        for _ in range(DEEPEST):
            keyword = next((name for name in rule.root_refused if name in node), None)
            if keyword is None:
                return node
            node = self._without(node, keyword)
        return without(node, *rule.root_refused)

    def _without(self, node: Schema, keyword: str) -> Schema:
        if keyword == "allOf":
            return self._words.merged(node, None)
        rest, held = without(node, keyword), node.get(keyword)
        if keyword in ("anyOf", "oneOf") and isinstance(held, list):
            options = [option for option in map(self._option, held) if option is not None]
            if options and all(isinstance(option, dict) for option in options):
                is_exact = len(held) == 1
                what = f"The options of `{keyword}` at the root were merged into one object."
                return self._joined(rest, either(options), what, is_exact=is_exact)
        self._words.lose("weakened", None, f"`{keyword}` is not taken at the root.")
        return rest

    def _option(self, option: Any) -> Any:
        """An option of the root with its reference resolved; None where it is no object at all."""
        if isinstance(option, dict) and reference_of(option) is not None:
            found = self._words.refs.find(reference_of(option))
            option = found.schema if found is not None and found.pointer else True
        if isinstance(option, dict) and isinstance(option.get("type"), str):
            return option if option["type"] == "object" else None
        return option

    def _joined(self, rest: Schema, other: Schema, what: str, *, is_exact: bool = True) -> Schema:
        joined = both(rest, other)
        change: Change = "reworded" if is_exact and joined is not None else "weakened"
        self._words.lose(change, None, what)
        if joined is not None:
            return joined
        # The definitions stay; of the two, the one with the parameters says more.
        return other | without(rest, *LIMITS) if "properties" in other else rest

    def _typed(self, node: Schema) -> Schema:
        kind = node.get("type")
        if kind == "object":
            return node
        if kind is None or (isinstance(kind, list) and "object" in kind):
            self._words.lose("reworded", None, "The root says that it is an object.")
            return {**node, "type": "object"} if "type" in node else {"type": "object", **node}
        what = "Arguments are an object; a schema of another type says nothing about them."
        self._words.lose("weakened", None, what)
        kept = {name: one for name, one in node.items() if name in DEFINITIONS}
        return {"type": "object"} | without(node, *LIMITS) | kept

    def _with_good_names(self, node: Schema, pattern: str) -> Schema:
        """`node` without properties whose name cannot be declared; they may still be sent."""
        properties = node["properties"]
        bad = [name for name in properties if _pattern(pattern).fullmatch(name) is None]
        if not bad:
            return node
        for name in bad:
            what = "A parameter of this name cannot be declared; it may still be given."
            self._words.lose("weakened", (((None, "properties")), name), what)
        good = {name: one for name, one in properties.items() if name not in bad}
        open_node = without(node, "additionalProperties", "unevaluatedProperties")
        listed = node.get("required")
        if isinstance(listed, list):
            open_node["required"] = [name for name in listed if name not in bad]
        return {**open_node, "properties": good}


def is_root(node: Schema, rule: SchemaRule) -> bool:
    """Whether a schema can be the root of parameters as it is."""
    if rule.object_root and (
        node.get("type") != "object"
        or not node.keys().isdisjoint(rule.root_refused)
        or not node.keys().isdisjoint(REFERENCES)
    ):
        return False
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return not rule.properties_required
    if not rule.property_pattern:
        return True
    matches = _pattern(rule.property_pattern).fullmatch
    return all(matches(name) is not None for name in properties)


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
