"""ReAct: `Thought:`, `Action:`, `Action Input:` at the start of lines, as agent frameworks ask for.

The input is JSON, or words: those become the only text argument of the tool, or `input`. An action
called None is no call. What a model makes up behind `Observation:` stays text.
"""

import re

import msgspec

from canonicall.blocks import ToolCall, ToolResult
from canonicall.request import Tool
from canonicall.syntax.declaration import Opener, Syntax, arguments_of
from canonicall.syntax.output import CallOutput, Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops

_ACTION, _INPUT, _THOUGHT, _ANSWER = "Action:", "Action Input:", "Thought:", "Final Answer:"
_LINE_END = stops("\n")
_THOUGHT_ENDS = stops(f"\n{_ACTION}", f"\n{_ANSWER}", f"\n{_THOUGHT}")
_INPUT_ENDS = stops("\nObservation:", f"\n{_THOUGHT}", f"\n{_ACTION}", f"\n{_ANSWER}")
_BLANK_IN_LINE = re.compile(r"[ \t]*")
_NO_ACTION = ("none", "n/a", "null", "")


def _thought(reader: Reader, output: Output) -> Reading[bool]:
    yield from reader.blank()
    yield from reader.until(_THOUGHT_ENDS, output.thinking, consume=False)
    output.end_words()
    return True


def _answer(reader: Reader, output: Output) -> Reading[bool]:
    """Words follow; the label itself says nothing."""
    output.end_words()
    yield from reader.blank()
    return True


def _action(reader: Reader, output: Output) -> Reading[bool]:
    line: list[str] = []
    yield from reader.until(_LINE_END, line.append)
    name = "".join(line).strip().strip("`*'\"[]()").strip()
    yield from reader.blank()
    if name.lower() in _NO_ACTION or not (yield from reader.accept(_INPUT)):
        return False
    call = output.call()
    if not call.name(name):
        return False
    yield from reader.match(_BLANK_IN_LINE, 64)
    if (yield from reader.peek_word()) == "{":
        yield from reader.blank()
        whole = yield from reader.json_value(call.arguments)
        return call.end(truncated=not whole)
    yield from _words(reader, call)
    return call.end()


def _words(reader: Reader, call: CallOutput) -> Reading[None]:
    """An input that is no JSON object."""
    said: list[str] = []
    yield from reader.until(_INPUT_ENDS, said.append, consume=False)
    text = "".join(said).strip().removeprefix("```").removesuffix("```").strip()
    call.arguments(_json({_only_text(call.tool): _unquoted(text)}) if text else "{}")


def _only_text(tool: Tool | None) -> str:
    """The name of a tool's only parameter, `input` where that is not known."""
    properties = (tool.parameters or {}).get("properties") if tool is not None else None
    if isinstance(properties, dict) and len(properties) == 1:
        return str(next(iter(properties)))
    return "input"


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    return "\n".join(
        f"{_ACTION} {call.name}\n{_INPUT} {_json(arguments_of(call))}" for call in calls
    )


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return "\n".join(f"Observation: {one.text}" for one in results)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


SYNTAXES = (
    Syntax(
        name="react",
        openers=(
            Opener(_THOUGHT, _thought, place="line"),
            Opener(_ACTION, _action, place="line"),
            Opener(_ANSWER, _answer, place="line"),
        ),
        is_marked=False,
        print_calls=_print_calls,
        print_results=_print_results,
    ),
)
