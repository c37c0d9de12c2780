"""Tools and tool choice between Ollama's chat API and canonical form.

There is no `tool_choice`: the model may always choose. What can be said by offering fewer tools, or
none, is said that way; every such change is a finding.
"""

from collections.abc import Iterable
from typing import Any

from canonicall.blocks import Native
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Tool, ToolChoice
from canonicall.target import Target
from canonicall.wire.ollama.messages import FORMAT, own_fields
from canonicall.wire.reading import list_at, native_fields, object_at, text_at

TOOLS = "$.tools"
CHOICE = "$.tool_choice"
_ANYTHING: dict[str, Any] = {"type": "object", "properties": {}}
_FREEFORM: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


def decode_tools(value: Any) -> tuple[Tool, ...]:
    """The tools of `tools`."""
    return tuple(
        _decode_tool(object_at(item, f"{TOOLS}[{index}]"), f"{TOOLS}[{index}]")
        for index, item in enumerate(list_at(value, TOOLS))
    )


def _decode_tool(tool: dict[str, Any], where: str) -> Tool:
    if tool.get("type", "function") != "function":
        return Tool(name="", kind="server", native=Native(FORMAT, tool))
    function = object_at(tool.get("function") or {}, f"{where}.function")
    parameters = function.get("parameters")
    if parameters is not None:
        object_at(parameters, f"{where}.function.parameters")
    return Tool(
        name=text_at(function.get("name"), f"{where}.function.name"),
        description=text_at(function.get("description"), f"{where}.function.description"),
        parameters=parameters,
        native=native_fields(FORMAT, function, ("name", "description", "parameters")),
    )


def decode_choice(value: Any, findings: list[Finding]) -> ToolChoice | None:
    """No choice: a `tool_choice` that a client sends has no effect on the server."""
    if value is not None:
        why = "Ollama knows no tool choice; the model may choose."
        findings.append(Finding("unknown_choice", CHOICE, Action.DROPPED, why, Fault.INPUT))
    return None


def encode_tools(
    tools: Iterable[Tool], names: dict[str, str]
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The entries of `tools`. `names` leads from a tool's name to its wire name."""
    entries: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for tool in tools:
        entry = own_fields(tool.native) if tool.kind == "server" else _encode_tool(tool, names)
        if not entry:
            why = f"{tool.name or 'A tool'} runs at another provider; it cannot be offered here."
            findings.append(Finding("tool_dropped", TOOLS, Action.DROPPED, why, Fault.RENDER))
            continue
        if tool.kind == "custom":
            why = f"{tool.name} takes free text; it is offered with one text parameter, `input`."
            findings.append(Finding("tool_converted", TOOLS, Action.CHANGED, why, Fault.RENDER))
        entries.append(entry)
    return entries, findings


def _encode_tool(tool: Tool, names: dict[str, str]) -> dict[str, Any]:
    function: dict[str, Any] = {"name": names.get(tool.name, tool.name)}
    if tool.description:
        function["description"] = tool.description
    schema = _FREEFORM if tool.kind == "custom" else tool.parameters
    # `ToolFunction.Parameters` is not optional.
    function["parameters"] = _ANYTHING if schema is None else schema
    return {
        "type": "function",
        "function": function | own_fields(tool.native, except_for=function),
    }


def offered_tools(
    tools: tuple[Tool, ...], choice: ToolChoice | None, target: Target
) -> tuple[Tool, ...]:
    """The tools that are to be declared: those a choice names, none where none may be called."""
    if choice is None:
        return tools
    if choice.mode == "none" and "none" not in target.choice_modes:
        return ()
    return tuple(tool for tool in tools if tool.name in choice.names) or tools


def encode_choice(choice: ToolChoice | None, target: Target) -> tuple[None, list[Finding]]:
    """Nothing to write, for there is no field for it, and what of `choice` cannot be said."""
    if choice is None:
        return None, []
    findings: list[Finding] = []
    if choice.parallel is False and not target.parallel_switch:
        findings.append(_weakened("Parallel calls cannot be switched off here."))
    if choice.names:
        findings.append(_weakened("No tool can be named here; only the named ones are offered."))
    if choice.mode == "required":
        findings.append(_weakened("The model cannot be made to call a tool here."))
    if choice.mode == "none":
        findings.append(_weakened("There is no choice `none` here; no tools are offered."))
    return None, findings


def _weakened(why: str) -> Finding:
    return Finding("choice_weakened", CHOICE, Action.CHANGED, why, Fault.RENDER)
