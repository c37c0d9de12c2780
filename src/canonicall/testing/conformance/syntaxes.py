"""Whether a syntax is sound: what it prints is read again, in any pieces, and no word is lost.

In: a registered syntax, or one that nobody registered; texts of a model, where it prints none of
its own. Out: a `Conformance`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from canonicall.blocks import ToolCall
from canonicall.folding import fold
from canonicall.reply import Reply
from canonicall.request import Tool
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.detection import auto_syntax
from canonicall.syntax.parsing import parse
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner
from canonicall.testing.conformance.accounting import is_all_there, lost_words
from canonicall.testing.conformance.printed import (
    calls_to_print,
    markers_of,
    place_of,
    printed,
    tools_for,
)
from canonicall.testing.conformance.report import Checking, Conformance, Skipped, need

CHECKS = {
    "read_again": "Calls that are printed are read again: the same calls, no word left over.",
    "words_kept": "Words before, between and behind calls stay words.",
    "splits": "A text says the same in whatever pieces it comes.",
    "nothing_lost": "Of a text that is cut anywhere, every word is somewhere, or a finding tells.",
    "detected": "Where nobody names the syntax, the calls are the same, or a finding tells.",
}
_WORD = re.compile(r"w\d+q")
_COUNTED = (
    ToolCall(name="f", args={"a": "w0q", "n": "w1q w2q", "many": ["w3q"], "deep": {"k": "w4q"}}),
    ToolCall(name="g", args={"w5q": "w6q\nw7q"}),
)
"""Calls whose words can be told apart."""


def check_syntax(syntax: str | Syntax, *, texts: Iterable[str] = ()) -> Conformance:
    """What holds for a syntax: its name, or its declaration.

    Nothing is registered. `texts`: what a model has printed, to be split and cut as well. Words
    like w1q in them are looked for.
    """
    declared = get_syntax(syntax) if isinstance(syntax, str) else syntax
    checking = Checking(CHECKS)
    unnamed = auto_syntax(with_tools=True, beside=declared)
    for name, calls in calls_to_print(declared):
        _print(checking, declared, unnamed, name, calls)
    for text, tools in _texts(checking, declared, texts):
        _cut_up(checking, declared, text, tools)
    return checking.report("syntax", declared.name)


def broken_checks(syntax: Syntax) -> tuple[str, ...]:
    """What is wrong with a syntax, each with the first evidence: for `discover(prove=...)`."""
    return tuple(f"{one.about} {one.evidence[0]}" for one in check_syntax(syntax).broken)


def _print(
    checking: Checking, syntax: Syntax, unnamed: Syntax, name: str, calls: tuple[ToolCall, ...]
) -> None:
    text = ""
    with checking.case("read_again", name):
        text = printed(syntax, calls) or ""
        _read_again(syntax, calls, text)
    if not text:
        return
    with checking.case("words_kept", f"{name}: {text!r}"):
        _words_kept(syntax, calls, text)
    with checking.case("detected", f"{name}: {text!r}"):
        found = parse(text, syntax=unnamed, tools=tools_for(calls))
        told = f"read as {found.syntax or 'nothing'}: {_said(found.calls)}"
        need(_said(found.calls) == _said(calls) or bool(found.findings), told)


def _read_again(syntax: Syntax, calls: Sequence[ToolCall], text: str) -> None:
    if not text:
        raise Skipped
    read = parse(text, syntax=syntax, tools=tools_for(calls))
    need(_said(read.calls) == _said(calls), f"{text!r} is read as {_said(read.calls)}")
    need(not any(call.truncated for call in read.calls), f"{text!r} is read as if it were cut")
    need(read.text == "", f"of {text!r} these words are left over: {read.text!r}")
    need(not read.findings, f"{text!r}: {'; '.join(map(str, read.findings))}")


def _words_kept(syntax: Syntax, calls: Sequence[ToolCall], together: str) -> None:
    tools = tools_for(calls)
    each = [one for one in (printed(syntax, [call]) for call in calls) if one is not None]
    if all(place_of(one, syntax, tools) == "start" for one in each):
        text, words = f"{together}\nThree.", ["Three."]
    else:
        text = "One.\n" + "\nTwo.\n".join(each) + "\nThree."
        words = ["One.", *["Two."] * (len(calls) - 1), "Three."]
    read = parse(text, syntax=syntax, tools=tools)
    need(_said(read.calls) == _said(calls), f"{text!r} is read as {_said(read.calls)}")
    need(read.text.split() == words, f"of {text!r} the words are {read.text!r}")


def _texts(
    checking: Checking, syntax: Syntax, given: Iterable[str]
) -> Iterator[tuple[str, list[Tool | dict[str, Any]]]]:
    """Texts to split and to cut, with the tools that were offered."""
    text = ""
    with checking.case("read_again", "calls to be cut"):
        text = printed(syntax, _COUNTED) or ""
        _read_again(syntax, _COUNTED, text)
    if text:
        yield f"w8q {text} w9q", tools_for(_COUNTED)
        yield text, []
    for marker in sorted(markers_of(syntax, tools_for(_COUNTED))):
        yield f"w1q {marker} w2q {marker}{marker} w3q", tools_for(_COUNTED)
    for text in given:
        yield text, []


def _cut_up(
    checking: Checking, syntax: Syntax, text: str, tools: list[Tool | dict[str, Any]]
) -> None:
    label = repr(text)
    with checking.case("splits", label):
        whole = _read(syntax, [text], tools)
        need(_read(syntax, text, tools) == whole, "letter by letter it says something else")
        for at in range(1, len(text)):
            pieces = [text[:at], "", text[at:]]
            need(
                _read(syntax, pieces, tools) == whole, f"cut in two at {at} it says something else"
            )
    with checking.case("nothing_lost", label):
        for at in range(len(text) + 1):
            for part in (text[:at], text[at:]):
                reply = _read(syntax, [part], tools)
                lost = lost_words(tuple(dict.fromkeys(_WORD.findall(part))), reply)
                need(not lost, f"of {part!r} these are nowhere: {', '.join(lost)}")
                need(is_all_there(part, reply, syntax), f"of {part!r} something is nowhere")


def _read(syntax: Syntax, pieces: Iterable[str], tools: list[Tool | dict[str, Any]]) -> Reply:
    scanner = TextScanner(syntax, tools=tools)
    events = [event for piece in pieces for event in scanner.feed(piece)]
    return fold([*events, *scanner.close()])


def _said(calls: Iterable[ToolCall]) -> list[tuple[str, dict[str, Any] | None]]:
    return [(call.name, call.args) for call in calls]
