"""PLaMo 3: a name and arguments as JSON, each between a pair of tags, a request around each call.

One more pair stands around all requests, and a tag of its own ends every message.
"""

import re

from canonicall.blocks import ToolCall
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.named_calls import (
    BEFORE_TAG,
    close_call,
    frame_opener,
    framed,
    json_arguments,
    name_for,
    read_arguments,
    word,
)
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops


def _tags(name: str) -> tuple[str, str]:
    return f"<|plamo:begin_{name}:plamo|>", f"<|plamo:end_{name}:plamo|>"


_ALL, _ALL_END = _tags("tool_requests")
_BEGIN, _END = _tags("tool_request")
_NAME, _NAME_END = _tags("tool_name")
_ARGS, _ARGS_END = _tags("tool_arguments")
_NOISE = (_ARGS_END, _END, _ALL_END, "<|plamo:tag|>")
_ENDS = stops(_ALL, _BEGIN, *_NOISE)


def _read(reader: Reader, output: Output) -> Reading[bool]:
    yield from reader.blank()
    yield from reader.accept(_NAME)
    name = yield from word(reader)
    call = output.call()
    if not (yield from reader.accept(_NAME_END)) or not call.name(name):
        return False
    yield from reader.blank()
    marker = yield from reader.accept(_ARGS, _END)
    is_cut = not marker and (reader.at_end or reader.take_begun(_ARGS, _END))
    if marker == _ARGS:
        is_cut = yield from read_arguments(reader, call.arguments, _ENDS)
        yield from reader.blank()
        yield from reader.accept(_ARGS_END)
        yield from close_call(reader, output, (_END,), _ENDS)
    return call.end(truncated=is_cut)


def _print_call(call: ToolCall) -> str:
    name = f"{_NAME}{name_for(call, BEFORE_TAG)}{_NAME_END}"
    return f"{_BEGIN}{name}{_ARGS}{json_arguments(call)}{_ARGS_END}{_END}"


SYNTAXES = (
    Syntax(
        name="plamo3",
        openers=(frame_opener(_ALL), Opener(_BEGIN, _read)),
        thinking=(),
        noise=_NOISE,
        frames=(re.escape(_ALL),),
        print_calls=framed(_ALL, _print_call, _ALL_END),
    ),
)
