"""Keys in use, taken out of replies: hosts and models repeat what they were sent.

In: the credentials of a request, and its reply as text, bytes or events. Out: the same with `***`
in the place of a key, also where the key comes in pieces. What may be the beginning of a key waits
for what follows it, and nothing else does.

A key is found however it is spelled: as it is, percent-encoded, and with the escapes that JSON
allows, also in JSON that is itself a text in JSON. The text of a
reply is not encoded for that: whole texts are searched, and pieces of them have a quick look.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, AnyStr, Generic, TypeVar
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from canonicall.blocks import Block, Text, Thinking, ToolCall
from canonicall.client.failure import without_secrets
from canonicall.client.secrets import HIDDEN, Secret
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.reply import Reply

_LONG, _SHORT = 20, 12
_SIGN = 4
"""So many characters of a key are looked for first."""
_DEEPEST = 8
"""Backslashes before one character at most: JSON in JSON doubles them."""
_LONGEST_SPELLING = _DEEPEST + len("u0000")
_ESCAPED = "bfnrtu"
"""Letters that mean something else in JSON behind a backslash, and that keys can begin with."""
_ADDED = (TextAdded, ThinkingAdded, ArgumentsAdded)
_T = TypeVar("_T")


class KeyMask:
    """Finds the keys of one set of credentials."""

    def __init__(self, credentials: Iterable[Secret]) -> None:
        keys = {one.reveal() for one in credentials if is_key(one.reveal())}
        self.keys = tuple(sorted(keys, key=lambda key: (-len(key), key)))
        self._in_text = _Search(self.keys, _pattern(self.keys), HIDDEN, _escapes(self.keys))
        self._in_data = _Search(
            tuple(key.encode() for key in self.keys),
            _pattern(self.keys).encode(),
            HIDDEN.encode(),
            tuple((one.encode(), two.encode()) for one, two in _escapes(self.keys)),
        )
        self._longest = max(map(len, self.keys), default=0) * _LONGEST_SPELLING
        begins = "".join(key[: _SIGN - 1] for key in self.keys)
        signs = [key[:_SIGN] for key in self.keys]
        for first, sign in _escapes(self.keys):
            begins += first
            signs.append(sign[:2])
        self._firsts = tuple((key[0], key) for key in self.keys)
        self._lasts = frozenset(begins)
        self._first_of_escapes = tuple({first: None for first, _ in _escapes(self.keys)})
        self._signs = tuple(dict.fromkeys(signs))
        self.is_in = self._in_text.finds
        """Whether a key is in a text."""
        self.is_in_data = self._in_data.finds
        """Whether a key is in JSON."""

    def may_touch(self, piece: str) -> bool:
        """Whether a key, or the beginning of one at the end, can be in a piece: a quick look."""
        if piece[-1:] in self._lasts:
            return True
        if len(piece) > self._longest:
            if self.is_in(piece):
                return True
            piece = piece[-self._longest :]
        for sign in self._signs:  # noqa: SIM110  every piece of every reply comes by here
            if sign in piece:
                return True
        return False

    def text(self, text: str) -> str:
        """A text without keys."""
        return self._in_text.hidden(text)

    def data(self, data: bytes) -> bytes:
        """JSON, or an event with JSON in it, without keys."""
        return self._in_data.hidden(data)

    def cut(self, text: str) -> tuple[str, str]:
        """What can be said of a text, without keys, and its end, which may begin a key."""
        start = len(text) - self._begun(text)
        if not self.is_in(text):
            return text[:start], text[start:]
        for found in self._in_text.pattern.finditer(text):
            if found.start() >= start:
                break
            if found.end() > start:
                start = len(text) - self._begun(text[found.end() :])
        return self.text(text[:start]), text[start:]

    def _begun(self, text: str) -> int:
        """How many characters at the end of a text may be the beginning of a key."""
        for first in self._first_of_escapes:
            if first in text:
                return self._begun_in_escapes(text[-self._longest :])
        most = 0
        for first, key in self._firsts:
            at = text.find(first, 1 - len(key))
            while at >= 0:
                if key.startswith(text[at:]):
                    most = max(most, len(text) - at)
                    break
                at = text.find(first, at + 1)
        return most

    def _begun_in_escapes(self, end: str) -> int:
        firsts = {*self._first_of_escapes, *(first for first, _ in self._firsts)}
        for at, char in enumerate(end):
            if char in firsts and any(_is_begun(key, end[at:]) for key in self.keys):
                return len(end) - at
        return 0


class _Search(Generic[AnyStr]):
    """Finds whole keys in text, or in bytes."""

    def __init__(
        self,
        keys: tuple[AnyStr, ...],
        pattern: AnyStr,
        mask: AnyStr,
        escapes: tuple[tuple[AnyStr, AnyStr], ...],
    ) -> None:
        """`escapes`: a character, and a text with it, one of which a key has that is not spelled
        as it is. A character is found faster than anything else."""
        self._keys: tuple[AnyStr, ...] = keys
        self._escapes: tuple[tuple[AnyStr, AnyStr], ...] = escapes
        self.pattern: re.Pattern[AnyStr] = re.compile(pattern)
        self._mask: AnyStr = mask
        self._shortest = min(map(len, keys), default=0)

    def finds(self, text: AnyStr) -> bool:
        """Whether a key is in a text."""
        if len(text) < self._shortest:
            return False
        for key in self._keys:
            if key in text:
                return True
        for first, sign in self._escapes:
            if first in text and sign in text:
                return self.pattern.search(text) is not None
        return False

    def hidden(self, text: AnyStr) -> AnyStr:
        """A text without keys."""
        return self.pattern.sub(self._hidden, text) if self.finds(text) else text

    def _hidden(self, found: re.Match[AnyStr]) -> AnyStr:
        """What takes the place of a key. Escaped backslashes before it are not part of it."""
        return (found[found.lastindex] if found.lastindex else found[0][:0]) + self._mask


class MaskedEvents:
    """The events of one reply without keys."""

    def __init__(self, mask: KeyMask, secrets: tuple[Secret, ...]) -> None:
        """`secrets`: all that errors must not show."""
        self._mask = mask
        self._may_touch = mask.may_touch
        self._secrets = secrets
        self._waiting: dict[int, TextAdded | ThinkingAdded | ArgumentsAdded] = {}
        """By the number of the block: what may be the beginning of a key."""

    def feed(self, events: list[Event]) -> list[Event]:
        """The events that can be passed on."""
        last = events[-1]
        if len(events) == 1:
            if isinstance(last, _ADDED) and not self._waiting and not self._may_touch(last.text):
                return events
        elif type(last) is StreamEnded and self._is_harmless(events[0], last):
            return events
        made: list[Event] = []
        for event in events:
            if isinstance(event, _ADDED):
                self._add(event, made)
            else:
                self._change(event, made)
        return made

    def _is_harmless(self, first: Event, last: StreamEnded) -> bool:
        """Whether these are all events of a whole reply without keys: what they say is in it."""
        is_whole = type(first) is MessageStarted and last.complete
        return is_whole and not self._is_in_reply(last.reply)

    def _add(self, event: TextAdded | ThinkingAdded | ArgumentsAdded, made: list[Event]) -> None:
        index, text = event.index, event.text
        if index in self._waiting:
            text = self._waiting.pop(index).text + text
        elif not self._may_touch(text):
            made.append(event)
            return
        text, end = self._mask.cut(text)
        if end:
            self._waiting[index] = type(event)(index, end)
        if text:
            made.append(type(event)(index, text))

    def _change(self, event: Event, made: list[Event]) -> None:
        if type(event) is BlockStarted:
            if self._is_in_block(event.block):
                event = self._shown(event)
        elif type(event) is BlockEnded:
            made += self._left(event.index)
            if self._is_in_block(event.block):
                event = self._shown(event)
        elif type(event) is StreamEnded:
            made += [one for index in list(self._waiting) for one in self._left(index)]
            event = without_secrets(event, self._secrets)
            assert isinstance(event, StreamEnded)  # noqa: S101  it stays what it is
            if self._is_in_reply(event.reply):
                event = self._shown(event)
        else:
            if type(event) is ErrorReported:
                event = without_secrets(event, self._secrets)
            if self._is_in(event):
                event = self._shown(event)
        made.append(event)

    def _left(self, index: int) -> list[Event]:
        """What has waited in a block, when nothing more comes of it."""
        rest = self._waiting.pop(index, None)
        return [] if rest is None else [replace(rest, text=self._mask.text(rest.text))]

    def _is_in_reply(self, reply: Reply) -> bool:
        message = reply.message
        for block in message.blocks:
            if self._is_in_block(block):
                return True
        others = (message.origin, message.native, message.finish)
        return self._is_in((*others, reply.usage, reply.findings, reply.native))

    def _is_in_block(self, block: Block) -> bool:
        is_in = self._mask.is_in
        if type(block) is Text or type(block) is Thinking:
            if is_in(block.text):
                return True
        elif type(block) is ToolCall and block.raw is not None:
            # The arguments are what their text says.
            if is_in(block.raw) or is_in(block.id) or is_in(block.raw_id) or is_in(block.name):
                return True
        else:
            return self._is_in(block)
        others = (block.opaque, block.native) if block.opaque or block.native else ()
        return bool(others) and self._is_in(others)

    def _is_in(self, value: Any) -> bool:
        """Whether a key is somewhere in a value. It is small: to encode it is the fastest way."""
        return bool(self._mask.keys) and self._mask.is_in_data(msgspec.json.encode(value))

    def _shown(self, value: _T) -> _T:
        """A value without the keys that are in it."""
        data = self._mask.data(msgspec.json.encode(value))
        return msgspec.json.decode(data, type=type(value))


@lru_cache(maxsize=256)
def mask_of(credentials: tuple[Secret, ...]) -> KeyMask:
    """The mask of credentials: most requests have those of the one before."""
    return KeyMask(credentials)


def is_key(text: str) -> bool:
    """Whether a text is hidden in replies. Local servers take any word for a key; to hide `ollama`
    or `sk-no-key-required` would only garble what the model says."""
    return len(text) >= _LONG or (len(text) >= _SHORT and any(map(str.isdigit, text)))


def _pattern(keys: tuple[str, ...]) -> str:
    """Keys in all their spellings, longer ones first; nothing where there are none."""
    return "|".join(map(_spelled_key, keys)) or "(?!)"


def _spelled_key(key: str) -> str:
    first, *rest = map(_spelled, key)
    if key[0] in _ESCAPED:
        # In JSON the backslash before such a letter belongs to it, unless it is escaped itself.
        first = rf"((?:\\\\){{0,{_DEEPEST}}})(?:\\?{first}|{first})"
    return first + "".join(rest)


def _spelled(char: str) -> str:
    """One character of a key in all its spellings."""
    plain = re.escape(char)
    if char in '/"\\':
        plain = rf"\\{{0,{_DEEPEST}}}{plain}"
    escape = rf"\\{{1,{_DEEPEST}}}u{_any_case(_code(char))}"
    encoded = quote(char, safe="")
    others = f"|{_any_case(encoded)}" if encoded != char else ""
    return f"(?:{plain}|{escape}{others})"


def _escapes(keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """A character and a text with it, one of which is in each key that is not spelled as it is."""
    if not keys:
        return ()
    letters = sorted(set("".join(keys)))
    found = [("\\", f"\\{one}") for one in letters if one in '/"\\']
    found += [("%", quote(one, safe="")[:2]) for one in letters if quote(one, safe="") != one]
    codes = dict.fromkeys(f"\\u{_code(one)[:2]}" for one in letters)
    return tuple(dict.fromkeys([*(("\\", one) for one in codes), *found]))


def _code(char: str) -> str:
    return f"{ord(char):04x}"


def _any_case(text: str) -> str:
    """A pattern for hexadecimal digits in capital and small letters."""
    return "".join(f"[{one.lower()}{one.upper()}]" if one.isalpha() else one for one in text)


def _is_begun(key: str, text: str) -> bool:
    """Whether a key can begin with this text, however it is spelled."""
    at = 0
    if key[0] in _ESCAPED and (behind := text.lstrip("\\")).startswith(key[0]):
        at = len(text) - len(behind)
    for char in key:
        if at == len(text):
            return True
        found = _spelling_of(char).match(text, at)
        if found is None:
            return _begins_spelling(char, text[at:])
        at = found.end()
    return False


@lru_cache(maxsize=256)
def _spelling_of(char: str) -> re.Pattern[str]:
    return re.compile(_spelled(char))


def _begins_spelling(char: str, text: str) -> bool:
    """Whether a text is the beginning of a longer spelling of a character."""
    code = text.lstrip("\\")
    backslashes = len(text) - len(code)
    if backslashes == 0:
        encoded = quote(char, safe="")
        return encoded != char and encoded.lower().startswith(text.lower())
    return backslashes <= _DEEPEST and f"u{_code(char)}".startswith(code[:1] + code[1:].lower())
