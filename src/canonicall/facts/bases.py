"""The base rules of the wire formats: `formats/*.toml` in, targets out.

A file says what the owner of a format accepts: `[rules.NAME]` for each field of `Target` that it
states, and `[served.NAME]` for what others that speak the format are known to take beyond that.
`source`, `date` and `confidence` at the top of the file hold for every rule that has none of its
own. A format is read when it is first asked for.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from canonicall.errors import UnknownName
from canonicall.facts.format_files import format_table
from canonicall.facts.profile import RULE_FIELDS, Rule, changed, override, sourced_rules
from canonicall.facts.target import Target


class Base(Struct, frozen=True):
    """One format: its target, and the rules that make it."""

    target: Target
    rules: Mapping[str, Rule]
    told: Mapping[str, Any]
    """Source, date and confidence of what has none of its own."""


def base_target(format: str) -> Target:
    """What the owner of a format accepts."""
    return _base(format).target


def base_rule(format: str, field: str) -> Rule:
    """A rule of a format's own target; the value is the whole one, also where little is stated."""
    if field not in RULE_FIELDS:
        raise UnknownName("rule", f"{format}.{field}", RULE_FIELDS)
    base = _base(format)
    value = getattr(base.target, field)
    stated = base.rules.get(field)
    return Rule(value=value, **base.told) if stated is None else replace(stated, value=value)


@cache
def _base(format: str) -> Base:
    where, table = f"{format}.toml", format_table(format)
    rules = sourced_rules(table, "rules", where)
    target = Target(format=format, provider=table["provider"], domain=table["domain"])
    target = override(target, rules)
    served = tuple(
        (field, changed(getattr(target, field), field, rule))
        for field, rule in sourced_rules(table, "served", where).items()
    )
    told = {key: table[key] for key in ("source", "date", "confidence")}
    return Base(replace(target, served=served), rules, told)
