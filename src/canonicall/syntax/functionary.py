"""Functionary.

Version 2 has tokens for the parts of a message: `<|from|>assistant`, `<|recipient|>NAME`,
`<|content|>{...}`, each on a line. Its prompt ends after the second, so a reply begins with the
bare name. Version 2.5 writes one token and the name, as 3.2 does.

Version 3.1, and Llama 3.1 with tools of its own: `<function=NAME>{...}</function>`. Version 3.2
turns to recipients: `>>>NAME` and a line end before the arguments, `>>>all` before words. Its
prompt ends with `>>>`, so a reply begins with the bare name, which is known by the tools that were
offered. Text has `>>>` as well, so with a tool list only offered tools are called.

Code is written as it is, behind `<|python_tag|>` or to the recipient `python`: it is a call with
the only argument `code` where a tool `python` was offered, and text where none was.
"""

import re
from collections.abc import Callable, Mapping

from canonicall.blocks import ToolCall, ToolResult
from canonicall.request import Tool
from canonicall.syntax.declaration import Opener, ReadCalls, Syntax, only_named
from canonicall.syntax.named_calls import (
    LONGEST,
    close_call,
    framed,
    json_arguments,
    name_for,
    only_frames,
    read_arguments,
    read_text_argument,
    word,
)
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import Stops, stops

_BEGIN, _END, _CODE = "<function=", "</function>", "<|python_tag|>"
_NEXT, _ALL, _PYTHON = ">>>", "all", "python"
_NOISE = ("<|start_header_id|>assistant<|end_header_id|>", "<|eot_id|>", "<|eom_id|>")
_FROM, _RECIPIENT_TOKEN, _CONTENT = "<|from|>", "<|recipient|>", "<|content|>"
_STOP, _V25 = "<|stop|>", "<|reserved_special_token_249|>"
_CONTENT_ENDS = stops(_FROM, _RECIPIENT_TOKEN, _STOP)
_UNOPENED = re.compile(rf"\s{{0,8}}[^\s<>{{]{{1,128}}\n{re.escape(_CONTENT)}")
_UNOPENED_BEGUN = re.compile(r"\s{0,8}(?:[^\s<>{]{1,128}(?:\n[<|content>]{0,10})?)?\Z")
_TAG_ENDS = stops(_BEGIN, _END, _CODE, *_NOISE)
_RECIPIENT_ENDS = stops(_NEXT, *_NOISE)
_NAME = re.compile(rf"[^\s<>{{]{{1,{LONGEST}}}")
_RECIPIENT = re.compile(rf"(?!all\Z){_NAME.pattern}")


def _head(reader: Reader, after: str) -> Reading[str]:
    """A name that begins at once and has `after` behind it; empty text if there is none."""
    if (yield from reader.peek()).isspace():
        return ""
    name = yield from word(reader, _NAME)
    return name if (yield from reader.accept(after)) else ""


def _read_tag(reader: Reader, output: Output) -> Reading[bool]:
    name = yield from _head(reader, ">")
    yield from reader.blank()
    call = output.call()
    if (yield from reader.peek()) != "{" or not call.name(name):
        return False
    is_cut = yield from read_arguments(reader, call.arguments, _TAG_ENDS)
    yield from close_call(reader, output, (_END,), _TAG_ENDS)
    return call.end(truncated=is_cut)


def _read_code(reader: Reader, output: Output, ends: Stops) -> Reading[bool]:
    call = output.call()
    if _PYTHON not in output.tools or not call.name(_PYTHON):
        return False
    # Nothing marks the end of code but the end of the turn, and engines cut that off.
    if (yield from read_text_argument(reader, call, "code", ends)):
        call.arguments('"}')
    return call.end()


def _read_tagged_code(reader: Reader, output: Output) -> Reading[bool]:
    return (yield from _read_code(reader, output, stops(*_NOISE)))


def _read_recipient(reader: Reader, output: Output) -> Reading[bool]:
    name = yield from _head(reader, "\n")
    return name == _ALL or (bool(name) and (yield from _read_to(name)(reader, output)))


def _read_to(name: str) -> ReadCalls:
    """A reader of what is said to a tool."""

    def read(reader: Reader, output: Output) -> Reading[bool]:
        yield from reader.blank()
        if (yield from reader.peek()) != "{":
            return name == _PYTHON and (yield from _read_code(reader, output, _RECIPIENT_ENDS))
        call = output.call()
        if not call.name(name):
            return False
        is_cut = yield from read_arguments(reader, call.arguments, _RECIPIENT_ENDS)
        return call.end(truncated=is_cut)

    return read


def _is_unopened(reader: Reader) -> Reading[bool]:
    """Whether a reply begins with a recipient, as the prompt of version 2 ends before it."""
    return (yield from reader.ahead(_UNOPENED, LONGEST, _UNOPENED_BEGUN)) is not None


def _read_content(reader: Reader, output: Output) -> Reading[bool]:
    """A message of version 2, from its recipient on."""
    yield from reader.blank()
    name = yield from _head(reader, "\n")
    if not name or not (yield from reader.accept(_CONTENT)):
        return False
    if name == _ALL:
        return True
    call = output.call()
    yield from reader.blank()
    if (yield from reader.peek()) != "{":
        return name == _PYTHON and (yield from _read_code(reader, output, _CONTENT_ENDS))
    if not call.name(name):
        return False
    is_cut = yield from read_arguments(reader, call.arguments, _CONTENT_ENDS)
    return call.end(truncated=is_cut)


def _print_message(call: ToolCall) -> str:
    head = f"{_FROM}assistant\n{_RECIPIENT_TOKEN}{name_for(call, _RECIPIENT)}\n"
    return f"{head}{_CONTENT}{json_arguments(call)}"


def _print_messages_of_tools(results: tuple[ToolResult, ...]) -> str:
    return "".join(
        f"{_FROM}{one.name}\n{_RECIPIENT_TOKEN}{_ALL}\n{_CONTENT}{one.text}\n" for one in results
    )


def _first_recipients(tools: Mapping[str, Tool]) -> tuple[Opener, ...]:
    return tuple(Opener(f"{name}\n", _read_to(name), place="start", by_form=True) for name in tools)


def _print_tag(call: ToolCall) -> str:
    return f"{_BEGIN}{name_for(call, _NAME)}>{json_arguments(call)}{_END}"


def _print_recipient(call: ToolCall) -> str:
    return f"{_NEXT}{name_for(call, _RECIPIENT)}\n{json_arguments(call)}"


def _print_results_as(role: str) -> Callable[[tuple[ToolResult, ...]], str]:
    before = f"<|start_header_id|>{role}<|end_header_id|>\n\n"
    return lambda results: "".join(f"{before}{one.text}<|eot_id|>" for one in results)


SYNTAXES = (
    Syntax(
        name="functionary_v2",
        openers=(
            Opener(_RECIPIENT_TOKEN, _read_content),
            *only_named(
                Opener("", _read_content, looks=_is_unopened),
                Opener(_V25, _read_recipient, by_form=True),
            ),
        ),
        noise=(f"{_FROM}assistant\n", _STOP, *_NOISE),
        frames=(
            rf"({re.escape(_RECIPIENT_TOKEN)})?{_ALL}\n{re.escape(_CONTENT)}",
            rf"{re.escape(_V25)}{_ALL}\n",
        ),
        print_calls=framed("", _print_message, "", between="\n"),
        print_results=_print_messages_of_tools,
    ),
    Syntax(
        name="functionary_v31",
        openers=(Opener(_BEGIN, _read_tag), Opener(_CODE, _read_tagged_code)),
        noise=_NOISE,
        print_calls=framed("", _print_tag, ""),
        print_results=_print_results_as("ipython"),
    ),
    Syntax(
        name="functionary_v32",
        openers=(
            Opener(_NEXT, _read_recipient, by_form=True),
            Opener(f"{_ALL}\n", only_frames, place="start", by_form=True, only_named=True),
        ),
        tool_openers=_first_recipients,
        noise=_NOISE,
        frames=(f"({_NEXT})?{_ALL}\n",),
        is_marked=False,
        print_calls=framed("", _print_recipient, ""),
        print_results=_print_results_as("tool"),
    ),
)
