"""Mistral, all versions of its template; they share the marker `[TOOL_CALLS]`.

Before version 11 a JSON list stands behind it, whose calls have ids of nine characters; older
tokenizers put a space before it, the newer ones of Nemo and version 7 do not. From version 11
on it opens one call: `NAME[ARGS]{...}`, in version 11 also `NAME[CALL_ID]ID[ARGS]{...}`, and some
models leave `[ARGS]` out. Some write several calls behind one marker:
`NAME[ARGS]{...}NAME[ARGS]{...}`. There is no closing marker, though some write `[/TOOL_CALLS]`.
A name with nothing after it, or nothing after `[ARGS]`, is a call without arguments.
Magistral thinks between `[THINK]` marks; calls there are drafts and part of the thought.

All are read by each; they differ in what they print. A marker with no name behind it
opens no call, whatever stands before it.
"""

import re
from collections.abc import Callable

import msgspec

from canonicall.blocks import ToolCall, ToolResult
from canonicall.findings import Action
from canonicall.syntax.declaration import Opener, Syntax, only_named
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import call_object_with_id, spaced_json
from canonicall.syntax.named_calls import (
    LONGEST,
    framed,
    json_arguments,
    name_for,
    read_arguments,
    word,
)
from canonicall.syntax.output import CallOutput, Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops

_BEGIN, _END, _ARGS, _ID = "[TOOL_CALLS]", "[/TOOL_CALLS]", "[ARGS]", "[CALL_ID]"
_NOISE = ("</s>",)
_ENDS = stops(_BEGIN, _END, *_NOISE)
_BEFORE = re.compile(rf"(?:(?!</s>)[^\[{{]){{1,{LONGEST}}}")
_NAME = re.compile(rf"[^\[{{\s]{{1,{LONGEST}}}")
_NEXT_NAME = re.compile(rf"[\w.:/-]{{1,{LONGEST}}}", re.ASCII)


def _read(reader: Reader, output: Output) -> Reading[bool]:
    """One call, and those that follow it without a marker of their own."""
    if not (yield from _read_call(reader, output)):
        return False
    while (yield from _goes_on(reader)):
        mark = reader.mark()
        is_read = yield from _read_call(reader, output)
        raw = reader.since(mark)
        if not is_read:
            output.text(raw)
            output.note(
                "call_unreadable", Action.KEPT, "No call follows the others; it stays text."
            )
            return True
    yield from reader.accept(_END)
    return True


def _goes_on(reader: Reader) -> Reading[bool]:
    """Whether another call comes next: only `[ARGS]` or an id tells a name from words."""
    if _NEXT_NAME.match((yield from reader.peek())) is None:
        return False
    mark = reader.mark()
    yield from reader.match(_NEXT_NAME, LONGEST + 1)
    is_call = bool((yield from reader.accept(_ID, _ARGS)))
    reader.give_back(reader.since(mark))
    return is_call


def _read_call(reader: Reader, output: Output) -> Reading[bool]:
    name = yield from word(reader, _BEFORE)
    marker = yield from reader.accept(_ID, _ARGS)
    call = output.call()
    if marker == _ID:
        call.id((yield from word(reader, _BEFORE)))
        yield from reader.accept(_ARGS)
    yield from reader.blank()
    if not _NAME.fullmatch(name):
        return False
    if (yield from reader.peek()) != "{":
        return (yield from _read_none(reader, output, call, name))
    if not call.name(name):
        return False
    is_cut = yield from read_arguments(reader, call.arguments, _ENDS)
    yield from reader.blank()
    return call.end(truncated=is_cut)


def _read_none(reader: Reader, output: Output, call: CallOutput, name: str) -> Reading[bool]:
    """A call without arguments: another one follows, or the end of the turn.

    Where the text ends without one, it may have been cut: then only the name of a tool that needs
    no arguments is known to be all.
    """
    tool = output.tools.get(name)
    needed = (tool.parameters or {}).get("required") if tool is not None else None
    is_all = bool((yield from reader.next_of(*_ENDS.markers)))
    is_all = is_all or (reader.at_end and tool is not None and not needed)
    if not is_all or not call.name(name):
        return False
    call.arguments("{}")
    return call.end()


def _print_named(call: ToolCall) -> str:
    return f"{_BEGIN}{name_for(call, _NAME)}{_ARGS}{json_arguments(call)}"


def _print_with_id(call: ToolCall) -> str:
    id = f"{_ID}{call.id}" if _NAME.fullmatch(call.id) else ""
    return f"{_BEGIN}{name_for(call, _NAME)}{id}{_ARGS}{json_arguments(call)}"


def _print_object(call: ToolCall) -> str:
    return spaced_json(call_object_with_id(call))


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return "".join(f"[TOOL_RESULTS]{one.text}[/TOOL_RESULTS]" for one in results)


def _print_results_with_id(space: str) -> Callable[[tuple[ToolResult, ...]], str]:
    return lambda results: "".join(
        f"[TOOL_RESULTS]{space}{one.call_id}[TOOL_CONTENT]{space}{one.text}[/TOOL_RESULTS]"
        for one in results
    )


def _print_result_objects(space: str) -> Callable[[tuple[ToolResult, ...]], str]:
    return lambda results: "".join(
        f'[TOOL_RESULTS]{space}{{"content": {_as_json(one.text)}, '
        f'"call_id": {spaced_json(one.call_id)}}}[/TOOL_RESULTS]'
        for one in results
    )


def _as_json(text: str) -> str:
    """JSON stands for itself, any other text is a JSON text."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return spaced_json(text)
    return text


_LIST, _NAMED = json_opener(_BEGIN, _END), Opener(_BEGIN, _read)
_OPENERS = (*only_named(_LIST), _NAMED)
_LISTED = (_LIST, *only_named(_NAMED))
_PRINT_SPACED_LIST = framed(f"{_BEGIN} [", _print_object, "]", between=", ")
_PRINT_LIST = framed(f"{_BEGIN}[", _print_object, "]", between=", ")
_THINKING = (("[THINK]", "[/THINK]"), ("<think>", "</think>"))

SYNTAXES = (
    Syntax(
        name="mistral",
        openers=_OPENERS,
        thinking=_THINKING,
        noise=_NOISE,
        print_calls=framed("", _print_named, ""),
        print_results=_print_results,
    ),
    Syntax(
        name="mistral_v11",
        kin_of="mistral",
        openers=_OPENERS,
        thinking=_THINKING,
        noise=_NOISE,
        print_calls=framed("", _print_with_id, ""),
        print_results=_print_results_with_id(""),
    ),
    Syntax(
        name="mistral_pre_v11",
        openers=_LISTED,
        thinking=_THINKING,
        noise=_NOISE,
        print_calls=_PRINT_SPACED_LIST,
        print_results=_print_result_objects(" "),
    ),
    Syntax(
        name="mistral_nemo",
        kin_of="mistral_pre_v11",
        openers=_LISTED,
        thinking=_THINKING,
        noise=_NOISE,
        print_calls=_PRINT_LIST,
        print_results=_print_result_objects(""),
    ),
    Syntax(
        name="mistral_v7",
        kin_of="mistral_pre_v11",
        openers=_LISTED,
        thinking=_THINKING,
        noise=_NOISE,
        print_calls=_PRINT_LIST,
        print_results=_print_results_with_id(""),
    ),
    Syntax(
        name="mistral_v7_spaced",
        kin_of="mistral_pre_v11",
        openers=_LISTED,
        thinking=_THINKING,
        noise=_NOISE,
        print_calls=_PRINT_SPACED_LIST,
        print_results=_print_results_with_id(" "),
    ),
)
