"""Tools and tool choice between Cohere's chat API and canonical form.

`tool_choice` can demand a call or forbid all; it names no tool and switches nothing else. What can
be said by offering fewer tools is said that way; every such change is a finding.
"""

from collections.abc import Iterable
from typing import Any

from canonicall.blocks import Native
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Tool, ToolChoice
from canonicall.target import Target
from canonicall.wire.cohere.content import FORMAT, own_fields
from canonicall.wire.reading import list_at, native_fields, object_at, text_at

TOOLS = "$.tools"
CHOICE = "$.tool_choice"
_ANYTHING: dict[str, Any] = {"type": "object", "properties": {}}
_FREEFORM: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


def decode_tools(value: Any, *, strict: bool | None = None) -> tuple[Tool, ...]:
    """The tools of `tools`. `strict` is the request's `strict_tools`, which holds for all."""
    return tuple(
        _decode_tool(object_at(item, f"{TOOLS}[{index}]"), f"{TOOLS}[{index}]", strict)
        for index, item in enumerate(list_at(value, TOOLS))
    )


def _decode_tool(tool: dict[str, Any], where: str, strict: bool | None) -> Tool:
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
        strict=strict,
        native=native_fields(FORMAT, function, ("name", "description", "parameters")),
    )


def decode_choice(value: Any, findings: list[Finding]) -> ToolChoice | None:
    """The choice in `tool_choice`."""
    match value:
        case None | "AUTO":
            return None
        case "REQUIRED":
            return ToolChoice("required")
        case "NONE":
            return ToolChoice("none")
        case _:
            why = f"Cohere knows REQUIRED and NONE, not {value!r}; the model may choose."
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
    # API reference: `parameters` is required.
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


def encode_choice(choice: ToolChoice | None, target: Target) -> tuple[str | None, list[Finding]]:
    """The value of `tool_choice`, and what of `choice` it cannot say.

    Nothing has to be said where the model may choose: that is what a missing field means.
    """
    if choice is None:
        return None, []
    findings: list[Finding] = []
    if choice.parallel is False and not target.parallel_switch:
        findings.append(_weakened("Parallel calls cannot be switched off here."))
    if choice.names:
        findings.append(_weakened("No tool can be named here; only the named ones are offered."))
    if choice.mode in ("required", "none") and choice.mode not in target.choice_modes:
        why = f"The choice {choice.mode!r} cannot be said here."
        return None, [*findings, _weakened(why)]
    return {"required": "REQUIRED", "none": "NONE"}.get(choice.mode or ""), findings


def _weakened(why: str) -> Finding:
    return Finding("choice_weakened", CHOICE, Action.CHANGED, why, Fault.RENDER)
