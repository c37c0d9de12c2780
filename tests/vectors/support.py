"""Texts that models wrote and the calls they mean, from the test suites of public engines.

The vectors are no part of the repository: `CANONICALL_VECTORS` names their folder. A vector that we
read otherwise is named in the test of its syntax with the reason; if it is read as written after
all, the test fails until it is taken off the list. `rates.py` prints how many are read.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
import pytest

from canonicall.folding import fold
from canonicall.reply import Reply
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.parsing import Parsed
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner
from components import component, needs
from vectors.comparing import difference
from vectors.recorded import with_segments
from vectors.vector import Vector

needs_vectors = needs("vectors")


class Case(msgspec.Struct, frozen=True):
    """A vector, and how it is to be read."""

    vector: Vector
    syntax: Syntax
    around: tuple[str, str] = ("", "")
    """What belongs around a text that is only the inside of a block."""
    skipped: str = ""
    """Why it says nothing about us."""

    @property
    def text(self) -> str:
        return self.vector.text.join(self.around)


def case(
    vector: Vector,
    syntax: str | Syntax = "",
    *,
    around: tuple[str, str] | None = None,
    skipped: str = "",
) -> Case:
    """How a vector is to be read: by the syntax of its format, if no other is named."""
    known = get_syntax(syntax or vector.format) if isinstance(syntax, str) else syntax
    vector = with_segments(vector)
    if vector.mode == "stream_segments":
        skipped = "what stands between its tags are no calls, only raw text"
    elif vector.mode != "body_only":
        around = None
    elif around is None:
        skipped = "only the inside of a block"
    return Case(vector, known, around or ("", ""), skipped)


def vectors(*formats: str) -> Callable[[], list[Vector]]:
    """The vectors of some formats, as cases of a test."""
    return lambda: [one for one in all_vectors() if one.format in formats]


@cache
def all_vectors() -> list[Vector]:
    """Every vector that is no question of taste."""
    return _vectors_in("[a-z]*.jsonl")


@cache
def divergent_vectors() -> list[Vector]:
    """The texts that engines read in different ways."""
    return _vectors_in("_divergent.jsonl")


def _vectors_in(pattern: str) -> list[Vector]:
    paths = sorted(component("vectors").glob(pattern))
    lines = (line for path in paths for line in path.read_text().split("\n") if line)
    return [msgspec.convert(json.loads(line), Vector) for line in lines]


def check(one: Case, exceptions: Mapping[str, str]) -> None:
    """The text is read as expected: whole, in the pieces it came in, and by single characters."""
    if one.skipped:
        pytest.skip(one.skipped)
    wrong = wrong_in(one, check_pieces(one))
    why = exceptions.get(one.vector.id)
    if why is None:
        assert not wrong, wrong
    else:
        assert wrong, f"it is read as expected now; it needs no exception: {why}"
        pytest.xfail(why)


def random_splits(text: str, seed: str) -> Iterator[list[str]]:
    """The text in pieces of any size, the same ones in every run."""
    chance = random.Random(seed)  # noqa: S311  # nothing is to be kept secret
    for longest in (3, 17):
        pieces, at = [], 0
        while at < len(text):
            end = at + chance.randint(1, longest)
            pieces.append(text[at:end])
            at = end
        yield pieces


def check_pieces(one: Case) -> Reply:
    """The reply, which is the same however the text is cut into pieces."""
    before, after = one.around
    whole = read([one.text], one.syntax, one.vector)
    recorded = [before, *(one.vector.chunks or [one.vector.text]), after]
    for pieces in (recorded, *random_splits(one.text, one.vector.id), one.text):
        assert read(pieces, one.syntax, one.vector) == whole
    return whole


def wrong_in(one: Case, reply: Reply | None = None) -> str:
    """What is not as expected in how a text is read; empty if all is."""
    read_whole = reply or read([one.text], one.syntax, one.vector)
    return difference(one.vector, Parsed(read_whole, one.syntax.name))


def read(pieces: Iterable[str], syntax: Syntax, vector: Vector) -> Reply:
    """The reply that these pieces make."""
    thinks = starts_in_thinking(vector, syntax)
    scanner = TextScanner(syntax, tools=offered(vector), starts_in_thinking=thinks)
    events = [event for piece in pieces for event in scanner.feed(piece)]
    return fold([*events, *scanner.close()])


def by_reason(*listed: tuple[str, str]) -> dict[str, str]:
    """Exceptions by id, from pairs of a reason and the ids it is for."""
    return {id: why for why, ids in listed for id in ids.split()}


def starts_in_thinking(vector: Vector, syntax: Syntax) -> bool:
    """Whether the prompt had opened the thought: it is expected, and the text does not open it."""
    if vector.starts_in_reasoning:
        return True
    openings = [opening for opening, _ in syntax.thinking]
    # Some syntaxes read thoughts whose markers vary with openers of their own.
    openings += [one.marker for one in syntax.openers if any(one.marker in it for it in openings)]
    thought = vector.expected_reasoning or ""
    is_opened = any(one in vector.text and one not in thought for one in openings)
    return bool(thought) and not is_opened


def offered(vector: Vector) -> list[dict[str, Any]] | None:
    """The tools as definitions; some vectors have only their names."""
    if vector.tools is None:
        return None
    return [one if isinstance(one, dict) else {"name": one} for one in vector.tools]
