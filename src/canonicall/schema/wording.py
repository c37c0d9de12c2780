"""One schema in the words a target has, without looking inside it.

What can be said otherwise is said otherwise. What cannot is left out, together with whatever would
mean something else without it, and told in the description where the rule wants that.
"""

from typing import Any

import msgspec

from canonicall.schema.drafts import modern
from canonicall.schema.equivalents import (
    Schema,
    const_as_enum,
    inclusive,
    nullable_as_type,
    one_as_any,
    options_of_types,
    rest_as_items,
    type_of_values,
    without,
)
from canonicall.schema.keywords import DEFINITIONS, LIMITS, REFERENCES
from canonicall.schema.limits import DEEPEST, Limits
from canonicall.schema.losses import At, Change, Loss
from canonicall.schema.merging import both
from canonicall.schema.references import References, reference_of
from canonicall.schema.soundness import unsound_keywords

# JSON Schema 2020-12, section 7.3. Others (`int32`, `uint8`) are notes that nobody checks.
_FORMATS = frozenset(
    {"date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname"}
    | {"ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template"}
    | {"json-pointer", "relative-json-pointer", "regex"}
)
_TOLD_NOTES = ("default", "examples")
_LONGEST_TOLD = 300
_EXCLUSIVE = {"exclusiveMinimum", "exclusiveMaximum"}


class Wording:
    """Puts schemas into the words of one target, and keeps what that lost."""

    def __init__(self, limits: Limits, refs: References) -> None:
        self.limits = limits
        self.refs = refs
        self.losses: list[Loss] = []
        self.lossy = 0
        """How many losses changed what is allowed."""

    def lose(self, change: Change, at: At, what: str) -> None:
        self.losses.append(Loss(change, at, what))
        self.lossy += change != "reworded"

    def taken(self, node: Schema, at: At) -> Schema:
        """`node` as the target takes it; the same object where it does already."""
        limits = self.limits
        if limits.checks:
            node = self._sound(node, at)
        if limits.keywords is not None and not node.keys() <= limits.keywords:
            node = self._in_known_words(node, at)
        if limits.strict is not None and limits.strict.typed:
            node = self._typed(node, at)
        if limits.rule.type_lists == "null" and isinstance(node.get("type"), list):
            node = self._one_type(node, at)
        if limits.rule.items_required and _lacks_items(node):
            self.lose("reworded", at, "An array has to say what its items are: anything.")
            node = {**node, "items": {}}
        return node if limits.strict is None else self._strict(node, at)

    def _sound(self, node: Schema, at: At) -> Schema:
        plain = modern(node, self.limits.draft)
        if plain is not node:
            self.lose("reworded", at, "It was written for an older draft of JSON Schema.")
        wrong = unsound_keywords(plain)
        for name in wrong:
            self.lose("weakened", at, f"`{name}` does not hold what it has to; it was left out.")
        return self._left_out(plain, wrong) if wrong else plain

    def _in_known_words(self, node: Schema, at: At) -> Schema:
        takes = self.limits.takes
        node = self.merged(node, at)
        if "nullable" in node and not takes("nullable"):
            self.lose("reworded", at, "`nullable` was said with the type.")
            node = nullable_as_type(node)
        if "oneOf" in node and not takes("oneOf") and takes("anyOf"):
            node = self._any_for_one(node, at)
        if "const" in node and not takes("const") and takes("enum"):
            self.lose("reworded", at, "`const` was said as the only value of an enum.")
            node = const_as_enum(node)
        if _EXCLUSIVE & node.keys() and not takes("exclusiveMinimum") and takes("minimum"):
            node, is_exact = inclusive(node)
            change: Change = "reworded" if is_exact else "weakened"
            self.lose(change, at, "Exclusive limits were said as inclusive ones.")
        if "prefixItems" in node and not takes("prefixItems") and takes("items"):
            self.lose("weakened", at, "`prefixItems` was said as `items` of any of its kinds.")
            node = rest_as_items(node)
        return self._without_others(node, at) if self.limits.drops_others else node

    def merged(self, node: Schema, at: At) -> Schema:
        """`node` without an `allOf` that the target does not take."""
        is_root_rule = at is None and "allOf" in self.limits.rule.root_refused
        is_refused = is_root_rule or not self.limits.takes("allOf")
        rounds = 0
        while is_refused and "allOf" in node:
            rounds += 1
            parts = node["allOf"] if isinstance(node["allOf"], list) and rounds < DEEPEST else []
            is_exact = bool(parts)
            node = without(node, "allOf")
            for part in parts:
                whole = self._whole(node, part, at)
                is_exact = is_exact and whole is not None
                node = whole or node
            change: Change = "reworded" if is_exact else "weakened"
            how = "merged into one" if is_exact else "merged as far as that is possible"
            self.lose(change, at, f"The schemas of `allOf` were {how}.")
        return node

    def _whole(self, node: Schema, part: Any, at: At, patience: int = DEEPEST) -> Schema | None:
        """`node` and `part` as one schema. A part may refer to itself: that has to end."""
        if part is True or part == {}:
            return node
        if not isinstance(part, dict):
            return None
        if reference_of(part) is not None and not (LIMITS | {"$ref"}).isdisjoint(node):
            found = self.refs.find(reference_of(part))
            rest = without(part, *REFERENCES)
            if found is None or not isinstance(found.schema, dict) or not found.pointer:
                return None
            resolved = both(without(found.schema, *DEFINITIONS), rest) if patience else None
            return None if resolved is None else self._whole(node, resolved, at, patience - 1)
        return both(node, self._sound(part, at) if self.limits.checks else part)

    def _any_for_one(self, node: Schema, at: At) -> Schema:
        said = one_as_any(node)
        if said is None:
            self.lose("weakened", at, "`oneOf` beside `anyOf` was left out.")
            return self._told(without(node, "oneOf"), {"oneOf": node["oneOf"]})
        change: Change = "reworded" if said[1] else "weakened"
        self.lose(change, at, "`oneOf` was said as `anyOf`.")
        return said[0]

    def _without_others(self, node: Schema, at: At) -> Schema:
        others = [name for name in node if not self.limits.takes(name)]
        for name in others:
            if name in LIMITS and not _says_nothing(node, name):
                self.lose("weakened", at, f"`{name}` is not taken; it was left out.")
            else:
                self.lose("reworded", at, f"`{name}` is not taken; it limits nothing.")
        return self._left_out(node, others) if others else node

    def _left_out(self, node: Schema, names: list[str]) -> Schema:
        """`node` without keywords, and without what would forbid more when they are gone."""
        gone = set(names)
        if "patternProperties" in gone or "properties" in gone:
            gone |= {"additionalProperties", "unevaluatedProperties"}
        if "prefixItems" in gone:
            gone |= {"items", "unevaluatedItems"}
        if gone & {"contains", "items"}:
            gone |= {"unevaluatedItems", "minContains", "maxContains"}
        if gone & {"anyOf", "oneOf", "allOf", "if", "then", "else", "dependentSchemas", "$ref"}:
            gone |= {"unevaluatedProperties", "unevaluatedItems"}
        if "if" in gone:
            gone |= {"then", "else"}
        left = {name: value for name, value in node.items() if name not in gone}
        told = {name: node[name] for name in names if name in LIMITS or name in _TOLD_NOTES}
        return self._told(left, told)

    def _told(self, node: Schema, left_out: Schema) -> Schema:
        """`node` with a word on what was left out, where the rule wants that."""
        if not self.limits.rule.told or not self.limits.takes("description"):
            return node
        words = [f"{name}: {text}" for name, text in map(_in_words, left_out.items()) if text]
        if not words:
            return node
        before = node.get("description")
        note = "{" + ", ".join(words) + "}"
        text = f"{before}\n\n{note}" if isinstance(before, str) and before else note
        return {**node, "description": text}

    def _typed(self, node: Schema, at: At) -> Schema:
        """`node` with the type of the values it lists; options name types as well."""
        if not {"type", "anyOf"}.isdisjoint(node) or {"const", "enum"}.isdisjoint(node):
            return node
        self.lose("reworded", at, "Listed values have to name their type.")
        return type_of_values(node)

    def _one_type(self, node: Schema, at: At) -> Schema:
        kinds = node["type"]
        if len(kinds) == 1:
            self.lose("reworded", at, "A list of one type was said as the type.")
            return {**node, "type": kinds[0]}
        if len(kinds) == 2 and "null" in kinds:
            return node
        split = options_of_types(node)
        if split is None:
            self.lose("weakened", at, "A list of types beside `anyOf` was left out.")
            return self._told(without(node, "type"), {"type": kinds})
        self.lose("reworded", at, "A list of types was said as one option for each.")
        return split

    def _strict(self, node: Schema, at: At) -> Schema:
        rule = self.limits.strict
        assert rule is not None  # noqa: S101 - only asked in strict mode
        written = node.get("format")
        if isinstance(written, str) and rule.formats and written not in rule.formats:
            change: Change = "weakened" if written in _FORMATS else "reworded"
            self.lose(change, at, f"The format `{written}` is not taken; it was left out.")
            node = self._told(without(node, "format"), {"format": written})
        least = node.get("minItems")
        if rule.min_items and isinstance(least, int) and least not in rule.min_items:
            nearest = max((one for one in rule.min_items if one < least), default=0)
            self.lose("weakened", at, f"`minItems` cannot be {least}; it is {nearest}.")
            node = self._told({**node, "minItems": nearest}, {"minItems": least})
        return node


def _lacks_items(node: Schema) -> bool:
    kind = node.get("type")
    is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
    return is_array and "items" not in node and "prefixItems" not in node


def _says_nothing(node: Schema, name: str) -> bool:
    """Whether a limit of this schema limits nothing."""
    value = node[name]
    if name in ("then", "else"):
        return "if" not in node
    if name in ("minContains", "maxContains"):
        return "contains" not in node
    if name == "format":
        return value not in _FORMATS
    idle: dict[str, Any] = {"uniqueItems": False, "additionalProperties": True, "nullable": False}
    return name in idle and value is idle[name]


def _in_words(left_out: tuple[str, Any]) -> tuple[str, str]:
    name, value = left_out
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return name, ""
    return name, text if len(text) <= _LONGEST_TOLD else ""
