"""Detection: text of a model whose syntax nobody named.

The openers of all syntaxes are watched at once; where several share a marker, what follows it
decides. Prose may talk about calls, so detection is careful:

- In code, and right behind a quotation mark, a marker is text.
- With a tool list only the tools on it are called; any other name is text, with a finding.
- Without one, syntaxes that have no tokens of their own are not looked for.
- JSON in a fence is an example, unless it is the first thing that is said and calls a tool.
- A thought begins at the start of a line. Calls in it are drafts, unless their marker belongs only
  to models whose calls end a thought.
- A marker that only frames means nothing at the start, at the end, and beside other markers;
  between words it is spoken of. The same holds for a block with nothing in it.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from canonicall.request import Tool
from canonicall.syntax.code_spans import FENCE, code_openers
from canonicall.syntax.declaration import Opener, ReadCalls, Syntax
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.registry import Syntaxes, all_syntaxes
from canonicall.syntax.scanner import TextScanner
from canonicall.syntax.stops import Stops, stops

AUTO = "auto"

_BARS = "|\uff5c"


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
        (len(pattern), syntax.name)
        for syntax in all_syntaxes()
        for pattern in syntax.models
        if fnmatchcase(name, pattern)
    ]
    return max(fitting)[1] if fitting else None


def auto_syntax(*, with_tools: bool) -> Syntax:
    """One syntax that stands for all."""
    return _auto(all_syntaxes(), with_tools)


def leaked_syntax() -> Syntax:
    """The same for words that should hold no markers at all: they stay as they are, but for calls.

    Only syntaxes with tokens of their own leak; thoughts are words here, and stay among them.
    """
    return _leaked(all_syntaxes())


@lru_cache(maxsize=4)
def _auto(known: Syntaxes, with_tools: bool) -> Syntax:
    union = _Union(known, with_tools=with_tools)
    return Syntax(
        name=AUTO,
        openers=(*union.openers, *union.code, *map(union.frame, union.framing)),
        tool_openers=union.tool_openers,
        thinking=union.thinking,
        thinking_place="line",
        is_marked=False,
    )


@lru_cache(maxsize=4)
def _leaked(known: Syntaxes) -> Syntax:
    union = _Union(known, with_tools=False)
    thoughts = [
        Opener(opening, _thought_in_words(opening, close), place="line")
        for opening, close in union.thinking
    ]
    return Syntax(
        name=AUTO,
        openers=(*union.openers, *union.code, *thoughts, *map(_leaked_frame, union.framing)),
        tool_openers=union.tool_openers,
        thinking=(),
        is_marked=False,
        keeps_blank=True,
    )


class _Union:
    """The syntaxes that are watched, as one."""

    def __init__(self, known: Syntaxes, *, with_tools: bool) -> None:
        self._watched = [one for one in known if not one.kin_of and (one.is_marked or with_tools)]
        self._with_tools = with_tools
        own = {one.marker for syntax in self._watched for one in syntax.openers if self._is(one)}
        noise = (marker for one in known if one.is_marked for marker in one.noise)
        self.framing = [marker for marker in dict.fromkeys(noise) if marker not in own]
        self._markers = stops(*own, *self.framing)
        openers = [one for syntax in self._watched for one in self._of(syntax, syntax.openers)]
        self.openers = sorted(openers, key=lambda one: one.looks is None)
        self.code = code_openers(sorted(marker for marker in own if FENCE in marker))
        pairs = (pair for one in known for pair in one.thinking)
        self.thinking = tuple(pair for pair in dict.fromkeys(pairs) if pair[0][0] in "<[")

    def tool_openers(self, tools: Mapping[str, Tool]) -> tuple[Opener, ...]:
        return tuple(
            opener
            for syntax in self._watched
            if syntax.tool_openers is not None
            for opener in self._of(syntax, syntax.tool_openers(tools))
        )

    def frame(self, marker: str) -> Opener:
        """A marker around words, or at the end of a turn."""
        is_token = any(bar in marker for bar in _BARS)
        return Opener(marker, _frame_between(self._markers) if is_token else _frame_behind_call)

    def _is(self, opener: Opener) -> bool:
        """Whether an opener is watched."""
        if opener.only_named:
            return False
        return self._with_tools or not (opener.by_form or opener.is_common)

    def _of(self, syntax: Syntax, openers: Iterable[Opener]) -> Iterable[Opener]:
        for opener in filter(self._is, openers):
            yield replace(
                opener,
                read=_watched(syntax.name, opener.read, self._markers),
                place=opener.detected_place or opener.place,
                ends_thinking=syntax.call_ends_thinking,
                is_guarded=True,
            )


def _leaked_frame(marker: str) -> Opener:
    return Opener(marker, _frame_behind_call)


def _watched(name: str, read: ReadCalls, markers: Stops) -> ReadCalls:
    """`read`, where it is not known which syntax it is."""
    frames = _frame_between(markers)

    def read_watched(reader: Reader, output: Output) -> Reading[bool]:
        started, position, noted = output.started, reader.position, len(output.findings)
        output.reading = name
        done = yield from read(reader, output)
        output.reading = None
        if output.started > started or not done:
            return done
        if any(one.code == "call_unreadable" for one in output.findings[noted:]):
            del output.findings[noted:]
            return False
        return reader.position > position or (yield from frames(reader, output))

    return read_watched


def _frame_between(markers: Stops) -> ReadCalls:
    """A frame: it means nothing but between words."""

    def read(reader: Reader, output: Output) -> Reading[bool]:
        if output.detected is not None:
            return True
        if output.has_said_nothing and (yield from reader.peek()) != " ":
            return True
        yield from reader.blank()
        return reader.at_end or (yield from reader.comes(markers))

    return read


def _frame_behind_call(_reader: Reader, output: Output) -> Reading[bool]:
    """A frame that looks like a tag of any kind: it means nothing only where there were calls."""
    yield from ()
    return output.detected is not None


def _thought_in_words(opening: str, close: str) -> ReadCalls:
    """A thought that stays where it is; no call in it counts."""

    def read(reader: Reader, output: Output) -> Reading[bool]:
        output.text(opening)
        output.text((yield from reader.until(stops(close), output.text)))
        return True

    return read
