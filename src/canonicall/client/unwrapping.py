"""The text of a call that was made as `{"input": text}`, given out while it comes.

As soon as the text under `input` has opened, all that is read of it is certain. What comes around
it cannot take it back, so it decides only what follows:

1. Nothing beside the text: that is the call.
2. Other members, before it or behind it: the tool takes nothing but its text. They are left out,
   and named.
3. No JSON any more, or a second `input`: the rest follows as it was written. A quote that was not
   escaped is in the midst of a text; nobody may take the half before it for the whole.
4. No end: the call was cut.

Without such a text the arguments themselves are the text, once they are whole. The tool can say
what is wrong with them, and nothing of them is lost.
"""

from typing import Any, NamedTuple

import msgspec

from canonicall.arguments import parse_arguments
from canonicall.blocks import ToolCall
from canonicall.growing import GrowingJson, GrowingText

_INPUT = "input"


class Unwrapped(NamedTuple):
    """What the arguments of a call say."""

    text: str
    is_cut: bool = False
    """The text was never closed."""
    left_out: tuple[str, ...] = ()
    """The members beside the text."""


class Unwrapping:
    """Reads the arguments of one call, however they are split. Nothing is read twice."""

    def __init__(self) -> None:
        self._around = GrowingJson()
        """The arguments without what stands in the text."""
        self._before: list[str] = []
        """All that came, while no text has opened."""
        self._text: GrowingText | None = None
        self._behind: list[str] = []
        """What came behind the text, as it was written."""

    def feed(self, piece: str) -> str:
        """What becomes certain with the next piece of the arguments."""
        at = 0
        if self._text is None:
            self._before.append(piece)
            at = self._open(piece)
        if self._text is None:
            return ""
        at = self._text.feed(piece, at)
        if at < len(piece):
            self._behind.append(piece[at:])
        return self._text.take()

    def end(self) -> Unwrapped:
        """Nothing more comes: what the text goes on with, behind all that was given out."""
        text = self._text
        if text is None:
            return _without_text("".join(self._before))
        if not text.is_closed and not text.is_broken:
            return Unwrapped("", is_cut=True, left_out=self._beside())
        behind = (text.unread if text.is_broken else '"') + "".join(self._behind)
        if text.is_closed:
            self._around.feed(behind)
            is_once = self._around.value[_INPUT] == ""
            if is_once and not self._around.is_broken:
                return Unwrapped("", left_out=self._beside())
        return Unwrapped(text.take() + behind)

    def _open(self, piece: str) -> int:
        """Read up to where the text opens, or all: the place behind it."""
        at = 0
        while quote := piece.find('"', at) + 1:
            self._around.feed(piece[at:quote])
            at = quote
            if self._around.open_member == _INPUT:
                self._text = GrowingText()
                self._before = []
                return at
        self._around.feed(piece[at:])
        return len(piece)

    def _beside(self) -> tuple[str, ...]:
        return tuple(name for name in self._around.value if name != _INPUT)


def unwrapped(call: ToolCall) -> Unwrapped:
    """The text of a whole call."""
    unwrapping = Unwrapping()
    given = unwrapping.feed(call.raw or "")
    return all_of(call, unwrapping, given)


def all_of(call: ToolCall, unwrapping: Unwrapping, given: str) -> Unwrapped:
    """The text of a call, all of it, of which `given` has been given out.

    Arguments that somebody has read count before their text, which may be no JSON: they were
    printed in another syntax, or repaired. What was given out stays, though.
    """
    if call.args is not None:
        read = _of_arguments(call.args, call.raw)
        if read.text.startswith(given):
            return read
    rest = unwrapping.end()
    return rest._replace(text=given + rest.text)


def _without_text(raw: str) -> Unwrapped:
    # Some hosts write the object inside a JSON text.
    args = parse_arguments(raw) if raw.lstrip().startswith('"') else None
    return Unwrapped(raw) if args is None else _of_arguments(args, raw)


def _of_arguments(args: dict[str, Any], raw: str | None) -> Unwrapped:
    text = args.get(_INPUT)
    if isinstance(text, str):
        return Unwrapped(text, left_out=tuple(name for name in args if name != _INPUT))
    return Unwrapped(raw or (msgspec.json.encode(args).decode() if args else ""))
