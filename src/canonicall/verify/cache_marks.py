"""Cache marks in the order in which they are processed: tools, system, messages."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.verify.node import dotted
from canonicall.verify.violation import Violation, refuse


class Mark(Struct, frozen=True):
    """Where a mark stands, and whether it lasts an hour; all others last five minutes."""

    where: str
    is_long: bool


def marks_in_order(marks: Iterable[Mark], target: Target, source: str) -> Iterator[Violation]:
    """Long marks behind short ones."""
    has_short = False
    for mark in marks:
        if mark.is_long and has_short and target.cache_order:
            error = (
                f"{dotted(mark.where)}.ttl: a ttl='1h' cache_control block must not come after a "
                "ttl='5m' cache_control block. Note that blocks are processed in the following "
                "order: `tools`, `system`, `messages`."
            )
            yield refuse("cache_mark_order", mark.where, error, source=source)
        has_short = has_short or not mark.is_long
