"""Reading texts in the tests of the syntaxes: whole, by characters, at any split."""

import sys
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from canonicall import ToolCall
from canonicall.events import Event
from canonicall.folding import fold
from canonicall.reply import Reply
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.parsing import Parsed, parse
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner
from canonicall.testing.strategies import json_objects

NAMED_SYNTAXES = (
    "kimi_k2",
    "mistral",
    "mistral_v11",
    "deepseek_v3",
    "deepseek_v31",
    "cogito_deepseek",
    "solar_open",
    "plamo3",
    "step_audio2",
    "inkling",
    "functionary_v31",
    "functionary_v32",
)
"""The syntaxes that write the name of a call before its arguments, as it is."""
JSON_SYNTAXES = (
    "mistral_pre_v11",
    "mistral_nemo",
    "mistral_v7",
    "hermes",
    "granite4",
    "reka_edge",
    "bielik",
    "ernie45",
    "trinity",
    "openpangu",
    "hyperclovax",
    "granite3",
    "granite_20b_fc",
    "jamba",
    "hunyuan_a13b",
    "apriel",
    "minimax_m1",
    "nemotron_toolcall",
    "llama3_json",
    "llama3_builtin",
    "xlam",
    "json_plain",
    "json_in_tags",
    "lm_studio",
    "json_array_required",
    "internlm2",
    "phi4_mini",
    "firefunction_v2",
    "ollama_template_generic",
    "generic_none",
    "sarashina",
    "cohere_command3",
    "cohere_command4",
    "command_r_action_json",
    "apertus",
    "gigachat3",
    "gigachat31",
    "longcat",
    *NAMED_SYNTAXES,
)
"""The syntaxes whose calls are JSON, or nearly so."""

_PIECES = (
    *"{}[],:\"'\\ \n;",
    *('"name"', '"arguments"', '"f"', '"id"', '"x": ', "null", "42", "name:", ".call(", 'k="v"'),
    *('{"name": "f", "arguments": {"a": 1}}', '{"name": "f", "arguments": {', '{"name": "g"'),
    *('"parameters": {}', '"function": {', '"tool_calls": [', '"content": "', "```json", "```"),
)


def events_of_pieces(pieces: Iterable[str], syntax: str | Syntax, **options: Any) -> list[Event]:
    """The events of a text that comes in these pieces."""
    scanner = TextScanner(syntax, **options)
    return [event for piece in pieces for event in scanner.feed(piece)] + scanner.close()


def streamed(pieces: Iterable[str], syntax: str | Syntax, **options: Any) -> Reply:
    """The reply in a text that comes in these pieces."""
    return fold(events_of_pieces(pieces, syntax, **options))


def read(text: str, syntax: str, **options: Any) -> Parsed:
    """What a text says; the same whole and by characters."""
    parsed = parse(text, syntax=syntax, **options)
    assert streamed(text, syntax, **options) == parsed.reply
    return parsed


def said(calls: Iterable[ToolCall]) -> list[tuple[str, dict[str, Any] | None]]:
    """Names and arguments."""
    return [(call.name, call.args) for call in calls]


def codes(parsed: Parsed) -> list[str]:
    """The codes of the findings."""
    return [finding.code for finding in parsed.findings]


def splits(text: str) -> st.SearchStrategy[list[str]]:
    """A text in pieces, some of them empty."""
    places = st.lists(st.integers(0, len(text)), max_size=8).map(sorted)
    return places.map(
        lambda at: [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]
    )


def garbage(syntax: str) -> st.SearchStrategy[tuple[str, list[str]]]:
    """Text made of the syntax's own markers, bits of JSON and words, and the words in it."""
    declared = get_syntax(syntax)
    markers = [opener.marker for opener in declared.openers] * 2
    markers += [closer for opener in declared.openers for closer in opener.closers]
    markers += [marker for pair in declared.thinking for marker in pair]
    markers += declared.noise
    pieces = st.lists(st.sampled_from([*_PIECES, *markers * 2, *["w"] * 20]), max_size=14)
    return pieces.map(_with_words)


def work(syntax: str | Syntax, pieces: Iterable[str], **options: Any) -> tuple[int, int]:
    """Function calls for a text that comes in pieces, and all that waited in between."""
    steps = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal steps
        steps += event.endswith("call")

    scanner = TextScanner(syntax, **options)
    waiting = 0
    sys.setprofile(count)
    try:
        for piece in pieces:
            scanner.feed(piece)
            waiting += len(scanner._reader.rest)
        scanner.close()
    finally:
        sys.setprofile(None)
    return steps, waiting


def calls_of(names: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[ToolCall, ...]]:
    """Calls with any arguments."""
    call = st.builds(lambda name, args: ToolCall(name=name, args=args), names, json_objects())
    return st.lists(call, min_size=1, max_size=3).map(tuple)


def _with_words(pieces: list[str]) -> tuple[str, list[str]]:
    numbered = [f"w{at}q" if one == "w" else one for at, one in enumerate(pieces)]
    return "".join(numbered), [one for one in numbered if one[0] == "w"]
