"""`explain`: what a provider's error means, what to do, and where in the request it lies.

The table is in `facts`: one entry for each error text, with a pattern for it. Every text found
in an error is compared. Nothing here raises: an error nothing is known about says so.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from canonicall.errors import UnknownName
from canonicall.facts.error_table import KnownText, known_texts
from canonicall.facts.host_errors import ErrorText
from canonicall.facts.registry import registered_profiles
from canonicall.facts.target import Target
from canonicall.verify.codes import CODES
from canonicall.verify.error_texts import texts_in
from canonicall.verify.judge import verify
from canonicall.verify.violation import Violation

PATH = re.compile(
    r"\b(?:messages?|contents|input|tools|system)(?:\.\d+|\[\d+\])(?:\.\d+|\[\d+\]|\.[A-Za-z_]\w*)*"
    r"|#/messages/\d+(?:/\w+)*"
)
ID = re.compile(
    r"\b(?:call|toolu|srvtoolu|mcptoolu|tooluse|hist_tool|fc|ctc|rs|msg|ws)_(?!ids?\b)[\w-]+"
    r"|\bfunctions\.[\w-]+:\d+"
)
INDEX = re.compile(r"\b(?:message|at) index (\d+)")
_NEAR = 1_000
"""Characters around the words of an error in which it names its places."""


class Entry(Struct, frozen=True):
    """One line of the table."""

    code: str
    pattern: re.Pattern[str]
    example: str
    meaning: str
    repair: str
    source: str
    also: tuple[str, ...]
    formats: tuple[str, ...]
    providers: tuple[str, ...]
    vague: bool
    outside: bool


class Explained(Struct, frozen=True):
    """One meaning that an error can have."""

    code: str
    meaning: str
    repair: str
    source: str
    quote: str
    """The words of the error that were recognised."""
    places: tuple[str, ...] = ()
    """Paths and ids that the error names."""
    violations: tuple[Violation, ...] = ()
    """What `verify` finds in the request that fits the error."""
    outside: bool = False
    """Whether it has nothing to do with how the request is written: a limit, a key, a server."""


class Explanation(Struct, frozen=True):
    """What an error can mean, the likeliest first; false when nothing is known."""

    entries: tuple[Explained, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entries)

    def __str__(self) -> str:
        if not self.entries:
            return "Nothing is known about this error."
        return "\n".join(map(_line, self.entries))


def explain(
    error: str | bytes | dict[str, Any],
    *,
    request: dict[str, Any] | None = None,
    target: Target | None = None,
) -> Explanation:
    """The meanings of `error`; with the request and its target, also where the request breaks."""
    texts = texts_in(error)
    judged = _judged(request, target)
    return Explanation(tuple(_explained(one, texts, judged) for one in _matches(texts, target)))


class _Match(Struct, frozen=True):
    entry: Entry
    quote: str
    ids: str
    near: str
    """The words before and behind it: the rest of a log is about other things."""


def _matches(texts: list[str], target: Target | None) -> list[_Match]:
    """One match for each code: the target's own words first, then in the order of the table.

    Of words that say little only the first count, and only where there are no others.
    """
    found = [match for entry in (*table(), *_own()) for match in _match(entry, texts)]
    matches = [match for match in found if not match.entry.vague] or found[:1]
    matches.sort(key=lambda match: not _is_for(match.entry, target))
    best: dict[str, _Match] = {}
    for match in matches:
        best.setdefault(match.entry.code, match)
    return list(best.values())


def _match(entry: Entry, texts: list[str]) -> Iterator[_Match]:
    for text in texts:
        if found := entry.pattern.search(text):
            ids = found.groupdict().get("ids") or ""
            near = text[max(0, found.start() - _NEAR) : found.end() + _NEAR]
            yield _Match(entry, found[0].strip(), ids, near)
            return


def _is_for(entry: Entry, target: Target | None) -> bool:
    """The entry belongs to the target's provider or format, or there is no telling."""
    if target is None:
        return True
    if entry.providers and target.provider:
        return target.provider in entry.providers
    return not entry.formats or target.format in entry.formats


def _explained(match: _Match, texts: list[str], judged: list[Violation]) -> Explained:
    entry = match.entry
    codes = {entry.code, *entry.also}
    return Explained(
        code=entry.code,
        meaning=entry.meaning,
        repair=entry.repair,
        source=entry.source,
        quote=match.quote,
        places=_places(match, texts),
        violations=tuple(one for one in judged if one.code in codes),
        outside=entry.outside,
    )


def _places(match: _Match, texts: list[str]) -> tuple[str, ...]:
    """Paths and ids in the text that matched, and the path a field of the error names."""
    places = [found[0] for found in PATH.finditer(match.near)]
    places += [f"messages[{found[1]}]" for found in INDEX.finditer(match.near)]
    places += [found[0].rstrip("-") for found in ID.finditer(match.near)]
    places += [one.strip(" .'`\"") for one in re.split(r"[,\s]+", match.ids)]
    for text in texts:
        if text.startswith("param="):
            places += [found[0] for found in PATH.finditer(text)]
    return tuple(dict.fromkeys(place for place in places if place))


def _judged(request: object, target: Target | None) -> list[Violation]:
    if target is None or not isinstance(request, dict):
        return []
    try:
        return [one for one in verify(request, target) if isinstance(one, Violation)]
    except UnknownName:
        return []


def table() -> tuple[Entry, ...]:
    """Every error text that is known, those of registered hosts among them."""
    return _table(tuple((one.name, one.errors.texts) for one in registered_profiles()))


@lru_cache(maxsize=8)
def _table(registered: tuple[tuple[str, tuple[ErrorText, ...]], ...]) -> tuple[Entry, ...]:
    """What a text does not say, the code's own words say, or the first shared text of its code."""
    del registered
    known = list(known_texts())
    first: dict[str, ErrorText] = {}
    for text, _ in sorted(known, key=lambda one: bool(one.hosts)):
        first.setdefault(text.code, text)
    return tuple(_entry(one, first[one.text.code]) for one in known)


@cache
def _own() -> tuple[Entry, ...]:
    """What the simulators answer where nobody knows the words of the provider."""
    texts = (
        ErrorText(code=code, pattern=re.escape(known.why), example="", source="canonicall")
        for code, known in CODES.items()
    )
    return tuple(_entry(KnownText(text, ()), text) for text in texts)


def _entry(known: KnownText, first: ErrorText) -> Entry:
    text, code = known.text, CODES.get(known.text.code)
    return Entry(
        code=text.code,
        pattern=re.compile(text.pattern, re.IGNORECASE | re.DOTALL),
        example=text.example,
        meaning=text.meaning or (code.why if code else first.meaning),
        repair=text.repair or (code.repair if code else first.repair),
        source=text.source,
        also=text.also,
        formats=text.formats,
        providers=known.hosts,
        vague=text.vague,
        outside=text.outside,
    )


def _line(entry: Explained) -> str:
    places = f" ({', '.join(entry.places)})" if entry.places else ""
    return f"{entry.code}{places}: {entry.meaning} {entry.repair}"
