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
        self._text: list[str] | None = None
        """The text that is open: a key or a value."""
        self._escape = ""
        self._has_surrogates = False
        self._scalar: list[str] = []
        self._shown: list[Any] | None = None
        """The list whose last item is an open text that somebody asked for."""

    def feed(self, text: str) -> None:
        """Take the next piece in."""
        at = 0
        while at < len(text) and not self.is_broken:
            if self._text is None:
                at = self._outside(text, at)
            elif self._escape:
                at = self._in_escape(text, at, self._text)
            else:
                at = self._inside(text, at, self._text)

    @property
    def value(self) -> Any:
        """What is known so far; None while there is nothing.

        It is the live value: read it, do not change it. An open text costs its own length.
        """
        if self._text is not None and not self._is_key():
            self._show_open_text(self._text)
        return None if self._root is _NOTHING else self._root

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
                self._text = []
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

    def _inside(self, text: str, at: int, said: list[str]) -> int:
        """Read on inside a text, up to its end or to the next escape."""
        found = _STRING_END.search(text, at)
        end = len(text) if found is None else found.start()
        if end > at:
            said.append(text[at:end])
        if found is None:
            return end
        if found[0] == "\\":
            self._escape = "\\"
        else:
            self._end_text(said)
        return found.end()

    def _in_escape(self, text: str, at: int, said: list[str]) -> int:
        """Take in one more character of an escape."""
        char = text[at]
        self._escape += char
        size = len(self._escape)
        if size == 2 and char in _ESCAPES:
            said.append(_ESCAPES[char])
            self._escape = ""
        elif (size == 2 and char != "u") or (size > 2 and char not in _HEX_DIGITS):
            self.is_broken = True
        elif size == 6:
            code = int(self._escape[-4:], 16)
            self._has_surrogates |= 0xD800 <= code < 0xE000
            said.append(chr(code))
            self._escape = ""
        return at + 1

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

    def _end_text(self, said: list[str]) -> None:
        text = self._joined(said)
        self._text = None
        self._has_surrogates = False
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

    def _show_open_text(self, said: list[str]) -> None:
        """Put the text that is still open where it will stand. It is replaced as it grows."""
        text = "".join(said)
        said[:] = [text]
        # Half a pair is not shown: it becomes another character with the other half.
        is_half = text[-1:] >= "\ud800" and text[-1:] <= "\udbff"
        self._place(self._joined([text[:-1]] if is_half else said))
        if self._stack and isinstance(self._stack[-1], list):
            self._shown = self._stack[-1]

    def _joined(self, said: list[str]) -> str:
        """The text so far. Escaped pairs of surrogates become one character, a half U+FFFD."""
        text = "".join(said)
        if not self._has_surrogates:
            return text
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
