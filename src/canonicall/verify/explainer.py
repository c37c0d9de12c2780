"""`explain`: what a provider's error means, what to do, and where in the request it lies.

The table is `errors.toml`: one entry for each error text, with a pattern for it. An error may come
as text, as bytes, as the provider's JSON, or as JSON inside text inside JSON, as gateways send it;
every text found in it is compared. Nothing here raises: an error nothing is known about says so.
"""

import json
import re
import tomllib
from collections import deque
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

from msgspec import Struct

from canonicall.errors import UnknownName
from canonicall.target import Target
from canonicall.verify.codes import CODES
from canonicall.verify.judge import verify
from canonicall.verify.violation import Violation

LONGEST = 20_000
"""Characters of one text that are compared."""
MOST = 400
"""Values of one error that are looked at."""

PATH = re.compile(
    r"\b(?:messages?|contents|input|tools|system)(?:\.\d+|\[\d+\])(?:\.\d+|\[\d+\]|\.[A-Za-z_]\w*)*"
    r"|#/messages/\d+(?:/\w+)*"
)
ID = re.compile(
    r"\b(?:call|toolu|srvtoolu|mcptoolu|tooluse|hist_tool|fc|ctc|rs|msg|ws)_(?!ids?\b)[\w-]+"
    r"|\bfunctions\.[\w-]+:\d+"
)
INDEX = re.compile(r"\b(?:message|at) index (\d+)")
NAMED = {"code", "type", "status", "param"}


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
    texts = _texts(error)
    judged = _judged(request, target)
    return Explanation(tuple(_explained(one, texts, judged) for one in _matches(texts, target)))


class _Match(Struct, frozen=True):
    entry: Entry
    quote: str
    ids: str
    text: str


def _matches(texts: list[str], target: Target | None) -> list[_Match]:
    """One match for each code: the target's own words first, then in the order of the table."""
    matches = [match for entry in table() for match in _match(entry, texts)]
    matches.sort(key=lambda match: not _is_for(match.entry, target))
    best: dict[str, _Match] = {}
    for match in matches:
        best.setdefault(match.entry.code, match)
    return list(best.values())


def _match(entry: Entry, texts: list[str]) -> Iterator[_Match]:
    for text in texts:
        if found := entry.pattern.search(text):
            yield _Match(entry, found[0], found.groupdict().get("ids") or "", text)
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
    )


def _places(match: _Match, texts: list[str]) -> tuple[str, ...]:
    """Paths and ids in the text that matched, and the path a field of the error names."""
    places = [found[0] for found in PATH.finditer(match.text)]
    places += [f"messages[{found[1]}]" for found in INDEX.finditer(match.text)]
    places += [found[0].rstrip("-") for found in ID.finditer(match.text)]
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


def _texts(error: object) -> list[str]:
    """Every text in an error, from the outside in."""
    texts: list[str] = []
    waiting: deque[object] = deque([error])
    for _ in range(MOST):  # An end, even for a value that holds itself.
        if not waiting:
            break
        value = waiting.popleft()
        if isinstance(value, bytes | bytearray):
            value = value.decode("utf-8", "replace")
        if isinstance(value, str):
            texts.append(value[:LONGEST])
            waiting.extend(_inner(value[:LONGEST]))
        elif isinstance(value, dict):
            waiting.extend(f"{key}={value[key]}" for key in sorted(NAMED & value.keys()))
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value[:MOST])
    return texts


def _inner(text: str) -> list[object]:
    """The JSON that stands in a text, behind whatever a client wrote before it."""
    for found in list(re.finditer(r"[{\[]", text))[:20]:
        try:
            value, _ = json.JSONDecoder().raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        return [value]
    return []


@cache
def table() -> tuple[Entry, ...]:
    """Every entry of `errors.toml`; what it does not say, the code's own words say."""
    text = resources.files(__package__).joinpath("errors.toml").read_text("utf-8")
    return tuple(map(_entry, tomllib.loads(text)["error"]))


def _entry(row: dict[str, Any]) -> Entry:
    known = CODES.get(row["code"])
    return Entry(
        code=row["code"],
        pattern=re.compile(row["pattern"], re.IGNORECASE | re.DOTALL),
        example=row["example"],
        meaning=row.get("meaning") or (known.why if known else ""),
        repair=row.get("repair") or (known.repair if known else ""),
        source=row["source"],
        also=tuple(row.get("also", ())),
        formats=tuple(row.get("formats", ())),
        providers=tuple(row.get("providers", ())),
    )


def _line(entry: Explained) -> str:
    places = f" ({', '.join(entry.places)})" if entry.places else ""
    return f"{entry.code}{places}: {entry.meaning} {entry.repair}"
