"""Tools and tool choice between Cohere's chat API and canonical form.

`tool_choice` can demand a call or forbid all; it names no tool and switches nothing else.
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from canonicall.findings import Finding
from canonicall.request import Tool, ToolChoice
from canonicall.wire.cohere.content import FORMAT
from canonicall.wire.losses import unknown_choice
from canonicall.wire.offering import decode_function_tools, encode_function_tools

TOOLS = "$.tools"
CHOICE = "$.tool_choice"


def decode_tools(value: Any, *, strict: bool | None = None) -> tuple[Tool, ...]:
    """The tools of `tools`. `strict` is the request's `strict_tools`, which holds for all."""
    tools = decode_function_tools(FORMAT, value, TOOLS)
    return tuple(replace(tool, strict=strict) for tool in tools)


def decode_choice(value: Any, findings: list[Finding]) -> ToolChoice | None:
    """The choice in `tool_choice`."""
    # Other formats write these words small; what is meant is plain.
    match value.upper() if isinstance(value, str) else value:
        case None | "AUTO":
            return None
        case "REQUIRED":
            return ToolChoice("required")
        case "NONE":
            return ToolChoice("none")
        case _:
            findings.append(unknown_choice(CHOICE))
            return None


def encode_tools(
    tools: Iterable[Tool], names: dict[str, str]
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The entries of `tools`. `names` leads from a tool's name to its wire name.

    API reference: `parameters` is required.
    """
    return encode_function_tools(FORMAT, tools, names, TOOLS)


def encode_choice(choice: ToolChoice | None) -> str | None:
    """The value of `tool_choice`; what the target cannot be told has been taken off.

    Nothing has to be said where the model may choose: that is what a missing field means.
    """
    mode = choice.mode if choice is not None else None
    return {"required": "REQUIRED", "none": "NONE"}.get(mode or "")
