"""Texts for the laws of the syntaxes: what a model may print, whole, cut, mixed up, or not at all."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from canonicall.blocks import ToolCall
from canonicall.request import Tool
from canonicall.syntax.registry import get_syntax, syntax_names
from canonicall.testing.conformance.printed import markers_of, printed

NAMES = syntax_names()
WORD = "蛙"
"""Stands for a word that every text has only once."""
_SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "n": {"type": "integer"},
        "many": {"type": "array", "items": {"type": "string"}},
        "deep": {"type": "object"},
        "maybe": {"type": ["string", "null"]},
    },
}
OFFERS: tuple[list[Tool | dict[str, Any]] | None, ...] = (
    None,
    [],
    [{"name": "f"}],
    [Tool("f", parameters=_SCHEMA), {"name": "g"}, {"name": "python"}],
    [Tool("bash", parameters={"properties": {"command": {"type": "string"}}})],
)
_CALLS = (
    ToolCall(name="f", args={"a": WORD, "n": WORD, "many": [WORD, WORD], "deep": {"k": WORD}}),
    ToolCall(name="g", args={}),
    ToolCall(name="f", args={WORD: 1, "maybe": WORD, "flag": True}),
    ToolCall(name=WORD, args={"a": f"{WORD} {WORD}\n{WORD}"}),
    ToolCall(name="bash", args={"command": WORD}),
)
_BITS = (
    *"{}[]()<>,:;=|/\\\"'`& \n",
    *('"name"', '"arguments"', '"f"', '"id": ', '"x": ', "null", "42", "None", "name:", ".call("),
    *('{"name": "f", "arguments": {"a": 1}}', '{"name": "f", "arguments": {', '{"name": "g"'),
    *(f'{{"name": "{WORD}"', f'"k": "{WORD}"', f'k="{WORD}"', f"[{WORD}]", f"({WORD})", "f(", "f"),
    *('"parameters": {}', '"function": {', '"tool_calls": [', '"content": "', "function", "call:f"),
    *("```json", "```", "```\n", "`", "~~~", "<f>", "</f>", "<a>", "</a>", f"<{WORD}>", "<a/>"),
    *(
        f' {WORD}="{WORD}"',
        "<![CDATA[",
        "]]>",
        "&lt;",
        "&#65;",
        " # ",
        "<!--",
        "-->",
        "to=f",
        "\\n",
        "\t",
    ),
    *("é", "\u2028", "\U0001f438", "\ud800", "\x00", "\ufeff", " " * 300, "日本"),
)
_TOKEN = re.compile(r"(<[^<>]*>|\[/?[A-Z_]+\]|```|[\n{}\[\]:,])")


@cache
def fragments(name: str) -> tuple[str, ...]:
    """The markers of a syntax, and what its printed calls are made of."""
    syntax = get_syntax(name)
    texts = [printed(syntax, [call]) or "" for call in _CALLS]
    pieces = {piece for text in texts for piece in _TOKEN.split(text) if piece}
    return tuple(sorted(pieces | markers_of(syntax, OFFERS[3] or ())))


@cache
def all_markers() -> tuple[str, ...]:
    return tuple(sorted({marker for name in NAMES for marker in markers_of(get_syntax(name))}))


@cache
def whole_calls(name: str) -> tuple[str, ...]:
    syntax = get_syntax(name)
    texts = [printed(syntax, calls) for calls in (*((one,) for one in _CALLS), _CALLS[:3])]
    return tuple(filter(None, texts)) or (WORD,)


def one_of(texts: Sequence[str]) -> st.SearchStrategy[str]:
    """One of many texts; unlike `sampled_from` it does not show all of them when it is shown."""
    return st.integers(0, len(texts) - 1).map(texts.__getitem__)


@st.composite
def texts_of(draw: st.DrawFn, name: str) -> tuple[str, tuple[str, ...]]:
    """Text made of what a syntax is made of, in any order, and the words in it."""
    return draw(_texts_of(name))


@cache
def _texts_of(name: str) -> st.SearchStrategy[tuple[str, tuple[str, ...]]]:
    calls = one_of(whole_calls(name))
    cut = st.builds(
        lambda text, a, b: text[: a % (len(text) + 1)] + text[len(text) - b :],
        calls,
        st.integers(0, 400),
        st.integers(0, 80),
    )
    broken = st.builds(
        lambda text, at, bit: text[: at % (len(text) + 1)] + bit + text[at % (len(text) + 1) :],
        calls,
        st.integers(0, 400),
        one_of((*_BITS, WORD, WORD, *fragments(name))),
    )
    own = one_of(fragments(name))
    bits = one_of(_BITS)
    piece = st.one_of(
        own,
        own,
        own,
        st.just(WORD),
        st.just(WORD),
        bits,
        bits,
        calls,
        cut,
        broken,
        one_of(all_markers()),
        st.text(max_size=5),
    )
    return st.lists(piece, max_size=12).map("".join).map(_numbered)


def _numbered(text: str) -> tuple[str, tuple[str, ...]]:
    parts = text.split(WORD)
    words = tuple(f"w{at}q" for at in range(len(parts) - 1))
    made = "".join(part + word for part, word in zip(parts, (*words, ""), strict=True))
    return made, words
