"""Texts that models wrote and the calls they mean, from the test suites of public engines.

The vectors are no part of the repository: `CANONICALL_VECTORS` names their folder. A vector that we
read otherwise is named in the test of its syntax with the reason; if it is read as written after
all, the test fails until it is taken off the list.
"""

import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from canonicall.blocks import ToolCall
from canonicall.folding import fold
from canonicall.reply import Reply
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.parsing import Parsed
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner

FOLDER = os.environ.get("CANONICALL_VECTORS")
needs_vectors = pytest.mark.skipif(
    FOLDER is None, reason="CANONICALL_VECTORS does not name the folder of texts of models"
)


class Vector(msgspec.Struct, frozen=True):
    """One text and what it means."""

    id: str
    format: str
    mode: str
    text: str
    expected_calls: list[dict[str, Any]]
    chunks: list[str] | None = None
    tools: list[Any] | None = None
    expected_content: str | None = None
    expected_reasoning: str | None = None
    starts_in_reasoning: bool | None = None
    incomplete: bool | None = None
    calls_json_ok: bool = True
    notes: str | None = None


def vectors(*formats: str) -> list[Any]:
    """The vectors of some formats, as parameters of a test."""
    return [pytest.param(one, id=one.id) for one in all_vectors() if one.format in formats]


@cache
def all_vectors() -> list[Vector]:
    """Every vector that is no question of taste."""
    paths = sorted(Path(FOLDER).glob("[a-z]*.jsonl")) if FOLDER else []
    lines = (line for path in paths for line in path.read_text().split("\n") if line)
    return [msgspec.convert(json.loads(line), Vector) for line in lines]


def check(
    vector: Vector,
    syntax: str | Syntax,
    exceptions: Mapping[str, str],
    *,
    around: tuple[str, str] | None = None,
) -> None:
    """The text is read as expected: whole, in the pieces it came in, and by single characters.

    `around` is what belongs around the texts that are only the inside of a block.
    """
    if vector.mode == "stream_segments":
        pytest.skip("what stands between its tags are no calls, only raw text")
    if vector.mode == "body_only" and around is None:
        pytest.skip("only the inside of a block")
    known = get_syntax(syntax) if isinstance(syntax, str) else syntax
    before, after = around if around is not None and vector.mode == "body_only" else ("", "")
    text = before + vector.text + after
    whole = read([text], known, vector)
    for pieces in ([before, *(vector.chunks or [vector.text]), after], text):
        assert read(pieces, known, vector) == whole
    wrong = difference(vector, Parsed(whole, known.name))
    why = exceptions.get(vector.id)
    if why is None:
        assert not wrong, wrong
    else:
        assert wrong, f"it is read as expected now; it needs no exception: {why}"
        pytest.xfail(why)


def read(pieces: Iterable[str], syntax: Syntax, vector: Vector) -> Reply:
    """The reply that these pieces make."""
    thinks = starts_in_thinking(vector, syntax)
    scanner = TextScanner(syntax, tools=offered(vector), starts_in_thinking=thinks)
    events = [event for piece in pieces for event in scanner.feed(piece)]
    return fold([*events, *scanner.close()])


def difference(vector: Vector, parsed: Parsed) -> str:
    """What is not as expected; empty if all is."""
    if len(vector.expected_calls) != len(parsed.calls):
        return f"{len(parsed.calls)} calls: {parsed.calls}"
    is_cut = bool(vector.incomplete) or not vector.calls_json_ok
    pairs = zip(vector.expected_calls, parsed.calls, strict=True)
    if not all(_is_same_call(wanted, call, is_cut=is_cut) for wanted, call in pairs):
        return f"the calls are {parsed.calls}"
    if not _is_same_text(vector.expected_content, parsed.text):
        return f"the text is {parsed.text!r}"
    if not _is_same_text(vector.expected_reasoning, parsed.thinking):
        return f"the thought is {parsed.thinking!r}"
    return ""


def _is_same_call(wanted: dict[str, Any], call: ToolCall, *, is_cut: bool) -> bool:
    if wanted["name"] not in (None, call.name):
        return False
    if not is_cut and not _same_arguments(wanted.get("arguments"), call.args, call.raw):
        return False
    return all(_at(call.args, *one) for one in wanted.get("arguments_subset") or ())


def _is_same_text(wanted: str | None, text: str) -> bool:
    """White space does not count; None means that nothing was expected of it."""
    return wanted is None or wanted.split() == text.split()


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
    is_opened = any(opening in vector.text for opening in openings)
    return bool(vector.expected_reasoning) and not is_opened


def offered(vector: Vector) -> list[dict[str, Any]] | None:
    """The tools as definitions; some vectors have only their names."""
    if vector.tools is None:
        return None
    return [one if isinstance(one, dict) else {"name": one} for one in vector.tools]


def _same_arguments(wanted: Any, args: dict[str, Any] | None, raw: str | None) -> bool:
    if isinstance(wanted, str):
        try:
            wanted = json.loads(wanted)
        except ValueError:
            return raw == wanted
    return wanted is None or _canonical(wanted) == _canonical(args)


def _canonical(value: Any) -> str:
    """Tells true from 1, which Python does not."""
    return json.dumps(value, sort_keys=True)


def _at(value: Any, path: list[str | int], wanted: Any) -> bool:
    for step in path:
        value = value[step]
    return bool(value == wanted)
