"""Where two JSON values differ.

In: two values. Out: `Change`s, each with a path without indexes (`messages[].tool_calls[].id`), so
that equal changes in many bodies have equal paths. Of lists of different lengths the equal head
and tail are left out, the rest is compared in pairs or counted as added and removed. Names that
the author of a tool or the model chose are written `*`.
"""

import json
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

_NAMED_BY_AUTHORS = ("properties", "$defs", "definitions", "patternProperties")
"""Objects whose keys are names of an author and whose values are schemas."""
_DATA = ("args", "arguments", "input", "response", "metadata")
"""Objects that are data of a caller or a model: nothing inside them has a name of ours."""
_LONGEST = 200
"""Elements that are matched with each other; longer lists are compared in pairs."""


class Absent:
    """In place of a value that is not there."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT = Absent()


class Change(NamedTuple):
    """One place where two values differ, and what is there."""

    path: str
    before: Any
    after: Any


def changes(before: Any, after: Any, path: str = "") -> Iterator[Change]:
    """All changes between two values, in the order of the first one."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _in_objects(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _in_lists(before, after, f"{path}[]")
    elif not same(before, after):
        yield Change(path, before, after)


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON. Python takes 1, 1.0 and true for equal."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other or (one != one and other != other))  # noqa: PLR0124 -- NaN


def as_text(value: Any) -> str:
    """A value as people read it: text as it is, the rest as JSON."""
    if isinstance(value, Absent):
        return repr(value)
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _in_objects(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Change]:
    for key in dict.fromkeys((*before, *after)):
        one, other = before.get(key, ABSENT), after.get(key, ABSENT)
        inner = _path_of(key, path)
        if isinstance(one, Absent) or isinstance(other, Absent):
            yield Change(f"{inner} {'added' if one is ABSENT else 'removed'}", one, other)
        elif key in _DATA and isinstance(one, dict) and isinstance(other, dict):
            if not same(one, other):
                yield Change(f"{inner}.*", one, other)
        else:
            yield from changes(one, other, inner)


def _path_of(key: str, path: str) -> str:
    parent = path.rpartition(".")[2]
    name = "*" if parent in _NAMED_BY_AUTHORS else key
    return f"{path}.{name}" if path else name


def _in_lists(before: list[Any], after: list[Any], path: str) -> Iterator[Change]:
    head = 0
    shorter = min(len(before), len(after))
    while head < shorter and same(before[head], after[head]):
        head += 1
    tail = 0
    while tail < shorter - head and same(before[-1 - tail], after[-1 - tail]):
        tail += 1
    before = before[head : len(before) - tail]
    after = after[head : len(after) - tail]
    if not before or not after or max(len(before), len(after)) > _LONGEST:
        yield from _in_pairs(before, after, path)
        return
    ours, theirs = _written(before), _written(after)
    if Counter(ours) == Counter(theirs):
        yield Change(f"{path} reordered", before, after)
    elif len(before) == len(after):
        yield from _in_pairs(before, after, path)
    else:
        for tag, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
            if tag != "equal":
                yield from _in_pairs(before[a:b], after[c:d], path)


def _in_pairs(before: list[Any], after: list[Any], path: str) -> Iterator[Change]:
    """The elements one by one, and what one of the lists has more."""
    for one, other in zip(before, after, strict=False):
        yield from changes(one, other, path)
    for one in before[len(after) :]:
        yield Change(f"{path} removed", one, ABSENT)
    for other in after[len(before) :]:
        yield Change(f"{path} added", ABSENT, other)


def _written(values: list[Any]) -> list[str]:
    return [json.dumps(value, sort_keys=True) for value in values]
