"""Tools and tool choice between Ollama's chat API and canonical form.

There is no `tool_choice`: the model may always choose. What can be said by offering fewer tools, or
none, is said that way; every such change is a finding.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Tool, ToolChoice
from canonicall.wire.losses import weakened
from canonicall.wire.offering import decode_function_tools, encode_function_tools
from canonicall.wire.ollama.messages import FORMAT

TOOLS = "$.tools"
CHOICE = "$.tool_choice"
_weakened = partial(weakened, where=CHOICE)


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


def encode_choice(choice: ToolChoice | None, target: Target) -> tuple[None, list[Finding]]:
    """Nothing to write, for there is no field for it, and what of `choice` cannot be said."""
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
    if choice.mode == "required":
        findings.append(
            _weakened("The model cannot be made to call a tool here.", rule="choice_modes")
        )
    if choice.mode == "none":
        findings.append(
            _weakened("There is no choice `none` here; no tools are offered.", rule="choice_modes")
        )
    return None, findings
