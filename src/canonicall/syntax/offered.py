"""The tools that were offered, whichever way they are written."""

from collections.abc import Iterable
from typing import Any

from canonicall.errors import InvalidValue
from canonicall.request import Tool


def offered_tools(tools: Iterable[Tool | dict[str, Any]]) -> dict[str, Tool]:
    """Tools by name. A definition may be one of ours or one in the form of any chat API."""
    found = [
        tool if isinstance(tool, Tool) else _tool_in(tool, index)
        for index, tool in enumerate(tools)
    ]
    return {tool.name: tool for tool in found if tool.name}


def _tool_in(wire: Any, index: int) -> Tool:
    if not isinstance(wire, dict):
        raise InvalidValue(
            f"expected the definition of a tool, got {type(wire).__name__}.",
            where=f"tools[{index}]",
            help="Give a Tool, or an object with a name and a schema.",
        )
    inner = wire.get("function")
    held = inner if isinstance(inner, dict) else wire
    name = held.get("name")
    schema = held.get("parameters") or held.get("input_schema")
    return Tool(
        name if isinstance(name, str) else "",
        parameters=schema if isinstance(schema, dict) else None,
    )
