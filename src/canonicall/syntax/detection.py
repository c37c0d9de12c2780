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

from canonicall.facts.target import Target, TextForm
from canonicall.request import Tool
from canonicall.syntax.code_spans import FENCE, TICK, code_openers
from canonicall.syntax.declaration import Opener, ReadCalls, Syntax
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.registry import Syntaxes, all_syntaxes, get_syntax
from canonicall.syntax.scanner import AUTO, TextScanner
from canonicall.syntax.stops import Stops, stops
from canonicall.syntax.text_form import syntax_of_form

FAMILY = "family"
"""Among the leaks of a target: the syntax that its model prints."""

_BARS = "|\uff5c"


def detect_syntax(text: str, *, tools: Iterable[Tool | dict[str, Any]] | None = None) -> str | None:
    """The name of the syntax that `text` has calls in; None where it has none."""
    scanner = TextScanner(AUTO, tools=tools)
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


def auto_syntax(*, with_tools: bool, beside: Syntax | None = None) -> Syntax:
    """One syntax that stands for all, and for one `beside` them that is not registered."""
    if beside is None:
        return _auto(all_syntaxes(), with_tools)
    others = (one for one in all_syntaxes() if one.name != beside.name)
    return _any_of(Syntaxes((*others, beside)), with_tools)


@lru_cache(maxsize=4)
def _in_text(known: Syntaxes) -> Syntax:
    return _any_of(known, False, with_common=True)


def syntax_of_text() -> Syntax:
    """The same for what is known to be the text of a model: markers count that documents have too.

    Syntaxes without markers are not looked for.
    """
    return _in_text(all_syntaxes())


def leaked_syntax() -> Syntax:
    """The same for words that should hold no markers at all: they stay as they are, but for calls.

    Only syntaxes with tokens of their own leak; thoughts are words here, and stay among them.
    """
    return _leaked(all_syntaxes())


def printed_by(target: Target) -> Syntax | None:
    """The syntaxes that a target is known to print into its text, as one; None if there are none.

    `target.leaks` names them: forms of `target.text_forms`, else registered syntaxes. Their names
    are known here, so openers count that are not looked for where any syntax may come.
    """
    if not target.leaks:
        return None
    return _printed(all_syntaxes(), target.leaks, target.text_forms, target.model)


def quoted_syntax(forms: tuple[TextForm, ...] = ()) -> Syntax:
    """One syntax that stands for all, and for `forms`, for text that may quote calls: none of them
    is passed over, wherever it stands. Bare JSON is left out: any other JSON would hide it."""
    return _quoted(all_syntaxes(), forms)


@lru_cache(maxsize=64)
def _quoted(known: Syntaxes, forms: tuple[TextForm, ...]) -> Syntax:
    syntaxes = [*map(syntax_of_form, forms), *known]
    union = _Union(syntaxes, named=frozenset(one.name for one in syntaxes))
    openers = (one for one in union.openers if one.looks is not None or one.marker not in "{[")

    def tool_openers(tools: Mapping[str, Tool]) -> tuple[Opener, ...]:
        return tuple(map(_anywhere, union.tool_openers(tools)))

    return Syntax(
        name=AUTO,
        openers=tuple(map(_anywhere, openers)),
        tool_openers=tool_openers,
        thinking=(),
        is_marked=False,
    )


def _anywhere(opener: Opener) -> Opener:
    return replace(opener, place="anywhere", is_guarded=False)


def first_printed_by(target: Target) -> Syntax | None:
    """The first of the syntaxes that a target is known to print; None if that may be any."""
    name = next(iter(_names(target.leaks, target.model)), None)
    own = {form.name: form for form in target.text_forms}
    if name is None or name in own:
        return None if name is None else syntax_of_form(own[name])
    return get_syntax(name)


def _names(leaks: tuple[str, ...], model: str) -> tuple[str | None, ...]:
    names = (syntax_of_model(model) if name == FAMILY else name for name in leaks)
    return tuple(dict.fromkeys(names))


@lru_cache(maxsize=256)
def _printed(
    known: Syntaxes, leaks: tuple[str, ...], forms: tuple[TextForm, ...], model: str
) -> Syntax:
    own = {form.name: syntax_of_form(form) for form in forms}
    names = _names(leaks, model)
    named = frozenset(name for name in names if name is not None)
    registered = known if None in names else map(get_syntax, sorted(named - own.keys()))
    chosen = [own[name] for name in sorted(named & own.keys())]
    return _in_words(_Union([*chosen, *registered], named=named))


def _any_of(known: Syntaxes, with_tools: bool, *, with_common: bool = False) -> Syntax:
    union = _Union(known, with_tools=with_tools, with_common=with_common)
    return Syntax(
        name=AUTO,
        openers=(*union.openers, *union.code, *map(union.frame, union.framing)),
        tool_openers=union.tool_openers,
        thinking=union.thinking,
        thinking_place="line",
        is_marked=False,
    )


_auto = lru_cache(maxsize=4)(_any_of)


@lru_cache(maxsize=4)
def _leaked(known: Syntaxes) -> Syntax:
    return _in_words(_Union(known))


def _in_words(union: "_Union") -> Syntax:
    """A syntax for words that stay as they are, but for calls."""
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

    def __init__(
        self,
        known: Iterable[Syntax],
        *,
        with_tools: bool = False,
        with_common: bool = False,
        named: frozenset[str] = frozenset(),
    ) -> None:
        """`named`: the syntaxes that are known to be printed, all of which is watched. Of others
        only what a text can be seen to have, and of those without markers only `with_tools`."""
        known = list(known)
        self._with_tools = with_tools
        self._with_common = with_common or with_tools
        self._named = named
        self._watched = [
            one
            for one in known
            if one.name in named or (not one.kin_of and (one.is_marked or with_tools))
        ]
        own = {
            one.marker
            for syntax in self._watched
            for one in syntax.openers
            if self._is(one, syntax)
        }
        own.discard("")
        marked = (one for one in known if one.is_marked or one.name in named)
        noise = (marker for one in marked for marker in one.noise)
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

    def _is(self, opener: Opener, syntax: Syntax) -> bool:
        """Whether an opener is watched."""
        if syntax.name in self._named:
            return opener.marker != TICK
        if opener.only_named:
            return False
        if opener.is_common and not self._with_common:
            return False
        return self._with_tools or not opener.by_form

    def _of(self, syntax: Syntax, openers: Iterable[Opener]) -> Iterable[Opener]:
        is_named = syntax.name in self._named
        for opener in openers:
            if self._is(opener, syntax):
                yield replace(
                    opener,
                    read=_watched(syntax, opener.read, self._markers),
                    place=opener.place if is_named else opener.detected_place or opener.place,
                    ends_thinking=syntax.call_ends_thinking,
                    is_guarded=True,
                )


def _leaked_frame(marker: str) -> Opener:
    return Opener(marker, _frame_behind_call)


def _watched(syntax: Syntax, read: ReadCalls, markers: Stops) -> ReadCalls:
    """`read`, where it is not known which syntax it is."""
    frames = _frame_between(markers)

    def read_watched(reader: Reader, output: Output) -> Reading[bool]:
        started, position, noted = output.started, reader.position, len(output.findings)
        output.reading, output.text_may_follow = syntax.name, syntax.text_after_calls
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
