"""Tools and tool choice between Converse's `toolConfig` and canonical form.

Converse has no choice "none", no list of allowed tools and no switch for parallel calls. What can
be said by offering fewer tools is said that way; every such change is a finding.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Native, ToolCall
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Tool, ToolChoice
from canonicall.transcript.turns import Turn
from canonicall.wire.bedrock.content import (
    FORMAT,
    decode_cache,
    encode_cache,
    own_fields,
    unplaced_mark,
)
from canonicall.wire.losses import left_out, unknown_choice, weakened
from canonicall.wire.offering import named_tools, names_one, offered_entries, schema_of
from canonicall.wire.reading import list_at, native_fields, object_at, text_at

TOOLS = "$.toolConfig.tools"
CHOICE = "$.toolConfig.toolChoice"
_weakened = partial(weakened, where=CHOICE)


def decode_tools(value: Any, findings: list[Finding] | None = None) -> tuple[Tool, ...]:
    """The tools of `toolConfig.tools`; a `cachePoint` marks the tool before it."""
    tools: list[Tool] = []
    for index, item in enumerate(list_at(value, TOOLS)):
        where = f"{TOOLS}[{index}]"
        entry = object_at(item, where)
        point = entry.get("cachePoint")
        mark = decode_cache(point, f"{where}.cachePoint", findings) if point is not None else None
        if entry.get("toolSpec") is not None:
            tool = _decode_tool(object_at(entry["toolSpec"], f"{where}.toolSpec"), where)
            tools.append(replace(tool, cache=mark))
            if findings is not None:
                schema = entry["toolSpec"].get("inputSchema")
                findings += left_out(entry, ("toolSpec", "cachePoint"), where)
                findings += left_out(schema, ("json",), f"{where}.toolSpec.inputSchema")
        elif mark is not None and tools and tools[-1].cache is None:
            tools[-1] = replace(tools[-1], cache=mark)
        elif mark is not None:
            if findings is not None:
                findings.append(unplaced_mark(where))
        elif name := _system_name(entry, where):
            tools.append(Tool(name, kind="server", native=Native(FORMAT, entry)))
        elif entry and findings is not None:
            # Service model: `Tool` is a union of these three.
            why = f"Converse has no such tool: {', '.join(entry)}."
            findings.append(Finding("tool_dropped", where, Action.DROPPED, why, Fault.INPUT))
    return tuple(tools)


def _system_name(entry: dict[str, Any], where: str) -> str:
    """The name of a tool of the provider's; "" for one that has none, which is no such tool."""
    held = entry.get("systemTool")
    return text_at(held.get("name"), f"{where}.systemTool.name") if isinstance(held, dict) else ""


def _decode_tool(spec: dict[str, Any], where: str) -> Tool:
    schema = object_at(spec.get("inputSchema") or {}, f"{where}.toolSpec.inputSchema")
    parameters = schema.get("json")
    if parameters is not None:
        object_at(parameters, f"{where}.toolSpec.inputSchema.json")
    strict = spec.get("strict")
    return Tool(
        name=text_at(spec.get("name"), f"{where}.toolSpec.name"),
        description=text_at(spec.get("description"), f"{where}.toolSpec.description"),
        parameters=parameters,
        strict=strict if isinstance(strict, bool) else None,
        # `strict` stays here too: only some models take it, so it is written only where it
        # was read in this format.
        native=native_fields(FORMAT, spec, ("name", "description", "inputSchema")),
    )


def decode_choice(value: Any, findings: list[Finding]) -> ToolChoice | None:
    """The choice in `toolConfig.toolChoice`."""
    match value:
        case None:
            return None
        case {"auto": _}:
            return ToolChoice("auto")
        case {"any": _}:
            return ToolChoice("required")
        case {"none": _}:
            return ToolChoice("none")  # Not of this format; what is meant is plain.
        case {"tool": {"name": str(name)}}:
            return ToolChoice("required", (name,))
        case _:
            object_at(value, CHOICE)
            findings.append(unknown_choice(CHOICE))
            return None


def encode_tools(
    tools: Iterable[Tool], names: dict[str, str], target: Target
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The entries of `toolConfig.tools`. `names` leads from a tool's name to its wire name."""
    offered, findings = offered_entries(
        FORMAT, tools, lambda tool: _encode_tool(tool, names, target), TOOLS
    )
    entries: list[dict[str, Any]] = []
    for tool, entry in offered:
        entries.append(entry)
        if tool.cache is not None:
            entries.append({"cachePoint": encode_cache(tool.cache)})
    return entries, findings


def _encode_tool(tool: Tool, names: dict[str, str], target: Target) -> dict[str, Any]:
    spec: dict[str, Any] = {"name": names.get(tool.name, tool.name)}
    # Service model: a description has at least one character.
    if tool.description:
        spec["description"] = tool.description
    spec["inputSchema"] = {"json": schema_of(tool)}
    more = own_fields(tool.native, except_for=spec)
    if not is_marked(tool, target):
        more.pop("strict", None)
    return {"toolSpec": spec | more}


def is_marked(tool: Tool, target: Target) -> bool:
    """Whether the mark that makes a tool strict is written. A model that does not know it refuses
    it whatever it says (BerriAI/litellm#35688)."""
    said = own_fields(tool.native).get("strict")
    return target.strict_tools and said is not None and said == tool.strict


def offered_tools(
    tools: tuple[Tool, ...], choice: ToolChoice | None, turns: Iterable[Turn], target: Target
) -> tuple[Tool, ...]:
    """The tools that are to be declared: none where none may be called and none was called.

    "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    """
    has_calls = any(
        isinstance(block, ToolCall) and block.kind != "server"
        for turn in turns
        for block in turn.blocks
    )
    if choice is not None and choice.mode == "none" and not has_calls:
        return ()
    if choice is not None and choice.names and not names_one(choice, target):
        tools = named_tools(tools, choice)
    return tools


def encode_choice(
    choice: ToolChoice | None, target: Target, names: dict[str, str]
) -> tuple[dict[str, Any] | None, list[Finding]]:
    """The value of `toolChoice`, and what of `choice` it cannot say."""
    if choice is None:
        return None, []
    findings: list[Finding] = []
    if choice.parallel is False and not target.parallel_switch:
        findings.append(
            _weakened("Parallel calls cannot be switched off here.", rule="parallel_switch")
        )
    if choice.mode == "none":
        why = "There is no choice `none` here: tools are offered only if the history has calls."
        return None, [*findings, _weakened(why, rule="choice_modes")]
    if names_one(choice, target):
        name = names.get(choice.names[0], choice.names[0])
        return {"tool": {"name": name}}, findings
    if choice.names:
        why = "A choice among some of the tools cannot be said here; only those are offered."
        findings.append(_weakened(why, rule="choice_names"))
    if choice.mode == "required" and "required" not in target.choice_modes:
        return None, [
            *findings,
            _weakened("This target cannot be made to call a tool.", rule="choice_modes"),
        ]
    return {"required": {"any": {}}, "auto": {"auto": {}}}.get(choice.mode or ""), findings
