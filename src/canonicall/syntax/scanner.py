"""Scans the text of a model for calls, as it streams in.

Words flow through at once; only what may be the beginning of a marker waits. A marker that turns
out to open no call is given back as text, with a finding. Never raises, whatever the text.
"""

from collections.abc import Iterable
from typing import Any

from canonicall.events import Event
from canonicall.findings import Action
from canonicall.request import Tool
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.offered import offered_tools
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.stops import Stops, stops


class TextScanner:
    """Turns the text of one reply into events."""

    def __init__(
        self,
        syntax: str | Syntax,
        *,
        tools: Iterable[Tool | dict[str, Any]] | None = None,
        starts_in_thinking: bool = False,
    ) -> None:
        self.syntax = get_syntax(syntax) if isinstance(syntax, str) else syntax
        offered = offered_tools(tools or ())
        self._output = Output(offered)
        self._reader = Reader()
        program = _Program(self.syntax, self._reader, self._output, has_offer=tools is not None)
        self._program = program.run(starts_in_thinking)
        self._closed = False
        next(self._program, None)

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
        self._reader.close()
        for _ in self._program:
            continue
        self._output.end()
        return self._output.take()


class _Program:
    """Reads a reply: words, thoughts, calls, in any order."""

    def __init__(self, syntax: Syntax, reader: Reader, output: Output, *, has_offer: bool) -> None:
        self._syntax = syntax
        self._has_offer = has_offer
        self._reader = reader
        self._output = output
        self._openers: dict[str, list[Opener]] = {}
        made = syntax.tool_openers(output.tools) if syntax.tool_openers is not None else ()
        for opener in (*syntax.openers, *made):
            self._openers.setdefault(opener.marker, []).append(opener)
        self._thinking = dict(syntax.thinking)
        self._closers = {closer for one in syntax.openers for closer in one.closers}
        self._stops = stops(*self._openers, *self._thinking, *syntax.noise, *self._closers)
        self._thinking_stops = {
            close: stops(close, *(self._marked_openers if syntax.call_ends_thinking else ()))
            for close in self._thinking.values()
        }

    @property
    def _marked_openers(self) -> list[str]:
        known = (one for openers in self._openers.values() for one in openers)
        return [one.marker for one in known if one.place == "anywhere"]

    def run(self, starts_in_thinking: bool) -> Reading[None]:
        """The whole reply."""
        if starts_in_thinking and self._syntax.thinking:
            yield from self._thought(self._syntax.thinking[0][1])
        reader, output = self._reader, self._output
        while True:
            marker = yield from reader.until(self._stops, output.text, consume=False)
            if not marker:
                return
            if marker in self._thinking:
                reader.take(len(marker))
                output.end_words()
                yield from self._thought(self._thinking[marker])
            elif marker in self._openers:
                yield from self._calls(marker)
            elif marker in self._closers:
                self._close(marker)
            else:
                reader.take(len(marker))

    def _close(self, marker: str) -> None:
        """A closing marker: text, unless calls wait for it."""
        taken = self._reader.take(len(marker))
        if marker not in self._output.unclosed:
            self._output.text(taken)
            return
        self._output.unclosed = ()
        why = f"Text stood between the calls and their {marker!r}; it was kept."
        self._output.note("text_in_call", Action.KEPT, why)

    def _thought(self, close: str) -> Reading[None]:
        """A thought up to its end, or up to a call that ends it."""
        ends: Stops = self._thinking_stops[close]
        marker = yield from self._reader.until(ends, self._output.thinking, consume=False)
        if marker == close:
            self._reader.take(len(marker))
        self._output.end_words()

    def _calls(self, marker: str) -> Reading[None]:
        """What stands behind a marker that may open calls."""
        reader, output = self._reader, self._output
        fitting = [one for one in self._openers[marker] if self._counts(one)]
        if not fitting:
            output.text(reader.take(len(marker)))
            return
        output.position = reader.position
        output.unclosed = ()
        reader.take(len(marker))
        raw = ""
        for opener in fitting:
            reader.give_back(raw)
            started = output.started
            mark = reader.mark()
            done = yield from self._read(opener)
            raw = reader.since(mark)
            if done or output.started > started:
                return
        output.text(marker + raw)
        if self._syntax.is_marked and not all(opener.by_form for opener in fitting):
            why = f"{marker!r} opens no call that could be read; it stays text."
            output.note("call_unreadable", Action.KEPT, why)

    def _read(self, opener: Opener) -> Reading[bool]:
        """Whether what follows are calls of this opener; they have been read then."""
        if opener.looks is not None and not (yield from opener.looks(self._reader)):
            return False
        is_by_form = opener.by_form or not self._syntax.is_marked
        self._output.only_offered = is_by_form and self._has_offer
        return (yield from opener.read(self._reader, self._output))

    def _counts(self, opener: Opener) -> bool:
        """Whether a marker stands where it may open calls."""
        if self._syntax.is_guarded and self._output.is_behind_quote:
            return False
        if opener.place == "start":
            return self._output.has_said_nothing
        return opener.place == "anywhere" or self._output.at_line_start
