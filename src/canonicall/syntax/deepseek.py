"""DeepSeek V3, R1 and V3.1, and Cogito v2, which is made of V3.

V3 and R1 write `function`, a separator, the name, and the arguments in a fence; V3.1 writes the
name, a separator, and the arguments. Either is read for all, as servers mix the templates; what
follows the separator tells them apart. A fence that is missing, a block around the calls that is
missing or has no end: the calls count. So do markers with plain bars, which proxies and prompts
make of DeepSeek's own. V3.2 and later write tags.

Results that the model makes up between the markers of results are its words.
"""

import re

from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Opener, Syntax, only_named
from canonicall.syntax.named_calls import (
    BEFORE_TAG,
    LONGEST,
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

_BAR = "\uff5c"


def _token(*words: str) -> str:
    """A marker: its words are joined and framed by letters that no keyboard has."""
    return f"<{_BAR}" + "\u2581".join(words) + f"{_BAR}>"


def _spelled(*tokens: str) -> tuple[str, ...]:
    """The markers, also with the bars that keyboards have."""
    return (*tokens, *(token.replace(_BAR, "|") for token in tokens))


_BLOCK, _BLOCK_END = _token("tool", "calls", "begin"), _token("tool", "calls", "end")
_BEGIN, _END = _token("tool", "call", "begin"), _token("tool", "call", "end")
_SEP = _token("tool", "sep")
_RESULTS, _RESULTS_END = _token("tool", "outputs", "begin"), _token("tool", "outputs", "end")
_RESULT, _RESULT_END = _token("tool", "output", "begin"), _token("tool", "output", "end")
_TURN, _TURN_END = _token("Assistant"), _token("end", "of", "sentence")
_FENCES = ("```json", "```")
_FENCE = "```"
V31_NOISE = _spelled(
    _END, _BLOCK_END, _RESULTS, _RESULTS_END, _RESULT, _RESULT_END, _TURN, _TURN_END
)
_MARKERS = stops(*_spelled(_BEGIN, _BLOCK), *V31_NOISE)
_ENDS = stops(_FENCE, *_MARKERS.markers)
_TYPE = "function"
_NAME_LINE = re.compile(rf"[^<`{{\n]{{1,{LONGEST}}}")


def _read(reader: Reader, output: Output) -> Reading[bool]:
    name = yield from word(reader)
    if not name or not (yield from reader.accept(*_spelled(_SEP))):
        return False
    yield from reader.blank()
    if not (yield from _arguments_follow(reader, name)):
        name = (yield from word(reader, _NAME_LINE)) if name == _TYPE else ""
        if reader.at_end:
            # Nothing says that the name is whole.
            return False
    call = output.call()
    if not call.name(name):
        return False
    yield from reader.blank()
    yield from reader.accept(*_FENCES)
    is_cut = yield from read_arguments(reader, call.arguments, _ENDS)
    yield from reader.blank()
    yield from reader.accept(_FENCE)
    yield from close_call(reader, output, _spelled(_END), _MARKERS)
    return call.end(truncated=is_cut)


def _arguments_follow(reader: Reader, before: str) -> Reading[bool]:
    """Whether no name stands behind the separator: it stood before it."""
    first = yield from reader.peek()
    if first == "{" or before == _TYPE:
        return first == "{"
    return not first or (yield from reader.comes(_ENDS))


def _is_typed(reader: Reader) -> Reading[bool]:
    """Whether the type of the call comes before its name, as only V3 writes it."""
    yield from reader.blank()
    return bool((yield from reader.next_of(*_spelled(_TYPE + _SEP))))


def _print_fenced(call: ToolCall) -> str:
    name = name_for(call, _NAME_LINE)
    return f"{_BEGIN}{_TYPE}{_SEP}{name}\n```json\n{json_arguments(call)}\n```{_END}"


def _print_plain(call: ToolCall) -> str:
    return f"{_BEGIN}{name_for(call, BEFORE_TAG)}{_SEP}{json_arguments(call)}{_END}"


def _print_results_framed(results: tuple[ToolResult, ...]) -> str:
    return (
        _RESULTS + "\n".join(f"{_RESULT}{one.text}{_RESULT_END}" for one in results) + _RESULTS_END
    )


def _print_results_plain(results: tuple[ToolResult, ...]) -> str:
    return "".join(f"{_RESULT}{one.text}{_RESULT_END}" for one in results)


_FRAMES = tuple(map(frame_opener, _spelled(_BLOCK)))
_CALLS = tuple(Opener(begin, _read) for begin in _spelled(_BEGIN))
V31_OPENERS = (*_FRAMES, *_CALLS)
_TYPED = (
    *_FRAMES,
    *(Opener(begin, _read, looks=_is_typed) for begin in _spelled(_BEGIN)),
    *only_named(*_CALLS),
)
V31_FRAMES = tuple(map(re.escape, _spelled(_BLOCK)))
_PRINT_FENCED = framed(_BLOCK, _print_fenced, _BLOCK_END, between="\n")

SYNTAXES = (
    Syntax(
        name="deepseek_v3",
        openers=_TYPED,
        noise=V31_NOISE,
        frames=V31_FRAMES,
        prompt_opens_thinking=True,
        print_calls=_PRINT_FENCED,
        print_results=_print_results_framed,
    ),
    Syntax(
        name="deepseek_v31",
        openers=V31_OPENERS,
        noise=V31_NOISE,
        frames=V31_FRAMES,
        print_calls=framed(_BLOCK, _print_plain, _BLOCK_END),
        print_results=_print_results_plain,
    ),
    Syntax(
        name="cogito_deepseek",
        kin_of="deepseek_v3",
        openers=_TYPED,
        noise=V31_NOISE,
        frames=V31_FRAMES,
        print_calls=_PRINT_FENCED,
        print_results=_print_results_framed,
    ),
)
