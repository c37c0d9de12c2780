"""One tool call in the clothes of the formats people ask for by name."""

from typing import Any

import msgspec

from canonicall.blocks import ToolCall


def to_anthropic(call: ToolCall) -> dict[str, Any]:
    """The call as a `tool_use` block."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.args or {}}


def to_openai(call: ToolCall) -> dict[str, Any]:
    """The call as an entry of `tool_calls`; its arguments are JSON text."""
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments_text(call)},
    }


def to_generic(call: ToolCall) -> dict[str, Any]:
    """The call for clients with a form of their own."""
    return {"tool_call_id": call.id, "tool_name": call.name, "parameters": call.args or {}}


def arguments_text(call: ToolCall) -> str:
    """The arguments as the text of a JSON object: as they came, if that is what they are."""
    if call.raw is not None and call.raw.strip().startswith("{") and call.args is not None:
        return call.raw
    return msgspec.json.encode(call.args or {}).decode()
