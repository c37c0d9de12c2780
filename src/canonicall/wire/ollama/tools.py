"""Tools and tool choice between Ollama's chat API and canonical form.

There is no `tool_choice`: the model may always choose.
"""

from collections.abc import Iterable
from typing import Any

from canonicall.findings import Action, Fault, Finding
from canonicall.request import Tool, ToolChoice
from canonicall.wire.offering import decode_function_tools, encode_function_tools
from canonicall.wire.ollama.messages import FORMAT

TOOLS = "$.tools"
CHOICE = "$.tool_choice"


def decode_tools(value: Any) -> tuple[Tool, ...]:
    """The tools of `tools`."""
    return tuple(decode_function_tools(FORMAT, value, TOOLS))


def decode_choice(value: Any, findings: list[Finding]) -> ToolChoice | None:
    """No choice: a `tool_choice` that a client sends has no effect on the server."""
    if value is not None:
        why = "Ollama knows no tool choice; it is kept for this format alone."
        findings.append(Finding("unknown_choice", CHOICE, Action.KEPT, why, Fault.INPUT))
    return None


def encode_tools(
    tools: Iterable[Tool], names: dict[str, str]
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The entries of `tools`. `names` leads from a tool's name to its wire name.

    ollama/ollama: `ToolFunction.Parameters` is not optional.
    """
    return encode_function_tools(FORMAT, tools, names, TOOLS)
