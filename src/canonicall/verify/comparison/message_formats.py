"""Outlines of the formats whose messages have roles: Chat Completions, Cohere's and Ollama's chat.

Their messages are alike; what differs is the content, which fields stand beside it, and the
parameters.
"""

from collections.abc import Iterator
from typing import Any

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
    rest,
    schema,
    spelled,
    text,
)

_ROLES: dict[str, PieceRole] = {
    "system": "instruction",
    "developer": "instruction",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_MEDIA = ("image_url", "video_url", "audio_url", "document_url", "input_audio", "file")
_TEXTS = ("text", "input_text", "output_text")
_CHAT_KNOWN = {
    *("model", "messages", "tools", "functions", "tool_choice", "function_call"),
    *("parallel_tool_calls", "temperature", "top_p", "top_k", "stop", "seed", "random_seed"),
    *("stream", "max_tokens", "max_completion_tokens", "reasoning_effort", "response_format"),
    *("reasoning", "thinking", "enable_thinking", "thinking_budget"),
}
_COHERE_KNOWN = {
    *("model", "messages", "tools", "tool_choice", "strict_tools", "thinking", "stop_sequences"),
    *("max_tokens", "temperature", "p", "k", "seed", "stream", "response_format"),
}
_OLLAMA_KNOWN = ("model", "messages", "tools", "stream", "think", "options", "format")
_OPTIONS = {
    "num_predict": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "stop": "stop",
}
_MODES = {"any": "required", "REQUIRED": "required", "NONE": "none", "AUTO": "auto"}


def openai_chat(body: dict[str, Any]) -> Outline:
    """The outline of a Chat Completions body."""
    outline = Outline("openai-chat", list(_pieces(body)), list(_tools(body)))
    for name in ("temperature", "top_p", "top_k", "stream"):
        outline.set(name, f"$.{name}", body.get(name))
    for name in ("max_completion_tokens", "max_tokens"):
        outline.set("max_tokens", f"$.{name}", body.get(name))
    for name in ("seed", "random_seed"):
        outline.set("seed", f"$.{name}", body.get(name))
    outline.set("stop", "$.stop", _stops(body.get("stop")))
    chosen = "tool_choice" if body.get("tool_choice") is not None else "function_call"
    set_choice(outline, f"$.{chosen}", body.get(chosen))
    set_parallel(outline, "$.parallel_tool_calls", body.get("parallel_tool_calls"))
    _set_effort(outline, body)
    form = obj(body.get("response_format"))
    held = obj(form.get("json_schema"))
    if form.get("type") == "json_schema" and held:
        set_output(outline, "$.response_format", held.get("schema"))
    elif form == {"type": "json_object"}:
        set_output(outline, "$.response_format", None)
    elif form and form != {"type": "text"}:
        outline.fields |= rest({"response_format": form}, (), "$")
    outline.fields |= rest(body, _CHAT_KNOWN, "$")
    return outline


def cohere(body: dict[str, Any]) -> Outline:
    """The outline of a body of Cohere's chat API."""
    outline = Outline("cohere", list(_pieces(body)), list(_tools(body)))
    names = {"p": "top_p", "k": "top_k"}
    for name in ("max_tokens", "temperature", "p", "k", "seed", "stream"):
        outline.set(names.get(name, name), f"$.{name}", body.get(name))
    outline.set("stop", "$.stop_sequences", _stops(body.get("stop_sequences")))
    set_choice(outline, "$.tool_choice", body.get("tool_choice"))
    thinking = body.get("thinking")
    if isinstance(thinking, dict):
        is_on = thinking.get("type", "enabled") != "disabled"
        set_reasoning(outline, "$.thinking", is_on, None, thinking.get("token_budget"))
    form = obj(body.get("response_format"))
    if form.get("type") == "json_object":
        set_output(outline, "$.response_format", form.get("json_schema"))
    if body.get("strict_tools") is True:
        outline.tools = [
            OfferedTool(t.name, t.path, t.kind, t.description, t.schema, strict=True)
            for t in outline.tools
        ]
    outline.fields |= rest(body, _COHERE_KNOWN, "$")
    return outline


def ollama(body: dict[str, Any]) -> Outline:
    """The outline of a body of Ollama's chat API."""
    outline = Outline("ollama", list(_pieces(body)), list(_tools(body)))
    options = obj(body.get("options"))
    for name, ours in _OPTIONS.items():
        value = options.get(name)
        if name == "num_predict" and isinstance(value, int) and value < 0:
            outline.fields |= rest({name: value}, (), "$.options")
            continue
        value = _stops(value) if name == "stop" else value
        outline.set(ours, f"$.options.{name}", value)
    # A stream is what this API answers with unless it is told not to.
    stream = body.get("stream")
    outline.set("stream", "$.stream", True if stream is None else stream)
    think = body.get("think")
    if think is not None:
        effort = think if isinstance(think, str) else None
        set_reasoning(outline, "$.think", bool(think), effort, None)
    form = body.get("format")
    if form == "json" or isinstance(form, dict):
        set_output(outline, "$.format", form)
    set_choice(outline, "$.tool_choice", body.get("tool_choice"))
    outline.fields |= rest(options, _OPTIONS, "$.options")
    outline.fields |= rest(body, (*_OLLAMA_KNOWN, "tool_choice"), "$")
    return outline


def set_choice(outline: Outline, path: str, choice: Any) -> None:
    """Note which tools may be called; any is what every provider means where nothing is said."""
    mode, names = _choice(choice)
    if mode and (mode, names) != ("auto", ()):
        outline.set("tool_choice", path, (mode, names))


def set_parallel(outline: Outline, path: str, value: Any) -> None:
    """Note that only one call at a time is wanted."""
    if value is False:
        outline.set("parallel", path, value)


def set_output(outline: Outline, path: str, form: Any) -> None:
    """Note that the reply is JSON, and of which schema."""
    outline.set("output", path, "json" if not isinstance(form, dict) else spelled(form))


def set_reasoning(
    outline: Outline, path: str, is_on: bool | None, effort: Any, budget: Any
) -> None:
    """Note how much to think. An effort and a budget are a wish to think as well."""
    if effort == "none" or budget == 0:
        is_on, effort, budget = False, None, None
    if is_on is False:
        effort = budget = None
    elif effort or budget:
        is_on = True
    if is_on is not None:
        outline.set("reasoning", path, (is_on, effort or None, budget or None))


def _set_effort(outline: Outline, body: dict[str, Any]) -> None:
    """How much to think, in the ways that hosts of Chat Completions have for it."""
    routed, thinking = obj(body.get("reasoning")), obj(body.get("thinking"))
    effort = text(body.get("reasoning_effort")) or text(routed.get("effort"))
    switches = (
        thinking.get("type") != "disabled" if isinstance(thinking.get("type"), str) else None,
        body.get("enable_thinking"),
        routed.get("enabled"),
    )
    is_on = next((one for one in switches if isinstance(one, bool)), None)
    budgets = (
        thinking.get("budget_tokens"),
        body.get("thinking_budget"),
        routed.get("max_tokens"),
    )
    budget = next((one for one in budgets if one is not None), None)
    named = ("reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget")
    said = [name for name in named if not is_empty(body.get(name))]
    set_reasoning(outline, f"$.{said[0]}" if said else "$", is_on, effort, budget)
    outline.fields |= rest(routed, ("effort", "enabled", "max_tokens"), "$.reasoning")
    outline.fields |= rest(thinking, ("type", "budget_tokens"), "$.thinking")


def _stops(value: Any) -> list[str]:
    return [one for one in many(value) if isinstance(one, str)]


def _choice(choice: Any) -> tuple[str, tuple[str, ...]]:
    if isinstance(choice, str):
        return _MODES.get(choice, choice), ()
    fields = obj(choice)
    kind = text(fields.get("type"))
    if kind == "allowed_tools":
        allowed = obj(fields.get("allowed_tools")) or fields
        named = (_called(one) for one in many(allowed.get("tools")))
        return text(allowed.get("mode")) or "auto", tuple(name for name in named if name)
    name = _called(fields)
    if name:
        return "required", (name,)
    return (f"hosted:{kind}", ()) if kind else ("", ())


def _called(fields: Any) -> str:
    """The name of the tool that a choice means."""
    one = obj(fields)
    inner = obj(one.get("function")) or obj(one.get("custom")) or one
    return text(inner.get("name"))


def _tools(body: dict[str, Any]) -> Iterator[OfferedTool]:
    for tool, path in numbered(body.get("tools"), "$.tools"):
        yield from offered(obj(tool), path)
    for tool, path in numbered(body.get("functions"), "$.functions"):
        yield from offered({"type": "function", "function": tool}, path)


def offered(tool: dict[str, Any], path: str) -> Iterator[OfferedTool]:
    """A tool as the formats of OpenAI write it, nested or flat."""
    kind = text(tool.get("type")) or "function"
    held = obj(tool.get(kind)) or tool
    name, described = text(held.get("name")), text(held.get("description"))
    if kind == "function":
        form = held.get("parameters")
        is_strict = held.get("strict") is True
        yield OfferedTool(name, path, "function", described, schema(form), strict=is_strict)
    elif kind == "custom":
        yield OfferedTool(name, path, "custom", described, schema(held.get("format")))
    else:
        yield OfferedTool(kind, path, "server")


def _pieces(body: dict[str, Any]) -> Iterator[Piece]:
    for message, path in numbered(body.get("messages"), "$.messages"):
        if isinstance(message, dict):
            yield from _message(message, path)


def _message(message: dict[str, Any], path: str) -> Iterator[Piece]:
    role: PieceRole = _ROLES.get(text(message.get("role")), "user")
    if role == "tool":
        yield from _result(message, path)
        return
    speaker = text(message.get("name"))
    if speaker:
        yield Piece("speaker", role, f"{path}.name", speaker)
    if role == "assistant":
        yield from _thoughts(message, path)
    yield from _content(message.get("content"), role, f"{path}.content")
    for image, at in numbered(message.get("images"), f"{path}.images"):
        source = image if isinstance(image, str) else _source(obj(image).get("image_url"))
        if source:
            yield Piece("media", role, at, value=content_of(source))
    if role != "assistant":
        yield from _calls(message, path)
        return
    for name in ("refusal", "tool_plan"):
        if text(message.get(name)):
            yield Piece("text", role, f"{path}.{name}", text(message[name]))
    yield from _sound(obj(message.get("audio")), f"{path}.audio")
    yield from _calls(message, path)


def _thoughts(message: dict[str, Any], path: str) -> Iterator[Piece]:
    """The reasoning beside the content; the same text in two fields is one thought."""
    details = many(message.get("reasoning_details"))
    seal = spelled(details) if details else ""
    seen: list[str] = []
    for name in ("reasoning_content", "reasoning", "thinking"):
        words = text(message.get(name))
        if words and words not in seen:
            yield Piece("thinking", "assistant", f"{path}.{name}", words, signature=seal)
            seal = ""
            seen.append(words)
    if seal:
        words = "".join(
            text(obj(one).get("text")) or text(obj(one).get("summary")) for one in details
        )
        yield Piece("thinking", "assistant", f"{path}.reasoning_details", words, signature=seal)


def _sound(audio: dict[str, Any], path: str) -> Iterator[Piece]:
    if text(audio.get("transcript")):
        yield Piece("text", "assistant", f"{path}.transcript", text(audio["transcript"]))
    if text(audio.get("id")) or text(audio.get("data")):
        named = text(audio.get("id")) or content_of(text(audio.get("data")))
        yield Piece("media", "assistant", path, value=f"id:{named}")


def _calls(message: dict[str, Any], path: str) -> Iterator[Piece]:
    written: list[tuple[str, str]] = []
    for value, at in numbered(message.get("tool_calls"), f"{path}.tool_calls"):
        call = obj(value)
        is_free = call.get("type") == "custom"
        held = obj(call.get("custom" if is_free else "function"))
        name, seal = text(held.get("name")), call.get("extra_content")
        given = text(held.get("input")) if is_free else arguments(held.get("arguments"))
        written.append((name, given))
        yield Piece(
            "call",
            "assistant",
            at,
            id=text(call.get("id")),
            name=name,
            value=given,
            signature=spelled(seal) if seal else "",
            free=is_free,
        )
    legacy = obj(message.get("function_call"))
    if not any(legacy.values()):
        return
    name, given = text(legacy.get("name")), arguments(legacy.get("arguments"))
    if (name, given) not in written:
        yield Piece("call", "assistant", f"{path}.function_call", name=name, value=given)


def _result(message: dict[str, Any], path: str) -> Iterator[Piece]:
    name = text(message.get("tool_name")) or text(message.get("name"))
    id = text(message.get("tool_call_id"))
    inside = list(_content(message.get("content"), "tool", f"{path}.content"))
    for image, at in numbered(message.get("images"), f"{path}.images"):
        inside.append(Piece("media", "tool", at, value=content_of(text(image))))
    yield from result(path, id, name, inside)


def result(
    path: str, id: str, name: str, inside: list[Piece], *, error: bool = False, free: bool = False
) -> Iterator[Piece]:
    """A result with the texts in it as one, and after it the other things that it holds."""
    words = "\n".join(one.text for one in inside if one.kind == "text")
    yield Piece("result", "tool", path, words, id=id, name=name, error=error, free=free)
    yield from (one for one in inside if one.kind != "text")


def _content(content: Any, role: PieceRole, path: str) -> Iterator[Piece]:
    if isinstance(content, str):
        if content:
            yield Piece("text", role, path, content)
        return
    for part, at in numbered(content, path):
        yield from _part(part, role, at)


def _part(part: Any, role: PieceRole, path: str) -> Iterator[Piece]:
    if isinstance(part, str):
        if part:
            yield Piece("text", role, path, part)
        return
    fields = obj(part)
    kind = text(fields.get("type")) or ("text" if "text" in fields else "")
    if kind in _TEXTS or kind == "refusal":
        words = text(fields.get("refusal" if kind == "refusal" else "text"))
        if words:
            yield Piece("text", role, path, words)
    elif kind == "thinking":
        yield from _chunk(fields, role, path)
    elif kind == "document":
        yield Piece("text", role, path, _document(fields.get("document")))
    elif kind == "tool_use":
        id, name = text(fields.get("id")), text(fields.get("name"))
        given = arguments(fields.get("input"))
        yield Piece("call", "assistant", path, id=id, name=name, value=given)
    elif kind == "tool_result":
        inside = list(_content(fields.get("content"), "tool", f"{path}.content"))
        is_error = fields.get("is_error") is True
        yield from result(path, text(fields.get("tool_use_id")), "", inside, error=is_error)
    elif kind in _MEDIA and _source(fields.get(kind)):
        yield Piece("media", role, path, value=_seen(_source(fields.get(kind))))
    else:
        yield Piece("part", role, path, kind, value=spelled(part))


def _chunk(fields: dict[str, Any], role: PieceRole, path: str) -> Iterator[Piece]:
    """A chunk of reasoning in the content; of the model a thought, of others what they say."""
    words = "".join(
        one if isinstance(one, str) else text(obj(one).get("text"))
        for one in many(fields.get("thinking"))
    )
    seal = text(fields.get("signature"))
    if words or seal:
        kind = "thinking" if role == "assistant" else "text"
        yield Piece("thinking" if kind == "thinking" else "text", role, path, words, signature=seal)


def _document(document: Any) -> str:
    """Cohere: what a result says, as an object or as text."""
    held = obj(document).get("data")
    if isinstance(held, str):
        return held
    return compact(held if held is not None else document)


def _source(held: Any) -> str:
    """The data or the address in a part of media, or the id of a file."""
    if isinstance(held, str):
        return held
    fields = obj(held)
    for name in ("url", "data", "file_data"):
        if text(fields.get(name)):
            return text(fields[name])
    return f"id:{text(fields['file_id'])}" if text(fields.get("file_id")) else ""


def _seen(source: str) -> str:
    return source if source.startswith("id:") else content_of(source)
