"""The values in a call of Gemma: a notation of its own, `{key:value,list:[1,2]}`, read as JSON.

Texts stand between two quote tokens. Gemma 4 drifts, and is read all the same (ollama#15315,
#17882, vllm#51284): ordinary quotes, `=` for `:`, values without quotes or with the last one alone.
What has no quotes is a number, a bool or null if it looks like one, unless the schema of the tool
says that it is a string; all else is text, with its commas where no key follows them.
"""

import re
from typing import Any

from canonicall.findings import Action
from canonicall.syntax.output import CallOutput, Output
from canonicall.syntax.python_calls import quoted_text
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.typed_values import escaped, json_text, member_schema, types_of

_SCALAR = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null")
_WORDS = {"True": "true", "False": "false", "None": "null"}
_BEHIND_TEXT = (",", "}", "]", "<")
_LONGEST_TEXT = 512
"""No further is looked for what follows a comma in a text without quotes."""
_DEEPEST = 100
"""Values inside of more values than this are not read."""


class Marks:
    """What ends the parts of a value in one dialect."""

    def __init__(self, close: str, quote: str) -> None:
        self.close, self.quote = close, quote
        self.key_ends = stops(":", "=", "}", close)
        self.scalar_ends = stops(",", "}", "]", close, quote)
        self.text_ends = stops(quote, ":", "=", "}", "]", close)


class Values:
    """Reads the arguments of one call and gives them to it as JSON."""

    def __init__(
        self,
        marks: Marks,
        reader: Reader,
        output: Output,
        call: CallOutput,
        root: dict[str, Any],
    ) -> None:
        self._marks = marks
        self._reader = reader
        self._output = output
        self._write = call.arguments
        self._root = root
        self.unread: list[str] = []
        """What was taken last and turned out to be neither a key nor a value."""

    def object(self, schema: Any, depth: int = 0) -> Reading[bool]:
        """An object whose bracket comes next. Whether it came to its end."""
        reader = self._reader
        reader.take(1)
        self._write("{")
        separator = ""
        while True:
            yield from reader.blank()
            if (yield from reader.accept("}")):
                self._write("}")
                return True
            if (yield from reader.accept(",")):
                continue
            key = yield from self._key()
            if key is None:
                return False
            self._write(f"{separator}{json_text(key)}:")
            separator = ","
            if not (yield from self._value(member_schema(schema, key, self._root), depth)):
                return False

    def _list(self, schema: Any, depth: int) -> Reading[bool]:
        reader = self._reader
        reader.take(1)
        self._write("[")
        separator = ""
        while True:
            yield from reader.blank()
            if (yield from reader.accept("]")):
                self._write("]")
                return True
            if (yield from reader.accept(",")):
                continue
            if reader.at_end:
                return False
            if (yield from reader.peek()) == "}":  # The object around it ends.
                self._write("]")
                why = (
                    "A list in the arguments was not closed; it ends where the object around does."
                )
                self._output.note("arguments_repaired", Action.CHANGED, why)
                return True
            self._write(separator)
            separator = ","
            if not (yield from self._value(member_schema(schema, None, self._root), depth)):
                return False

    def _key(self) -> Reading[str | None]:
        reader, marks = self._reader, self._marks
        said: list[str] = []
        quote = yield from reader.accept(marks.quote, '"', "'")
        if quote:
            if (yield from reader.until(stops(quote), said.append)):
                yield from reader.blank()
                if (yield from reader.accept(":", "=")):
                    return "".join(said)
        elif (yield from reader.until(marks.key_ends, said.append)) in (":", "="):
            return "".join(said).strip()
        self.unread = said
        return None

    def _value(self, schema: Any, depth: int) -> Reading[bool]:
        reader, marks = self._reader, self._marks
        yield from reader.blank()
        quote = yield from reader.accept(marks.quote, '"', "'")
        if quote == marks.quote:
            return (yield from self._text())
        if quote:
            return (yield from quoted_text(reader, quote, self._write, _BEHIND_TEXT))
        first = yield from reader.peek()
        if first in ("{", "["):
            read = self.object if first == "{" else self._list
            return depth < _DEEPEST and (yield from read(schema, depth + 1))
        return (yield from self._bare_value(schema))

    def _bare_value(self, schema: Any) -> Reading[bool]:
        """A value without a quote before it. One behind it says that it is a text all the same."""
        reader, marks = self._reader, self._marks
        said: list[str] = []
        marker = yield from reader.until(marks.scalar_ends, said.append, consume=False)
        if marker == "," and not _SCALAR.fullmatch("".join(said).strip()):
            said.append((yield from self._rest_of_text()))
            marker = (yield from reader.next_of(",", "}", marks.quote)) or marker
        if not marker:
            self.unread = said
            return False
        raw = "".join(said).strip()
        if marker == marks.quote:
            reader.take(len(marker))
            self._write(json_text(raw))
        else:
            self._write(_bare(raw, types_of(schema, self._root)))
        return marker != marks.close

    def _rest_of_text(self) -> Reading[str]:
        """What stands from a comma on that is no key: the text goes on up to a quote or the end."""
        mark = self._reader.mark()
        _, end = yield from self._reader.up_to(self._marks.text_ends, _LONGEST_TEXT)
        raw = self._reader.since(mark)
        if end in (self._marks.quote, "}") and raw.strip(", "):
            return raw
        self._reader.give_back(raw)
        return ""

    def _text(self) -> Reading[bool]:
        """A text up to its closing quote; it streams."""
        self._write('"')
        end = stops(self._marks.quote)
        marker = yield from self._reader.until(end, lambda piece: self._write(escaped(piece)))
        if marker:
            self._write('"')
        return bool(marker)


def _bare(raw: str, types: tuple[str, ...]) -> str:
    """The JSON of a value without quotes."""
    known = _WORDS.get(raw, raw)
    is_value = _SCALAR.fullmatch(known) and (types != ("string",) or known == "null")
    return known if is_value else json_text(raw)
