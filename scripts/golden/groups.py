"""Differences in groups: equal changes in thousands of records are one thing to look at.

In: differences, one record after another. Out: `Group`s by kind, path and codes, each with a count,
its providers and a few examples. Nothing else is kept, so memory does not grow with the corpus.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from scripts.golden.contents import Difference

_AROUND = 200
"""Characters of an example that are kept on each side of the first difference."""


class Source(NamedTuple):
    """Where a record comes from."""

    kind: str
    provider: str
    target: str
    id: str


class Example(NamedTuple):
    """One difference, both sides shortened around it."""

    provider: str
    target: str
    id: str
    before: str
    after: str


@dataclass(slots=True)
class Group:
    """Records that differ in the same way."""

    kind: str
    path: str
    codes: str
    count: int = 0
    providers: Counter[str] = field(default_factory=Counter)
    examples: list[Example] = field(default_factory=list)


class Groups:
    """Collects differences; `examples` is how many of each group are kept."""

    def __init__(self, examples: int = 3) -> None:
        self._examples = examples
        self._groups: dict[tuple[str, str, str], Group] = {}
        self.records: Counter[str] = Counter()
        """How many records of each kind differ."""

    def add(self, source: Source, found: list[Difference]) -> None:
        """One record that differs, and in what. It counts once in each of its groups."""
        self.records[source.kind] += 1
        seen: set[tuple[str, str]] = set()
        for one in found:
            key = (one.path, one.codes)
            if key not in seen:
                seen.add(key)
                self._add(source, one)

    def largest_first(self) -> list[Group]:
        """All groups, by their counts, equal ones by name."""
        groups = self._groups.values()
        return sorted(groups, key=lambda one: (-one.count, one.kind, one.path, one.codes))

    def _add(self, source: Source, one: Difference) -> None:
        group = self._groups.setdefault(
            (source.kind, one.path, one.codes), Group(source.kind, one.path, one.codes)
        )
        group.count += 1
        group.providers[source.provider] += 1
        if len(group.examples) < self._examples:
            group.examples.append(_example(source, one))
        elif source.id not in (example.id for example in group.examples):
            _show_instead(group.examples, source, one)


def _show_instead(examples: list[Example], source: Source, one: Difference) -> None:
    """Put a difference in place of an example whose record or provider is shown twice."""
    ids = Counter(example.id for example in examples)
    providers = Counter(example.provider for example in examples)
    is_new = source.provider not in providers
    for at in reversed(range(len(examples))):
        example = examples[at]
        if ids[example.id] > 1 or (is_new and providers[example.provider] > 1):
            examples[at] = _example(source, one)
            return


def around(before: str, after: str, width: int) -> tuple[str, str]:
    """Both texts, cut to so many characters around the first place where they differ."""
    pairs = zip(before, after, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), None)
    first = min(len(before), len(after)) if same is None else same
    start = max(0, min(first - width // 3, max(len(before), len(after)) - width))
    return _cut(before, start, width), _cut(after, start, width)


def _cut(text: str, start: int, width: int) -> str:
    """`width` characters of a text, with marks where something is left out."""
    part = text[start : start + width]
    if start:
        part = "…" + part[1:]
    if len(text) > start + width:
        part = part[:-1] + "…"
    return part


def _example(source: Source, one: Difference) -> Example:
    before, after = around(one.before, one.after, 3 * _AROUND)
    return Example(source.provider, source.target, source.id, before, after)
