"""Events that are the one before with another text in it.

Nearly all events of a stream are: a few more words, a few more characters of arguments, and the
same bytes around them. Such an event need not be taken apart again. It is recognised by its bytes,
and by nothing less: what stands between them has to be one JSON string, so it cannot be anything
else than the event before with that string in the place of the other.
"""

from typing import Any, Self

import msgspec

_text = msgspec.json.Decoder(str).decode
_MARK = "\u2042 canonicall \u2042"
"""A text that no stream has."""


class Repeated:
    """The bytes around the text of one event."""

    def __init__(self, before: bytes, after: bytes) -> None:
        """`before` ends and `after` begins with the quotation marks of the text."""
        self._before = before
        self._start = len(before) - 1
        self._after = after
        self._end = 1 - len(after)
        self._bare = after.replace(b" ", b"") if after.count(b'"') == 1 else b""
        """What follows without its blanks, where no string follows: providers pad events."""

    @classmethod
    def learn(
        cls, data: bytes, payload: bytes, text: str, path: tuple[str | int, ...]
    ) -> Self | None:
        """The bytes of `data` around `text`, if that stands at `path` of its payload."""
        said = msgspec.json.encode(text)
        at = data.rfind(said)
        start = len(data) - len(payload) - 2
        if at < start or not data.endswith(payload + b"\n\n"):
            return None
        before, after = data[: at + 1], data[at + len(said) - 1 :]
        marked = before[start:] + _MARK.encode() + after
        return cls(before, after) if _stands_at(path, marked) else None

    def text_in(self, data: bytes) -> str | None:
        """The text of `data` if it is the same event, None if it is another."""
        if not data.startswith(self._before):
            return None
        if data.endswith(self._after):
            said = data[self._start : self._end]
        else:
            end = data.rfind(b'"')
            if not data.endswith(b"\n\n") or data[end:].replace(b" ", b"") != self._bare:
                return None
            said = data[self._start : end + 1]
        try:
            return _text(said)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None


def _stands_at(path: tuple[str | int, ...], marked: bytes) -> bool:
    """Whether the mark is the text at `path`."""
    try:
        value: Any = msgspec.json.decode(marked)
        for step in path:
            value = value[step]
    except (msgspec.DecodeError, LookupError, TypeError):
        return False
    return bool(value == _MARK)
