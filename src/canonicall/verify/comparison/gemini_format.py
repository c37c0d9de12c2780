"""The outline of a body of Gemini's `generateContent`.

Names are read in camelCase and in snake_case. Schemas in Google's own dialect are compared as the
JSON Schema that they mean.
"""

import re
from collections.abc import Iterator
from typing import Any

from canonicall.verify.comparison.message_formats import (
    result,
    set_choice,
    set_output,
    set_reasoning,
)
from canonicall.verify.comparison.outline import (
    OfferedTool,
    Outline,
    Piece,
    PieceRole,
    arguments,
    compact,
    content_of,
    many,
    numbered,
    obj,
    rest,
    schema,
    spelled,
    text,
)

_NUMBERS = {
    "maxOutputTokens": "max_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "seed": "seed",
}
_OUTPUT = ("responseMimeType", "responseSchema", "responseJsonSchema")
_KNOWN = ("model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig")
_MODES = {"ANY": "required", "NONE": "none", "AUTO": "auto", "VALIDATED": "auto"}
_LEVELS = ("minimal", "low", "medium", "high")
_DATA = (
    *("functionCall", "functionResponse", "toolCall", "toolResponse", "executableCode"),
    *("codeExecutionResult", "inlineData", "fileData", "text"),
)
_TYPES = ("", "string", "number", "integer", "boolean", "array", "object", "null")
_INNER = ("items", "anyOf", "oneOf", "allOf", "prefixItems", "not", "additionalProperties")
_LIMITS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_SNAKE = re.compile(r"_([a-z])")


def gemini(body: dict[str, Any]) -> Outline:
    """The outline of a `generateContent` body."""
    fields = _camel(body)
    outline = Outline("gemini", list(_pieces(fields)), list(_tools(fields)))
    config = _camel(fields.get("generationConfig"))
    at = "$.generationConfig"
    for name, ours in _NUMBERS.items():
        value = config.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            outline.set(ours, f"{at}.{name}", value)
    outline.set("stop", f"{at}.stopSequences", many(config.get("stopSequences")))
    thinking = _camel(config.get("thinkingConfig"))
    _set_thinking(outline, thinking)
    known = [*_NUMBERS, "stopSequences", "thinkingConfig"]
    if config.get("responseMimeType") == "application/json":
        known += _OUTPUT
        form = config.get("responseJsonSchema")
        if form is None and isinstance(config.get("responseSchema"), dict):
            form = _plain(config["responseSchema"])
        set_output(outline, f"{at}.responseMimeType", form)
    calling = _camel(_camel(fields.get("toolConfig")).get("functionCallingConfig"))
    mode = _MODES.get(text(calling.get("mode")).upper(), "")
    names = [one for one in many(calling.get("allowedFunctionNames")) if isinstance(one, str)]
    chosen = {"type": "allowed_tools", "mode": mode, "tools": [{"name": one} for one in names]}
    set_choice(outline, "$.toolConfig", chosen if names else mode)
    outline.fields |= rest(
        _camel(fields.get("toolConfig")), ("functionCallingConfig",), "$.toolConfig"
    )
    amounts = ("thinkingBudget", "thinkingLevel", "includeThoughts")
    outline.fields |= rest(thinking, amounts, f"{at}.thinkingConfig")
    outline.fields |= rest(config, known, at)
    outline.fields |= rest(fields, _KNOWN, "$")
    return outline


def _set_thinking(outline: Outline, thinking: dict[str, Any]) -> None:
    budget, level = thinking.get("thinkingBudget"), text(thinking.get("thinkingLevel")).lower()
    is_on = True if thinking.get("includeThoughts") is True or budget == -1 else None
    is_number = isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0
    effort = level if level in _LEVELS else None
    path = "$.generationConfig.thinkingConfig"
    set_reasoning(outline, path, is_on, effort, budget if is_number else None)


def _camel(value: Any) -> dict[str, Any]:
    """An object with its names in camelCase."""
    fields = obj(value)
    if not any("_" in name for name in fields):
        return fields
    return {_SNAKE.sub(lambda found: found[1].upper(), name): one for name, one in fields.items()}


def _tools(fields: dict[str, Any]) -> Iterator[OfferedTool]:
    for tool, path in numbered(fields.get("tools"), "$.tools"):
        for kind, member in _camel(tool).items():
            if member is None:
                continue
            if kind != "functionDeclarations":
                yield OfferedTool(kind, f"{path}.{kind}", "server")
                continue
            for one, at in numbered(member, f"{path}.{kind}"):
                yield _declared(_camel(one), at)


def _declared(tool: dict[str, Any], path: str) -> OfferedTool:
    form = tool.get("parametersJsonSchema")
    if form is None and isinstance(tool.get("parameters"), dict):
        plain = _plain(tool["parameters"])
        plain.setdefault("type", "object")
        form = plain
    name, described = text(tool.get("name")), text(tool.get("description"))
    return OfferedTool(name, path, "function", described, schema(form))


def _plain(value: Any) -> Any:
    """A schema of Google's dialect as JSON Schema."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    plain: dict[str, Any] = {}
    for name, one in _camel(value).items():
        if one is None and name != "default":
            continue
        if name in ("properties", "$defs", "defs", "definitions", "patternProperties"):
            plain[name] = {key: _plain(inner) for key, inner in obj(one).items()}
        elif name in _INNER:
            plain[name] = _plain(one)
        elif name in _LIMITS and isinstance(one, str) and one.isdigit():
            plain[name] = int(one)
        else:
            plain[name] = one
    return _typed(plain)


def _typed(plain: dict[str, Any]) -> dict[str, Any]:
    kind = plain.get("type")
    if type(kind) is int and 0 <= kind < len(_TYPES):
        kind = _TYPES[kind]
    elif isinstance(kind, str) and kind.upper() == kind:
        kind = "" if kind == "TYPE_UNSPECIFIED" else kind.lower()
    if kind:
        plain["type"] = kind
    else:
        plain.pop("type", None)
    if kind in ("integer", "number") and isinstance(plain.get("enum"), list):
        plain["enum"] = [_number(one) for one in plain["enum"]]
    if plain.pop("nullable", None) is True:
        if isinstance(kind, str) and kind not in ("", "null"):
            plain["type"] = [kind, "null"]
        for name, null in (("anyOf", {"type": "null"}), ("enum", None)):
            if isinstance(plain.get(name), list) and null not in plain[name]:
                plain[name] = [*plain[name], null]
    return plain


def _number(value: Any) -> Any:
    try:
        return float(value) if "." in value else int(value)
    except (TypeError, ValueError):
        return value


def _pieces(fields: dict[str, Any]) -> Iterator[Piece]:
    system = fields.get("systemInstruction")
    path = "$.systemInstruction"
    if isinstance(system, dict):
        system, path = system.get("parts"), f"{path}.parts"
    yield from _parts(system, "instruction", path)
    for content, at in numbered(fields.get("contents"), "$.contents"):
        if isinstance(content, str):
            yield Piece("text", "user", at, content)
            continue
        held = obj(content)
        role: PieceRole = "assistant" if text(held.get("role")).lower() == "model" else "user"
        yield from _parts(held.get("parts"), role, f"{at}.parts")


def _parts(parts: Any, role: PieceRole, path: str) -> Iterator[Piece]:
    for part, at in numbered(parts, path):
        if isinstance(part, str):
            if part:
                yield Piece("text", role, at, part)
            continue
        fields = _camel(part)
        seal = text(fields.get("thoughtSignature"))
        names = [name for name in _DATA if name in fields]
        for name in names:
            yield from _datum(name, fields, role, f"{at}.{name}", seal)
            seal = ""
        if not names and seal:
            yield Piece("text", role, at, signature=seal)
        elif not names and fields.keys() - {"thought", "thoughtSignature"}:
            yield Piece("part", role, at, next(iter(fields)), value=spelled(part))


def _datum(
    name: str, fields: dict[str, Any], role: PieceRole, path: str, seal: str
) -> Iterator[Piece]:
    held = _camel(fields[name])
    match name:
        case "text":
            words = text(fields["text"])
            kind = "thinking" if fields.get("thought") is True else "text"
            if words or seal:
                made: Any = kind
                yield Piece(made, role, path, words, signature=seal)
        case "functionCall":
            yield from _call(held, path, seal or text(held.get("thoughtSignature")))
        case "functionResponse":
            yield from _answer(held, path)
        case "executableCode":
            words = text(held.get("code"))
            yield Piece("text", role, path, words, signature=seal)
        case "inlineData" if "data" in held:
            yield Piece("media", role, path, value=content_of(text(held["data"])), signature=seal)
        case "fileData" if text(held.get("fileUri")):
            yield Piece("media", role, path, value=content_of(text(held["fileUri"])))
        case "toolCall" | "toolResponse":
            yield Piece("server", role, path, name, value=spelled(held))
        case _:
            yield Piece("part", role, path, name, value=spelled(fields[name]))


def _call(held: dict[str, Any], path: str, seal: str) -> Iterator[Piece]:
    is_in_pieces = "partialArgs" in held and "args" not in held
    if held.get("willContinue") is True or (is_in_pieces and not held.get("name")):
        yield Piece("part", "assistant", path, "functionCall", value=spelled(held))
        return
    id, name, given = text(held.get("id")), text(held.get("name")), arguments(held.get("args"))
    yield Piece("call", "assistant", path, id=id, name=name, value=given, signature=seal)


def _answer(held: dict[str, Any], path: str) -> Iterator[Piece]:
    response = held.get("response", {})
    is_error = False
    if isinstance(response, dict):
        failed = response.get("error") not in (None, False)
        is_error = failed
        one = next(iter(response.values())) if len(response) == 1 else None
        if not response:
            words = ""
        elif isinstance(one, str) and next(iter(response)) in ("output", "result", "error"):
            words = one
        elif failed and len(response) == 1:
            words = compact(one)
        else:
            words = compact(response)
    else:
        words = response if isinstance(response, str) else compact(response)
    inside = [Piece("text", "tool", path, words)] if words else []
    inside += _parts(held.get("parts"), "tool", f"{path}.parts")
    id, name = text(held.get("id")), text(held.get("name"))
    yield from result(path, id, name, inside, error=is_error)
