"""Calls that are JSON: an object with a name and arguments, a list of such, or several in a row.

The arguments are passed on as they come, character for character. Where they stand before the name,
or are JSON inside a JSON text, they wait until both are known.
"""

import msgspec
from msgspec import Struct

from canonicall.findings import Action
from canonicall.syntax.declaration import Looks, ReadCalls
from canonicall.syntax.output import CallOutput, Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.repair import repaired_value
from canonicall.syntax.stops import stops

_INNER = ("function", "tool_call", "toolCall", "function_call")
_SEPARATORS = (",", ";")


class JsonForm(Struct, frozen=True):
    """What an object that is a call looks like."""

    names: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments", "parameters")
    ids: tuple[str, ...] = ("id",)


USUAL = JsonForm()


def json_calls(
    *closers: str, form: JsonForm = USUAL, closed: bool = True, several: bool = True
) -> ReadCalls:
    """A reader of JSON calls up to one of `closers`.

    `closed`: the closing marker belongs to the syntax; where it is missing the text goes on behind
    the JSON. `several`: more calls may follow before it.
    """

    def read(reader: Reader, output: Output) -> Reading[bool]:
        found = False
        while True:
            yield from reader.blank()
            yield from reader.accept(*_SEPARATORS)
            first = yield from reader.peek_word()
            if first not in ("{", "[", "]"):
                break
            yield from reader.blank()
            if first == "{":
                if not (yield from read_call(reader, output, form)):
                    return found
                found = True
            else:
                reader.take(1)
            if first == "]" and not closed:
                break
            if not several and first != "[":
                break
        if closers:
            yield from _close(reader, output, closers)
        return found

    return read


def next_is(*firsts: str) -> Looks:
    """Whether one of these comes next, behind white space."""
    longest = max(map(len, firsts))

    def looks(reader: Reader) -> Reading[bool]:
        return (yield from reader.peek_word(longest)).startswith(firsts)

    return looks


def read_call(reader: Reader, output: Output, form: JsonForm) -> Reading[bool]:
    """One object that is a call. False, with all of it taken, if it is none."""
    call = output.call()
    refused: list[str] = []
    whole = yield from _members(reader, call, form, refused)
    if refused:
        why = f"{refused[0]!r} was not offered, so this is no call; it stays text."
        output.note("call_not_offered", Action.KEPT, why)
        return False
    return call.end(truncated=not whole)


def _members(reader: Reader, call: CallOutput, form: JsonForm, refused: list[str]) -> Reading[bool]:
    """The members of an object, up to its end. Whether it came."""
    reader.take(1)
    while True:
        yield from reader.blank()
        yield from reader.accept(",")
        first = yield from reader.peek_word()
        if first == "}":
            yield from reader.blank()
            reader.take(1)
            return True
        if not first:
            return False
        yield from reader.blank()
        key: list[str] = []
        if not (yield from reader.json_value(key.append)) or not key:
            return False
        yield from reader.blank()
        if not (yield from reader.accept(":")):
            return False
        yield from reader.blank()
        if not (yield from _member(_plain(key), reader, call, form, refused)):
            return False


def _member(
    key: object, reader: Reader, call: CallOutput, form: JsonForm, refused: list[str]
) -> Reading[bool]:
    """The value of one member."""
    first = yield from reader.peek()
    if key in _INNER and first == "{":
        return (yield from _members(reader, call, form, refused))
    if key in form.arguments and first in ("{", "["):
        return (yield from reader.json_value(call.arguments))
    value: list[str] = []
    whole = yield from reader.json_value(value.append)
    if not whole:
        return False
    said = _plain(value)
    if key in form.names and isinstance(said, str):
        if not call.name(said):
            refused.append(said)
    elif key in form.ids and isinstance(said, (str, int)):
        call.id(str(said))
    elif key in form.arguments:
        _as_arguments(said, call)
    return True


def _as_arguments(said: object, call: CallOutput) -> None:
    """Arguments that are no object: JSON inside a text, null, or a bare value."""
    if isinstance(said, str):
        call.arguments(said if said.lstrip()[:1] in ("{", "") else _json({"input": said}))
    elif said is not None:
        call.arguments(_json(said))


def _close(reader: Reader, output: Output, closers: tuple[str, ...]) -> Reading[None]:
    """Take the closing marker. What stands before it is text that somebody said."""
    yield from reader.blank()
    if (yield from reader.accept(*closers)):
        return
    if reader.at_end:
        return
    rest: list[str] = []
    marker = yield from reader.until(stops(*closers), rest.append)
    said = "".join(rest)
    if said.strip():
        output.text(said)
    if marker and said.strip():
        output.note("text_in_call", Action.KEPT, f"Text stood before {marker!r}; it was kept.")


def _plain(pieces: list[str]) -> object:
    raw = "".join(pieces)
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return repaired_value(raw) if raw[:1] in ("'", '"', "{", "[") else raw


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
