"""Inkling: every thought, text and call is a message of its own, with a marker for what it is.

`<|message_model|>NAME<|content_invoke_tool_json|>{"name": NAME, "args": {...}}<|end_message|>`. The
name in front is a header: the one in the JSON counts. A reply that begins with a
call begins with the bare header, as the prompt has opened the message already; it is known by the
names of the tools that were offered, and stays text where it is none of them.

A tool may also be given text: `NAME<|content_invoke_tool_text|>...`. It is a call with the only
argument `text`; without a name in front it is text. A call inside of a thought ends it.
"""

import json
import re
from collections.abc import Mapping

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.findings import Action
from canonicall.request import Tool
from canonicall.syntax.declaration import Opener, ReadCalls, Syntax
from canonicall.syntax.json_calls import json_calls, next_is
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.named_calls import (
    BEFORE_TAG,
    close_call,
    framed,
    name_for,
    read_text_argument,
    word,
)
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops

_MESSAGE, _END = "<|message_model|>", "<|end_message|>"
_JSON, _TEXT = "<|content_invoke_tool_json|>", "<|content_invoke_tool_text|>"
_NOISE = (
    _END,
    _TEXT,
    "<|content_text|>",
    "<|content_tool_error|>",
    "<|content_model_end_sampling|>",
)
_ENDS = stops(_MESSAGE, _END, "<|content_model_end_sampling|>")
_FORM = JsonForm(arguments=("args", "arguments"))
_LOOKS_JSON = next_is("{", "[")
_read_json = json_calls(_END, form=_FORM, marker=_MESSAGE)


def _read_message(reader: Reader, output: Output) -> Reading[bool]:
    """A message that may have a header. Without one its marker only frames what follows."""
    header = yield from word(reader)
    marker = yield from reader.accept(_JSON, _TEXT)
    if marker == _JSON:
        is_call = (yield from _LOOKS_JSON(reader)) and (yield from _read_json(reader, output))
        if is_call and header:
            _compare(header, output)
        return is_call
    if marker == _TEXT and header:
        return (yield from _read_text(header)(reader, output))
    return not header


def _compare(header: str, output: Output) -> None:
    """Tell of a header that says another name than the call behind it."""
    called = (one.name for one in reversed(output.blocks) if isinstance(one, ToolCall))
    if header != next(called, None):
        why = f"A call was headed {header!r}; the name in it counts."
        output.note("fields_dropped", Action.DROPPED, why)


def _read_text(name: str) -> ReadCalls:
    """A reader of the text that is given to a tool."""

    def read(reader: Reader, output: Output) -> Reading[bool]:
        call = output.call()
        if not call.name(name):
            return False
        is_cut = yield from read_text_argument(reader, call, "text", _ENDS)
        yield from close_call(reader, output, (_END,), _ENDS)
        return call.end(truncated=is_cut)

    return read


def _headers(tools: Mapping[str, Tool]) -> tuple[Opener, ...]:
    """Openers for calls with a header and no message around them."""
    json = (Opener(name + _JSON, _read_json, looks=_LOOKS_JSON) for name in tools)
    return (*json, *(Opener(name + _TEXT, _read_text(name)) for name in tools))


def _print_call(call: ToolCall) -> str:
    name = name_for(call, BEFORE_TAG)
    return f'{_MESSAGE}{name}{_JSON}{{"name":{_compact(name)},"args":{_args(call)}}}{_END}'


def _args(call: ToolCall) -> str:
    """The arguments as the model has seen them: compact, and their members sorted."""
    return _compact(arguments_of(call))


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return "".join(f"<|message_tool|>{one.name}<|content_text|>{one.text}{_END}" for one in results)


SYNTAXES = (
    Syntax(
        name="inkling",
        openers=(Opener(_JSON, _read_json, looks=_LOOKS_JSON), Opener(_MESSAGE, _read_message)),
        tool_openers=_headers,
        thinking=(("<|content_thinking|>", _END),),
        call_ends_thinking=True,
        noise=_NOISE,
        frames=(re.escape(_MESSAGE),),
        print_calls=framed("", _print_call, ""),
        print_results=_print_results,
    ),
)
