"""JSON that is still growing: what it says so far, without reading anything twice.

Each piece is read once, when it comes. Members that are whole are in the value for good; a text
that is still open is put together when somebody asks for it.
"""

import json
import re
from typing import Any

import msgspec

_STRUCTURE = re.compile(r'[{}\[\],:"]')
_STRING_END = re.compile(r'["\\]')
_OPEN_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{0,3})?\Z")
_HIGH_SURROGATE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}(\\(u[0-9a-fA-F]{0,3})?)?\Z")
_NOTHING: Any = object()


class GrowingJson:
    """One JSON value that comes in pieces."""

    def __init__(self) -> None:
        self.is_whole = False
        """The value has been closed: nothing more can belong to it."""
        self.is_broken = False
        """What came is no JSON; the value keeps what was read before that."""
        self._root: Any = _NOTHING
        self._stack: list[dict[str, Any] | list[Any]] = []
        self._keys: list[str | None] = []
        """For each open container the key that waits for its value, None where there is none."""
        self._string: list[str] | None = None
        self._escaped = False
        self._scalar: list[str] = []
        self._shown: list[Any] | None = None
        """The list whose last item is an open text that somebody asked for."""

    def feed(self, text: str) -> None:
        """Take the next piece in."""
        at = 0
        while at < len(text) and not self.is_broken:
            step = self._outside if self._string is None else self._inside
            at = step(text, at)

    @property
    def value(self) -> Any:
        """What is known so far; None while there is nothing.

        It is the live value: read it, do not change it. An open text costs its own length.
        """
        if self._string is not None and not self._is_key_next():
            self._show_open_text(self._string)
        return None if self._root is _NOTHING else self._root

    def _outside(self, text: str, at: int) -> int:
        found = _STRUCTURE.search(text, at)
        end = len(text) if found is None else found.start()
        between = text[at:end].strip()
        if between:
            self._scalar.append(between)
            self.is_broken = self.is_whole
        if found is None:
            return end
        match found[0]:
            case '"':
                self._string = []
                self.is_broken = self.is_whole or bool(self._scalar)
            case "{":
                self._open({})
            case "[":
                self._open([])
            case "," | ":":
                self._end_scalar()
                self.is_broken |= not self._stack
            case closing:
                self._close(closing)
        return found.end()

    def _inside(self, text: str, at: int) -> int:
        """Read on inside a text, up to its end."""
        string = self._string if self._string is not None else []
        if self._escaped:
            self._escaped = False
            string.append(text[at])
            return at + 1
        found = _STRING_END.search(text, at)
        if found is None:
            string.append(text[at:])
            return len(text)
        string.append(text[at : found.start()])
        if found[0] == "\\":
            string.append("\\")
            self._escaped = True
        else:
            self._end_string(string)
        return found.end()

    def _open(self, container: dict[str, Any] | list[Any]) -> None:
        self.is_broken |= self.is_whole or bool(self._scalar) or self._is_key_next()
        if not self.is_broken:
            self._put(container)
            self._stack.append(container)
            self._keys.append(None)

    def _close(self, closing: str) -> None:
        self._end_scalar()
        wanted = dict if closing == "}" else list
        if not self._stack or not isinstance(self._stack[-1], wanted):
            self.is_broken = True
            return
        self._stack.pop()
        self._keys.pop()
        self.is_whole = not self._stack

    def _end_string(self, pieces: list[str]) -> None:
        self._string = None
        value = _unescaped("".join(pieces))
        if value is None:
            self.is_broken = True
        elif self._is_key_next():
            self._keys[-1] = value
        else:
            self._put(value)
            self.is_whole = not self._stack

    def _end_scalar(self) -> None:
        if not self._scalar:
            return
        try:
            self._put(msgspec.json.decode("".join(self._scalar)))
        except msgspec.DecodeError:
            self.is_broken = True
        self._scalar = []

    def _is_key_next(self) -> bool:
        """Whether the next text is a key."""
        return bool(self._stack) and isinstance(self._stack[-1], dict) and self._keys[-1] is None

    def _put(self, value: Any) -> None:
        """Put a value where it belongs."""
        if not self._stack:
            self._root = value
            return
        container = self._stack[-1]
        if isinstance(container, list):
            if self._shown is container:
                container.pop()
                self._shown = None
            container.append(value)
            return
        key = self._keys[-1]
        if key is None:
            self.is_broken = True
            return
        container[key] = value
        self._keys[-1] = None

    def _show_open_text(self, pieces: list[str]) -> None:
        """Put the text that is still open where it will stand. It is replaced as it grows."""
        raw = "".join(pieces)
        self._string = [raw]
        shown = _unescaped(_HIGH_SURROGATE.sub("", _OPEN_ESCAPE.sub("", raw)))
        if shown is None:
            return
        if not self._stack:
            self._root = shown
        elif isinstance(container := self._stack[-1], dict):
            container[self._keys[-1] or ""] = shown
        elif self._shown is container:
            container[-1] = shown
        else:
            container.append(shown)
            self._shown = container


def _unescaped(raw: str) -> str | None:
    """The text that stands between quotes as `raw`; None if it is not well-formed."""
    if "\\" not in raw:
        return raw
    try:
        value = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        return None
    return value if isinstance(value, str) else None
