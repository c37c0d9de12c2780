"""A comparison as text for people or as JSON for tools.

In: a `Comparison` and the labels of both sides. Out: text: a table of the kinds, then the groups,
the largest first, each with its count, its providers and examples side by side.
"""

from typing import Any

from scripts.golden.comparison import Comparison
from scripts.golden.groups import Group, around
from scripts.golden.plan import KINDS

_SHOWN_PROVIDERS = 6
_WIDTH = 76
"""Characters of one side of an example."""


def as_value(comparison: Comparison, before: str, after: str) -> dict[str, Any]:
    """The comparison as JSON."""
    groups = comparison.groups.largest_first()
    return {
        "before": before,
        "after": after,
        "kinds": {
            kind: {
                "groups": sum(group.kind == kind for group in groups),
                "differences": comparison.groups.records[kind],
                "records": comparison.records[kind],
            }
            for kind in KINDS
            if kind in comparison.records
        },
        "groups": [
            {
                "kind": group.kind,
                "path": group.path,
                "codes": group.codes,
                "count": group.count,
                "providers": dict(group.providers.most_common()),
                "examples": [example._asdict() for example in group.examples],
            }
            for group in groups
        ],
    }


def as_text(comparison: Comparison, before: str, after: str) -> str:
    """The comparison as a page of text."""
    value = as_value(comparison, before, after)
    rows: list[tuple[str, ...]] = [
        (kind, f"{it['groups']:,}", f"{it['differences']:,}", f"{it['records']:,}")
        for kind, it in value["kinds"].items()
    ]
    groups = comparison.groups.largest_first()
    parts = [f"before: {before}\nafter:  {after}", _table(rows), *map(_group, groups)]
    if not groups:
        parts.append("Nothing differs.")
    return "\n\n".join(parts) + "\n"


def _table(rows: list[tuple[str, ...]]) -> str:
    titled = [("kind", "groups", "differences", "of records"), *rows]
    widths = [max(map(len, column)) for column in zip(*titled, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in titled
    )


def _group(group: Group) -> str:
    title = f"{group.count:,} x {group.kind}: {group.path or '(whole)'}"
    if group.codes:
        title += f" [{group.codes}]"
    providers = group.providers.most_common()
    shown = ", ".join(f"{name} {count:,}" for name, count in providers[:_SHOWN_PROVIDERS])
    if len(providers) > _SHOWN_PROVIDERS:
        shown += f", and {len(providers) - _SHOWN_PROVIDERS} more"
    sides = [around(one.before, one.after, _WIDTH) for one in group.examples]
    width = max((len(before) for before, _ in sides), default=0)
    examples = [
        f"  {one.target}, {one.id}\n    {_flat(before).ljust(width)} | {_flat(after)}"
        for one, (before, after) in zip(group.examples, sides, strict=True)
    ]
    return "\n".join([title, f"  {shown}", *examples])


def _flat(text: str) -> str:
    """A text on one line, of the same length."""
    return "".join(char if char.isprintable() else "·" for char in text)
