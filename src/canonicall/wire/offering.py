"""Offering tools: the schemas that stand in, function tools, and choices said by offering fewer.

A tool the provider runs is offered only at that provider. A tool for free text is offered with one
text parameter where there are no such tools. Every such change is a finding.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Tool, ToolChoice
from canonicall.wire.carried import fields_of
from canonicall.wire.losses import FUNCTION_TYPES
from canonicall.wire.reading import native_fields, object_at, objects_at, text_at

NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}
"""What a tool without parameters says where a schema is required."""
FREEFORM: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""What a tool for free text takes where there are no such tools."""


def schema_of(tool: Tool) -> dict[str, Any]:
    """The schema of a tool where every tool has one."""
    schema = FREEFORM if tool.kind == "custom" else tool.parameters
    return NO_PARAMETERS if schema is None else schema


def offered_entries(
    format: str, tools: Iterable[Tool], encode: Callable[[Tool], dict[str, Any]], where: str
) -> tuple[list[tuple[Tool, dict[str, Any]]], list[Finding]]:
    """Each tool that can be offered with its definition, the provider's own ones as they came."""
    entries: list[tuple[Tool, dict[str, Any]]] = []
    findings: list[Finding] = []
    for tool in tools:
        entry = fields_of(format, tool.native) if tool.kind == "server" else encode(tool)
        if not entry:
            why = f"{tool.name or 'A tool'} runs at another provider; it cannot be offered here."
            findings.append(Finding("tool_dropped", where, Action.DROPPED, why, Fault.RENDER))
            continue
        if tool.kind == "custom":
            why = f"{tool.name} takes free text; it is offered with one text parameter, `input`."
            findings.append(
                Finding(
                    "tool_converted", where, Action.CHANGED, why, Fault.RENDER, rule="custom_tools"
                )
            )
        entries.append((tool, entry))
    return entries, findings


def decode_function_tools(format: str, value: Any, where: str) -> Iterator[Tool]:
    """The tools of a format that has functions alone; others are reported as dropped elsewhere."""
    for tool, at in objects_at(value, where):
        if text_at(tool.get("type"), f"{at}.type") in FUNCTION_TYPES:
            yield _decode_function_tool(format, tool, at)


def _decode_function_tool(format: str, tool: dict[str, Any], where: str) -> Tool:
    """The tool in `{type: function, function: {...}}`."""
    where = f"{where}.function"
    function = object_at(tool.get("function") or {}, where)
    parameters = function.get("parameters")
    if parameters is not None:
        object_at(parameters, f"{where}.parameters")
    return Tool(
        name=text_at(function.get("name"), f"{where}.name"),
        description=text_at(function.get("description"), f"{where}.description"),
        parameters=parameters,
        native=native_fields(format, function, ("name", "description", "parameters")),
    )


def encode_function_tools(
    format: str, tools: Iterable[Tool], names: Mapping[str, str], where: str
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The entries of `tools`. `names` leads from a tool's name to its wire name."""
    offered, findings = offered_entries(
        format, tools, lambda tool: _encode_function_tool(format, tool, names), where
    )
    return [entry for _, entry in offered], findings


def _encode_function_tool(format: str, tool: Tool, names: Mapping[str, str]) -> dict[str, Any]:
    """`{type: function, function: {...}}`, always with a schema."""
    function: dict[str, Any] = {"name": names.get(tool.name, tool.name)}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = schema_of(tool)
    rest = fields_of(format, tool.native, except_for=function)
    return {"type": "function", "function": function | rest}


def named_tools(tools: tuple[Tool, ...], choice: ToolChoice) -> tuple[Tool, ...]:
    """The tools that `choice` names, all where it names none of them."""
    return tuple(tool for tool in tools if tool.name in choice.names) or tools


def names_one(choice: ToolChoice, target: Target) -> bool:
    """Whether a choice names one tool, and the target takes a name. It needs no mode for that."""
    named = choice.mode == "required" and len(choice.names) == 1
    return named and target.choice_names != "no"


def offered_tools(
    tools: tuple[Tool, ...], choice: ToolChoice | None, target: Target
) -> tuple[Tool, ...]:
    """The tools that are to be declared: those a choice names, none where none may be called."""
    if choice is None:
        return tools
    if choice.mode == "none" and "none" not in target.choice_modes:
        return ()
    return named_tools(tools, choice)
