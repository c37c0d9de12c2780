"""The outline of a body of the Responses API."""

from collections.abc import Iterator
from typing import Any

from canonicall.verify.comparison.message_formats import (
    offered,
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
    numbered,
    obj,
    rest,
    schema,
    spelled,
    text,
)

_KNOWN = {
    *("model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls"),
    *("reasoning", "max_output_tokens", "temperature", "top_p", "stream", "text"),
}
_ROLES: dict[str, PieceRole] = {
    "system": "instruction",
    "developer": "instruction",
    "assistant": "assistant",
}
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_BRINGS = ("additional_tools", "tool_search_output")
_SEARCH = "tool_search"


def openai_responses(body: dict[str, Any]) -> Outline:
    """The outline of a Responses body."""
    outline = Outline("openai-responses", list(_pieces(body)), list(_tools(body)))
    for name in ("temperature", "top_p", "stream"):
        outline.set(name, f"$.{name}", body.get(name))
    outline.set("max_tokens", "$.max_output_tokens", body.get("max_output_tokens"))
    set_choice(outline, "$.tool_choice", body.get("tool_choice"))
    set_parallel(outline, "$.parallel_tool_calls", body.get("parallel_tool_calls"))
    reasoning, said = obj(body.get("reasoning")), obj(body.get("text"))
    set_reasoning(outline, "$.reasoning", None, text(reasoning.get("effort")), None)
    form = obj(said.get("format"))
    if form.get("type") == "json_schema":
        set_output(outline, "$.text.format", form.get("schema"))
    elif form.get("type") == "json_object":
        set_output(outline, "$.text.format", None)
    outline.fields |= rest(reasoning, ("effort",), "$.reasoning")
    outline.fields |= rest(said, ("format",), "$.text")
    outline.fields |= rest(body, _KNOWN, "$")
    return outline


def _tools(body: dict[str, Any]) -> Iterator[OfferedTool]:
    """What is offered; what a search has found may be listed already, or be found twice."""
    known: set[str] = set()
    for tool, path in numbered(body.get("tools"), "$.tools"):
        for one in _offered(obj(tool), path, ""):
            known.add(one.name)
            yield one
    for item, path in numbered(body.get("input"), "$.input"):
        if obj(item).get("type") in _BRINGS:
            for tool, at in numbered(obj(item).get("tools"), f"{path}.tools"):
                for one in _offered(obj(tool), at, ""):
                    if one.name not in known:
                        known.add(one.name)
                        yield one


def _offered(tool: dict[str, Any], path: str, space: str) -> Iterator[OfferedTool]:
    """A tool, or the tools of a namespace."""
    if tool.get("type") == "namespace":
        for one, at in numbered(tool.get("tools"), f"{path}.tools"):
            yield from _offered(obj(one), at, text(tool.get("name")))
        return
    if tool.get("type") == _SEARCH and tool.get("execution") == "client":
        form, described = schema(tool.get("parameters")), text(tool.get("description"))
        yield OfferedTool(_SEARCH, path, "function", described, form)
        return
    for one in offered(tool, path):
        name = f"{space}.{one.name}" if space else one.name
        yield OfferedTool(name, path, one.kind, one.description, one.schema, strict=one.strict)


def _pieces(body: dict[str, Any]) -> Iterator[Piece]:
    if text(body.get("instructions")):
        yield Piece("text", "instruction", "$.instructions", text(body["instructions"]))
    asked = body.get("input")
    if isinstance(asked, str):
        if asked:
            yield Piece("text", "user", "$.input", asked)
        return
    for item, path in numbered(asked, "$.input"):
        if isinstance(item, dict):
            yield from _item(item, path)


def _item(item: dict[str, Any], path: str) -> Iterator[Piece]:
    kind = text(item.get("type")) or ("message" if "role" in item else "")
    if kind == "message":
        role = _ROLES.get(text(item.get("role")), "user")
        yield from _content(item.get("content"), role, f"{path}.content")
    elif kind == "reasoning":
        yield from _thought(item, path)
    elif kind in ("function_call", "custom_tool_call"):
        is_free = kind == "custom_tool_call"
        given = text(item.get("input")) if is_free else arguments(item.get("arguments"))
        id, name = text(item.get("call_id")), text(item.get("name"))
        if text(item.get("namespace")):
            name = f"{item['namespace']}.{name}"
        yield Piece("call", "assistant", path, id=id, name=name, value=given, free=is_free)
    elif kind in _OUTPUTS:
        inside = list(_content(item.get("output"), "tool", f"{path}.output"))
        id, is_free = text(item.get("call_id")), kind == "custom_tool_call_output"
        yield from result(path, id, text(item.get("name")), inside, free=is_free)
    elif kind.startswith(_SEARCH) and item.get("execution") == "client":
        # The client answers such a search as it answers a call.
        id = text(item.get("call_id"))
        if kind == f"{_SEARCH}_call":
            given = arguments(item.get("arguments"))
            yield Piece("call", "assistant", path, id=id, name=_SEARCH, value=given)
        else:
            yield Piece("result", "tool", path, compact(item.get("tools")), id=id, name=_SEARCH)
    elif kind.endswith(("_call", "_call_output")) or kind.startswith(("tool_search", "program")):
        yield Piece("server", "assistant", path, kind, value=spelled(item))
    else:
        yield Piece("part", "assistant", path, kind, value=spelled(item))


def _thought(item: dict[str, Any], path: str) -> Iterator[Piece]:
    words = [
        text(obj(part).get("text"))
        for name in ("summary", "content")
        for part, _ in numbered(item.get(name), name)
    ]
    # Some hosts say the same in both.
    said = "\n\n".join(dict.fromkeys(one for one in words if one))
    # The id alone replays a thought that the provider keeps.
    seal = text(item.get("encrypted_content")) or ("" if said else text(item.get("id")))
    if said or seal:
        yield Piece("thinking", "assistant", path, said, signature=seal)


def _content(content: Any, role: PieceRole, path: str) -> Iterator[Piece]:
    if isinstance(content, str):
        if content:
            yield Piece("text", role, path, content)
        return
    for part, at in numbered(content, path):
        yield from _part(part, role, at)


def _part(part: Any, role: PieceRole, path: str) -> Iterator[Piece]:
    fields = obj(part)
    kind = text(fields.get("type"))
    if kind in ("input_text", "output_text", "text", "refusal"):
        words = text(fields.get("refusal" if kind == "refusal" else "text"))
        if words:
            yield Piece("text", role, path, words)
        return
    sources = (
        text(fields.get("image_url")),
        text(fields.get("file_data")),
        text(fields.get("file_url")),
        text(obj(fields.get("input_audio")).get("data")),
    )
    source = next((one for one in sources if one), "")
    if text(fields.get("file_id")):
        yield Piece("media", role, path, value=f"id:{text(fields['file_id'])}")
    elif source:
        yield Piece("media", role, path, value=content_of(source))
    else:
        yield Piece("part", role, path, kind, value=spelled(part))
