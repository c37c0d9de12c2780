"""Markers to stop at, found in text that comes in pieces.

A stop is held back no longer than needed: only the end of the text that may be the beginning of a
marker has to wait for more.
"""

import re
from collections.abc import Iterable
from functools import lru_cache


class Stops:
    """A set of literal markers; where two begin alike, the longer one counts."""

    def __init__(self, markers: Iterable[str]) -> None:
        self.markers = tuple(sorted(set(markers), key=lambda marker: (-len(marker), marker)))
        self.longest = max(map(len, self.markers), default=0)
        self._whole = re.compile("|".join(map(re.escape, self.markers)) or r"(?!)")
        self._begun = re.compile(rf"(?:{_prefixes(self.markers)})\Z") if self.markers else None

    def find(self, text: str, at: int) -> re.Match[str] | None:
        """The first marker from `at` on."""
        return self._whole.search(text, at)

    def held_from(self, text: str, at: int) -> int:
        """Where the end of `text` begins that may be the beginning of a marker."""
        if self._begun is None:
            return len(text)
        found = self._begun.search(text, max(at, len(text) - self.longest + 1))
        return len(text) if found is None else found.start()

    def may_grow(self, text: str, found: re.Match[str]) -> bool:
        """Whether the marker at the very end of `text` may still become a longer one."""
        if found.end() < len(text):
            return False
        said = found[0]
        return any(len(one) > len(said) and one.startswith(said) for one in self.markers)


@lru_cache(maxsize=512)
def stops(*markers: str) -> Stops:
    """The stops for these markers, made once."""
    return Stops(markers)


def _prefixes(markers: Iterable[str]) -> str:
    """An expression for every proper beginning of every marker, the longest first."""
    tree: dict[str, dict] = {}  # type: ignore[type-arg]
    for marker in markers:
        branch = tree
        for char in marker[:-1]:
            branch = branch.setdefault(char, {})
    return _expression(tree)


def _expression(tree: dict[str, dict]) -> str:  # type: ignore[type-arg]
    branches = []
    for char, rest in tree.items():
        deeper = _expression(rest)
        branches.append(re.escape(char) + (f"(?:{deeper})?" if deeper else ""))
    return "|".join(branches)
