"""Markers to stop at, found in text that comes in pieces.

A stop is held back no longer than needed: only the end of the text that may be the beginning of a
marker has to wait for more.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_TELLING = 3


def _telling(markers: Iterable[str], length: int = 0) -> str:
    """An expression for how markers begin, or for as much of that as the end of a text has."""
    tails: dict[str, list[str]] = {}
    for marker in markers:
        tails.setdefault(marker[0], []).append(marker[1:])
    return "|".join(
        re.escape(first)
        if "" in then or length + 1 == _TELLING
        else rf"{re.escape(first)}(?:{_telling(then, length + 1)}|\Z)"
        for first, then in sorted(tails.items())
    )


class Stops:
    """A set of literal markers; where two begin alike, the longer one counts."""

    def __init__(self, markers: Iterable[str]) -> None:
        self.markers = tuple(sorted(set(markers), key=lambda marker: (-len(marker), marker)))
        self.longest = max(map(len, self.markers), default=0)
        firsts = sorted({marker[0] for marker in self.markers})
        self.firsts = re.compile("|".join(map(re.escape, firsts)) or r"(?!)")
        """What markers begin with."""
        self.telling = re.compile(_telling(self.markers) or r"(?!)")
        """How markers begin: text without it has no marker, nor ends in the beginning of one."""
        self._only_first = firsts[0] if len(firsts) == 1 else ""
        self._proper = {marker[:end] for marker in self.markers for end in range(1, len(marker))}
        self._prepare()

    def _prepare(self) -> None:
        self._whole = re.compile("|".join(map(re.escape, self.markers)) or r"(?!)")
        self._begun = re.compile(rf"(?:{_prefixes(self.markers)})\Z") if self.markers else None

    def find(self, text: str, at: int) -> re.Match[str] | None:
        """The first marker from `at` on."""
        if self._only_first:
            # Most text has no marker at all, and this says so much faster than an expression.
            at = text.find(self._only_first, at)
            if at < 0:
                return None
        return self._whole.search(text, at)

    def held_from(self, text: str, at: int) -> int:
        """Where the end of `text` begins that may be the beginning of a marker."""
        if self._begun is None:
            return len(text)
        at = max(at, len(text) - self.longest + 1)
        if self._only_first:
            at = text.find(self._only_first, at)
            if at < 0:
                return len(text)
        found = self._begun.search(text, at)
        return len(text) if found is None else found.start()

    def may_grow(self, text: str, found: re.Match[str]) -> bool:
        """Whether the marker that was found may still become a longer one."""
        return self.begins_at(text, found.start())

    def stands_at(self, text: str, at: int) -> bool:
        """Whether a marker stands at `at`."""
        return self._whole.match(text, at) is not None

    def begins_at(self, text: str, at: int) -> bool:
        """Whether all that `text` has from `at` on is the beginning of a marker."""
        return len(text) - at < self.longest and text[at:] in self._proper


class ManyStops(Stops):
    """The same for so many markers that an expression for all of them takes long to make.

    The names of tools are markers at times, so every list of tools makes a set of its own.
    """

    def _prepare(self) -> None:
        self._known = frozenset(self.markers)

    def find(self, text: str, at: int) -> re.Match[str] | None:
        """The first marker from `at` on."""
        for first in self.firsts.finditer(text, at):
            marker = self._marker_at(text, first.start())
            if marker:
                return _literal(marker).match(text, first.start())
        return None

    def held_from(self, text: str, at: int) -> int:
        """Where the end of `text` begins that may be the beginning of a marker."""
        for first in self.firsts.finditer(text, max(at, len(text) - self.longest + 1)):
            if text[first.start() :] in self._proper:
                return first.start()
        return len(text)

    def stands_at(self, text: str, at: int) -> bool:
        """Whether a marker stands at `at`."""
        return bool(self._marker_at(text, at))

    def _marker_at(self, text: str, at: int) -> str:
        """The longest marker at `at`; empty text if there is none."""
        found = ""
        for end in range(at + 1, min(at + self.longest, len(text)) + 1):
            piece = text[at:end]
            if piece in self._known:
                found = piece
            if piece not in self._proper:
                break
        return found


@lru_cache(maxsize=512)
def _literal(marker: str) -> re.Pattern[str]:
    return re.compile(re.escape(marker))


_MANY = 64
NEVER = Stops(())
"""Stops at nothing."""


@lru_cache(maxsize=512)
def stops(*markers: str) -> Stops:
    """The stops for these markers, made once."""
    return ManyStops(markers) if len(markers) > _MANY else Stops(markers)


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
