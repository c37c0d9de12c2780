"""Tool declarations and the function calling config, both ways.

A declaration has one of two schemas: `parameters` in Google's own dialect, or JSON Schema. The
former is made plain, remembered, and written again as long as it says the same.
"""

import re
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Native
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import ChoiceMode, Request, Tool, ToolChoice
from canonicall.transcript.policy import Goal
from canonicall.transcript.turns import Transcript
from canonicall.wire.carried import with_rest
from canonicall.wire.gemini import FORMAT
from canonicall.wire.gemini.fields import enum_at, fields_at, many_at, native_of, own_fields
from canonicall.wire.gemini.schemas import is_dialect, plain_parameters, spelled_out
from canonicall.wire.losses import not_sent, unknown_choice, weakened
from canonicall.wire.offering import FREEFORM
from canonicall.wire.reading import list_at, object_at, text_at

_DIALECT = "parameters"
_JSON_SCHEMA = "parametersJsonSchema"
_MODES: dict[str, ChoiceMode] = {
    "AUTO": "auto",
    "VALIDATED": "auto",
    "ANY": "required",
    "NONE": "none",
    "1": "auto",
    "2": "required",
    "3": "none",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_UNSET = ("", "0", "MODE_UNSPECIFIED")


def decode_tools(tools: Any, findings: list[Finding]) -> tuple[Tool, ...]:
    """Declared functions, and each server-side tool as a tool of its own."""
    found: list[Tool] = []
    for index, entry in enumerate(many_at(tools, "$.tools")):
        where = f"$.tools[{index}]"
        for name, value in fields_at(entry, where).items():
            if name == "functionDeclarations":
                place = f"{where}.{name}"
                found += [
                    _decode_function(one, f"{place}[{n}]", findings)
                    for n, one in enumerate(many_at(value, place))
                ]
            else:
                found.append(Tool(name, kind="server", native=Native(FORMAT, {name: value})))
    return tuple(found)


def _decode_function(declaration: Any, where: str, findings: list[Finding]) -> Tool:
    fields = fields_at(declaration, where)
    for dialect, json_schema in ((_DIALECT, _JSON_SCHEMA), ("response", "responseJsonSchema")):
        if dialect in fields and json_schema in fields:
            why = f"A declaration has one schema of its {dialect}, not two; the JSON Schema counts."
            findings.append(Finding("two_schemas", where, Action.DROPPED, why, Fault.INPUT))
            del fields[dialect]
    schema = None
    if _JSON_SCHEMA in fields:
        schema = object_at(fields[_JSON_SCHEMA], f"{where}.{_JSON_SCHEMA}")
        if not _is_empty(schema):
            del fields[_JSON_SCHEMA]
    elif _DIALECT in fields:
        own = object_at(fields[_DIALECT], f"{where}.{_DIALECT}")
        schema = plain_parameters(own)
        fields[_DIALECT] = spelled_out(own)
    return Tool(
        name=text_at(fields.pop("name", None), f"{where}.name"),
        description=text_at(fields.pop("description", None), f"{where}.description"),
        parameters=schema,
        native=native_of(fields),
    )


def encode_tools(
    tools: tuple[Tool, ...], names: dict[str, str], target: Target
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """All functions in one entry, then the server-side tools. `names`: own name to wire name."""
    functions: list[dict[str, Any]] = []
    server: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        if tool.kind == "server":
            definition = own_fields(tool.native)
            if definition:
                server.append(definition)
            else:
                why = f"Another provider runs {tool.name} on its side; it cannot be offered here."
                findings.append(Finding("tool_dropped", where, Action.DROPPED, why, Fault.RENDER))
            continue
        if tool.kind == "custom":
            why = f"There are no freeform tools here; {tool.name} takes its text as `input`."
            findings.append(
                Finding(
                    "tool_converted", where, Action.CHANGED, why, Fault.RENDER, rule="custom_tools"
                )
            )
        functions.append(_encode_function(tool, names, target))
    if any(tool.strict for tool in tools):
        findings.append(not_sent("strict", "A function declaration has no such field.", "tools"))
    declared = [{"functionDeclarations": functions}] if functions else []
    return [*declared, *server], findings


def _encode_function(tool: Tool, names: dict[str, str], target: Target) -> dict[str, Any]:
    rest = own_fields(tool.native)
    dialect, was_empty = rest.pop(_DIALECT, None), rest.pop(_JSON_SCHEMA, None)
    known: dict[str, Any] = {"name": names.get(tool.name, tool.name)}
    if tool.description:
        known["description"] = tool.description
    schema = FREEFORM if tool.kind == "custom" else tool.parameters
    if schema is not None and target.schemas.root_filled and _is_empty(schema):
        schema = dialect = None
    if _can_be_dialect(dialect) and plain_parameters(dialect) == schema:
        known[_DIALECT] = dialect
    elif schema is not None and (schema == was_empty or not _is_empty(schema)):
        known[_JSON_SCHEMA] = schema
    return with_rest(known, rest)


def _can_be_dialect(schema: Any) -> bool:
    """Whether a schema can stand in `parameters`; JSON Schema may have any names."""
    # google-genai, FunctionDeclaration.parameters
    names = schema.get("properties") if isinstance(schema, dict) else None
    is_named = not isinstance(names, dict) or all(map(_NAME.fullmatch, names))
    # The parameters of a function are an object; what does not say so is refused.
    kind = schema.get("type", "OBJECT") if isinstance(schema, dict) else None
    is_object = isinstance(kind, str) and kind.upper() == "OBJECT"
    return is_named and is_object and is_dialect(schema)


def _is_empty(schema: dict[str, Any]) -> bool:
    """Whether a schema allows no argument at all; a tool without parameters declares none."""
    # "parameters.properties: should be non-empty for OBJECT type" (API error text).
    says_nothing = ("type", "properties", "required", "title", "description", "$schema")
    rest = {name: value for name, value in schema.items() if name not in says_nothing}
    return not schema.get("properties") and rest in ({}, {"additionalProperties": False})


def decode_choice(config: Any, findings: list[Finding]) -> tuple[ToolChoice | None, dict[str, Any]]:
    """The choice in a `toolConfig`, and what the config says besides."""
    where = "$.toolConfig"
    rest = fields_at(config, where) if config is not None else {}
    where = f"{where}.functionCallingConfig"
    calling = fields_at(rest.pop("functionCallingConfig", {}), where)
    allowed = list_at(calling.pop("allowedFunctionNames", None), f"{where}.allowedFunctionNames")
    names = tuple(
        text_at(name, f"{where}.allowedFunctionNames[{n}]") for n, name in enumerate(allowed)
    )
    word = enum_at(calling.pop("mode", None), f"{where}.mode").upper()
    mode = _MODES.get(word)
    if word == "VALIDATED":
        calling["mode"] = word
    elif mode is None and word not in _UNSET:
        findings.append(unknown_choice(f"{where}.mode"))
    if calling:
        rest["functionCallingConfig"] = calling
    if mode is None and not names:
        return None, rest
    return ToolChoice(mode or "auto", names), rest


def choice_of_functions(
    request: Request, transcript: Transcript, goal: Goal
) -> tuple[Request, Transcript]:
    """No choice where no function is declared: it is about these alone.

    "Function calling config is set without function_declarations" (API error text).
    """
    choice = request.tool_choice
    if choice is None or any(tool.kind != "server" for tool in request.tools):
        return request, transcript
    if choice.mode == "required":
        why = "No function is declared, so none can be required."
        goal.findings.append(weakened(why))
    return replace(request, tool_choice=None), transcript


def encode_choice(
    choice: ToolChoice | None,
    native: dict[str, Any],
    names: dict[str, str],
    *,
    has_functions: bool,
) -> dict[str, Any]:
    """The `toolConfig`. `native` is what a decoded one said besides the choice."""
    rest = dict(native)
    calling = dict(rest.pop("functionCallingConfig", {}))
    hint = calling.pop("mode", None)
    if choice is not None and choice.mode is not None:
        calling = {**_calling(choice, hint, names), **calling}
    return {"functionCallingConfig": calling, **rest} if calling and has_functions else rest


def _calling(choice: ToolChoice, hint: Any, names: dict[str, str]) -> dict[str, Any]:
    wire_names = [names.get(name, name) for name in choice.names]
    match choice.mode:
        case "none":
            return {"mode": "NONE"}
        case "required":
            config: dict[str, Any] = {"mode": "ANY"}
        case _:
            # Names go with ANY and VALIDATED, not with AUTO (google-genai, FunctionCallingConfig).
            config = {"mode": "VALIDATED" if wire_names or hint == "VALIDATED" else "AUTO"}
    return {**config, "allowedFunctionNames": wire_names} if wire_names else config
