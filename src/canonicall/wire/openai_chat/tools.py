"""Tool definitions and the choice among them."""

from collections.abc import Iterable, Mapping
from typing import Any

from canonicall.blocks import Native
from canonicall.errors import MalformedBody
from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.findings import Action, Fault, Finding
from canonicall.request import ChoiceMode, Tool, ToolChoice
from canonicall.wire.losses import unknown_choice
from canonicall.wire.offering import FREEFORM, NO_PARAMETERS
from canonicall.wire.openai_chat import FORMAT
from canonicall.wire.openai_chat.native import (
    decode_mark,
    native_of,
    own_fields,
    rest_of,
    whole_mark,
    with_rest,
)
from canonicall.wire.reading import kind_of, list_at, object_at, objects_at, text_at

_MODES: dict[str, ChoiceMode] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "any": "required",  # Mistral
}
_FUNCTION_FIELDS = vocabulary(FORMAT).function_fields
_FREEFORM = FREEFORM | {"additionalProperties": False}


def decode_tools(body: dict[str, Any], findings: list[Finding]) -> tuple[Tool, ...]:
    """The tools of a request body, the legacy `functions` with them."""
    tools = [
        _decode_tool(tool, at, findings) for tool, at in objects_at(body.get("tools"), "$.tools")
    ]
    if "functions" not in body:
        return tuple(tools)
    for function, where in objects_at(body["functions"], "$.functions"):
        why = "A legacy function is read as a function tool."
        findings.append(Finding("legacy_function", where, Action.CHANGED, why, Fault.INPUT))
        tools.append(_decode_function({}, function, where))
    return tuple(tools)


def encode_tools(
    tools: Iterable[Tool], names: Mapping[str, str], target: Target
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The tools as the target takes them; `names` are wire names by canonical name."""
    wire: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        if tool.kind == "server":
            if own_fields(tool.native):
                wire.append(own_fields(tool.native))
                continue
            why = f"{tool.name} is run by another provider; it cannot be offered here."
            findings.append(Finding("tool_dropped", where, Action.DROPPED, why, Fault.RENDER))
            continue
        if tool.kind == "custom" and not target.custom_tools:
            why = f"{tool.name} takes free text; it is offered as a function with one text."
            findings.append(
                Finding(
                    "tool_converted", where, Action.CHANGED, why, Fault.RENDER, rule="custom_tools"
                )
            )
            tool = Tool(tool.name, tool.description, _FREEFORM, cache=tool.cache)  # noqa: PLW2901
        wire.append(_encode_tool(tool, names.get(tool.name, tool.name), target))
    return wire, findings


def decode_choice(body: dict[str, Any], findings: list[Finding]) -> ToolChoice | None:
    """The choice of a request body, from `tool_choice`, `function_call` and the parallel switch."""
    parallel = body.get("parallel_tool_calls")
    if parallel is not None and not isinstance(parallel, bool):
        what = f"expected true or false, got {kind_of(parallel)}."
        raise MalformedBody(what, where="$.parallel_tool_calls")
    mode, names = _decode_chosen(body.get("tool_choice"), "$.tool_choice", findings)
    if mode is None and not names:
        mode, names = _decode_chosen(body.get("function_call"), "$.function_call", findings)
    if mode is None and parallel is None:
        return None
    return ToolChoice(mode, names, parallel)


def encode_choice(
    choice: ToolChoice | None, tools: Iterable[Tool], names: Mapping[str, str], target: Target
) -> dict[str, Any]:
    """The fields for a choice; what the target cannot be told has been taken off."""
    if choice is None:
        return {}
    fields: dict[str, Any] = {}
    if choice.mode is not None:
        kinds = {tool.name: tool.kind for tool in tools}
        wire = [_named(name, kinds.get(name, "function"), names, target) for name in choice.names]
        fields["tool_choice"] = _encode_chosen(choice.mode, wire)
    if choice.parallel is not None:
        fields["parallel_tool_calls"] = choice.parallel
    return fields


def _decode_tool(tool: dict[str, Any], where: str, findings: list[Finding]) -> Tool:
    kind = text_at(tool.get("type"), f"{where}.type") or "function"
    if kind == "function" and "function" in tool:
        held = _of_one_kind(tool, "custom", where, findings)
        return _decode_function(held, object_at(tool["function"], f"{where}.function"), where)
    if kind == "custom" and isinstance(tool.get("custom"), dict):
        held = _of_one_kind(tool, "function", where, findings)
        return _decode_custom(held, tool["custom"], where)
    if kind == "custom":
        why = "The definition stands in the tool itself, not in its custom field."
        findings.append(Finding("flat_tool", where, Action.CHANGED, why, Fault.INPUT))
        return _decode_custom(
            {}, {k: v for k, v in tool.items() if k not in ("type", "custom")}, where
        )
    if kind == "function":
        why = "The definition stands in the tool itself, not in its function field."
        findings.append(Finding("flat_tool", where, Action.CHANGED, why, Fault.INPUT))
        return _decode_function({}, {k: v for k, v in tool.items() if k != "type"}, where)
    inner = tool.get(kind)
    named = inner.get("name") if isinstance(inner, dict) else tool.get("name")
    return Tool(str(named or kind), kind="server", native=Native(FORMAT, tool))


def _of_one_kind(
    tool: dict[str, Any], other: str, where: str, findings: list[Finding]
) -> dict[str, Any]:
    """`tool` without the object of the kind that it is not."""
    if tool.get(other) is None:
        return tool
    why = f"A tool is of one kind; its object {other} is left out."
    findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT))
    return {name: field for name, field in tool.items() if name != other}


def _decode_function(tool: dict[str, Any], function: dict[str, Any], where: str) -> Tool:
    parameters, strict = function.get("parameters"), function.get("strict")
    fields = rest_of(tool, ("type", "function"))
    extra = rest_of(function, _FUNCTION_FIELDS)
    if extra:
        fields["function"] = extra
    return Tool(
        text_at(function.get("name"), f"{where}.function.name"),
        text_at(function.get("description"), f"{where}.function.description"),
        None if parameters is None else object_at(parameters, f"{where}.function.parameters"),
        strict=strict if isinstance(strict, bool) else None,
        cache=decode_mark(tool, where) or decode_mark(function, where),
        native=native_of(fields),
    )


def _decode_custom(tool: dict[str, Any], custom: dict[str, Any], where: str) -> Tool:
    fields = rest_of(tool, ("type", "custom"))
    extra = rest_of(custom, ("name", "description"))
    if extra:
        fields["custom"] = extra
    return Tool(
        text_at(custom.get("name"), f"{where}.custom.name"),
        text_at(custom.get("description"), f"{where}.custom.description"),
        kind="custom",
        cache=decode_mark(tool, where),
        native=native_of(fields),
    )


def _encode_tool(tool: Tool, name: str, target: Target) -> dict[str, Any]:
    held: dict[str, Any] = {"name": name}
    if tool.description:
        held["description"] = tool.description
    if tool.parameters is not None:
        held["parameters"] = tool.parameters
    elif target.schema_required and tool.kind == "function":
        held["parameters"] = NO_PARAMETERS
    if tool.strict is not None:
        held["strict"] = tool.strict
    mark = whole_mark(tool.cache, target) if target.cache_marks else {}
    return with_rest({"type": tool.kind, tool.kind: held}, tool) | mark


def _decode_chosen(
    choice: Any, where: str, findings: list[Finding]
) -> tuple[ChoiceMode | None, tuple[str, ...]]:
    if choice is None:
        return None, ()
    if isinstance(choice, str):
        choice = {"type": choice}
    choice = object_at(choice, where)
    if choice.get("type") == "allowed_tools":
        return _decode_allowed(choice, where)
    name, mode = _name_in(choice), _mode_in(choice.get("type"))
    if name:
        return "required", (name,)
    if mode is None:
        findings.append(unknown_choice(where))
    return mode, ()


def _decode_allowed(choice: dict[str, Any], where: str) -> tuple[ChoiceMode, tuple[str, ...]]:
    """A list of tools. OpenAI nests it once more here than in its Responses API; both are sent."""
    nested = choice.get("allowed_tools")
    allowed = nested if isinstance(nested, dict) else choice
    tools = list_at(allowed.get("tools"), f"{where}.tools")
    return _mode_in(allowed.get("mode")) or "auto", tuple(filter(None, map(_name_in, tools)))


def _mode_in(word: Any) -> ChoiceMode | None:
    return _MODES.get(word) if isinstance(word, str) else None


def _name_in(choice: Any) -> str:
    """The tool that `{function: {name}}`, `{custom: {name}}` or a flat `{name}` speaks of."""
    if not isinstance(choice, dict):
        return ""
    for held in (choice.get("function"), choice.get("custom"), choice):
        if isinstance(held, dict) and isinstance(held.get("name"), str):
            return str(held["name"])
    return ""


def _encode_chosen(mode: ChoiceMode, wire: list[dict[str, Any]]) -> Any:
    """What `tool_choice` says; `wire` are the tools that it names."""
    if not wire or mode == "none":
        return mode
    if mode == "required" and len(wire) == 1:
        return wire[0]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": wire}}


def _named(name: str, kind: str, names: Mapping[str, str], target: Target) -> dict[str, Any]:
    form = "custom" if kind == "custom" and target.custom_tools else "function"
    return {"type": form, form: {"name": names.get(name, name)}}
