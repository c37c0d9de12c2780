"""Outlines of the formats whose messages are lists of blocks: Messages of Anthropic, and Converse.

Claude speaks both, so their parameters for thinking and for the form of the reply are alike.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

from canonicall.verify.comparison.message_formats import (
    result,
    set_choice,
    set_output,
    set_parallel,
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
    is_empty,
    many,
    numbered,
    obj,
    parsed,
    rest,
    schema,
    spelled,
    text,
)

_ROLES: dict[str, PieceRole] = {"assistant": "assistant", "system": "instruction"}
_KNOWN = {
    *("model", "messages", "system", "tools", "tool_choice", "max_tokens", "temperature"),
    *("top_p", "top_k", "stop_sequences", "stream", "thinking", "output_config"),
    *("output_format", "anthropic_version"),
}
_OFF = ("disabled", "between_tools")
_SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
_CONVERSE_KNOWN = (
    *("modelId", "messages", "system", "inferenceConfig", "toolConfig"),
    *("outputConfig", "additionalModelRequestFields"),
)
_CONVERSE_MEDIA = ("image", "document", "video", "audio")


def anthropic(body: dict[str, Any]) -> Outline:
    """The outline of a Messages body."""
    outline = Outline("anthropic")
    outline.pieces += _blocks(body.get("system"), "instruction", "$.system")
    for message, path in numbered(body.get("messages"), "$.messages"):
        role: PieceRole = _ROLES.get(text(obj(message).get("role")), "user")
        outline.pieces += _blocks(obj(message).get("content"), role, f"{path}.content")
    for tool, path in numbered(body.get("tools"), "$.tools"):
        outline.tools.append(_offered(obj(tool), path))
    for name in ("max_tokens", "temperature", "top_p", "top_k", "stream"):
        outline.set(name, f"$.{name}", body.get(name))
    outline.set("stop", "$.stop_sequences", many(body.get("stop_sequences")))
    choice = obj(body.get("tool_choice"))
    mode = "required" if choice.get("type") == "any" else text(choice.get("type"))
    set_choice(outline, "$.tool_choice", choice if mode == "tool" else mode)
    is_serial = choice.get("disable_parallel_tool_use") is True
    set_parallel(outline, "$.tool_choice", False if is_serial else None)
    _set_thinking(outline, body, "$")
    outline.fields |= rest(body, _KNOWN, "$")
    return outline


def bedrock(body: dict[str, Any]) -> Outline:
    """The outline of a Converse body."""
    outline = Outline("bedrock")
    outline.pieces += _members(body.get("system"), "instruction", "$.system")
    for message, path in numbered(body.get("messages"), "$.messages"):
        role: PieceRole = _ROLES.get(text(obj(message).get("role")), "user")
        outline.pieces += _members(obj(message).get("content"), role, f"{path}.content")
    config = obj(body.get("toolConfig"))
    for tool, path in numbered(config.get("tools"), "$.toolConfig.tools"):
        outline.tools += _spec(obj(tool), path)
    inference = obj(body.get("inferenceConfig"))
    for name, ours in (("maxTokens", "max_tokens"), ("topP", "top_p")):
        outline.set(ours, f"$.inferenceConfig.{name}", inference.get(name))
    outline.set("temperature", "$.inferenceConfig.temperature", inference.get("temperature"))
    stops = many(inference.get("stopSequences"))
    outline.set("stop", "$.inferenceConfig.stopSequences", stops)
    for mode, named in obj(config.get("toolChoice")).items():
        chosen = {"any": "required", "auto": "auto"}.get(mode, obj(named))
        set_choice(outline, "$.toolConfig.toolChoice", chosen)
    more = obj(body.get("additionalModelRequestFields"))
    _set_thinking(outline, more, "$.additionalModelRequestFields")
    structure = obj(obj(obj(body.get("outputConfig")).get("textFormat")).get("structure"))
    form = parsed(text(obj(structure.get("jsonSchema")).get("schema")))
    if isinstance(form, dict):
        set_output(outline, "$.outputConfig.textFormat", form)
    known = {"thinking", "output_config"}
    if isinstance(more.get("top_k"), int):
        outline.set("top_k", "$.additionalModelRequestFields.top_k", more["top_k"])
        known.add("top_k")
    outline.fields |= rest(more, known, "$.additionalModelRequestFields")
    outline.fields |= rest(
        inference, ("maxTokens", "topP", "temperature", "stopSequences"), "$.inferenceConfig"
    )
    outline.fields |= rest(obj(body.get("outputConfig")), ("textFormat",), "$.outputConfig")
    outline.fields |= rest(config, ("tools", "toolChoice"), "$.toolConfig")
    outline.fields |= rest(body, _CONVERSE_KNOWN, "$")
    return outline


def _set_thinking(outline: Outline, fields: dict[str, Any], path: str) -> None:
    """How much Claude shall think, and the form of its reply."""
    thinking, config = obj(fields.get("thinking")), obj(fields.get("output_config"))
    kind = text(thinking.get("type"))
    is_on = kind not in _OFF if kind else None
    where = f"{path}.thinking" if thinking else f"{path}.output_config"
    effort = text(config.get("effort"))
    set_reasoning(outline, where, is_on, effort, thinking.get("budget_tokens"))
    form = obj(config.get("format")) or obj(fields.get("output_format"))
    if form.get("type") == "json_schema":
        set_output(outline, f"{path}.output_config.format", form.get("schema"))
    outline.fields |= rest(thinking, ("type", "budget_tokens"), f"{path}.thinking")
    outline.fields |= rest(config, ("effort", "format"), f"{path}.output_config")


def _offered(tool: dict[str, Any], path: str) -> OfferedTool:
    name, kind = text(tool.get("name")), text(tool.get("type"))
    if kind not in ("", "custom"):
        return OfferedTool(kind, path, "server")
    described, form = text(tool.get("description")), schema(tool.get("input_schema"))
    is_strict = tool.get("strict") is True
    return OfferedTool(name, path, "function", described, form, strict=is_strict)


def _spec(tool: dict[str, Any], path: str) -> Iterator[OfferedTool]:
    for kind, member in tool.items():
        held = obj(member)
        if kind == "toolSpec":
            form = schema(obj(held.get("inputSchema")).get("json"))
            described = text(held.get("description"))
            name, is_strict = text(held.get("name")), held.get("strict") is True
            yield OfferedTool(name, path, "function", described, form, strict=is_strict)
        elif kind != "cachePoint" and member is not None:
            yield OfferedTool(text(held.get("name")) or kind, path, "server")


def _blocks(content: Any, role: PieceRole, path: str) -> Iterator[Piece]:
    if isinstance(content, str):
        if content:
            yield Piece("text", role, path, content)
        return
    for block, at in numbered(content, path):
        yield from _block(obj(block), role, at)


def _block(  # noqa: C901  one line for each type
    block: dict[str, Any], role: PieceRole, path: str
) -> Iterator[Piece]:
    kind = text(block.get("type"))
    if kind == "text":
        if text(block.get("text")):
            yield Piece("text", role, path, text(block["text"]))
    elif kind == "thinking":
        words, seal = text(block.get("thinking")), text(block.get("signature"))
        if words or seal:
            yield Piece("thinking", role, path, words, signature=seal)
    elif kind == "redacted_thinking":
        yield Piece("thinking", role, path, signature=text(block.get("data")))
    elif kind == "tool_use":
        id, name = text(block.get("id")), text(block.get("name"))
        given = arguments(block.get("input"))
        yield Piece("call", "assistant", path, id=id, name=name, value=given)
    elif kind == "tool_result":
        inside = list(_blocks(block.get("content"), "tool", f"{path}.content"))
        is_error = block.get("is_error") is True
        yield from result(path, text(block.get("tool_use_id")), "", inside, error=is_error)
    elif kind in _SERVER_CALLS or kind.endswith("_tool_result"):
        yield Piece("server", role, path, kind, value=spelled(block))
    elif kind == "search_result":
        yield Piece("text", role, path, _search(block))
    elif kind in ("image", "document") and _source(obj(block.get("source"))):
        yield Piece("media", role, path, value=_source(obj(block.get("source"))))
    else:
        yield Piece("part", role, path, kind, value=spelled(block))


def _search(block: dict[str, Any]) -> str:
    said = [block.get("title"), block.get("source")]
    said += [obj(part).get("text") for part in many(block.get("content"))]
    return "\n".join(one for one in said if isinstance(one, str) and one)


def _source(source: dict[str, Any]) -> str:
    """What media of a Messages body holds; documents of plain text hold it as it is."""
    match source.get("type"):
        case "base64":
            return content_of(text(source.get("data")))
        case "url":
            return content_of(text(source.get("url")))
        case "file":
            return f"id:{text(source.get('file_id'))}"
        case "text":
            return _of_text(text(source.get("data")))
        case "content":
            held = source.get("content")
            parts = [held] if isinstance(held, str) else many(held)
            said = [one if isinstance(one, str) else obj(one).get("text") for one in parts]
            if all(isinstance(one, str) for one in said):
                return _of_text("\n".join(map(str, said)))
    return ""


def _of_text(words: str) -> str:
    return content_of(b64encode(words.encode("utf-8", "replace")).decode())


def _members(content: Any, role: PieceRole, path: str) -> Iterator[Piece]:
    if isinstance(content, str):
        yield Piece("text", role, path, content)
        return
    server = {
        text(obj(obj(one).get("toolUse")).get("toolUseId"))
        for one in many(content)
        if obj(obj(one).get("toolUse")).get("type") == "server_tool_use"
    }
    for block, at in numbered(content, path):
        for kind, member in obj(block).items():
            if member is not None and kind != "cachePoint":
                yield from _member(kind, member, role, f"{at}.{kind}", server)


def _member(
    kind: str, member: Any, role: PieceRole, path: str, server: set[str]
) -> Iterator[Piece]:
    held = obj(member)
    id = text(held.get("toolUseId"))
    if kind in ("toolUse", "toolResult") and id in server:
        yield Piece("server", role, path, kind, value=spelled(member))
    elif kind == "toolUse":
        given = arguments(held.get("input"))
        yield Piece("call", "assistant", path, id=id, name=text(held.get("name")), value=given)
    elif kind == "toolResult":
        inside = list(_members(held.get("content"), "tool", f"{path}.content"))
        yield from result(path, id, "", inside, error=held.get("status") == "error")
    elif kind == "reasoningContent":
        yield from _reasoning(held, role, path)
    elif kind in _CONVERSE_MEDIA and _converse_source(obj(held.get("source"))):
        yield Piece("media", role, path, value=_converse_source(obj(held.get("source"))))
    else:
        words = _wrapped(kind, member)
        if words is None:
            yield Piece("part", role, path, kind, value=spelled({kind: member}))
        elif words:
            yield Piece("text", role, path, words)


def _reasoning(held: dict[str, Any], role: PieceRole, path: str) -> Iterator[Piece]:
    blob = text(held.get("redactedContent"))
    thought = obj(held.get("reasoningText"))
    if blob:
        try:
            inner = b64decode(blob, validate=True).decode()
        except ValueError:
            inner = ""
        is_packed = b64encode(inner.encode()).decode() == blob
        yield Piece("thinking", role, path, signature=inner if is_packed else blob)
    elif thought:
        words, seal = text(thought.get("text")), text(thought.get("signature"))
        if words or seal:
            yield Piece("thinking", role, path, words, signature=seal)
    elif not is_empty(held):
        yield Piece("part", role, path, "reasoningContent", value=spelled(held))


def _wrapped(kind: str, member: Any) -> str | None:
    """The text of a member, however it is wrapped; None where it is none."""
    if kind == "text":
        return text(member)
    if kind == "json":
        return compact(member)
    held = obj(member)
    if kind == "guardContent":
        words = obj(held.get("text")).get("text")
        return words if isinstance(words, str) else None
    if kind in ("citationsContent", "searchResult"):
        said = [obj(part).get("text") for part in many(held.get("content"))]
        return "".join(map(str, said)) if all(isinstance(one, str) for one in said) else None
    return None


def _converse_source(source: dict[str, Any]) -> str:
    if text(source.get("bytes")):
        return content_of(text(source["bytes"]))
    if text(source.get("text")):
        return _of_text(text(source["text"]))
    return text(obj(source.get("s3Location")).get("uri"))
