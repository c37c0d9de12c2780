"""Kimi K2, K2 Thinking and K2.5.

`<|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{...}<|tool_call_end|>`, in a
section around all calls. The whole `functions.NAME:0` is the id of the call, and the model wants
to see it again as it was; the name is what stands between the prefix and the counter. K2 Thinking
calls while it thinks: a call ends the thought.

Seen as well, and read: sections whose markers are spelled `tool_call_section`, calls without a
section, sections and calls without their ends, names without the prefix or the counter, calls
without their first token at the beginning of a reply, of a section, or after another call. Of a
call that has only a counter or an id of another make instead of a name, the tool is the one that
was offered and whose parameters fit its arguments, if there is just one; else it is text.

Printed are the ids that the calls have, where they are of the model's form; other ids cannot say
the name, and are replaced by `functions.NAME:` and the position among the calls.
"""

import re
from collections.abc import Mapping
from itertools import starmap
from typing import Any

from canonicall.arguments import parse_arguments
from canonicall.blocks import ToolCall, ToolResult
from canonicall.findings import Action
from canonicall.request import Tool
from canonicall.syntax.declaration import Opener, Syntax, only_named
from canonicall.syntax.named_calls import (
    BEFORE_TAG,
    LONGEST,
    close_call,
    json_arguments,
    name_for,
    read_arguments,
    word,
)
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops


def _begun(marker: str) -> str:
    """An expression for the beginnings of a marker."""
    return "|".join(re.escape(marker[:end]) for end in range(len(marker) - 1, 0, -1))


_BEGIN, _ARGUMENTS, _END = (
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
)
_SECTIONS = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
_SECTION_ENDS = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")
_NOISE = (_END, *_SECTION_ENDS, "<|im_assistant|>assistant<|im_middle|>", "<|im_end|>")
_ENDS = stops(_BEGIN, *_SECTIONS, *_NOISE)
_FRAMES = tuple(map(re.escape, _SECTIONS))
_PREFIX = "functions."
_COUNTER = re.compile(r":\d+\Z")
_COUNTER_ALONE = re.compile(r"\d+")
_FOREIGN_ID = re.compile(r"call_\w+")
_UNOPENED = re.compile(rf"\s*[\w.:-]{{1,{LONGEST}}}\s?{re.escape(_ARGUMENTS)}")
_UNOPENED_BEGUN = re.compile(
    rf"\s*(?:[\w.:-]{{1,{LONGEST}}}\s?(?:{_begun(_ARGUMENTS)})?)?\Z",
)


def _is_unopened(reader: Reader) -> Reading[bool]:
    """Whether a call comes next without the token that opens it."""
    found = yield from reader.ahead(_UNOPENED, 2 * LONGEST, _UNOPENED_BEGUN)
    return found is not None


def _begins_unopened(reader: Reader) -> Reading[bool]:
    """The same where a reply begins: there, only the prefix distinguishes a call from a word."""
    yield from reader.blank()
    is_prefixed = bool((yield from reader.next_of(_PREFIX)))
    return is_prefixed and (yield from _is_unopened(reader))


def _read_all(reader: Reader, output: Output) -> Reading[bool]:
    """A call, and those after it that have no token before them."""
    found = False
    while (yield from _read(reader, output)):
        found = True
        if not (yield from _is_unopened(reader)):
            break
    return found


def _read_section(reader: Reader, output: Output) -> Reading[bool]:
    """A section means nothing; its first call may lack its token."""
    if (yield from _is_unopened(reader)):
        yield from _read_all(reader, output)
    return True


def _refuse(_reader: Reader, _output: Output) -> Reading[bool]:
    """Arguments of a call whose name is already text: there is nothing to call, only a finding."""
    yield from ()
    return False


def _read(reader: Reader, output: Output) -> Reading[bool]:
    id = yield from word(reader)
    marker = yield from reader.accept(_ARGUMENTS, _END)
    if not id or not marker:
        return False
    call = output.call()
    call.id(id)
    name = _name_in(id, output.tools)
    if name and not call.name(name):
        return False
    pieces: list[str] = []
    is_cut = False
    if marker == _ARGUMENTS:
        sink = call.arguments if name else pieces.append
        is_cut = yield from read_arguments(reader, sink, _ENDS)
        yield from close_call(reader, output, (_END,), _ENDS)
    if not name:
        raw = "".join(pieces)
        name = _fitting(output.tools, parse_arguments(raw))
        if not name:
            return False
        why = f"A call said no name; its arguments fit only {name!r}, so it was taken for that."
        output.note("name_guessed", Action.CHANGED, why)
        call.name(name)
        call.arguments(raw)
    return call.end(truncated=is_cut)


def _name_in(id: str, tools: Mapping[str, Tool]) -> str:
    """The name in an id; empty if there is none in it."""
    if _COUNTER_ALONE.fullmatch(id):
        return ""
    whole = _COUNTER.sub("", id)
    if whole in tools:
        return whole
    name = whole.removeprefix(_PREFIX)
    is_foreign = tools and name not in tools and _FOREIGN_ID.fullmatch(id)
    return "" if is_foreign else name


def _fitting(tools: Mapping[str, Tool], args: dict[str, Any] | None) -> str:
    """The only tool that can be called with these arguments; empty if there is none."""
    fitting = [name for name, tool in tools.items() if args is not None and _fits(tool, args)]
    return fitting[0] if len(fitting) == 1 else ""


def _fits(tool: Tool, args: dict[str, Any]) -> bool:
    schema = tool.parameters or {}
    known, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(known, dict) or not isinstance(required, list):
        return False
    return all(key in known for key in args) and all(key in args for key in required)


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    return _SECTIONS[0] + "".join(starmap(_numbered, enumerate(calls))) + _SECTION_ENDS[0]


def _numbered(index: int, call: ToolCall) -> str:
    name = name_for(call, BEFORE_TAG)
    return f"{_BEGIN}{_id(call.id, name, index)}{_ARGUMENTS}{json_arguments(call)}{_END}"


def _id(id: str, name: str, index: int) -> str:
    """An id of the model's form: the one there is, or one of the name and the position."""
    return id if _COUNTER.sub("", id) == _PREFIX + name else f"{_PREFIX}{name}:{index}"


def _print_results(results: tuple[ToolResult, ...]) -> str:
    """Results, by the ids that their calls were printed with: all of one reply, in its order."""
    return "".join(
        f"<|im_system|>{one.name or 'tool'}<|im_middle|>"
        f"## Return of {_id(one.call_id, one.name, index) if one.name else one.call_id}\n"
        f"{one.text}<|im_end|>"
        for index, one in enumerate(results)
    )


SYNTAXES = (
    Syntax(
        name="kimi_k2",
        openers=(
            *(Opener(section, _read_section) for section in _SECTIONS),
            Opener(_BEGIN, _read_all),
            Opener("", _read_all, looks=_begins_unopened),
            *only_named(Opener(_ARGUMENTS, _refuse)),
        ),
        call_ends_thinking=True,
        noise=_NOISE,
        frames=_FRAMES,
        prompt_opens_thinking=True,  # K2.5
        print_calls=_print_calls,
        print_results=_print_results,
    ),
)
