"""Tools and tool choice between Cohere's chat API and canonical form.

`tool_choice` can demand a call or forbid all; it names no tool and switches nothing else. What can
be said by offering fewer tools is said that way; every such change is a finding.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from msgspec.structs import replace

from canonicall.facts.target import Target
from canonicall.findings import Finding
from canonicall.request import Tool, ToolChoice
from canonicall.wire.cohere.content import FORMAT
from canonicall.wire.losses import unknown_choice, weakened
from canonicall.wire.offering import decode_function_tools, encode_function_tools

TOOLS = "$.tools"
CHOICE = "$.tool_choice"
_weakened = partial(weakened, where=CHOICE)


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


def encode_choice(choice: ToolChoice | None, target: Target) -> tuple[str | None, list[Finding]]:
    """The value of `tool_choice`, and what of `choice` it cannot say.

    Nothing has to be said where the model may choose: that is what a missing field means.
    """
    if choice is None:
        return None, []
    findings: list[Finding] = []
    if choice.parallel is False and not target.parallel_switch:
        findings.append(
            _weakened("Parallel calls cannot be switched off here.", rule="parallel_switch")
        )
    if choice.names:
        findings.append(
            _weakened(
                "No tool can be named here; only the named ones are offered.", rule="choice_names"
            )
        )
    if choice.mode in ("required", "none") and choice.mode not in target.choice_modes:
        why = f"The choice {choice.mode!r} cannot be said here."
        return None, [*findings, _weakened(why, rule="choice_modes")]
    return {"required": "REQUIRED", "none": "NONE"}.get(choice.mode or ""), findings
