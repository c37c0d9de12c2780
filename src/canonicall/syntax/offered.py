"""The tools that were offered, whichever way they are written."""

from collections.abc import Iterable
from typing import Any

from canonicall.request import Tool


def offered_tools(tools: Iterable[Tool | dict[str, Any]]) -> dict[str, Tool]:
    """Tools by name. A definition may be one of ours or one in the form of any chat API."""
    found = [tool if isinstance(tool, Tool) else _tool_in(tool) for tool in tools]
    return {tool.name: tool for tool in found if tool.name}


def _tool_in(wire: dict[str, Any]) -> Tool:
    inner = wire.get("function")
    held = inner if isinstance(inner, dict) else wire
    name = held.get("name")
    schema = held.get("parameters") or held.get("input_schema")
    return Tool(
        name if isinstance(name, str) else "",
        parameters=schema if isinstance(schema, dict) else None,
    )
