"""Detection against the vectors of public engines: what nobody named is read as if it were named.

One test for each format: all of its texts are read by its syntax and by detection.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import pytest
from msgspec.structs import replace

from batches import each
from canonicall import ToolCall, get_syntax, parse, syntax_names
from canonicall.reply import Reply
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.scanner import TextScanner
from vectors.support import all_vectors, needs_vectors, offered, starts_in_thinking
from vectors.vector import Vector

pytestmark = needs_vectors

READ_OTHERWISE = {
    "ai-sdk-middleware-0222": "bare JSON at the start is a call as well, and was not looked for",
}
"""Vectors that detection reads otherwise than the syntax they are in, each with the reason."""

CLAIMED_TWICE = {
    ("muse_glimmer_atem", "harmony"): "the longer marker says more: <|start|>assistant to=f",
}
"""A syntax that is detected, and one that would read the same text otherwise."""


def by_format() -> list[Any]:
    texts = [one for one in all_vectors() if one.mode != "body_only"]
    ordered = sorted(texts, key=lambda one: one.format)
    return [
        pytest.param(list(group), id=name)
        for name, group in groupby(ordered, key=lambda one: one.format)
    ]


def said(calls: Iterable[ToolCall]) -> list[tuple[str, Any]]:
    return [(call.name, call.args) for call in calls]


def read(text: str, syntax: Syntax, tools: list[Any] | None, *, thinks: bool = False) -> Reply:
    scanner = TextScanner(syntax, tools=tools, starts_in_thinking=thinks)
    return [*scanner.feed(text), *scanner.close()][-1].reply


@each("vectors", by_format)
def test_what_is_detected_is_what_the_syntax_itself_reads(vectors: list[Vector]) -> None:
    """Wherever a tool list is there and the calls are of tools on it."""
    name = vectors[0].format
    if name not in syntax_names():
        pytest.skip("no syntax of ours has this name")
    syntax = get_syntax(name)
    otherwise = set()
    for vector in vectors:
        tools = offered(vector)
        thinks = starts_in_thinking(vector, syntax)
        own = said(read(vector.text, syntax, tools, thinks=thinks).calls)
        names = {(tool.get("function") or tool).get("name") for tool in tools or ()}
        if own and all(called in names for called, _ in own):
            found = parse(vector.text, tools=tools, starts_in_thinking=thinks)
            if said(found.calls) != own:
                otherwise.add(vector.id)
    assert otherwise == {one.id for one in vectors if one.id in READ_OTHERWISE}


def claims() -> list[Syntax]:
    """What each syntax has for its own."""
    marked = [one for one in map(get_syntax, syntax_names()) if one.is_marked and not one.kin_of]
    return [
        replace(one, openers=tuple(opener for opener in one.openers if not opener.only_named))
        for one in marked
    ]


@each("vectors", by_format)
def test_no_two_syntaxes_claim_a_text_differently(vectors: list[Vector]) -> None:
    """Where one finds other calls than detection does, either has a finding to say."""
    claimed = {
        (found.syntax, syntax.name)
        for vector in {(one.text, str(one.tools)): one for one in vectors}.values()
        if (found := parse(vector.text, tools=offered(vector))).calls and not found.findings
        for syntax in claims()
        if any(opener.marker in vector.text for opener in syntax.openers)
        and (other := read(vector.text, syntax, offered(vector))).calls
        and not other.findings
        and said(other.calls) != said(found.calls)
    }
    assert claimed <= CLAIMED_TWICE.keys()
