"""JSON that is still growing: what it says so far, without reading anything twice.

Each piece is read once, when it comes. Members that are whole are in the value for good; a text
that is still open is put together when somebody asks for it.
"""

import re
from typing import Any

import msgspec

_STRUCTURE = re.compile(r'[{}\[\],:"]')
_STRING_END = re.compile(r'["\\]')
_BLANK = " \t\r\n"
_SCALAR_START = "-0123456789tfn"
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_NOTHING: Any = object()

# What may come next, as the first characters of the tokens; "0" stands for every scalar.
_VALUE = '"{[0'
_FIRST_ITEM = '"{[0]'
_FIRST_KEY = '"}'
_KEY = '"'
_COLON = ":"
_NEXT_ITEM = ",]"
_NEXT_MEMBER = ",}"
_END = ""


class GrowingText:
    """The inside of one JSON text that comes in pieces: what stands between its quotes."""

    # Every text of every growing value is one.
    __slots__ = ("_has_surrogates", "_pieces", "is_broken", "is_closed", "unread")

    def __init__(self) -> None:
        self.is_closed = False
        """The closing quote has come."""
        self.is_broken = False
        """An escape came that JSON does not have; `unread` has it as it was written."""
        self.unread = ""
        """An escape of which more has to come."""
        self._pieces: list[str] = []
        self._has_surrogates = False

    def feed(self, text: str, at: int = 0) -> int:
        """Read `text` from `at` on; the place behind what belongs to this text."""
        while at < len(text) and not self.is_closed and not self.is_broken:
            at = self._in_escape(text, at) if self.unread else self._outside_escapes(text, at)
        return at

    @property
    def so_far(self) -> str:
        """All that is certain. It costs its own length."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._sound(self._pieces[0]) if self._pieces else ""

    def take(self) -> str:
        """What has become certain since this was called last: each part is given out once."""
        if not self._pieces:
            return ""
        text = "".join(self._pieces)
        waits = self._has_surrogates and self._ends_in_half(text)
        self._pieces = [text[-1]] if waits else []
        return self._sound(text)

    def _sound(self, text: str) -> str:
        """What can be sent: escaped pairs of surrogates are one character, a half is U+FFFD.

        A half at the end waits: it becomes another character with the other half.
        """
        if not self._has_surrogates:
            return text
        certain = text[:-1] if self._ends_in_half(text) else text
        return certain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _ends_in_half(self, text: str) -> bool:
        is_open = not self.is_closed and not self.is_broken
        return is_open and "\ud800" <= text[-1:] <= "\udbff"

    def _outside_escapes(self, text: str, at: int) -> int:
        """Read up to the end, or to the next escape."""
        found = _STRING_END.search(text, at)
        end = len(text) if found is None else found.start()
        if end > at:
            self._pieces.append(text[at:end])
        if found is None:
            return end
        if found[0] == "\\":
            self.unread = "\\"
        else:
            self.is_closed = True
        return found.end()

    def _in_escape(self, text: str, at: int) -> int:
        """Take in one more character of an escape."""
        char = text[at]
        self.unread += char
        size = len(self.unread)
        if size == 2 and char in _ESCAPES:
            self._pieces.append(_ESCAPES[char])
            self.unread = ""
        elif (size == 2 and char != "u") or (size > 2 and char not in _HEX_DIGITS):
            self.is_broken = True
        elif size == 6:
            code = int(self.unread[-4:], 16)
            self._has_surrogates |= 0xD800 <= code < 0xE000
            self._pieces.append(chr(code))
            self.unread = ""
        return at + 1


class GrowingJson:
    """One JSON value that comes in pieces."""

    def __init__(self) -> None:
        self.is_whole = False
        """The value has been closed: nothing more can belong to it. A bare number never is."""
        self.is_broken = False
        """What came is no JSON; the value keeps what was read before that."""
        self._expected = _VALUE
        self._root: Any = _NOTHING
        self._stack: list[dict[str, Any] | list[Any]] = []
        self._keys: list[str] = []
        """For each open container the key that waits for its value."""
        self._text: GrowingText | None = None
        """The text that is open: a key or a value."""
        self._scalar: list[str] = []
        self._shown: list[Any] | None = None
        """The list whose last item is an open text that somebody asked for."""

    def feed(self, text: str) -> None:
        """Take the next piece in."""
        at = 0
        while at < len(text) and not self.is_broken:
            said = self._text
            if said is None:
                at = self._outside(text, at)
                continue
            at = said.feed(text, at)
            self.is_broken = said.is_broken
            if said.is_closed:
                self._end_text(said.so_far)

    @property
    def value(self) -> Any:
        """What is known so far; None while there is nothing.

        It is the live value: read it, do not change it. An open text costs its own length.
        """
        if self._text is not None and not self._is_key():
            self._show_open_text(self._text.so_far)
        return None if self._root is _NOTHING else self._root

    @property
    def open_member(self) -> str | None:
        """The member of the outermost object whose text is open; None while there is no such."""
        is_value = self._text is not None and not self._is_key()
        if not is_value or len(self._stack) != 1 or isinstance(self._stack[0], list):
            return None
        return self._keys[0]

    def _outside(self, text: str, at: int) -> int:
        """Read up to the next sign that has a meaning, and take it in."""
        found = _STRUCTURE.search(text, at)
        end = len(text) if found is None else found.start()
        self._add_to_scalar(text[at:end])
        if found is None or self.is_broken:
            return end
        self._end_scalar()
        self.is_broken |= found[0] not in self._expected
        if not self.is_broken:
            self._take(found[0])
        return found.end()

    def _take(self, sign: str) -> None:
        """Take a sign in that may stand here."""
        match sign:
            case '"':
                self._text = GrowingText()
            case "{":
                self._open({}, _FIRST_KEY)
            case "[":
                self._open([], _FIRST_ITEM)
            case "," if self._expected == _NEXT_MEMBER:
                self._expected = _KEY
            case "," | ":":
                self._expected = _VALUE
            case _:
                self._stack.pop()
                self._keys.pop()
                self._expect_next()

    def _add_to_scalar(self, between: str) -> None:
        """Keep what stands between two signs: a number, true, false, null, or blanks."""
        if self._scalar:
            self._scalar.append(between)
        elif start := between.lstrip(_BLANK):
            self._scalar.append(start)
            self.is_broken = "0" not in self._expected or start[0] not in _SCALAR_START

    def _end_scalar(self) -> None:
        if not self._scalar:
            return
        try:
            self._put(msgspec.json.decode("".join(self._scalar)))
        except (msgspec.DecodeError, UnicodeEncodeError):
            self.is_broken = True
        self._scalar = []

    def _open(self, container: dict[str, Any] | list[Any], expected: str) -> None:
        self._place(container)
        self._stack.append(container)
        self._keys.append("")
        self._expected = expected

    def _end_text(self, text: str) -> None:
        self._text = None
        if self._is_key():
            self._keys[-1] = text
            self._expected = _COLON
        else:
            self._put(text)

    def _is_key(self) -> bool:
        """Whether the text that may stand here is a key."""
        return self._expected in (_FIRST_KEY, _KEY)

    def _put(self, value: Any) -> None:
        """Put a value in that is whole."""
        self._place(value)
        self._shown = None
        self._expect_next()

    def _place(self, value: Any) -> None:
        """Put a value where it belongs; in a list it takes the place of what was shown of it."""
        if not self._stack:
            self._root = value
        elif isinstance(container := self._stack[-1], dict):
            container[self._keys[-1]] = value
        elif self._shown is container:
            container[-1] = value
        else:
            container.append(value)

    def _expect_next(self) -> None:
        """What may come behind a value."""
        if not self._stack:
            self.is_whole = True
            self._expected = _END
        else:
            self._expected = _NEXT_MEMBER if isinstance(self._stack[-1], dict) else _NEXT_ITEM

    def _show_open_text(self, text: str) -> None:
        """Put the text that is still open where it will stand. It is replaced as it grows."""
        self._place(text)
        if self._stack and isinstance(self._stack[-1], list):
            self._shown = self._stack[-1]
