"""Calls written as Python: `f(a="x", n=1)`, alone, in a list, or one a line.

Only what a literal can be is read; nothing is ever evaluated. A text streams as it comes, every
other value when it is whole. What is no literal stays the text it is. Decisions:

- Positional arguments have no name and make the call unreadable, and so does a missing first value.
- A quote inside a text ends it only where a text may end, and another argument or the end of the
  call follows: models forget to escape quotes. Those that are kept have a finding. One
  after `=` may as well open another argument, and a quote before it is missing: such a call is
  marked as truncated, as its meaning is not clear.
- A bracket that is missing behind the arguments, before the end of the list, is added with a
  finding. Arguments that go wrong later end the call there, marked as truncated.
"""

import re
from collections.abc import Callable

import msgspec

from canonicall.findings import Action
from canonicall.syntax.declaration import ReadCalls
from canonicall.syntax.output import CallOutput, Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.repair import repaired_value
from canonicall.syntax.stops import stops
from canonicall.syntax.typed_values import escaped, json_text

_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_NAME_BEGUN = re.compile(r"(?:[A-Za-z_][\w.\-]*)?\Z")
_LONGEST_NAME = 256
_KEY = re.compile(r"([^\W\d][\w.\-]*)\s*=(?!=)\s*")
_KEY_BEGUN = re.compile(r"(?:[^\W\d][\w.\-]*\s*=?\s*)?\Z")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "a": "\a", "v": "\v"}
_CODES = {"x": 2, "u": 4, "U": 8}
_PAIR = re.compile(r"[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
"""A character beyond the first 65,536 as JSON writes it: models write that in Python as well."""
_SCALAR_ENDS = stops(",", "(", ")", "]", "\n")
_BEHIND_TEXT = (",", ")", "]", "}")
_GOES_ON = re.compile(
    r"\s*(?:,\s*(?:[^\W\d][\w.\-]*\s*=(?!=)|\))|\)\s*(?:[,;\])<`]|\n|\Z)|[\]}]|,?\s*\Z)"
)
"""What follows a text: another argument, or the end of the call and what may follow that."""
_GOES_ON_BEGUN = re.compile(r"\s*(?:,\s*(?:[^\W\d][\w.\-]*\s*)?|\)\s*)?\Z")
_ANOTHER = {
    quote: re.compile(rf"[^\n]*?{quote}\s*(?:,\s*[^\W\d][\w.\-]*\s*=|,?\s*\))") for quote in "\"'"
}
"""Another quote on the same line at which a text may end."""
_IN_LINE = re.compile(r"[^\n]*+(?:\n\s*)?\Z")
_AHEAD = 256
_CALL_END = re.compile(r"\)\s*\]?\s*(?:<[^<>]{1,40}>\s*)?\Z")
_LONGEST_END = 80
_PRINT = "print("
_QUOTES = ('"""', "'''", '"', "'")
_NUMBER = re.compile(r"(-?)([0-9]++)((?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)")


def python_calls(
    *closers: str, between: tuple[str, ...] = (",",), listed: bool = True, printed: bool = False
) -> ReadCalls:
    """A reader of calls up to one of `closers`, or up to the end of the list they are in.

    `printed`: calls may be written as if to print what they give.
    """

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
            mark = reader.mark()
            is_printed = printed and bool((yield from reader.accept(_PRINT)))
            yield from reader.blank()
            is_read = yield from read_call(reader, output)
            if is_printed and is_read:
                yield from reader.blank()
                yield from reader.accept(")")
            raw = reader.since(mark)
            if not is_read:
                if found:
                    _leave(raw, output, closers)
                return found
            found = True
        if closers:
            yield from reader.blank()
            yield from reader.accept(*closers)
        return found

    return read


def _leave(raw: str, output: Output, closers: tuple[str, ...]) -> None:
    """What follows the calls is none: it stays text, and their closing marker may still come."""
    output.unclosed = closers
    if raw:
        output.text(raw)
        output.note("call_unreadable", Action.KEPT, "No call follows the others; it stays text.")


def read_call(reader: Reader, output: Output) -> Reading[bool]:
    """One call. False if it is none; what was taken is then given back by the scanner."""
    name = yield from reader.match(_NAME, _LONGEST_NAME, _NAME_BEGUN)
    if name is None:
        return False
    yield from reader.blank()
    if not (yield from reader.accept("(")):
        return False
    yield from reader.blank()
    is_empty = bool((yield from reader.accept(")")))
    key = None if is_empty else (yield from reader.match(_KEY, _LONGEST_NAME, _KEY_BEGUN))
    yield from reader.blank()
    if not is_empty and (key is None or (yield from reader.peek()) in (",", ")", "]")):
        return False
    call = output.call()
    if not call.name(name[0]):
        return False
    call.arguments("{}" if key is None else "{")
    whole = key is None or (yield from _keyword_arguments(reader, output, call, key[1]))
    return call.end(truncated=not whole)


def _keyword_arguments(reader: Reader, output: Output, call: CallOutput, key: str) -> Reading[bool]:
    """The arguments from behind the first key on. Whether they came to their end."""
    separator = ""
    while True:
        call.arguments(f"{separator}{json_text(key)}:")
        separator = ","
        yield from reader.blank()
        if not (yield from literal(reader, output, call)):
            return False
        while True:
            yield from reader.blank()
            if (yield from reader.accept(")")):
                call.arguments("}")
                return True
            if not (yield from reader.accept(",")):
                break
        found = yield from reader.match(_KEY, _LONGEST_NAME, _KEY_BEGUN)
        if found is None:
            return (yield from _unclosed(reader, output, call))
        key = found[1]


def _unclosed(reader: Reader, output: Output, call: CallOutput) -> Reading[bool]:
    """Arguments that go on as no argument does. Whether only their closing bracket is missing."""
    if (yield from reader.peek()) != "]":
        return False
    call.arguments("}")
    why = "A bracket was missing behind the arguments; it was added."
    output.note("arguments_repaired", Action.CHANGED, why)
    return True


def literal(reader: Reader, output: Output, call: CallOutput) -> Reading[bool]:
    """A literal, given to `call` as JSON. Whether it came to its end."""
    quote = yield from reader.accept(*_QUOTES)
    if quote:
        text = _Quoted(reader, quote, call.arguments)
        whole = yield from text.read()
        if text.is_doubtful or (not whole and text.holds_ends):
            why = f"Quotes in the call of {call.tool_name} are missing or were not escaped."
            output.note("call_unreadable", Action.KEPT, f"{why} It is marked as truncated.")
        elif whole and text.kept:
            why = f"Quotes in a text of {call.tool_name} were not escaped; they were kept."
            output.note("arguments_repaired", Action.CHANGED, why)
        return whole and not text.is_doubtful
    pieces: list[str] = []
    is_bracket = (yield from reader.peek()) in ("{", "[")
    reading = reader.json_value(pieces.append) if is_bracket else _expression(reader, pieces)
    if not (yield from reading):
        output.left_out("A value, in which the text ended,", "".join(pieces))
        return False
    call.arguments(_json_of("".join(pieces).strip()))
    return True


def _expression(reader: Reader, pieces: list[str]) -> Reading[bool]:
    """What stands where a value should, with the brackets in it. Whether it came to its end."""
    depth = 0
    while True:
        end = yield from reader.until(_SCALAR_ENDS, pieces.append, consume=False)
        if not end:
            return False
        if not depth and end != "(":
            return True
        depth += (end == "(") - (end == ")")
        pieces.append(reader.take(1))


def _json_of(raw: str) -> str:
    """The JSON of a literal that is no text; of its own text where that cannot be told."""
    if raw in ("None", "null"):
        return "null"
    number = _NUMBER.fullmatch(raw)
    if number is not None:  # Digit for digit, but a month may be written as 07.
        return f"{number[1]}{number[2].lstrip('0') or '0'}{number[3]}"
    value = repaired_value(raw)
    if value is None and raw[:1] in ("{", "("):  # A set, or a tuple.
        value = repaired_value(f"[{raw[1:-1]}]")
    return json_text(raw) if value is None else msgspec.json.encode(value).decode()


class _Quoted:
    """A text among the arguments of a call."""

    def __init__(self, reader: Reader, quote: str, sink: Callable[[str], None]) -> None:
        self._reader = reader
        self._quote = quote
        self._sink = sink
        self.kept = 0
        """How many quotes were kept in it."""
        self.is_doubtful = False
        """Whether a quote in it may open another text."""
        self._pieces: list[str] = []

    def read(self) -> Reading[bool]:
        """The rest of it, given on as JSON. Whether it came to its end."""
        reader, quote = self._reader, self._quote
        self._sink('"')
        ends = stops(quote, "\\")
        while True:
            marker = yield from reader.until(ends, self._add, consume=False)
            if not marker:
                return False
            if marker == quote and (yield from self._is_end()):
                reader.take(len(quote))
                self._sink('"')
                return True
            taken = reader.take(len(marker))
            if marker == quote:
                self.kept += 1
                self.is_doubtful = self.is_doubtful or self._tail(1) == "="
            self._add(taken if marker == quote else (yield from _escape(reader)))

    @property
    def holds_ends(self) -> bool:
        """Whether it ends like a call does: then the quote before that is missing."""
        return _CALL_END.search(self._tail(_LONGEST_END)) is not None

    def _tail(self, count: int) -> str:
        """The last characters so far; no piece is empty but an escaped line end."""
        return "".join(self._pieces[-count:])[-count:]

    def _add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._sink(escaped(piece))

    def _is_end(self) -> Reading[bool]:
        """Whether the text ends at the quote that comes next."""
        reader, size = self._reader, len(self._quote)
        if not (yield from reader.follows(size, *_BEHIND_TEXT)):
            return False
        if (yield from reader.follows_like(size, _GOES_ON, _AHEAD, _GOES_ON_BEGUN)):
            return True
        # Nothing that may follow does; it is the end all the same, unless another quote is.
        again = _ANOTHER[self._quote[0]]
        return not (yield from reader.follows_like(size, again, _AHEAD, _IN_LINE))


def quoted_text(
    reader: Reader, quote: str, sink: Callable[[str], None], behind: tuple[str, ...]
) -> Reading[bool]:
    """The rest of a text behind its quote, as JSON; it streams. `behind`: what may follow it."""
    sink('"')

    def add(piece: str) -> None:
        sink(escaped(piece))

    ends = stops(quote, "\\")
    while True:
        marker = yield from reader.until(ends, add, consume=False)
        if not marker:
            return False
        if marker == quote and (yield from reader.follows(len(quote), *behind)):
            reader.take(len(quote))
            sink('"')
            return True
        taken = reader.take(len(marker))
        add(taken if marker == quote else (yield from _escape(reader)))


def _escape(reader: Reader) -> Reading[str]:
    """The character that an escape stands for; an unknown escape stands for itself."""
    char = yield from reader.peek()
    reader.take(1)
    if char in _CODES:
        return (yield from _code(reader, char))
    if char in ("\\", "'", '"'):
        return char
    if char == "\n":
        return ""
    return _ESCAPES.get(char, "\\" + char)


def _code(reader: Reader, kind: str) -> Reading[str]:
    """The character whose code follows, in as many digits as `kind` says."""
    count = _CODES[kind]
    digits = yield from reader.peek(count)
    if len(digits) < count or not re.fullmatch(r"[0-9a-fA-F]+", digits):
        return f"\\{kind}"
    code = int(digits, 16)
    if kind == "u" and 0xD800 <= code < 0xDC00:
        pair = yield from reader.peek(10)
        if not _PAIR.fullmatch(pair):
            return "\\u"
        reader.take(len(pair))
        return chr(0x10000 + (code - 0xD800) * 0x400 + int(pair[6:], 16) - 0xDC00)
    if code >= 0x110000 or 0xD800 <= code < 0xE000:
        return f"\\{kind}"
    reader.take(count)
    return chr(code)
