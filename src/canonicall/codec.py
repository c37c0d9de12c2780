"""Whole bodies: decode a request or response of any format, encode one for any target.

This is where the parts meet: a format's decoder, the renderer, a format's encoder. Nothing is
repaired here; what was changed on the way is in the report.
"""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Message, Origin
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
    wire = get_format(format)
    parsed = parse_body(body)
    if not provider:
        return wire.decode_request(parsed)
    home = get_target(f"{provider}/{format}")
    origin = Origin(provider=provider, format=format, model=str(parsed.get("model") or ""))
    return wire.decode_request(parsed, origin=origin, domain=home.domain)


def decode_response(body: Body, format: str, *, provider: str = "") -> Reply:
    """Read a response body of a wire format."""
    wire = get_format(format)
    parsed = parse_body(body)
    if not provider:
        return wire.decode_response(parsed)
    home = get_target(f"{provider}/{format}")
    origin = Origin(provider=provider, format=format)
    return wire.decode_response(parsed, origin=origin, domain=home.domain)


def encode_response(reply: Reply, format: str) -> dict[str, Any]:
    """Write a reply as a response body of a wire format."""
    return get_format(format).encode_response(reply)


def render(conversation: Any, target: str | Target, *, policy: Policy = DEFAULT) -> Transcript:
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
    if renderer is None:
        renderer = Renderer(goal, policy=policy)
    findings: list[Finding] = []
    if goal.model:
        request = replace(request, model=goal.model)
    request = _with_stubs(request, goal, findings)
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


def _with_stubs(request: Request, target: Target, findings: list[Finding]) -> Request:
    """`request` with a declaration for every tool of the history, where the target demands one.

    "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    (Bedrock); other providers answer alike.
    """
    if request.tools or not target.tools_with_history:
        return request
    names = dict.fromkeys(
        call.name
        for message in request.conversation.messages
        if isinstance(message, Message)
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
    return replace(request, tools=stubs, tool_choice=choice)
