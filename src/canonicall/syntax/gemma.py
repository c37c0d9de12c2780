"""Gemma 4 and FunctionGemma: `call:f{key:value,...}` with a token of its own as the quote.

Keys have no quotes; texts stand between two quote tokens, inside which nothing is escaped. A text
with a quote token in it cannot be written: printing it is refused. Gemma 4 drifts, and is read all
the same: see gemma_values.py.

Gemma 4 thinks in the only channel it has, so all that stands in a channel is thought, with or
without the word `thought` before it. A call without brackets has no arguments. Closing tokens that
close nothing mean nothing. Where Gemma 4 was named, a call without its marker counts at the start
of a line, and so does one behind `<call>`.
"""

import re

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Opener, ReadCalls, Syntax
from canonicall.syntax.gemma_values import Marks, Values
from canonicall.syntax.json_printing import spaced_json
from canonicall.syntax.output import CallOutput, Output
from canonicall.syntax.printing import with_printing
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops

_NOISE = ("<bos>", "<eos>", "<end_of_turn>", "<turn|>", "<|tool_response>")
_CHANNEL, _CHANNEL_END = "<|channel>", "<channel|>"
_THOUGHT = "thought"
_THOUGHT_ENDS = stops(_CHANNEL_END, *_NOISE)
_CALL = "call:"
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_LONGEST_NAME = 256


class _Dialect:
    """The markers of one of the two, and the reader of what stands between them."""

    def __init__(self, open: str, close: str, quote: str) -> None:
        self.open, self.close, self.quote = open, close, quote
        self._names = stops("{", close)
        self._marks = Marks(close, quote)

    @property
    def read(self) -> ReadCalls:
        return self._block

    def _block(self, reader: Reader, output: Output) -> Reading[bool]:
        """Calls up to the closing marker; a block of none is a call of nothing."""
        found = False
        while True:
            yield from reader.blank()
            yield from reader.accept(*_NOISE)
            if (yield from reader.accept(self.close)):
                return True
            if reader.at_end or (found and (yield from reader.peek(4)) != "call"):
                return found
            mark = reader.mark()
            is_read = yield from self._call(reader, output)
            raw = reader.since(mark)
            if not is_read:
                # What is none behind others is text; before any the scanner gives all of it back.
                output.text(raw if found else "")
                return found
            found = True

    def _call(self, reader: Reader, output: Output) -> Reading[bool]:
        said, marker = yield from reader.up_to(self._names, _LONGEST_NAME)
        name = said.strip().removeprefix(":").removeprefix(_CALL).strip()
        call = output.call()
        is_name = bool(marker) and len(name.split()) == 1
        if not is_name or not call.name(name):
            reader.take(len(marker))
            return False
        if marker == self.close:
            call.arguments("{}")
            return call.end()
        return (yield from self._arguments(reader, output, call))

    def read_bare(self, reader: Reader, output: Output) -> Reading[bool]:
        """A call without its marker, which only its brackets tell from words."""
        name, bracket = yield from reader.up_to(stops("{", " ", "\n"), _LONGEST_NAME)
        call = output.call()
        if bracket != "{" or not _NAME.fullmatch(name) or not call.name(name):
            return False
        return (yield from self._arguments(reader, output, call))

    def _arguments(self, reader: Reader, output: Output, call: CallOutput) -> Reading[bool]:
        """Arguments, whose bracket comes next."""
        schema = call.tool.parameters if call.tool is not None else None
        values = Values(self._marks, reader, output, call, schema or {})
        whole = yield from values.object(schema)
        output.left_out("What stood where the arguments went wrong", "".join(values.unread))
        return call.end(truncated=not whole)

    # Printing.

    def print_calls(self, calls: tuple[ToolCall, ...]) -> str:
        return "".join(
            f"{self.open}{_CALL}{call.name}{self._written(arguments_of(call))}{self.close}"
            for call in calls
        )

    def _written(self, value: object) -> str:
        """A value; the members of objects are sorted, as the templates do it."""
        match value:
            case str():
                return f"{self.quote}{value}{self.quote}"
            case dict():
                pairs = (
                    f"{self._as_key(key)}:{self._written(value[key])}"
                    for key in sorted(value, key=str.lower)
                )
                return "{" + ",".join(pairs) + "}"
            case list():
                return "[" + ",".join(map(self._written, value)) + "]"
            case _:
                return spaced_json(value)

    def _as_key(self, key: str) -> str:
        return key if re.fullmatch(r"[\w.-]+", key) else f"{self.quote}{key}{self.quote}"


def _channel(reader: Reader, output: Output) -> Reading[bool]:
    """A thought, with the word that says so or without."""
    output.end_words()
    yield from reader.blank()
    while (yield from reader.accept(*_NOISE)):
        continue
    yield from reader.accept(f"{_THOUGHT}\n")
    while (yield from reader.until(_THOUGHT_ENDS, output.thinking)) not in ("", _CHANNEL_END):
        continue
    output.end_words()
    return True


def _print_gemma4_results(results: tuple[ToolResult, ...]) -> str:
    return "".join(
        f'<|tool_response>response:{one.name}{{value:<|"|>{one.text}<|"|>}}<tool_response|>'
        for one in results
    )


def _print_functiongemma_results(results: tuple[ToolResult, ...]) -> str:
    return "".join(
        f"<start_function_response>response:{one.name}"
        f"{{value:<escape>{one.text}<escape>}}<end_function_response>"
        for one in results
    )


_GEMMA4 = _Dialect("<|tool_call>", "<tool_call|>", '<|"|>')
_FUNCTION = _Dialect("<start_function_call>", "<end_function_call>", "<escape>")

SYNTAXES = (
    with_printing(
        Syntax(
            name="gemma4",
            notation="custom",
            openers=(
                Opener(_GEMMA4.open, _GEMMA4.read),
                Opener(_CHANNEL, _channel),
                *(
                    Opener(mark, _GEMMA4.read_bare, place="line", by_form=True, only_named=True)
                    for mark in (_CALL, "<call>")
                ),
            ),
            thinking=((f"{_CHANNEL}{_THOUGHT}\n", _CHANNEL_END),),
            noise=(*_NOISE, _CHANNEL_END, _GEMMA4.close),
            frames=(rf"{re.escape(_CHANNEL)}\s*({_THOUGHT}\n)?",),
        ),
        _GEMMA4.print_calls,
        _print_gemma4_results,
    ),
    with_printing(
        Syntax(
            name="functiongemma",
            notation="custom",
            openers=(Opener(_FUNCTION.open, _FUNCTION.read),),
            thinking=(),
            noise=(*_NOISE, "<start_function_response>", _FUNCTION.close),
        ),
        _FUNCTION.print_calls,
        _print_functiongemma_results,
    ),
)
