"""A rule made ready for looking schemas over: what holds in one mode, as sets."""

from functools import lru_cache

from msgspec import Struct

from canonicall.target import References, SchemaRule, StrictRule

DEEPEST = 64
"""Below this no schema is read: no provider takes it, and recursion has to end."""


_GLANCED = frozenset({"type", "description", "title"})


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
    notes: frozenset[str]
    """What may stand in a schema that can be told to fit at a glance."""

    def takes(self, keyword: str) -> bool:
        return self.keywords is None or keyword in self.keywords


@lru_cache(maxsize=256)
def limits_of(rule: SchemaRule, *, strict: bool) -> Limits:
    """The limits of `rule`, in strict mode if it has one and `strict` asks for it."""
    held = rule.strict if strict else None
    keywords = (held.keywords if held else ()) or rule.keywords
    depth = (held.max_depth if held else 0) or rule.max_depth or DEEPEST
    return Limits(
        rule=rule,
        strict=held,
        keywords=frozenset(keywords) if keywords else None,
        drops_others=held is not None or rule.others == "refused",
        refs=held.refs if held else rule.refs,
        checks=bool(keywords or rule.draft),
        draft=rule.draft or "2020-12",
        deepest=min(depth, DEEPEST),
        notes=_GLANCED & frozenset(keywords) if keywords else _GLANCED,
    )
