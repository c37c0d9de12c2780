"""Whole bodies: decode a request or response of any format, encode one for any target.

This is where the parts meet: a format's decoder, the renderer, a format's encoder. Nothing is
repaired here; what was changed on the way is in the report.
"""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Origin
from canonicall.conversation import Conversation
from canonicall.findings import Action, Fault, Finding, Report
from canonicall.providers.registry import get_target
from canonicall.reply import Reply
from canonicall.request import Request, Tool, ToolChoice
from canonicall.target import Target
from canonicall.transcript.policy import DEFAULT, Policy
from canonicall.transcript.render import Renderer
from canonicall.transcript.render import render as render_for_target
from canonicall.transcript.turns import Transcript
from canonicall.wire.formats import get_format
from canonicall.wire.reading import parse_body

Body = dict[str, Any] | bytes | str


class Encoded(Struct, frozen=True):
    """A request body for one target, and all that was done to get it."""

    body: dict[str, Any]
    report: Report
    transcript: Transcript
    target: Target

    @property
    def data(self) -> bytes:
        """The body as JSON."""
        return msgspec.json.encode(self.body)


def decode_request(body: Body, format: str, *, provider: str = "") -> Request:
    """Read a request body of a wire format. `provider` names who spoke, if it is known."""
    parsed = parse_body(body)
    model = parsed.get("model")
    origin = Origin(provider, format, model=model if isinstance(model, str) else "")
    domain = get_target(f"{provider}/{format}").domain if provider else None
    return get_format(format).decode_request(parsed, origin=origin, domain=domain)


def decode_response(body: Body, format: str, *, provider: str = "") -> Reply:
    """Read a response body of a wire format."""
    domain = get_target(f"{provider}/{format}").domain if provider else None
    wire = get_format(format)
    origin = Origin(provider, format) if provider else None
    return wire.decode_response(parse_body(body), origin=origin, domain=domain)


def encode_response(reply: Reply, format: str) -> dict[str, Any]:
    """Write a reply as a response body of a wire format."""
    return get_format(format).encode_response(reply)


def render(
    conversation: Conversation, target: str | Target, *, policy: Policy = DEFAULT
) -> Transcript:
    """The transcript of a conversation for a target: provider, "provider:model", or a Target."""
    return render_for_target(conversation, get_target(target), policy=policy)


def encode_request(
    request: Request,
    target: str | Target,
    *,
    policy: Policy = DEFAULT,
    renderer: Renderer | None = None,
) -> Encoded:
    """Write a request for a target. A `renderer` of the same conversation saves what it knows."""
    goal = get_target(target)
    findings: list[Finding] = []
    policy = _policy_for(request, goal, policy, findings)
    if renderer is None:
        renderer = Renderer(goal, policy=policy)
    if goal.model:
        request = replace(request, model=goal.model)
    request = _with_stubs(request, goal, findings)
    request = _without_forced_choice(request, goal, findings)
    for tool in request.tools:
        renderer.projection.name(tool.name)
    transcript = renderer.render(request.conversation)
    body, told = get_format(goal.format).encode_request(request, transcript, goal)
    report = Report((*request.findings, *findings, *transcript.findings, *told))
    return Encoded(body, report, transcript, goal)


def translate(
    body: Body,
    source: str,
    target: str | Target,
    *,
    policy: Policy = DEFAULT,
    provider: str = "",
) -> Encoded:
    """A request body of one format as the body another target accepts."""
    request = decode_request(body, source, provider=provider)
    return encode_request(request, target, policy=policy)


def _policy_for(
    request: Request, target: Target, policy: Policy, findings: list[Finding]
) -> Policy:
    """`policy`, aware of turns that the provider keeps; elsewhere those turns are lost."""
    if not request.continues:
        return policy
    if request.native is not None and request.native.format == target.format:
        return replace(policy, continues=True)
    why = "The turns before these are kept by another provider; this one does not get them."
    findings.append(Finding("stored_turns_lost", "request", Action.DROPPED, why, Fault.RENDER))
    return policy


def _with_stubs(request: Request, target: Target, findings: list[Finding]) -> Request:
    """`request` with a declaration for every tool of the history, where the target demands one.

    "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    (Bedrock); other providers answer alike.
    """
    offered = [tool for tool in request.tools if _can_be_offered(tool, target)]
    if offered or not target.tools_with_history:
        return request
    names = dict.fromkeys(
        call.name
        for message in request.conversation.messages
        for call in message.calls
        if call.kind != "server"
    )
    if not names:
        return request
    why = f"The history has calls, so the target wants tools: {', '.join(names)} were declared."
    findings.append(Finding("tool_stubs_added", "tools", Action.ADDED, why, Fault.RENDER))
    stubs = tuple(
        Tool(name, "Not available any more.", {"type": "object", "properties": {}})
        for name in names
    )
    choice = request.tool_choice
    if "none" in target.choice_modes:
        choice = ToolChoice(mode="none")
    return replace(request, tools=(*request.tools, *stubs), tool_choice=choice)


def _can_be_offered(tool: Tool, target: Target) -> bool:
    """Tools a provider runs on its side exist in its own format only."""
    if tool.kind != "server":
        return True
    return tool.native is not None and tool.native.format == target.format


def _without_forced_choice(request: Request, target: Target, findings: list[Finding]) -> Request:
    """`request` that forces no call where the model thinks and the target refuses both together.

    "Thinking may not be enabled when tool_choice forces tool use." (Anthropic); "Thinking mode
    does not support this tool_choice" (DeepSeek).
    """
    choice, reasoning = request.tool_choice, request.params.reasoning
    if choice is None or choice.mode != "required" or target.forced_choice_with_reasoning:
        return request
    asked = reasoning is not None and bool(reasoning.enabled or reasoning.budget)
    refused = reasoning is not None and (reasoning.enabled is False or reasoning.effort == "none")
    if refused or not (asked or target.reasoning_placeholder is not None):
        return request
    why = "The target does not force a call while the model thinks; it may choose."
    findings.append(Finding("choice_weakened", "tool_choice", Action.CHANGED, why, Fault.RENDER))
    return replace(request, tool_choice=replace(choice, mode="auto"))
