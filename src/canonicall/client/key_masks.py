"""Keys in use, taken out of replies: hosts and models repeat what they were sent.

In: the credentials of a request, and its reply as text, bytes or events. Out: the same with `***`
in the place of a key, also where the key comes in pieces. What may be the beginning of a key waits
for what follows it: at most one character less than the key has, and nothing where none begins so.

A key is looked for as it is, percent-encoded, and with the escapes that JSON may have for it.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from canonicall.blocks import Block, ToolCall
from canonicall.client.failure import without_secrets
from canonicall.client.secrets import HIDDEN, Secret
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.reply import Reply

_LONG, _SHORT = 20, 12
_SIGN = 4
"""So many characters of a key are looked for first."""
_ADDED = (TextAdded, ThinkingAdded, ArgumentsAdded)
_ESCAPES = (b"\\u00", b"\\/")
"""Escapes that JSON needs for nothing a key is made of, and that some hosts write all the same."""
_T = TypeVar("_T")


class KeyMask:
    """Finds the keys of one set of credentials."""

    def __init__(self, credentials: Iterable[Secret]) -> None:
        keys = [one.reveal() for one in credentials if is_key(one.reveal())]
        forms = {form for key in keys for form in _forms(key)}
        self.forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self._data = tuple(form.encode() for form in self.forms)
        self._signs = tuple(dict.fromkeys(form[:_SIGN] for form in self.forms))
        self._lasts = frozenset("".join(form[: _SIGN - 1] for form in self.forms))

    def may_touch(self, text: str) -> bool:
        """Whether a key, or the beginning of one at the end, can be in a text: a quick look."""
        if text[-1:] in self._lasts:
            return True
        for sign in self._signs:  # noqa: SIM110  every piece of every reply comes by here
            if sign in text:
                return True
        return False

    def text(self, text: str) -> str:
        """A text without keys."""
        for form in self.forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        return text

    def data(self, data: bytes) -> bytes:
        """Bytes without keys."""
        for form in self._data:
            if form in data:
                data = data.replace(form, HIDDEN.encode())
        return data

    def json(self, data: bytes) -> bytes:
        """A JSON value without keys, whatever escapes they are written with."""
        if self.is_escaped(data):
            try:
                value = msgspec.json.decode(data)
                plain = msgspec.json.encode(value)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                return self.data(data)
            shown = self.data(plain)
            return self.data(data) if shown == plain else shown
        return self.data(data)

    def is_escaped(self, data: bytes) -> bool:
        """Whether a key may be in JSON with escapes that it does not need."""
        if b"\\" not in data or not self.forms:
            return False
        return any(escape in data for escape in _ESCAPES)

    def begun(self, text: str) -> int:
        """How many characters at the end of a text may be the beginning of a key."""
        longest = 0
        for form in self.forms:
            for size in range(min(len(form) - 1, len(text)), longest, -1):
                if text.endswith(form[:size]):
                    longest = size
                    break
        return longest


class MaskedEvents:
    """The events of one reply without keys."""

    def __init__(self, mask: KeyMask, secrets: tuple[Secret, ...]) -> None:
        """`secrets`: all that errors must not show."""
        self._mask = mask
        self._secrets = secrets
        self._waiting: dict[int, TextAdded | ThinkingAdded | ArgumentsAdded] = {}
        """By the number of the block: what may be the beginning of a key."""

    def feed(self, events: list[Event]) -> list[Event]:
        """The events that can be passed on."""
        mask, waiting = self._mask, self._waiting
        if len(events) == 1 and not waiting:
            only = events[0]
            if type(only) is TextAdded and not mask.may_touch(only.text):
                return events
        made: list[Event] = []
        for event in events:
            if isinstance(event, _ADDED):
                if waiting or mask.may_touch(event.text):
                    self._add(event, made)
                else:
                    made.append(event)
            else:
                self._change(event, made)
        return made

    def _add(self, event: TextAdded | ThinkingAdded | ArgumentsAdded, made: list[Event]) -> None:
        before = self._waiting.pop(event.index, None)
        whole = event.text if before is None else before.text + event.text
        text = self._mask.text(whole)
        size = self._mask.begun(text)
        if size:
            self._waiting[event.index] = replace(event, text=text[-size:])
            text = text[:-size]
        if text:
            made.append(event if text == event.text else replace(event, text=text))

    def _change(self, event: Event, made: list[Event]) -> None:
        match event:
            case BlockStarted():
                event = replace(event, block=self._block(event.block))
            case BlockEnded():
                if (rest := self._waiting.pop(event.index, None)) is not None:
                    made.append(rest)
                event = replace(event, block=self._block(event.block))
            case StreamEnded():
                made += self._waiting.values()
                self._waiting.clear()
                shown = without_secrets(event, self._secrets)
                assert isinstance(shown, StreamEnded)  # noqa: S101  it stays what it is
                event = replace(shown, reply=self._reply(shown.reply))
            case ErrorReported():
                event = without_secrets(event, self._secrets)
        made.append(event)

    def _block(self, block: Block) -> Block:
        shown: Block = self._shown(block, Block)
        return shown if shown is block else _consistent(block, shown)

    def _reply(self, reply: Reply) -> Reply:
        shown = self._shown(reply, Reply)
        if shown is reply:
            return reply
        pairs = zip(reply.message.blocks, shown.message.blocks, strict=True)
        blocks = tuple(_consistent(block, masked) for block, masked in pairs)
        return replace(shown, message=replace(shown.message, blocks=blocks))

    def _shown(self, value: _T, kind: Any) -> _T:
        if not self._mask.forms:
            return value
        data = msgspec.json.encode(value)
        shown = self._mask.data(data)
        if shown == data:
            return value
        made: _T = msgspec.json.decode(shown, type=kind)
        return made


def _consistent(block: Block, shown: Block) -> Block:
    """A call whose arguments had a key in them has no text of them that has it in other escapes."""
    if not isinstance(block, ToolCall) or not isinstance(shown, ToolCall):
        return shown
    is_other = shown.args != block.args and shown.raw == block.raw
    return replace(shown, raw=None) if is_other else shown


@lru_cache(maxsize=256)
def mask_of(credentials: tuple[Secret, ...]) -> KeyMask:
    """The mask of credentials: most requests have those of the one before."""
    return KeyMask(credentials)


def is_key(text: str) -> bool:
    """Whether a text is hidden in replies. Local servers take any word for a key; to hide `ollama`
    or `sk-no-key-required` would only garble what the model says."""
    return len(text) >= _LONG or (len(text) >= _SHORT and any(map(str.isdigit, text)))


def _forms(key: str) -> Iterator[str]:
    yield key
    encoded = quote(key, safe="")
    yield encoded
    yield "".join(part.lower() if part[:1] == "%" else part for part in _escaped(encoded))
    yield key.replace("/", "\\/")
    yield msgspec.json.encode(key).decode()[1:-1]


def _escaped(text: str) -> Iterator[str]:
    """A percent-encoded text cut into its escapes and what is between them."""
    first, *rest = text.split("%")
    yield first
    for part in rest:
        yield f"%{part[:2]}"
        yield part[2:]
