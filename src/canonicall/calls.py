"""One tool call in the clothes of the formats people ask for by name."""

from typing import Any

from canonicall.arguments import agreeing, arguments_of, arguments_text
from canonicall.blocks import ToolCall


def to_anthropic(call: ToolCall) -> dict[str, Any]:
    """The call as a `tool_use` block."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call)}


def to_openai(call: ToolCall) -> dict[str, Any]:
    """The call as an entry of `tool_calls`: a function with JSON text, or a custom tool."""
    if call.kind == "custom":
        custom = {"name": call.name, "input": call.raw or ""}
        return {"id": call.id, "type": "custom", "custom": custom}
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments_text(agreeing(call))},
    }


def to_generic(call: ToolCall) -> dict[str, Any]:
    """The call for clients with a form of their own."""
    return {"tool_call_id": call.id, "tool_name": call.name, "parameters": arguments_of(call)}
