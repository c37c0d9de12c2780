"""Code in the words of a reply, as Markdown marks it. Nothing in it is a call."""

from collections.abc import Iterable

from canonicall.syntax.declaration import Opener, ReadCalls
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops

TICK = "`"
_FENCE_LENGTH = 3
_MOSTTICKS = 16
"""No fence is longer."""
FENCE = TICK * _FENCE_LENGTH


def code_openers(fenced: Iterable[str]) -> tuple[Opener, ...]:
    """Openers of code. `fenced` are markers that end in an opening fence: what opens no call behind
    one of them is code like any other."""
    return tuple(Opener(marker, _code(marker)) for marker in (TICK, *fenced))


def _code(marker: str) -> ReadCalls:
    """A reader of code up to as many ticks as it began with, and within a line if these are few."""

    def read(reader: Reader, output: Output) -> Reading[bool]:
        output.text(marker)
        ticks = FENCE if FENCE in marker else TICK
        if marker.endswith(TICK):
            ticks += yield from _ticks(reader, output)
        is_block = len(ticks) >= _FENCE_LENGTH
        ends = stops(ticks) if is_block else stops(ticks, "\n")
        output.text((yield from reader.until(ends, output.text)))
        yield from _ticks(reader, output)
        return True

    return read


def _ticks(reader: Reader, output: Output) -> Reading[str]:
    """Further ticks in a row."""
    taken = ""
    while len(taken) < _MOSTTICKS and (yield from reader.peek()) == TICK:
        taken += reader.take(1)
    output.text(taken)
    return taken
