"""Step-Audio 2: `function`, a name and JSON, each on its line, between `<tool_call>` tags."""

import re

from canonicall.blocks import ToolCall
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.json_calls import next_is
from canonicall.syntax.named_calls import (
    close_call,
    framed,
    json_arguments,
    name_for,
    read_arguments,
    word,
)
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops

_BEGIN, _END, _KIND = "<tool_call>", "</tool_call>", "function\n"
_NOISE = ("<|EOT|>",)
_ENDS = stops(_BEGIN, _END, *_NOISE)
_NAME = re.compile(r"[^\s<{]{1,256}")


def _read(reader: Reader, output: Output) -> Reading[bool]:
    yield from reader.blank()
    yield from reader.accept(_KIND)
    name = yield from word(reader, _NAME)
    yield from reader.blank()
    call = output.call()
    if (yield from reader.peek()) != "{" or not call.name(name):
        return False
    is_cut = yield from read_arguments(reader, call.arguments, _ENDS)
    yield from close_call(reader, output, (_END,), _ENDS)
    return call.end(truncated=is_cut)


def _print_call(call: ToolCall) -> str:
    return f"{_BEGIN}{_KIND}{name_for(call, _NAME)}\n{json_arguments(call)}{_END}"


SYNTAXES = (
    Syntax(
        name="step_audio2",
        openers=(Opener(_BEGIN, _read, looks=next_is(_KIND), closers=(_END,)),),
        noise=_NOISE,
        print_calls=framed("", _print_call, ""),
    ),
)
