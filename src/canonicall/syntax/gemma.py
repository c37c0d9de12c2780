"""Gemma 4 and FunctionGemma: `call:f{key:value,...}` with a token of its own as the quote.

Keys have no quotes; texts stand between two quote tokens, inside which nothing is escaped. Gemma 4
drifts: ordinary quotes, `=` for `:`, values without quotes. All of that is read; what is no number,
bool or null is text. A quote token inside a text cannot be written: printing it is refused.
"""

import re
from collections.abc import Callable

import msgspec

from canonicall.blocks import ToolCall, ToolResult
from canonicall.errors import InvalidValue
from canonicall.findings import Action
from canonicall.syntax.declaration import Opener, ReadCalls, Syntax, arguments_of
from canonicall.syntax.output import CallOutput, Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import Stops, stops

_SCALAR = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null")
_WORDS = {"True": "true", "False": "false", "None": "null"}
_NOISE = ("<bos>", "<eos>", "<end_of_turn>", "<turn|>", "<|tool_response>")


class _Dialect:
    """The markers of one of the two, and the reader of what stands between them."""

    def __init__(self, open: str, close: str, quote: str) -> None:
        self.open, self.close, self.quote = open, close, quote
        self._names = stops("{", close)
        self._key_ends = stops(":", "=", "}", close)
        self._scalar_ends = stops(",", "}", "]", close)

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
            if reader.at_end or (found and (yield from reader.peek_word(4)) != "call"):
                return found
            if not (yield from self._call(reader, output)):
                return found
            found = True

    def _call(self, reader: Reader, output: Output) -> Reading[bool]:
        said: list[str] = []
        marker = yield from reader.until(self._names, said.append, consume=False)
        name = "".join(said).strip().removeprefix("call:").strip()
        if marker != "{" or not name or len(name.split()) > 1:
            return False
        call = output.call()
        if not call.name(name):
            why = f"{name!r} was not offered, so this is no call; it stays text."
            output.note("call_not_offered", Action.KEPT, why)
            return False
        whole = yield from self._object(reader, call)
        return call.end(truncated=not whole)

    def _object(self, reader: Reader, call: CallOutput) -> Reading[bool]:
        reader.take(1)
        call.arguments("{")
        separator = ""
        while True:
            yield from reader.blank()
            if (yield from reader.accept("}")):
                call.arguments("}")
                return True
            if (yield from reader.accept(",")):
                continue
            key = yield from self._key(reader)
            if key is None:
                return False
            call.arguments(separator + _json(key) + ":")
            separator = ","
            if not (yield from self._value(reader, call)):
                return False

    def _list(self, reader: Reader, call: CallOutput) -> Reading[bool]:
        reader.take(1)
        call.arguments("[")
        separator = ""
        while True:
            yield from reader.blank()
            if (yield from reader.accept("]")):
                call.arguments("]")
                return True
            if (yield from reader.accept(",")):
                continue
            call.arguments(separator)
            separator = ","
            if not (yield from self._value(reader, call)):
                return False

    def _key(self, reader: Reader) -> Reading[str | None]:
        said: list[str] = []
        quote = yield from reader.accept(self.quote, '"', "'")
        if quote:
            if not (yield from reader.until(stops(quote), said.append)):
                return None
            yield from reader.blank()
            return "".join(said) if (yield from reader.accept(":", "=")) else None
        marker = yield from reader.until(self._key_ends, said.append)
        return "".join(said).strip() if marker in (":", "=") else None

    def _value(self, reader: Reader, call: CallOutput) -> Reading[bool]:
        yield from reader.blank()
        quote = yield from reader.accept(self.quote)
        if quote:
            return (yield from _text(reader, stops(quote), call.arguments))
        first = yield from reader.peek()
        if first == "{":
            return (yield from self._object(reader, call))
        if first == "[":
            return (yield from self._list(reader, call))
        if first in ('"', "'"):
            reader.take(1)
            return (yield from _text(reader, stops(first), call.arguments))
        said: list[str] = []
        marker = yield from reader.until(self._scalar_ends, said.append, consume=False)
        raw = "".join(said).strip()
        raw = _WORDS.get(raw, raw)
        call.arguments(raw if _SCALAR.fullmatch(raw) else _json(raw))
        return marker not in ("", self.close)

    # Printing.

    def print_calls(self, calls: tuple[ToolCall, ...]) -> str:
        return "".join(
            f"{self.open}call:{call.name}{self._written(arguments_of(call))}{self.close}"
            for call in calls
        )

    def _written(self, value: object) -> str:
        match value:
            case str():
                return f"{self.quote}{self._quoted(value)}{self.quote}"
            case dict():
                pairs = (
                    f"{self._as_key(key)}:{self._written(item)}" for key, item in value.items()
                )
                return "{" + ",".join(pairs) + "}"
            case list():
                return "[" + ",".join(map(self._written, value)) + "]"
            case _:
                return _json(value)

    def _as_key(self, key: str) -> str:
        plain = re.fullmatch(r"[A-Za-z_][\w.-]*", key)
        return key if plain else f"{self.quote}{self._quoted(key)}{self.quote}"

    def _quoted(self, text: str) -> str:
        if self.quote in text:
            raise InvalidValue(
                f"a text with {self.quote!r} in it cannot be written in this syntax.",
                where="arguments",
                help="Leave the token out of the text.",
            )
        return text


def _text(reader: Reader, end: Stops, sink: Callable[[str], None]) -> Reading[bool]:
    """A text up to its closing quote; it streams."""
    sink('"')
    marker = yield from reader.until(end, lambda piece: sink(_json(piece)[1:-1]))
    if marker:
        sink('"')
    return bool(marker)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


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
    Syntax(
        name="gemma4",
        openers=(Opener(_GEMMA4.open, _GEMMA4.read),),
        thinking=(("<|channel>thought\n", "<channel|>"), ("<|channel>thought", "<channel|>")),
        noise=_NOISE,
        models=("*gemma-4*", "*gemma4*"),
        print_calls=_GEMMA4.print_calls,
        print_results=_print_gemma4_results,
    ),
    Syntax(
        name="functiongemma",
        openers=(Opener(_FUNCTION.open, _FUNCTION.read),),
        thinking=(),
        noise=(*_NOISE, "<start_function_response>"),
        models=("*functiongemma*",),
        print_calls=_FUNCTION.print_calls,
        print_results=_print_functiongemma_results,
    ),
)
