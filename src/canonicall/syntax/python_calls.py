"""Calls written as Python: `f(a="x", n=1)`, alone, in a list, or one a line.

Only what a literal can be is read; nothing is ever evaluated. A text streams as it comes, every
other value when it is whole. Positional arguments have no name and make the call unreadable.
"""

import re

import msgspec

from canonicall.findings import Action
from canonicall.syntax.declaration import ReadCalls
from canonicall.syntax.output import CallOutput, Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.repair import repaired_value
from canonicall.syntax.stops import stops

_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_LONGEST_NAME = 256
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "a": "\a", "v": "\v"}
_CODES = {"x": 2, "u": 4, "U": 8}
_SCALAR_ENDS = stops(",", ")", "\n")
_BEHIND_TEXT = (",", ")", "]", "}", "")
_QUOTES = ('"""', "'''", '"', "'")


def python_calls(
    *closers: str, between: tuple[str, ...] = (",",), listed: bool = True
) -> ReadCalls:
    """A reader of calls up to one of `closers`, or up to the end of the list they are in."""

    def read(reader: Reader, output: Output) -> Reading[bool]:
        found = False
        if listed:
            yield from reader.blank()
            listed_now = bool((yield from reader.accept("[")))
        else:
            listed_now = False
        while True:
            yield from reader.blank()
            yield from reader.accept(*between)
            yield from reader.blank()
            if listed_now and (yield from reader.accept("]")):
                break
            if closers and (yield from reader.accept(*closers)):
                return found
            if not (yield from read_call(reader, output)):
                return found
            found = True
        if closers:
            yield from reader.blank()
            yield from reader.accept(*closers)
        return found

    return read


def read_call(reader: Reader, output: Output) -> Reading[bool]:
    """One call. False if it is none; what was taken is then given back by the scanner."""
    name = yield from reader.match(_NAME, _LONGEST_NAME)
    if name is None:
        return False
    yield from reader.blank()
    if not (yield from reader.accept("(")):
        return False
    yield from reader.blank()
    empty = bool((yield from reader.accept(")")))
    key = None if empty else (yield from reader.match(_KEY, _LONGEST_NAME))
    if not empty and key is None:
        return False
    call = output.call()
    if not call.name(name[0]):
        why = f"{name[0]!r} was not offered, so this is no call; it stays text."
        output.note("call_not_offered", Action.KEPT, why)
        return False
    call.arguments("{}" if key is None else "{")
    whole = key is None or (yield from _keyword_arguments(reader, call, key[1]))
    return call.end(truncated=not whole)


def _keyword_arguments(reader: Reader, call: CallOutput, first: str) -> Reading[bool]:
    """The arguments from behind the first key on. Whether they came to their end."""
    call.arguments(_json(first) + ":")
    while True:
        if not (yield from literal(reader, call)):
            return False
        while True:
            yield from reader.blank()
            if (yield from reader.accept(")")):
                call.arguments("}")
                return True
            if not (yield from reader.accept(",")):
                break
        key = yield from reader.match(_KEY, _LONGEST_NAME)
        if key is None:
            return False
        call.arguments("," + _json(key[1]) + ":")


def literal(reader: Reader, call: CallOutput) -> Reading[bool]:
    """A literal, given to `call` as JSON. Whether it came to its end."""
    quote = yield from reader.accept(*_QUOTES)
    if quote:
        return (yield from _text(reader, quote, call))
    first = yield from reader.peek()
    pieces: list[str] = []
    if first in ("{", "["):
        if not (yield from reader.json_value(pieces.append)):
            return False
    else:
        yield from reader.until(_SCALAR_ENDS, pieces.append, consume=False)
        if reader.at_end:
            return False
    call.arguments(_json(_value_of("".join(pieces).strip())))
    return True


def _value_of(raw: str) -> object:
    """What a literal that is no text stands for; its own text where that cannot be told."""
    if raw in ("None", "null"):
        return None
    if re.fullmatch(r"-?0\d+", raw):  # A month written as 07.
        return int(raw)
    value = repaired_value(raw)
    if value is None and raw[:1] == "{":  # A set.
        value = repaired_value(f"[{raw[1:-1]}]")
    return raw if value is None else value


def _text(reader: Reader, quote: str, call: CallOutput) -> Reading[bool]:
    """The rest of a text behind its quote; it streams."""
    call.arguments('"')

    def add(piece: str) -> None:
        call.arguments(_json(piece)[1:-1])

    while True:
        marker = yield from reader.until(stops(quote, "\\"), add)
        if marker == quote and (yield from reader.peek_word()) in _BEHIND_TEXT:
            call.arguments('"')
            return True
        if marker == quote:  # Models forget to escape quotes.
            add(quote)
            continue
        if not marker:
            return False
        add((yield from _escape(reader)))


def _escape(reader: Reader) -> Reading[str]:
    """The character that an escape stands for; an unknown escape stands for itself."""
    char = yield from reader.peek()
    reader.take(1)
    if char in _CODES:
        digits = yield from reader.peek(_CODES[char])
        if re.fullmatch(r"[0-9a-fA-F]+", digits) and len(digits) == _CODES[char]:
            code = int(digits, 16)
            if code < 0x110000 and not 0xD800 <= code < 0xE000:
                reader.take(len(digits))
                return chr(code)
        return "\\" + char
    if char in ("\\", "'", '"'):
        return char
    if char == "\n":
        return ""
    return _ESCAPES.get(char, "\\" + char)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
