"""Tools and the choice among them, both ways. Tools are flat here: no object around a function."""

from collections.abc import Iterable, Mapping
from typing import Any

from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import ChoiceMode, Tool, ToolChoice
from canonicall.transcript.grouping import BRINGS_TOOLS, is_group_name
from canonicall.wire.carried import with_rest
from canonicall.wire.losses import unknown_choice
from canonicall.wire.offering import FREEFORM, NO_PARAMETERS
from canonicall.wire.openai_responses import searches
from canonicall.wire.openai_responses.fields import native_of, own_fields, rest_of
from canonicall.wire.reading import list_at, object_at, objects_at, text_at

_NAMESPACE = "namespace"
_MOST_GROUPS = 3
"""How deep groups of tools may stand in one another; the format has namespaces in an item."""
_LATER = "defer_loading"
_MODES: dict[str, ChoiceMode] = {mode: mode for mode in ("auto", "required", "none")}


def decode_tools(value: Any) -> tuple[tuple[Tool, ...], list[Finding]]:
    """The tools of a request."""
    findings: list[Finding] = []
    tools = tuple(_decode_tool(tool, at, findings) for tool, at in objects_at(value, "$.tools"))
    return tools, findings


def decode_brought_tools(item: dict[str, Any], where: str, findings: list[Finding]) -> Tool:
    """The tools that an item of the input brings, as a group without a name. This format has them
    in the item; only others need them among the tools of the request."""
    members = _decode_members(item, where, findings, depth=0)
    return Tool("", kind="server", native=native_of({"type": item["type"]}), members=members)


def brings_tools(item: dict[str, Any]) -> bool:
    """Whether an item has tools in it that stand nowhere else: what the provider finds when it
    searches itself is among those that it was offered."""
    kind = item.get("type")
    return kind in BRINGS_TOOLS and (kind != searches.OUTPUT or searches.is_clients(item))


def encode_tools(
    tools: Iterable[Tool], names: Mapping[str, str], target: Target
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The tools for `target`; `names` are those that differ on the wire."""
    wire: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        if tool.members and own_fields(tool.native).get("type") in BRINGS_TOOLS:
            continue
        if tool.kind == "server" and not own_fields(tool.native):
            why = f"{tool.name} runs at another provider; it cannot be offered here."
            findings.append(Finding("tool_dropped", where, Action.DROPPED, why, Fault.RENDER))
            continue
        own = own_fields(tool.native)
        if own.get("type") == _NAMESPACE and not is_group_name(tool.name, target):
            why = f"A group cannot be called {tool.name!r} here, and it has no tools."
            told = Finding(
                "tool_dropped", where, Action.DROPPED, why, Fault.RENDER, rule="group_names"
            )
            findings.append(told)
            continue
        if searches.is_unexplained(own):
            why = "A search for tools that the caller runs needs a description, and it has none."
            findings.append(Finding("tool_dropped", where, Action.DROPPED, why, Fault.RENDER))
            continue
        if tool.kind == "custom" and not target.custom_tools:
            why = f"{tool.name} takes free text; it is offered as a function with one text."
            findings.append(
                Finding(
                    "tool_converted", where, Action.CHANGED, why, Fault.RENDER, rule="custom_tools"
                )
            )
        wire.append(_encode_tool(tool, names.get(tool.name, tool.name), target))
    if not any(tool.get("type") == "tool_search" for tool in wire):
        wire = [_loaded_at_once(tool, index, findings) for index, tool in enumerate(wire)]
    return wire, findings


def _loaded_at_once(tool: dict[str, Any], index: int, findings: list[Finding]) -> dict[str, Any]:
    """`tool` without the wish to be loaded later: "Deferred tools require tools.tool_search." """
    inner = tool.get("tools")
    members = [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
    if not any(one.get(_LATER) for one in (tool, *members)):
        return tool
    why = "Nothing is offered that could search for it; it is loaded at once."
    told = Finding("fields_dropped", f"tools[{index}]", Action.DROPPED, why, Fault.RENDER)
    findings.append(told)
    loaded = {name: value for name, value in tool.items() if name != _LATER}
    if members:
        loaded["tools"] = [
            {name: value for name, value in one.items() if name != _LATER} for one in members
        ]
    return loaded


def decode_choice(value: Any, parallel: Any) -> tuple[ToolChoice | None, list[Finding]]:
    """The choice that `tool_choice` and `parallel_tool_calls` make.

    A choice of a hosted tool has no canonical form: its mode is None and it stays native.
    """
    findings: list[Finding] = []
    mode, names = _decode_mode(value, findings)
    switch = parallel if isinstance(parallel, bool) else None
    if mode is None and switch is None:
        return None, findings
    return ToolChoice(mode, names, switch), findings


def encode_choice(
    choice: ToolChoice, tools: Iterable[Tool], names: Mapping[str, str], target: Target
) -> dict[str, Any]:
    """The fields `tool_choice` and `parallel_tool_calls`; what the target cannot be told has been
    taken off."""
    fields: dict[str, Any] = {}
    mode = choice.mode or ("auto" if choice.names else None)
    if mode is not None:
        custom = {tool.name for tool in tools if tool.kind == "custom" and target.custom_tools}
        wanted = [
            {"type": "custom" if name in custom else "function", "name": names.get(name, name)}
            for name in choice.names
        ]
        fields["tool_choice"] = _encode_mode(mode, wanted)
    if choice.parallel is not None:
        fields["parallel_tool_calls"] = choice.parallel
    return fields


def _encode_mode(mode: ChoiceMode, wanted: list[dict[str, str]]) -> Any:
    if not wanted or mode == "none":
        return mode
    if mode == "required" and len(wanted) == 1:
        return wanted[0]
    return {"type": "allowed_tools", "mode": mode, "tools": wanted}


def _decode_mode(value: Any, findings: list[Finding]) -> tuple[ChoiceMode | None, tuple[str, ...]]:
    if value is None:
        return None, ()
    if isinstance(value, str):
        if value not in _MODES:
            findings.append(unknown_choice("$.tool_choice"))
        return _MODES.get(value), ()
    choice = object_at(value, "$.tool_choice")
    kind = choice.get("type")
    if kind in ("function", "custom"):
        flat = _flat(choice, "$.tool_choice", findings)
        return "required", (text_at(flat.get("name"), "$.tool_choice.name"),)
    if kind != "allowed_tools":
        # Bridges from the Messages API send modes in its form (BerriAI/litellm#32505).
        return _MODES.get(str(kind)), ()
    tools = [
        object_at(tool, f"$.tool_choice.tools[{index}]")
        for index, tool in enumerate(list_at(choice.get("tools"), "$.tool_choice.tools"))
    ]
    if not tools or any(
        tool.get("type", "function") not in ("function", "custom") for tool in tools
    ):
        return None, ()
    mode = _MODES.get(text_at(choice.get("mode"), "$.tool_choice.mode"), "auto")
    return mode, tuple(
        text_at(tool.get("name"), f"$.tool_choice.tools[{index}].name")
        for index, tool in enumerate(tools)
    )


def is_known_choice(choice: dict[str, Any]) -> bool:
    """Whether the format has a choice that has no canonical form.

    "Invalid value: ''. Supported values are: 'auto' and 'required'."
    """
    return choice.get("type") != "allowed_tools" or choice.get("mode") in ("auto", "required")


def _decode_tool(tool: dict[str, Any], where: str, findings: list[Finding], depth: int = 0) -> Tool:
    kind = text_at(tool.get("type"), f"{where}.type") or "function"
    name = text_at(tool.get("name"), f"{where}.name")
    if kind not in ("function", "custom"):
        label = name or text_at(tool.get("server_label"), f"{where}.server_label") or kind
        members = _decode_members(tool, where, findings, depth) if kind == _NAMESPACE else ()
        if kind == searches.NAME and searches.is_clients(tool):
            # A group without a name, of one: alone it is a function like any other.
            label, members = "", (_searching(tool, where),)
        return Tool(name=label, kind="server", native=native_of(tool), members=members)
    tool = _flat(tool, where, findings)
    schema = tool.get("parameters") if kind == "function" else None
    strict = tool.get("strict")
    known = ("name", "description", "parameters", "strict")
    return Tool(
        name=text_at(tool.get("name"), f"{where}.name"),
        description=text_at(tool.get("description"), f"{where}.description"),
        parameters=None if schema is None else object_at(schema, f"{where}.parameters"),
        kind="custom" if kind == "custom" else "function",
        strict=strict if isinstance(strict, bool) else None,
        native=native_of(rest_of(tool, *known)),
    )


def _searching(tool: dict[str, Any], where: str) -> Tool:
    """The function that a search is where there are no searches."""
    schema = tool.get("parameters")
    return Tool(
        name=searches.NAME,
        description=text_at(tool.get("description"), f"{where}.description"),
        parameters=None if schema is None else object_at(schema, f"{where}.parameters"),
    )


def _decode_members(
    group: dict[str, Any], where: str, findings: list[Finding], depth: int
) -> tuple[Tool, ...]:
    """The tools inside a group."""
    if depth >= _MOST_GROUPS:
        return ()
    found = objects_at(group.get("tools"), f"{where}.tools")
    return tuple(_decode_tool(tool, at, findings, depth + 1) for tool, at in found)


def _flat(value: dict[str, Any], where: str, findings: list[Finding]) -> dict[str, Any]:
    """A tool as this format has it, where a client wrote it as for Chat Completions."""
    kind = value.get("type") or "function"
    while isinstance(inner := value.get(kind), dict):
        why = f"The {kind} is an object inside the tool, as in Chat Completions; it is read all "
        why += "the same."
        findings.append(Finding("tool_nested", f"{where}.{kind}", Action.CHANGED, why, Fault.INPUT))
        value = {**inner, **{name: field for name, field in value.items() if name != kind}}
    return value


def _encode_tool(tool: Tool, name: str, target: Target) -> dict[str, Any]:
    rest = own_fields(tool.native)
    if tool.kind == "server":
        return rest
    is_custom = tool.kind == "custom" and target.custom_tools
    wire: dict[str, Any] = {"type": "custom" if is_custom else "function", "name": name}
    if tool.description:
        wire["description"] = tool.description
    if is_custom:
        return with_rest(wire, rest)
    # SDK function_tool_param.py: `parameters` is required.
    empty = FREEFORM if tool.kind == "custom" else NO_PARAMETERS
    wire["parameters"] = empty if tool.parameters is None else tool.parameters
    if tool.strict is not None:
        wire["strict"] = tool.strict
    if tool.kind == "custom":
        rest = {field: value for field, value in rest.items() if field != "format"}
    return with_rest(wire, rest)
