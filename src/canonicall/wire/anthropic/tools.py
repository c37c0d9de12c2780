"""Tool definitions and tool choice, both ways.

Tools of the provider's own (`web_search_20250305`, `bash_20250124`, `mcp_toolset` ...) have a type
instead of a schema. Their definition means nothing elsewhere and is kept whole.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Native
from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Tool, ToolChoice
from canonicall.wire.anthropic.extras import (
    FORMAT,
    decode_cache,
    decode_rest,
    own_fields,
    with_extras,
    with_sound_mark,
    without_mark,
)
from canonicall.wire.offering import schema_of
from canonicall.wire.reading import list_at, object_at, text_at

_MODES = vocabulary("anthropic").choices
_LATER = "defer_loading"
# "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags"
_PROVIDED = re.compile(r".+_\d{8}|mcp_toolset")
_WORDS = {"auto": "auto", "required": "any", "none": "none"}


def decode_tools(tools: Any, findings: list[Finding], where: str = "$.tools") -> tuple[Tool, ...]:
    """The tools a request offers."""
    return tuple(
        _decode_tool(one, f"{where}[{n}]", findings) for n, one in enumerate(list_at(tools, where))
    )


def encode_tools(
    tools: Sequence[Tool], names: Mapping[str, str], target: Target
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The definitions of `tools`. `names` gives wire names where they differ."""
    wire: list[dict[str, Any]] = []
    findings: list[Finding] = []
    tools = _loaded(tools, findings)
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        own = own_fields(tool.native)
        if tool.kind == "server" and not _is_provided(tool, own, target):
            why = f"{tool.name or 'The tool'} is run by another provider."
            findings.append(Finding("tool_dropped", where, Action.DROPPED, why, Fault.RENDER))
            continue
        if tool.kind == "custom" and not target.custom_tools:
            why = f"{tool.name} takes free text; it is offered with one text parameter, `input`."
            findings.append(
                Finding(
                    "tool_converted", where, Action.CHANGED, why, Fault.RENDER, rule="custom_tools"
                )
            )
        wire.append(_encode_tool(tool, names))
    return wire, findings


def _is_provided(tool: Tool, own: Mapping[str, Any], target: Target) -> bool:
    """Whether the target may have a tool that a provider runs: its type ends in a date."""
    if not own or tool.name in target.unreplayed:
        return False
    return "tool" not in target.fields.closed or bool(_PROVIDED.fullmatch(str(own.get("type"))))


def _loaded(tools: Sequence[Tool], findings: list[Finding]) -> Sequence[Tool]:
    """`tools`, all at once where every one of them is to be loaded later: that is refused."""
    later = [tool for tool in tools if own_fields(tool.native).get(_LATER) is True]
    if not tools or len(later) < len(tools):
        return tools
    why = "No tool would be left that finds those that are loaded later; all are loaded at once."
    findings.append(Finding("fields_dropped", "tools", Action.DROPPED, why, Fault.RENDER))
    return [
        replace(tool, native=Native(FORMAT, {**own_fields(tool.native), _LATER: False}))
        for tool in tools
    ]


def decode_choice(choice: Any, where: str = "$.tool_choice") -> ToolChoice | None:
    """What a request says about calling tools; None where canonicall has no word for it."""
    if choice is None:
        return None
    given = object_at(choice, where)
    kind = text_at(given.get("type"), f"{where}.type")
    if kind not in _MODES:
        return None
    serial = given.get("disable_parallel_tool_use")
    return ToolChoice(
        mode=_MODES[kind],
        names=(text_at(given.get("name"), f"{where}.name"),) if kind == "tool" else (),
        parallel=not serial if isinstance(serial, bool) else None,
    )


def encode_choice(choice: ToolChoice, names: Mapping[str, str]) -> dict[str, Any]:
    """The tool choice; what the target cannot be told has been taken off."""
    mode = choice.mode or "auto"
    wire: dict[str, Any] = {"type": _WORDS[mode]}
    if mode == "required" and choice.names:
        wire = {"type": "tool", "name": names.get(choice.names[0], choice.names[0])}
    # `none` has no such field (SDK tool_choice_none_param.py), and nothing to switch.
    if choice.parallel is not None and mode != "none":
        wire["disable_parallel_tool_use"] = not choice.parallel
    return wire


def _decode_tool(value: Any, where: str, findings: list[Finding]) -> Tool:
    tool = with_sound_mark(object_at(value, where), where, findings)
    kind = text_at(tool.get("type"), f"{where}.type")
    name = text_at(tool.get("name"), f"{where}.name")
    cache = decode_cache(tool, where)
    if kind not in ("", "custom") and not _PROVIDED.fullmatch(kind):
        why = f"There is no type {kind!r}; the tool is read as one of the client's."
        findings.append(Finding("value_changed", f"{where}.type", Action.CHANGED, why, Fault.INPUT))
        kind, tool = "", {key: field for key, field in tool.items() if key != "type"}
    if kind not in ("", "custom"):
        label = name or text_at(tool.get("mcp_server_name"), f"{where}.mcp_server_name") or kind
        return Tool(
            name=label, kind="server", cache=cache, native=Native(FORMAT, without_mark(tool))
        )
    schema = tool.get("input_schema")
    strict = tool.get("strict")
    return Tool(
        name=name,
        description=text_at(tool.get("description"), f"{where}.description"),
        parameters=None if schema is None else object_at(schema, f"{where}.input_schema"),
        strict=strict if isinstance(strict, bool) else None,
        cache=cache,
        native=decode_rest(tool, "name", "description", "input_schema", "strict"),
    )


def _encode_tool(tool: Tool, names: Mapping[str, str]) -> dict[str, Any]:
    if tool.kind == "server":
        return with_extras({}, cache=tool.cache, native=tool.native)
    wire: dict[str, Any] = {"name": names.get(tool.name, tool.name)}
    if tool.description:
        wire["description"] = tool.description
    # "tools.0.custom.input_schema.type: Field required"
    is_own = tool.kind == "function" and tool.parameters is not None
    wire["input_schema"] = tool.parameters if is_own else schema_of(tool)
    if tool.strict is not None:
        wire["strict"] = tool.strict
    return with_extras(wire, cache=tool.cache, native=tool.native)
