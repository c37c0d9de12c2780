"""Text that comes in pieces, read by programs that are written as if all of it were there.

A program is a generator. Where it needs text that has not come yet it yields, and goes on when
there is more, or when there will be no more. So a syntax is one straight piece of code, and still
every piece of text is read once, whatever its size.
"""

import re
from functools import lru_cache

from canonicall.syntax.stops import NEVER, Stops
from canonicall.syntax.text_reader import Reading, Sink, TextReader

__all__ = ["Reader", "Reading", "Sink"]

_STRING_END = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}
_COMMENT = re.compile(r"//[ \t][^\r\n]*[\r\n]|/\*.*?\*/", re.DOTALL)
_COMMENT_BEGUN = re.compile(r"/(?:/(?:[ \t][^\r\n]*)?|\*(?:(?!\*/).)*)?\Z", re.DOTALL)
_LONGEST_COMMENT = 256
"""What is longer is no comment."""
_SCALAR_END = re.compile(r"[\s,\]})<:;]|\Z")


class Reader(TextReader):
    """Takes text, and whole values of JSON from it."""

    def comment(self) -> Reading[str]:
        """Take a comment, if one comes next."""
        found = yield from self.match(_COMMENT, _LONGEST_COMMENT, _COMMENT_BEGUN)
        return "" if found is None else found[0]

    def json_value(self, sink: Sink, ends: Stops = NEVER) -> Reading[bool]:
        """Give the text of one JSON value to `sink` as it comes. Whether it came to its end.

        Both kinds of quotes are understood, as models write both, and comments. Nothing is parsed
        here. `ends`
        are markers that no JSON has outside of its strings: a value that meets one was left open.
        """
        first = yield from self.peek()
        if first in ("{", "["):
            return (yield from self._container(sink, ends))
        if first in ('"', "'"):
            return (yield from self._string(sink))
        return (yield from self._scalar(sink))

    def _container(self, sink: Sink, ends: Stops) -> Reading[bool]:
        depth, quote, at = 0, "", self._at
        structure = _structure(ends)
        while True:
            found = (_STRING_END[quote] if quote else structure).search(self._text, at)
            char = "" if found is None else found[0]
            if found is None or self._may_go_on(found, quote, ends):
                self._give(len(self._text) if found is None else found.start(), sink)
                if self._closed:
                    self._give(len(self._text), sink)
                    return False
                if found is None:
                    self._flow = (_STRING_END[quote] if quote else structure, sink)
                yield
                at = self._at
                continue
            at = found.end()
            if quote:
                at += char == "\\"
                quote = "" if char == quote else quote
            elif ends.stands_at(self._text, found.start()):
                self._give(found.start(), sink)
                return False
            elif char in "\"'":
                quote = char
            elif char in "{}[]":
                depth += 1 if char in "{[" else -1
                if not depth:
                    self._give(at, sink)
                    return True
            else:
                at = self._behind_comment(found)

    def _may_go_on(self, found: re.Match[str], quote: str, ends: Stops) -> bool:
        """Whether only more text can tell what was found at the end of what is there."""
        if quote:
            return found[0] == "\\" and found.end() == len(self._text)
        if self._closed:
            return False
        is_comment = found[0] == "/" and self._is_comment_begun(found)
        return is_comment or ends.begins_at(self._text, found.start())

    def _is_comment_begun(self, found: re.Match[str]) -> bool:
        near = self._text[found.start() : found.start() + _LONGEST_COMMENT]
        return len(near) < _LONGEST_COMMENT and _COMMENT_BEGUN.match(near) is not None

    def _behind_comment(self, found: re.Match[str]) -> int:
        """Where a comment ends that begins here; if there is none, behind the character."""
        near = self._text[found.start() : found.start() + _LONGEST_COMMENT]
        comment = _COMMENT.match(near)
        return found.end() if comment is None else found.start() + comment.end()

    def _string(self, sink: Sink) -> Reading[bool]:
        quote = self._text[self._at]
        at = self._at + 1
        while True:
            found = _STRING_END[quote].search(self._text, at)
            is_open_escape = (
                found is not None and found[0] == "\\" and found.end() == len(self._text)
            )
            if found is not None and found[0] == quote:
                self._give(found.end(), sink)
                return True
            if found is not None and not is_open_escape:
                at = found.end() + 1
                continue
            self._give(found.start() if found is not None else len(self._text), sink)
            if self._closed:
                self._give(len(self._text), sink)
                return False
            yield
            at = self._at

    def _scalar(self, sink: Sink) -> Reading[bool]:
        while True:
            found = _SCALAR_END.search(self._text, self._at)
            end = len(self._text) if found is None else found.start()
            self._give(end, sink)
            if self._at < len(self._text) or self._closed:
                return True
            yield


@lru_cache(maxsize=512)
def _structure(ends: Stops) -> re.Pattern[str]:
    """Where JSON opens, closes or quotes, or where a marker may stand."""
    firsts = "".join(sorted({re.escape(one[0]) for one in ends.markers}))
    return re.compile(rf"""["'{{}}\[\]/{firsts}]""")
