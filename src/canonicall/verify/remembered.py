"""Tools that were found to be right: a client declares the same ones in every request.

Only what is right is remembered, by its very bytes: then there is nothing to say about it, wherever
it stands.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec

from canonicall.facts.target import Target
from canonicall.verify.violation import Violation

_MOST_TARGETS = 64
_MOST_VALUES = 4096
_LONGEST = 200_000
Right: TypeAlias = "OrderedDict[bytes, None]"
_right: OrderedDict[Target, Right] = OrderedDict()


def right_for(target: Target) -> Right:
    """What was right for a target."""
    known = _right.get(target)
    if known is None:
        known = _right[target] = OrderedDict()
        if len(_right) > _MOST_TARGETS:
            _right.popitem(last=False)
    return known


def unless_right(
    value: Any, known: Right, judge: Callable[[], Iterator[Violation]]
) -> Iterator[Violation]:
    """What `judge` says of `value`; nothing at once where it said nothing before."""
    try:
        key = msgspec.json.encode(value)
    except (msgspec.EncodeError, UnicodeError, RecursionError, TypeError, OverflowError):
        yield from judge()
        return
    if key in known:
        return
    is_right = True
    for violation in judge():
        is_right = False
        yield violation
    if is_right and len(key) <= _LONGEST:
        known[key] = None
        if len(known) > _MOST_VALUES:
            known.popitem(last=False)
