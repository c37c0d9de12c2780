"""Calls and results printed as JSON, the way chat templates do it.

Templates print JSON with `tojson`: spaces behind commas and colons, letters of all alphabets as
they are. Models have seen nothing else, so that is what is printed.
"""

import json
from collections.abc import Callable
from typing import Any

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult


def spaced_json(value: object) -> str:
    """A value as `tojson` prints it."""
    return json.dumps(value, ensure_ascii=False)


def call_object(call: ToolCall, arguments: str = "arguments") -> dict[str, Any]:
    """A call as an object with its name and arguments."""
    return {"name": call.name, arguments: arguments_of(call)}


def each_call(
    before: str,
    after: str,
    *,
    between: str = "\n",
    arguments: str = "arguments",
    printed: Callable[[object], str] = spaced_json,
) -> Callable[[tuple[ToolCall, ...]], str]:
    """A printer that writes each call between marks of its own."""

    def print_calls(calls: tuple[ToolCall, ...]) -> str:
        objects = (printed(call_object(call, arguments)) for call in calls)
        return between.join(f"{before}{one}{after}" for one in objects)

    return print_calls


def call_object_with_id(call: ToolCall) -> dict[str, Any]:
    """The same with its id behind, where it has one."""
    return call_object(call) | ({"id": call.id} if call.id else {})


def list_of_calls(before: str, after: str) -> Callable[[tuple[ToolCall, ...]], str]:
    """A printer that writes all calls as one list."""

    def print_calls(calls: tuple[ToolCall, ...]) -> str:
        return before + spaced_json([call_object(call) for call in calls]) + after

    return print_calls


def each_result(
    before: str, after: str, between: str = "\n"
) -> Callable[[tuple[ToolResult, ...]], str]:
    """A printer that writes each result between marks of its own."""

    def print_results(results: tuple[ToolResult, ...]) -> str:
        return between.join(f"{before}{one.text}{after}" for one in results)

    return print_results
