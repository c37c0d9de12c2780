"""Calls to print in a syntax, and what is needed to read them again: tools that take just these."""

from collections.abc import Iterator, Sequence
from typing import Any

from canonicall.blocks import ToolCall
from canonicall.errors import InvalidValue
from canonicall.request import Tool
from canonicall.syntax.declaration import Place, Syntax
from canonicall.syntax.offered import offered_tools

_DEEP = {"list": [1, [2, {"a": None}]], "object": {"k": {"k": "v"}}, "empty": {}, "none": []}
_PLAIN = {
    "one": (ToolCall(name="get_weather", args={"city": "Paris"}),),
    "no arguments": (ToolCall(name="now", args={}),),
    "types": (ToolCall(name="f", args={"n": -3, "x": 1.5, "yes": True, "nothing": None}),),
    "texts like other types": (ToolCall(name="f", args={"a": "3", "b": "true", "c": "null"}),),
    "depth": (ToolCall(name="f", args=_DEEP),),
    "letters": (ToolCall(name="f", args={"a": "日本 é \U0001f438", "b": "läs"}),),
    "quotes": (ToolCall(name="f", args={"a": '"a" \'b\' `c` \\ \\n {"x": [1]}'}),),
    "lines": (ToolCall(name="f", args={"code": "if x:\n\tprint(1)\n\n# end\n"}),),
    "blanks": (ToolCall(name="f", args={"a": " a ", "b": "", "c": "\n"}),),
    "tags": (ToolCall(name="f", args={"html": "<p>a &lt; b</p><!-- x -->"}),),
    "names": (
        ToolCall(name="files.read", args={"path": "a/b"}),
        ToolCall(name="do-it", args={"a_b": 1}),
    ),
    "several": (
        ToolCall(name="f", args={"a": 1}),
        ToolCall(name="g", args={"b": "2"}),
        ToolCall(name="h", args={}),
    ),
}


def calls_to_print(syntax: Syntax) -> Iterator[tuple[str, tuple[ToolCall, ...]]]:
    """Calls by what is special about them; last those whose texts have the syntax's own markers."""
    yield from _PLAIN.items()
    for marker in sorted(markers_of(syntax)):
        said = f"before {marker} behind"
        yield f"the marker {marker!r} in a text", (ToolCall(name="f", args={"a": said}),)


def printed(syntax: Syntax, calls: Sequence[ToolCall]) -> str | None:
    """The calls as the syntax prints them; None where it does not, or cannot say these."""
    if syntax.print_calls is None:
        return None
    try:
        return syntax.print_calls(tuple(calls))
    except InvalidValue:
        return None


def markers_of(syntax: Syntax, tools: Sequence[Tool | dict[str, Any]] = ()) -> set[str]:
    """All markers that a syntax declares."""
    openers = [*syntax.openers]
    if syntax.tool_openers is not None:
        openers += syntax.tool_openers(offered_tools(tools))
    found = {marker for one in openers for marker in (one.marker, *one.closers) if marker}
    return found | {mark for pair in syntax.thinking for mark in pair} | set(syntax.noise)


def tools_for(calls: Sequence[ToolCall]) -> list[Tool | dict[str, Any]]:
    """Tools that take just these arguments."""
    return [Tool(call.name, parameters=_schema_of(call.args)) for call in calls]


def place_of(text: str, syntax: Syntax, tools: Sequence[Tool | dict[str, Any]]) -> Place:
    """Where calls that were printed so have to stand, as the openers of their syntax say."""
    made = syntax.tool_openers(offered_tools(tools)) if syntax.tool_openers else ()
    openers = [
        one
        for one in (*syntax.openers, *made)
        if one.marker and text.lstrip().startswith(one.marker)
    ]
    return max(openers, key=lambda one: len(one.marker)).place if openers else "anywhere"


def _schema_of(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: _schema_of(value[key]) for key in value}}
    if isinstance(value, list):
        return {"type": "array", "items": {"anyOf": [_schema_of(one) for one in value]}}
    return {"const": value}
