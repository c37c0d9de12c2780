"""A rule made ready for looking schemas over: what holds in one mode, as sets."""

from functools import lru_cache

from msgspec import Struct

from canonicall.facts.schema_rules import References, SchemaRule, StrictRule
from canonicall.schema.glance import looks_of

DEEPEST = 64
"""Below this no schema is read: no provider takes it, and recursion has to end."""


class Limits(Struct, frozen=True):
    """What one pass over a schema has to see to."""

    rule: SchemaRule
    strict: StrictRule | None
    """Only where the schema is to be strict."""
    keywords: frozenset[str] | None
    """The keywords that are read; None where it is all of them."""
    drops_others: bool
    refs: References
    checks: bool
    """Whether what keywords hold is looked at."""
    draft: str
    deepest: int
    """How deep values may be nested."""
    looks: dict[str, int]
    """How each keyword is looked at in a glance."""

    def takes(self, keyword: str) -> bool:
        return self.keywords is None or keyword in self.keywords


@lru_cache(maxsize=256)
def limits_of(rule: SchemaRule, *, strict: bool) -> Limits:
    """The limits of `rule`, in strict mode if it has one and `strict` asks for it."""
    held = rule.strict if strict else None
    keywords = (held.keywords if held else ()) or rule.keywords
    read = frozenset(keywords) if keywords else None
    refs = held.refs if held else rule.refs
    depth = (held.max_depth if held else 0) or rule.max_depth or DEEPEST
    return Limits(
        rule=rule,
        strict=held,
        keywords=read,
        drops_others=held is not None or rule.others == "refused",
        refs=refs,
        checks=bool(keywords or rule.draft),
        draft=rule.draft or "2020-12",
        deepest=min(depth, DEEPEST),
        looks=looks_of(rule, read, refs, strict=held is not None),
    )
