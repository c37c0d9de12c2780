"""Solar Open, with each part of a call behind a marker of its own.

The first one writes an id, a name and JSON, behind `<|tool_calls|>`:
`<|tool_call:begin|>ID<|tool_call:name|>NAME<|tool_call:args|>{...}<|tool_call:end|>`. Every part of
a reply, a thought, words, calls, is a message of its own between `<|begin|>assistant` and
`<|end|>`. The second one writes a name and a line for each argument, whose type the schema tells:
`<|tool_arg:start|>KEY<|tool_arg:value|>VALUE<|tool_arg:end|>`.
"""

import re
from itertools import starmap

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.named_calls import (
    BEFORE_TAG,
    close_call,
    frame_opener,
    json_arguments,
    name_for,
    read_arguments,
    word,
)
from canonicall.syntax.output import Output
from canonicall.syntax.printing import bare_text, with_printing
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.xml_keys import KeyForm, key_openers

_BLOCK, _BEGIN, _END = "<|tool_calls|>", "<|tool_call:begin|>", "<|tool_call:end|>"
_NAME, _ARGS = "<|tool_call:name|>", "<|tool_call:args|>"
_NOISE = (_END, "<|content|>", "<|end|>", "<|begin|>assistant", "<|flush|>", "<|calls|>")
_ENDS = stops(_BLOCK, _BEGIN, *_NOISE)


def _read(reader: Reader, output: Output) -> Reading[bool]:
    call = output.call()
    call.id((yield from word(reader)))
    if not (yield from reader.accept(_NAME)):
        return False
    name = yield from word(reader)
    marker = yield from reader.accept(_ARGS, _END)
    if not marker or not call.name(name):
        return False
    is_cut = False
    if marker == _ARGS:
        is_cut = yield from read_arguments(reader, call.arguments, _ENDS)
        yield from close_call(reader, output, (_END,), _ENDS)
    return call.end(truncated=is_cut)


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    return _BLOCK + "".join(starmap(_numbered, enumerate(calls)))


def _numbered(index: int, call: ToolCall) -> str:
    name = name_for(call, BEFORE_TAG)
    return f"{_BEGIN}{_id(call.id, index)}{_NAME}{name}{_ARGS}{json_arguments(call)}{_END}"


def _id(id: str, index: int) -> str:
    """An id that can stand there: the one there is, or the position."""
    return id if BEFORE_TAG.fullmatch(id) else str(index)


def _print_results(results: tuple[ToolResult, ...]) -> str:
    said = "".join(
        f"<|tool_response:begin|>{_id(one.call_id, index)}<|tool_response:name|>{one.name}"
        f"<|tool_response:result|>{one.text}<|tool_response:end|>"
        for index, one in enumerate(results)
    )
    return f"<|tool_response|>{said}"


_OPEN2 = KeyForm(
    call="<|tool_call:start|>",
    call_end=_END,
    key=("<|tool_arg:start|>", "<|tool_arg:value|>"),
    value=("<|tool_arg:value|>", "<|tool_arg:end|>"),
)


def _print_lines(calls: tuple[ToolCall, ...]) -> str:
    return "\n".join(map(_in_lines, calls))


def _in_lines(call: ToolCall) -> str:
    begin, middle, end = (*_OPEN2.key, _OPEN2.value[1])
    lines = (
        f"{begin}{key}{middle}{bare_text(value)}{end}\n"
        for key, value in arguments_of(call).items()
    )
    return f"{_OPEN2.call}{call.name}\n{''.join(lines)}{_OPEN2.call_end}"


SYNTAXES = (
    Syntax(
        name="solar_open",
        openers=(frame_opener(_BLOCK), Opener(_BEGIN, _read)),
        thinking=(("<|think|>", "<|end|>"),),
        noise=_NOISE,
        frames=(re.escape(_BLOCK),),
        print_calls=_print_calls,
        print_results=_print_results,
    ),
    with_printing(
        Syntax(
            name="solar_open2",
            notation="xml",
            openers=key_openers(_OPEN2),
            thinking=(("<|think:start|>", "<|think:end|>"),),
            noise=("<|im:end|>",),
            prompt_opens_thinking=True,
        ),
        _print_lines,
    ),
)
