"""The value of one argument that stands as bare text between tags.

Nothing in such a value is escaped, so it may contain its own closing tag. A closing tag counts only
if something follows that may stand there: the next argument, the end of the call, of the block or
of the turn, or the end of the text. A string is passed on as it comes; no more of it is held back
than the longest tag and what has to be looked at behind it. Values of other types wait for their
end.
"""

from msgspec import Struct

from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import Stops, stops
from canonicall.syntax.typed_values import (
    escaped,
    is_text,
    is_text_or_null,
    json_of,
    json_or_text,
)
from canonicall.syntax.xml_arguments import Arguments

_NULL = "null"
_LONGEST_NULL = 16
"""No longer text than this, with its white space, is looked at for being null."""


class ValueEnds(Struct, frozen=True):
    """The tags that end a value, each with what has to follow for it to count."""

    closed: tuple[str, ...]
    """Closing tags of the value. They are taken."""
    then: tuple[str, ...] = ()
    """What may follow one of them; empty where anything may."""
    unclosed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Tags that end a value whose own closing tag is missing. They are not taken."""

    @property
    def stops(self) -> Stops:
        return stops(*self.closed, *(tag for tag, _ in self.unclosed))


class ValueKind(Struct, frozen=True):
    """What is known about a value before it is read."""

    types: tuple[str, ...] = ()
    says_json: bool = False
    """The syntax itself says that it is JSON; else the schema decides."""
    is_trimmed: bool = False
    """One line end at the beginning and one at the end belong to the tags."""
    is_paired: bool = False
    """The one at the end does so only if there is one at the beginning."""

    @property
    def streams(self) -> bool:
        """Whether it can be passed on before its end is seen."""
        return not self.says_json and (is_text(self.types) or is_text_or_null(self.types))


def read_value(
    reader: Reader, arguments: Arguments, key: str, kind: ValueKind, ends: ValueEnds
) -> Reading[bool]:
    """One value up to its end. False if the text ended inside it."""
    value = _Streamed(arguments, key, kind) if kind.streams else _Waiting(arguments, key, kind)
    whole = yield from _until_end(reader, value, ends)
    value.end(whole)
    return whole


def read_raw(reader: Reader, ends: ValueEnds) -> Reading[tuple[str, bool]]:
    """The text of a value up to its end, and whether the end came."""
    value = _Raw()
    whole = yield from _until_end(reader, value, ends)
    return "".join(value.pieces), whole


class _Raw:
    """A value of which only the text is wanted."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def add(self, piece: str) -> None:
        self.pieces.append(piece)


def _until_end(reader: Reader, value: "_Raw", ends: ValueEnds) -> Reading[bool]:
    unclosed = dict(ends.unclosed)
    while True:
        tag = yield from reader.until(ends.stops, value.add, consume=False)
        if not tag:
            return False
        follows = unclosed.get(tag, ends.then)
        if not follows or (yield from reader.follows(len(tag), *follows, *reader.turn_ends)):
            if tag not in unclosed:
                reader.take(len(tag))
            return True
        value.add(reader.take(len(tag)))


class _Streamed(_Raw):
    """A string, passed on as it comes."""

    def __init__(self, arguments: Arguments, key: str, kind: ValueKind) -> None:
        super().__init__()
        self._arguments = arguments
        self._begin = arguments.key(key) + '"'
        self._trims = kind.is_trimmed
        self._is_paired = kind.is_paired
        self._may_be_null = is_text_or_null(kind.types)
        self._held = ""
        self._is_begun = False

    def add(self, piece: str) -> None:
        text = self._held + piece
        if not self._is_begun:
            if self._may_be_null and _may_become_null(text):
                self._held = text
                return
            self._arguments.write(self._begin)
            has_line = text[:1] == "\n"
            text = text[1:] if self._trims and has_line else text
            self._trims = self._trims and (has_line or not self._is_paired)
            self._is_begun = True
        self._held = "\n" if self._trims and text[-1:] == "\n" else ""
        self._arguments.write(escaped(text[: len(text) - len(self._held)]))

    def end(self, whole: bool) -> None:
        if not self._is_begun and self._may_be_null and _is_null(self._held):
            self._arguments.write(f"{self._begin[:-1]}null")
            return
        if not self._is_begun:
            self._may_be_null = False
            held, self._held = self._held, ""
            self.add(held)
        if whole:
            self._arguments.write('"')


class _Waiting(_Raw):
    """A value that is told when all of it is there."""

    def __init__(self, arguments: Arguments, key: str, kind: ValueKind) -> None:
        super().__init__()
        self._arguments = arguments
        self._key = key
        self._kind = kind

    def end(self, whole: bool) -> None:
        raw = "".join(self.pieces)
        if not whole:
            self._arguments.cut(self._key, raw)
            return
        if self._kind.is_trimmed and (raw[:1] == "\n" or not self._kind.is_paired):
            raw = trimmed(raw)
        convert = json_or_text if self._kind.says_json else json_of
        written, was_mended = convert(raw, self._kind.types)
        if was_mended:
            self._arguments.mended(self._key)
        self._arguments.member(self._key, written)


def trimmed(raw: str) -> str:
    """Text without one line end at its beginning and one at its end."""
    raw = raw.removeprefix("\n")
    return raw.removesuffix("\n")


def _may_become_null(text: str) -> bool:
    said = text.strip().lower()
    return len(text) <= _LONGEST_NULL and _NULL.startswith(said)


def _is_null(text: str) -> bool:
    return text.strip().lower() == _NULL
