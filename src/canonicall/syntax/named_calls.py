"""Calls whose name stands before their arguments, with markers between the parts.

The arguments are a JSON object that is passed on as it comes. Markers inside of its strings are
part of the strings; outside of them they end it.

Decisions, where engines differ:

- Text behind the calls is kept, and so is text between a call and its closing marker.
- A closing marker that is missing changes nothing about a call that is whole.
- A call that was cut inside of its arguments is kept, marked as truncated; one that was cut before
  its name was whole is text.
- Brackets that are missing before the closing marker are mended, with a finding.
- A call without arguments is a call with none.
- Arguments that cannot be read are kept as text in `raw`; `args` is None then.
- A marker that only frames calls means nothing where it frames none, nor does a closing marker
  that closes nothing.
"""

import re
from collections.abc import Callable, Iterable

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.errors import InvalidValue
from canonicall.findings import Action
from canonicall.syntax.declaration import Opener
from canonicall.syntax.json_form import plain_value
from canonicall.syntax.json_printing import spaced_json
from canonicall.syntax.output import CallOutput, Output
from canonicall.syntax.reader import Reader, Reading, Sink
from canonicall.syntax.stops import Stops

LONGEST = 256
"""No name or id is longer; what goes on beyond is prose behind a marker that means nothing."""
BEFORE_TAG = re.compile(rf"[^<]{{1,{LONGEST}}}")
BEFORE_BRACKET = re.compile(rf"[^\[{{]{{1,{LONGEST}}}")


def frame_opener(marker: str) -> Opener:
    """A marker that only frames calls. It is more than noise: it ends a thought where calls do."""
    return Opener(marker, only_frames)


def word(reader: Reader, pattern: re.Pattern[str] = BEFORE_TAG) -> Reading[str]:
    """A name or an id, up to what cannot be part of it. Empty text if there is none."""
    yield from reader.blank()
    if pattern.match((yield from reader.peek())) is None:
        return ""
    found = yield from reader.match(pattern, LONGEST + 1)
    return "" if found is None else found[0].strip()


def read_arguments(reader: Reader, sink: Sink, ends: Stops) -> Reading[bool]:
    """Arguments, up to one of `ends`. Whether the text was cut inside of them."""
    yield from reader.blank()
    if (yield from reader.peek()) in ("{", "["):
        whole = yield from reader.json_value(sink, ends)
        return not whole and reader.at_end
    pieces: list[str] = []
    found = yield from reader.until(ends, pieces.append, consume=False)
    raw = "".join(pieces).strip()
    said = plain_value([raw])
    if isinstance(said, str):
        # JSON inside of a JSON text, or no JSON at all.
        sink(said)
    elif said is not None:
        sink(raw)
    return not found


def read_text_argument(reader: Reader, call: CallOutput, key: str, ends: Stops) -> Reading[bool]:
    """Text that is the only argument, up to one of `ends`. Whether the text was cut in it."""
    call.arguments(f'{{"{key}": "')
    found = yield from reader.until(
        ends, lambda piece: call.arguments(spaced_json(piece)[1:-1]), consume=False
    )
    if found:
        call.arguments('"}')
    return not found


def close_call(
    reader: Reader, output: Output, closers: tuple[str, ...], ends: Stops
) -> Reading[None]:
    """Take the closing marker, or what came of a marker before the text was cut."""
    yield from reader.blank()
    if (yield from reader.accept(*closers)):
        return
    if (yield from reader.comes(ends)):
        reader.take_begun(*ends.markers)
    elif not reader.at_end:
        why = "Text stood between a call and its closing marker; it was kept."
        output.note("text_in_call", Action.KEPT, why)


def name_for(call: ToolCall, fits: re.Pattern[str]) -> str:
    """The name of a call to be printed, refused if it cannot be told from what stands around it."""
    if call.name != call.name.strip() or fits.fullmatch(call.name) is None:
        raise InvalidValue(
            f"{call.name!r} cannot stand before the arguments of a call.",
            where=f"call {call.name!r}",
            help="A name must be short and have none of the characters that markers begin with.",
        )
    return call.name


def json_arguments(call: ToolCall) -> str:
    """The arguments as templates print them."""
    return spaced_json(arguments_of(call))


def framed(
    before: str, each: Callable[[ToolCall], str], after: str, between: str = ""
) -> Callable[[tuple[ToolCall, ...]], str]:
    """A printer that writes calls in a frame around all of them."""

    def print_calls(calls: Iterable[ToolCall]) -> str:
        return before + between.join(map(each, calls)) + after

    return print_calls


def only_frames(_reader: Reader, _output: Output) -> Reading[bool]:
    """Reads nothing behind a marker: what it frames is text, or has openers of its own."""
    yield from ()
    return True
