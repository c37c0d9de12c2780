"""Models that call tools in Python: Llama 4, Llama 3.2 by prompt, ToolACE, LFM2, Olmo 3, MiniCPM3.

A bare list counts where no words went before it, and behind words if its tools were offered; the
others have markers around it. Gemma 3 was taught to write lines of code in a fence that says
`tool_code`, MiniCPM3 one that says `python` between the tokens that LFM2 has as well. A call whose
list is not closed is a call all the same. Names and keys that Python would not read as such cannot
be printed.
"""

import re

import msgspec

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.findings import Action
from canonicall.syntax.declaration import Opener, ReadCalls, Syntax, only_named
from canonicall.syntax.json_calls import json_calls, next_is, taught_opener
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_printing import each_result, spaced_json
from canonicall.syntax.named_calls import only_frames
from canonicall.syntax.output import Output
from canonicall.syntax.printing import with_printing
from canonicall.syntax.python_calls import python_calls
from canonicall.syntax.reader import Reader, Reading

_LFM_OPEN, _LFM_CLOSE = "<|tool_call_start|>", "<|tool_call_end|>"
_LONGEST_ECHO = 4096
"""No longer text is waited for, to see whether it is repeated."""
_OLMO_OPEN, _OLMO_CLOSE = "<function_calls>", "</function_calls>"
_LLAMA4_OPEN, _LLAMA4_CLOSE = "<|python_start|>", "<|python_end|>"


def _is_list_of_calls(reader: Reader) -> Reading[bool]:
    """Whether a name stands behind the bracket: a list of anything else is no list of calls."""
    yield from reader.blank()
    first = yield from reader.peek()
    return first.isalpha() or first == "_"


def _written(call: ToolCall) -> str:
    pairs = (f"{key}={_literal(value)}" for key, value in arguments_of(call).items())
    return f"{call.name}({', '.join(pairs)})"


def _literal(value: object) -> str:
    """A value as Python writes it, with texts in double quotes."""
    match value:
        case None | bool():
            return str(value)
        case str():
            return msgspec.json.encode(value).decode()
        case dict():
            pairs = (f"{_literal(key)}: {_literal(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case _:
            return msgspec.json.encode(value).decode()


def _print_list(calls: tuple[ToolCall, ...]) -> str:
    return "[" + ", ".join(map(_written, calls)) + "]"


def _print_lfm(calls: tuple[ToolCall, ...]) -> str:
    return f"{_LFM_OPEN}{_print_list(calls)}{_LFM_CLOSE}"


def _print_olmo(calls: tuple[ToolCall, ...]) -> str:
    return f"{_OLMO_OPEN}\n" + "\n".join(map(_written, calls)) + f"\n{_OLMO_CLOSE}"


def _print_llama4(calls: tuple[ToolCall, ...]) -> str:
    return f"{_LLAMA4_OPEN}{_print_list(calls)}{_LLAMA4_CLOSE}"


def _print_llama4_results(results: tuple[ToolResult, ...]) -> str:
    """Text, too, is printed as JSON."""
    before = "<|header_start|>ipython<|header_end|>\n\n"
    return "".join(f"{before}{spaced_json(one.text)}<|eot|>" for one in results)


def _print_minicpm(calls: tuple[ToolCall, ...]) -> str:
    lines = "\n".join(map(_written, calls))
    return f"{_LFM_OPEN}\n```python\n{lines}\n```\n{_LFM_CLOSE}\n"


_read_fenced = python_calls("```", between=(",", ";"), printed=True)


def _fenced(reader: Reader, output: Output) -> Reading[bool]:
    """Calls in a fence, and the token after it."""
    yield from reader.blank()
    yield from reader.accept("```python", "```")
    if not (yield from _read_fenced(reader, output)):
        return False
    yield from reader.blank()
    yield from reader.accept(_LFM_CLOSE)
    return True


def _said_once(read: ReadCalls) -> ReadCalls:
    """LFM2 at times repeats all that stood behind the opening marker: that is no second call."""

    def read_once(reader: Reader, output: Output) -> Reading[bool]:
        mark = reader.mark()
        done = yield from read(reader, output)
        said = reader.since(mark)
        may_repeat = done and said.endswith(_LFM_CLOSE) and len(said) <= _LONGEST_ECHO
        if may_repeat and (yield from reader.accept(said)):
            why = "The model repeated its calls without their opening marker; they were left out."
            output.note("call_repeated", Action.DROPPED, why)
        return done

    return read_once


_read_list = python_calls("]", listed=False)


def _bare_list(reader: Reader, output: Output) -> Reading[bool]:
    """A list without markers: behind words it counts only where tools tell what a call is."""
    if output.has_words and not output.tools:
        return False
    return (yield from _read_list(reader, output))


BARE_LIST = Opener("[", _bare_list, looks=_is_list_of_calls, by_form=True)
_TOOL_CODE = Opener(
    "```tool_code",
    python_calls("```", between=(",", ";"), printed=True),
    place="line",
    closers=("```",),
    by_form=True,
)

SYNTAXES = (
    with_printing(
        Syntax(
            name="pythonic",
            notation="custom",
            openers=(BARE_LIST, _TOOL_CODE),
            noise=("<|eot_id|>", "<|eom_id|>", "<|python_tag|>", "<end_of_turn>"),
            is_marked=False,
        ),
        _print_list,
    ),
    with_printing(
        Syntax(
            name="llama4_pythonic",
            notation="custom",
            openers=(
                Opener(_LLAMA4_OPEN, python_calls(_LLAMA4_CLOSE)),
                # Its own template prints an empty block and then JSON.
                Opener(_LLAMA4_OPEN + _LLAMA4_CLOSE, only_frames),
                *only_named(
                    BARE_LIST,
                    *(taught_opener(bracket, form=JsonForm(is_strict=True)) for bracket in "{["),
                ),
            ),
            noise=("<|eot|>", "<|eom|>", _LLAMA4_CLOSE),
            frames=(re.escape(_LLAMA4_OPEN + _LLAMA4_CLOSE),),
            is_marked=False,
        ),
        _print_llama4,
        _print_llama4_results,
    ),
    with_printing(
        Syntax(
            name="minicpm3",
            notation="custom",
            openers=(
                Opener(_LFM_OPEN, _fenced, looks=next_is("```"), closers=(_LFM_CLOSE,)),
                *only_named(Opener(_LFM_OPEN, python_calls(_LFM_CLOSE), closers=(_LFM_CLOSE,))),
            ),
            thinking=(("<|thought_start|>", "<|thought_end|>"),),
            noise=("<|im_end|>",),
        ),
        _print_minicpm,
        each_result("<|im_start|>tool\n", "<|im_end|>\n", between=""),
    ),
    with_printing(
        Syntax(
            name="lfm2",
            notation="custom",
            openers=(
                Opener(_LFM_OPEN, json_calls(_LFM_CLOSE), looks=next_is("[{", "{")),
                Opener(_LFM_OPEN, _said_once(python_calls(_LFM_CLOSE)), closers=(_LFM_CLOSE,)),
            ),
            noise=("<|im_end|>",),
            prompt_opens_thinking=True,
        ),
        _print_lfm,
        each_result(
            "<|tool_response_start|>",
            "<|tool_response_end|>",
            between="<|im_end|>\n<|im_start|>tool\n",
        ),
    ),
    with_printing(
        Syntax(
            name="olmo3",
            notation="custom",
            openers=(
                Opener(
                    _OLMO_OPEN,
                    python_calls(_OLMO_CLOSE, between=(",", ";"), listed=False),
                    closers=(_OLMO_CLOSE,),
                ),
            ),
            prompt_opens_thinking=True,
            noise=("<|im_end|>",),
        ),
        _print_olmo,
    ),
)
