"""Detection: text of a model whose syntax nobody named.

The openers of all syntaxes are watched at once; where several share a marker, what follows it
decides. Detection is careful, because prose may talk about calls: inside code and behind a quote a
marker is text, with a tool list only offered names make calls, and without one the syntaxes that
have no tokens of their own are not looked for.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import ToolCall
from canonicall.request import Tool
from canonicall.syntax.declaration import Opener, ReadCalls, Syntax
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.registry import get_syntax, syntax_names
from canonicall.syntax.scanner import TextScanner
from canonicall.syntax.stops import stops

AUTO = "auto"

_FENCE, _TICK = "```", "`"
_INLINE_ENDS = stops(_TICK, "\n")


def detect_syntax(text: str, *, tools: Iterable[Tool | dict[str, Any]] | None = None) -> str | None:
    """The name of the syntax that `text` has calls in; None where it has none."""
    scanner = TextScanner(auto_syntax(with_tools=tools is not None), tools=tools)
    scanner.feed(text)
    scanner.close()
    return scanner.detected


def syntax_of_model(model: str) -> str | None:
    """The syntax that a model prints, by its name; None where that is not known.

    Of several patterns that fit, the longest says most.
    """
    name = model.lower().rpartition("/")[2]
    fitting = [
        (len(pattern), syntax)
        for syntax in syntax_names()
        for pattern in get_syntax(syntax).models
        if fnmatchcase(name, pattern)
    ]
    return max(fitting)[1] if fitting else None


def auto_syntax(*, with_tools: bool) -> Syntax:
    """One syntax that stands for all."""
    known = [get_syntax(name) for name in syntax_names()]
    watched = [one for one in known if one.is_marked or with_tools]
    openers = [
        replace(opener, read=_named(one.name, opener.read))
        for one in watched
        for opener in one.openers
        if opener.looks is not None or one.is_marked
    ]

    def made_of(tools: Mapping[str, Tool]) -> tuple[Opener, ...]:
        return tuple(
            replace(opener, read=_named(one.name, opener.read))
            for one in watched
            if one.tool_openers is not None
            for opener in one.tool_openers(tools)
        )

    return Syntax(
        name=AUTO,
        tool_openers=made_of,
        openers=(Opener(_FENCE, _code), Opener(_TICK, _inline_code), *openers),
        thinking=tuple(dict.fromkeys(pair for one in watched for pair in one.thinking)),
        noise=tuple(dict.fromkeys(mark for one in watched if one.is_marked for mark in one.noise)),
        is_marked=False,
        is_guarded=True,
    )


def _named(name: str, read: ReadCalls) -> ReadCalls:
    """`read`, remembering whose calls were found first."""

    def remembering(reader: Reader, output: Output) -> Reading[bool]:
        before = len(output.blocks)
        done = yield from read(reader, output)
        if any(isinstance(block, ToolCall) for block in output.blocks[before:]):
            output.detected = output.detected or name
        return done

    return remembering


def _code(reader: Reader, output: Output) -> Reading[bool]:
    """A block of code: nothing in it is a call."""
    output.text(_FENCE)
    marker = yield from reader.until(stops(_FENCE), output.text)
    output.text(marker)
    return True


def _inline_code(reader: Reader, output: Output) -> Reading[bool]:
    output.text(_TICK)
    marker = yield from reader.until(_INLINE_ENDS, output.text)
    output.text(marker)
    return True
