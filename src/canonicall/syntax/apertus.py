"""Apertus: a list of objects in which the name of the tool is the key and the arguments its value.

`<|tools_prefix|>[{"f": {...}}, {"g": {...}}]<|tools_suffix|>`; the closing marker is often missing.
Thoughts stand between `<|inner_prefix|>` and `<|inner_suffix|>`; Apertus calls from within them.
"""

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.json_calls import next_is
from canonicall.syntax.json_form import plain_value
from canonicall.syntax.json_printing import spaced_json
from canonicall.syntax.named_calls import close_call, framed, read_arguments
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops

_BEGIN, _END = "<|tools_prefix|>", "<|tools_suffix|>"
_NOISE = (_END, "<|assistant_start|>", "<|assistant_end|>", "<|inner_suffix|>")
_ENDS = stops(_BEGIN, *_NOISE)
_STRUCTURE = ("{", "}", "[", "]", ",")


def _read(reader: Reader, output: Output) -> Reading[bool]:
    is_found = False
    while True:
        yield from reader.blank()
        if (yield from reader.comes(_ENDS)):
            break
        if (yield from reader.accept(*_STRUCTURE)):
            continue
        if not (yield from _call(reader, output, is_first=not is_found)):
            break
        is_found = True
    if is_found:
        yield from close_call(reader, output, (_END,), _ENDS)
    return is_found


def _call(reader: Reader, output: Output, *, is_first: bool) -> Reading[bool]:
    """A key and its value. Whether they are a call; behind others, what is none is text."""
    if (yield from reader.peek()) not in ('"', "'"):
        return False
    mark = reader.mark()
    pieces: list[str] = []
    yield from reader.json_value(pieces.append)
    yield from reader.blank()
    is_key = bool((yield from reader.accept(":")))
    yield from reader.blank()
    is_object = (yield from reader.peek()) == "{"
    raw = reader.since(mark)
    call = output.call()
    if not (is_key and is_object and call.name(str(plain_value(pieces)))):
        if not is_first:
            output.text(raw)
        return False
    is_cut = yield from read_arguments(reader, call.arguments, _ENDS)
    return call.end(truncated=is_cut)


def _print_call(call: ToolCall) -> str:
    return spaced_json({call.name: arguments_of(call)})


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return f"[{', '.join(one.text for one in results)}]"


SYNTAXES = (
    Syntax(
        name="apertus",
        openers=(Opener(_BEGIN, _read, looks=next_is("[", "{")),),
        thinking=(("<|inner_prefix|>", "<|inner_suffix|>"),),
        call_ends_thinking=True,
        noise=_NOISE,
        print_calls=framed(f"{_BEGIN}[", _print_call, f"]{_END}", between=", "),
        print_results=_print_results,
    ),
)
