"""ReAct: `Thought:`, `Action:`, `Action Input:` at the start of lines, as agent frameworks ask for.

The input is JSON, in a fence or not, or words: those become the only argument of the tool, or
`input`. It may stand in brackets behind the name as well: `Action: f ({...})`. An action called
None is no call, and neither is one without an input. What a model makes up behind `Observation:`
stays text.
"""

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.request import Tool
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.output import CallOutput, Output
from canonicall.syntax.printing import compact_json, with_printing
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.typed_values import json_text

_ACTION, _INPUT, _THOUGHT, _ANSWER = "Action:", "Action Input:", "Thought:", "Final Answer:"
_NAME_ENDS = stops("\n", "(")
_LONGEST_NAME = 256
_THOUGHT_ENDS = stops(f"\n{_ACTION}", f"\n{_ANSWER}", f"\n{_THOUGHT}")
_LABELS = ("Observation:", _THOUGHT, _ACTION, _ANSWER)
_INPUT_ENDS = stops(*(f"\n{label}" for label in _LABELS))
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
    said, end = yield from reader.up_to(_NAME_ENDS, _LONGEST_NAME)
    reader.take(len(end))
    name = said.strip().strip("`*'\"[]()").strip()
    yield from reader.blank()
    if end == "(":
        if (yield from reader.peek()) != "{":
            return False
    elif not (yield from reader.accept(_INPUT)):
        return False
    if name.lower() in _NO_ACTION:
        return False
    call = output.call()
    if not call.name(name):
        return False
    return (yield from _input(reader, call, in_brackets=end == "("))


def _input(reader: Reader, call: CallOutput, *, in_brackets: bool) -> Reading[bool]:
    mark = reader.mark()
    yield from reader.blank()
    fence = yield from reader.accept("```json", "```")
    yield from reader.blank()
    before = reader.since(mark)
    if "\n" in before and (yield from reader.next_of(*_LABELS)):
        call.arguments("{}")
        return call.end()
    if (yield from reader.peek()) != "{":
        yield from _words(reader, call, before)
        return call.end()
    whole = yield from reader.json_value(call.arguments)
    if whole and (fence or in_brackets):
        yield from reader.blank()
        yield from reader.accept("```" if fence else ")")
    return call.end(truncated=not whole)


def _words(reader: Reader, call: CallOutput, before: str) -> Reading[None]:
    """An input that is no JSON object. `before`: what was taken of it already."""
    said = [before]
    yield from reader.until(_INPUT_ENDS, said.append, consume=False)
    text = "".join(said).strip().removeprefix("```").removesuffix("```").strip()
    key = json_text(_only_argument(call.tool))
    call.arguments(f"{{{key}:{json_text(_unquoted(text))}}}" if text else "{}")


def _only_argument(tool: Tool | None) -> str:
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
        f"{_ACTION} {call.name}\n{_INPUT} {compact_json(arguments_of(call))}" for call in calls
    )


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return "\n".join(f"Observation: {one.text}" for one in results)


SYNTAXES = (
    with_printing(
        Syntax(
            name="react",
            openers=(
                Opener(_THOUGHT, _thought, place="line", only_named=True),
                Opener(_ACTION, _action, place="line"),
                Opener(_ANSWER, _answer, place="line", only_named=True),
            ),
            frames=(_THOUGHT, _ANSWER),
            is_marked=False,
            notation="custom",
        ),
        _print_calls,
        _print_results,
    ),
)
