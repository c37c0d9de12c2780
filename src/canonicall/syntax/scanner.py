"""Scans the text of a model for calls, as it streams in.

Words flow through at once; only what may be the beginning of a marker waits. A marker that turns
out to open no call is given back as text, with a finding. Never raises, whatever the text.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from canonicall.events import Event
from canonicall.findings import Action
from canonicall.request import Tool
from canonicall.syntax.declaration import Opener, Place, Syntax
from canonicall.syntax.offered import offered_tools
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.stops import stops

AUTO = "auto"
"""Any syntax: its markers decide."""


class TextScanner:
    """Turns the text of one reply into events.

    `syntax` is the name of one, a declaration, or "auto": then the first call decides, as it comes.
    """

    def __init__(
        self,
        syntax: str | Syntax = AUTO,
        *,
        tools: Iterable[Tool | dict[str, Any]] | None = None,
        starts_in_thinking: bool = False,
    ) -> None:
        self.syntax = _chosen(syntax, with_tools=tools is not None)
        offered = offered_tools(tools or ())
        self._reader = Reader(self.syntax.noise)
        self._output = self._new_output(offered)
        program = _Program(self.syntax, self._reader, self._output, has_offer=tools is not None)
        self._program = program.run(starts_in_thinking)
        self._closed = False
        next(self._program, None)

    @property
    def tags(self) -> frozenset[str]:
        """The names of the elements that the markers of the syntax open, in small letters."""
        return _markers(self.syntax, self._output.tools).tags

    def _new_output(self, offered: dict[str, Tool]) -> Output:
        return Output(offered, keeps_blank=self.syntax.keeps_blank)

    @property
    def detected(self) -> str | None:
        """The syntax of the calls that were found, where it was not known before."""
        return self._output.detected

    def feed(self, text: str) -> list[Event]:
        """The events that this text completes."""
        if self._reader.feed(text):
            next(self._program, None)
        return self._output.take()

    def close(self) -> list[Event]:
        """The last events, with the whole reply. Call it when nothing more comes."""
        if self._closed:
            return []
        self._closed = True
        self._read_rest()
        self._output.end()
        return self._output.take()

    def _read_rest(self) -> None:
        self._reader.close()
        for _ in self._program:
            continue


def _chosen(syntax: str | Syntax, *, with_tools: bool) -> Syntax:
    if isinstance(syntax, Syntax):
        return syntax
    if syntax == AUTO:
        # Detection is made of syntaxes, some of which read back what they print, by a scanner.
        from canonicall.syntax.detection import auto_syntax  # noqa: PLC0415

        return auto_syntax(with_tools=with_tools)
    return get_syntax(syntax)


_TAG = re.compile(r"<([A-Za-z][\w.:-]*)")


class _Markers:
    """What a syntax has to be watched for; the same for every reply."""

    def __init__(self, syntax: Syntax, made: Iterable[Opener] = ()) -> None:
        self.syntax = syntax
        self.openers: dict[str, list[Opener]] = {}
        for opener in (*syntax.openers, *made):
            self.openers.setdefault(opener.marker, []).append(opener)
        self.beginnings = self.openers.pop("", [])
        self.thinking = dict(syntax.thinking)
        closers = {closer for one in syntax.openers for closer in one.closers}
        self.closers = closers.difference(syntax.noise)
        ends = self.thinking.values() if self._may_meet_thought_ends else ()
        self.thought_ends = set(ends).difference(syntax.noise)
        starts = (*self.openers, *self.thinking)
        self.stops = stops(*starts, *syntax.noise, *self.closers, *self.thought_ends)

    @property
    def _may_meet_thought_ends(self) -> bool:
        """Whether a thought may end that was not opened, or that a call has interrupted."""
        return self.syntax.prompt_opens_thinking or bool(self.ends_thinking)

    @cached_property
    def tags(self) -> frozenset[str]:
        """The names of the elements that markers open, in small letters."""
        found = (_TAG.match(marker) for marker in self.openers)
        return frozenset(tag[1].lower() for tag in found if tag is not None)

    @cached_property
    def ends_thinking(self) -> tuple[str, ...]:
        """The markers that end a thought: all that they may open does."""
        return tuple(
            marker
            for marker, openers in self.openers.items()
            if all(self._ends_thought(one) for one in openers)
        )

    def _ends_thought(self, opener: Opener) -> bool:
        ends = opener.ends_thinking or self.syntax.call_ends_thinking
        return ends and opener.place == "anywhere"


_known: OrderedDict[tuple[int, tuple[str, ...]], _Markers] = OrderedDict()
"""By the identity of the syntax, which its markers keep alive (to hash one costs more than all the
rest), and the names of the tools."""
_MOST_KNOWN = 200


def has_markers(
    text: str, syntax: Syntax, tools: Iterable[Tool | dict[str, Any]] | None = None
) -> bool:
    """Whether a whole text has anything that may be a marker; a scanner gives back any other as it
    is."""
    return _markers(syntax, offered_tools(tools or ())).stops.telling.search(text) is not None


def _markers(syntax: Syntax, tools: Mapping[str, Tool]) -> _Markers:
    is_named = syntax.tool_openers is not None
    key = (id(syntax), tuple(tools) if is_named else ())
    found = _known.get(key)
    if found is None:
        made = syntax.tool_openers(tools) if syntax.tool_openers is not None else ()
        found = _known[key] = _Markers(syntax, made)
        if len(_known) > _MOST_KNOWN:
            _known.popitem(last=False)
    return found


class _Program:
    """Reads a reply: words, thoughts, calls, in any order."""

    def __init__(self, syntax: Syntax, reader: Reader, output: Output, *, has_offer: bool) -> None:
        self._syntax = syntax
        self._has_offer = has_offer
        self._reader = reader
        self._output = output
        markers = self._markers = _markers(syntax, output.tools)
        self._openers = markers.openers
        self._thinking = markers.thinking
        self._closers = markers.closers
        self._thought_ends = markers.thought_ends
        self._may_be_in_thought = syntax.prompt_opens_thinking
        self._interrupted: tuple[str, ...] = ()
        """What should have ended a thought that a call ended."""
        self._stops = markers.stops

    def run(self, starts_in_thinking: bool) -> Reading[None]:
        """The whole reply."""
        if starts_in_thinking and self._thinking:
            yield from self._thought(*self._thinking.values())
        while True:
            if (yield from self._begins()):
                continue
            marker = yield from self._reader.until(self._stops, self._output.text, consume=False)
            if not marker:
                return
            yield from self._meet(marker)

    def _meet(self, marker: str) -> Reading[None]:
        """Read from a marker on."""
        reader, output = self._reader, self._output
        if marker in self._thinking and self._is_at(self._syntax.thinking_place):
            reader.take(len(marker))
            output.end_words()
            yield from self._thought(self._thinking[marker])
        elif marker in self._openers:
            yield from self._calls(marker)
        elif marker in output.unclosed:
            self._close(marker)
        elif marker in self._closers:
            # Text, unless it begins like a marker that opens something.
            yield from self._calls(marker)
        elif not self._has_ended_thought(marker):
            is_text = marker in self._thinking or marker in self._thought_ends
            said = reader.take(len(marker))
            output.text(said if is_text else "")

    def _has_ended_thought(self, marker: str) -> bool:
        """Whether a marker was the end of a thought that is not open; it was taken then."""
        if marker in self._interrupted:
            self._end_interrupted(marker)
        elif marker in self._thought_ends and self._may_end_unopened():
            self._end_unopened(marker)
        else:
            return False
        return True

    def _may_end_unopened(self) -> bool:
        """Whether all so far may have been a thought, with calls in it where models do that."""
        output = self._output
        may_call = self._syntax.call_ends_thinking and output.has_no_thought
        return self._may_be_in_thought and (output.has_only_words or may_call)

    def _end_unopened(self, marker: str) -> None:
        """The end of a thought that the prompt opened: what came before was told as words."""
        self._may_be_in_thought = False
        self._output.position = self._reader.position
        self._reader.take(len(marker))
        self._output.end_words()
        why = (
            f"{marker!r} ends a thought that the text does not open; it was left out, and what "
            "stands before it are words. Pass starts_in_thinking=True where the prompt opens it."
        )
        self._output.note("thought_unopened", Action.DROPPED, why)

    def _end_interrupted(self, marker: str) -> None:
        """The end of a thought in which a call stood. Words behind the call were told as such."""
        self._interrupted = ()
        self._output.position = self._reader.position
        self._reader.take(len(marker))
        if self._output.is_saying:
            self._output.end_words()
            why = f"{marker!r} ends a thought that a call had ended; words between them are words."
            self._output.note("thought_unopened", Action.DROPPED, why)

    def _close(self, marker: str) -> None:
        """A closing marker that calls wait for."""
        self._reader.take(len(marker))
        self._output.unclosed = ()
        why = f"Text stood between the calls and their {marker!r}; it was kept."
        self._output.note("text_in_call", Action.KEPT, why)

    def _thought(self, *closes: str) -> Reading[None]:
        """A thought up to its end, or up to a call that ends it.

        Models open thoughts again that the prompt, or they themselves, have just opened.
        """
        yield from self._reader.blank()
        again = [opening for opening, close in self._thinking.items() if close in closes]
        yield from self._reader.accept(*again)
        ends = stops(*closes, *self._markers.ends_thinking)
        marker = yield from self._reader.until(ends, self._output.thinking, consume=False)
        self._interrupted = ()
        if marker in closes:
            self._reader.take(len(marker))
        elif marker:
            self._interrupted = closes
        self._output.end_words()

    def _calls(self, marker: str) -> Reading[None]:
        """What stands behind a marker that may open calls."""
        reader, output = self._reader, self._output
        fitting = self._fitting(marker)
        if not fitting:
            output.text(reader.take(len(marker)))
            return
        output.position = reader.position
        output.unclosed = ()
        raw = longest = ""
        noted = len(output.findings)
        for opener in fitting:
            reader.give_back(raw)
            started, before = output.started, len(output.findings)
            mark = reader.mark()
            reader.take(len(opener.marker))
            done = yield from self._read(opener)
            raw = reader.since(mark)
            longest = max(raw, longest, key=len)
            if done or output.started > started:
                # What was said by those who could not read it means nothing.
                del output.findings[noted:before]
                return
        # As far as any of them has read: else the same text would be read again and again.
        reader.give_back(raw)
        output.text(reader.take(len(longest)))
        output.findings[noted:] = dict.fromkeys(output.findings[noted:])
        is_said = any(one.code == "call_not_offered" for one in output.findings[noted:])
        if self._syntax.is_marked and not is_said and not all(one.by_form for one in fitting):
            why = f"{marker!r} opens no call that could be read; it stays text."
            output.note("call_unreadable", Action.KEPT, why)

    def _begins(self) -> Reading[bool]:
        """Whether the reply begins with calls that have no marker before them; they were read."""
        reader, output = self._reader, self._output
        if not self._markers.beginnings or not output.has_said_nothing:
            return False
        output.position = reader.position
        for opener in self._markers.beginnings:
            started = output.started
            mark = reader.mark()
            done = yield from self._read(opener)
            raw = reader.since(mark)
            if done or output.started > started:
                return True
            reader.give_back(raw)
        return False

    def _fitting(self, marker: str) -> list[Opener]:
        """The openers that may have been meant: those of the marker, and of what it begins with."""
        begun = (marker[:end] for end in range(len(marker), 0, -1))
        known = (one for begin in begun for one in self._openers.get(begin, ()))
        return [one for one in known if self._counts(one)]

    def _read(self, opener: Opener) -> Reading[bool]:
        """Whether what follows are calls of this opener; they have been read then."""
        if opener.looks is not None and not (yield from opener.looks(self._reader)):
            return False
        is_by_form = opener.by_form or not self._syntax.is_marked
        self._output.only_offered = is_by_form and self._has_offer
        return (yield from opener.read(self._reader, self._output))

    def _counts(self, opener: Opener) -> bool:
        """Whether a marker stands where it may open calls."""
        if opener.is_guarded and self._output.is_behind_quote:
            return False
        return self._is_at(opener.place)

    def _is_at(self, place: Place) -> bool:
        if place == "start":
            return self._output.has_said_nothing
        return place == "anywhere" or self._output.at_line_start
