"""Printing calls in a syntax that escapes nothing.

Such a syntax cannot say every value: one that contains its own closing tag and what may follow it
would be read as something else. So what was printed is read back, and refused where it says
something else than it should.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.errors import InvalidValue
from canonicall.folding import fold
from canonicall.request import Tool
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.json_printing import spaced_json
from canonicall.syntax.scanner import TextScanner


def bare_text(value: Any) -> str:
    """A value as such templates print it: a string as it is, everything else as JSON."""
    return value if isinstance(value, str) else spaced_json(value)


def python_text(value: Any) -> str:
    """The same for templates that print what is neither a list nor an object by `string`.

    These say True and False. They also say None, by which readers cannot know null from a word, so
    null it is.
    """
    return str(value) if isinstance(value, bool) else bare_text(value)


def compact_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def with_printing(
    syntax: Syntax,
    print_calls: Callable[[tuple[ToolCall, ...]], str],
    print_results: Callable[[tuple[ToolResult, ...]], str] | None = None,
) -> Syntax:
    """`syntax` with its printers. Calls that would not be read back as they are are refused."""

    def print_checked(calls: tuple[ToolCall, ...]) -> str:
        for index, call in enumerate(calls):
            if _read_back(print_calls((call,)), syntax, call) != (call.name, arguments_of(call)):
                what = f"The call of {call.name!r} cannot be said in {syntax.name}."
                help = "A value contains tags of the syntax, or a name characters it cannot hold."
                raise InvalidValue(what, where=f"calls[{index}]", help=help)
        return print_calls(calls)

    return replace(syntax, print_calls=print_checked, print_results=print_results)


def _read_back(text: str, syntax: Syntax, call: ToolCall) -> tuple[str, Any] | None:
    scanner = TextScanner(syntax, tools=[_tool_for(call)])
    reply = fold([*scanner.feed(text), *scanner.close()])
    if len(reply.calls) != 1 or len(reply.message.blocks) != 1 or reply.calls[0].truncated:
        return None
    return reply.calls[0].name, reply.calls[0].args


def _tool_for(call: ToolCall) -> Tool:
    """A tool that takes just these arguments."""
    return Tool(call.name, parameters=_schema_of(arguments_of(call)))


def _schema_of(value: Any) -> dict[str, Any]:
    """A schema that tells the types of a value and of all that is in it."""
    if isinstance(value, dict):
        members = {key: _schema_of(one) for key, one in value.items()}
        return {"type": "object", "properties": members}
    if isinstance(value, list):
        return {"type": "array", "items": {"anyOf": [_schema_of(one) for one in value]}}
    return {"const": value}
