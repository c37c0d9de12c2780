"""Tool calls of an assistant message.

In: `tool_calls`, function or custom, and the legacy `function_call`. Arguments come as text, as an
object (Mistral types allow it), as null or not at all (OpenRouter); only what came is kept, and
`canonicall.arguments` makes the other form.
"""

from typing import Any

from canonicall.arguments import arguments_of, arguments_text, with_object
from canonicall.blocks import Native, ToolCall
from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.findings import Action, Fault, Finding
from canonicall.wire.openai_chat import FORMAT
from canonicall.wire.openai_chat.native import (
    HINT,
    decode_mark,
    native_of,
    own_fields,
    rest_of,
    whole_mark,
    with_rest,
)
from canonicall.wire.openai_chat.usual import usual_call
from canonicall.wire.reading import arguments_at, id_at, object_at, objects_at, text_at

LEGACY = Native(FORMAT, {HINT: "function_call"})
"""Marks the single call of old."""

# `index` says what the place in the list says; Mistral wants it left out of requests.
# Snowflake's replies hold empty `custom` and `function_call` objects in every message.
_KNOWN = vocabulary(FORMAT).call_fields


def decode_calls(
    message: dict[str, Any], where: str, findings: list[Finding]
) -> tuple[ToolCall, ...]:
    """The calls of a message, in order."""
    calls = [
        usual_call(call) or decode_call(call, at)
        for call, at in objects_at(message.get("tool_calls"), f"{where}.tool_calls")
    ]
    place = f"{where}.function_call"
    function = object_at(message.get("function_call") or {}, place)
    if any(function.values()):
        legacy = decode_legacy(function, place)
        if any(is_twin(call, legacy) for call in calls):
            # llama-cpp-python writes every call in both fields.
            why = f"The call of {legacy.name} is in tool_calls as well; it is one call."
            findings.append(Finding("call_twice", place, Action.DROPPED, why, Fault.INPUT))
        else:
            why = "The legacy function_call has no id; it is read as a tool call."
            findings.append(Finding("legacy_function", place, Action.CHANGED, why, Fault.INPUT))
            calls.append(legacy)
    return tuple(calls)


def is_twin(call: ToolCall, legacy: ToolCall) -> bool:
    """Whether the legacy `function_call` says what a call of `tool_calls` says."""
    is_of_tool = call.kind == "function" and call.name == legacy.name
    return is_of_tool and arguments_of(call) == arguments_of(legacy)


def decode_legacy(function: dict[str, Any], where: str) -> ToolCall:
    """The single call of old, which has no id."""
    name = text_at(function.get("name"), f"{where}.name")
    raw, args = arguments_at(function.get("arguments"))
    return ToolCall(name=name, raw=raw, args=args, native=LEGACY)


def encode_call(call: ToolCall, target: Target) -> dict[str, Any]:
    """A call of a request's history. Its arguments are always the text of a JSON object."""
    if call.kind == "custom" and target.custom_tools:
        wire = _encode_custom(call)
    else:
        whole = call if call.args is not None else with_object(call)
        wire = _encode_function(call, arguments_text(whole))
    return wire if call.cache is None else wire | whole_mark(call.cache, target)


def encode_reply_call(call: ToolCall) -> dict[str, Any]:
    """A call of a response: broken arguments stay broken, the finish reason says why."""
    if call.kind == "custom":
        return _encode_custom(call)
    raw = call.raw
    # What the token limit has cut off, or may have, stays as it came: nothing is no object then.
    if raw is not None and (call.truncated or (call.args is None and not raw.strip())):
        return _encode_function(call, raw)
    return _encode_function(call, arguments_text(call))


def decode_call(call: dict[str, Any], where: str) -> ToolCall:
    """One call."""
    id = id_at(call.get("id"), f"{where}.id")
    kind = text_at(call.get("type"), f"{where}.type") or "function"
    fields = rest_of(call, _KNOWN)
    if kind == "custom":
        custom = object_at(call.get("custom"), f"{where}.custom")
        return ToolCall(
            id=id,
            name=text_at(custom.get("name"), f"{where}.custom.name"),
            raw=text_at(custom.get("input"), f"{where}.custom.input"),
            kind="custom",
            cache=decode_mark(call, where),
            native=native_of(fields),
        )
    function = object_at(call.get("function"), f"{where}.function")
    raw, args = arguments_at(function.get("arguments"))
    if kind != "function":  # Kimi's builtin_function
        fields["type"] = kind
    extra = rest_of(function, ("name", "arguments"))
    if extra:
        fields["function"] = extra
    return ToolCall(
        id=id,
        name=text_at(function.get("name"), f"{where}.function.name"),
        raw=raw,
        args=args,
        cache=decode_mark(call, where),
        native=native_of(fields),
    )


def _encode_function(call: ToolCall, arguments: str) -> dict[str, Any]:
    kind = own_fields(call.native).get("type", "function") if call.native else "function"
    function = {"name": call.name, "arguments": arguments}
    return with_rest({"id": call.id, "type": kind, "function": function}, call)


def _encode_custom(call: ToolCall) -> dict[str, Any]:
    custom = {"name": call.name, "input": call.raw or ""}
    return with_rest({"id": call.id, "type": "custom", "custom": custom}, call)
