"""Whole bodies: decode a request or response of any format, encode one for any target.

This is where the parts meet: a format's decoder, the renderer, a format's encoder. Nothing is
repaired here; what was changed on the way is in the report.
"""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Block, Origin, ToolCall
from canonicall.conversation import Conversation
from canonicall.findings import Action, Fault, Finding, Report
from canonicall.folding import with_truncated_call
from canonicall.providers.registry import find_profile, get_target
from canonicall.reply import Reply
from canonicall.request import Request, Tool
from canonicall.target import Target
from canonicall.transcript.lifetimes import ordered_lifetimes
from canonicall.transcript.offer import fitted_offer, within_cache_marks
from canonicall.transcript.output import fitted_output
from canonicall.transcript.params import fitted_params
from canonicall.transcript.policy import DEFAULT, Policy
from canonicall.transcript.projection import Projection
from canonicall.transcript.render import Renderer
from canonicall.transcript.render import render as render_for_target
from canonicall.transcript.thinking import as_asked
from canonicall.transcript.turns import Transcript
from canonicall.wire.formats import FORMATS, get_format
from canonicall.wire.grouping import ungrouped
from canonicall.wire.leaked_tokens import with_own_names
from canonicall.wire.reading import parse_body
from canonicall.wire.refused import without_refused

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
    findings: list[Finding] = []
    parsed = parse_body(body, findings)
    model = parsed.get("model")
    origin = Origin(provider, format, model=model if isinstance(model, str) else "")
    domain = get_target(f"{provider}/{format}").domain if provider else None
    request = get_format(format).decode_request(parsed, origin=origin, domain=domain)
    return replace(request, domain=domain or "", findings=(*findings, *request.findings))


def decode_tools(
    tools: list[dict[str, Any]], format: str
) -> tuple[tuple[Tool, ...], tuple[Finding, ...]]:
    """Read a list of tools as a request of a wire format has it, and what was said of it."""
    body: Any = tools
    for name in reversed(get_format(format).tools_at):
        body = {name: body}
    # A body without messages is refused by the formats that have them.
    request = decode_request({"messages": [], **body}, format)
    return request.tools, request.findings


def decode_response(body: Body, format: str, *, provider: str = "") -> Reply:
    """Read a response body of a wire format. A call the token limit cut is marked `truncated`."""
    domain = get_target(f"{provider}/{format}").domain if provider else None
    wire = get_format(format)
    origin = Origin(provider, format) if provider else None
    findings: list[Finding] = []
    parsed = parse_body(body, findings)
    reply = with_own_names(wire.decode_response(parsed, origin=origin, domain=domain))
    message = with_truncated_call(reply.message)
    return replace(reply, message=message, findings=(*findings, *reply.findings))


def encode_response(reply: Reply, format: str) -> dict[str, Any]:
    """Write a reply as a response body of a wire format. Calls without an id get one."""
    wire = get_format(format)
    return wire.encode_response(_with_ids(reply, wire.target))


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
    """Write a request for a target.

    Where only a provider is named, the request keeps the model it names, and the rules of that
    model count. A `renderer` made for this target that has rendered the conversation before saves
    what it knows; its policy counts then.
    """
    goal = get_target(target)
    if isinstance(target, str) and request.model and not goal.model and renderer is None:
        goal = get_target(f"{target.removesuffix(':')}:{request.model}")
    request, findings = _readable(request, goal)
    given = request.conversation
    request, about_groups = ungrouped(request, goal)
    wanted = renderer.policy if renderer else policy
    wanted = replace(wanted, continues=wanted.continues or request.continues is not None)
    if goal.model:
        request = replace(request, model=goal.model)
    request, about_params = fitted_params(request, goal)
    goal = as_asked(goal, request.params)
    if (
        renderer is None
        or renderer.policy != wanted
        or renderer.target.thinks is not goal.thinks
        or request.conversation is not given
    ):
        renderer = Renderer(goal, policy=wanted)
    request, about_output = fitted_output(request, goal, wanted)
    request, about_offer = fitted_offer(request, goal, policy=wanted)
    renderer.offer(tool.name for tool in request.tools)
    transcript = renderer.render(request.conversation)
    request, about_marks = within_cache_marks(request, transcript.cache_marks, goal)
    request, transcript, about_lifetimes = ordered_lifetimes(request, transcript, goal)
    body, told = get_format(goal.format).encode_request(
        request, transcript, goal, renderer.known_turns
    )
    body, about_fields = without_refused(body, goal)
    findings += (
        *about_groups,
        *about_params,
        *about_output,
        *about_offer,
        *transcript.findings,
        *about_marks,
        *about_lifetimes,
        *told,
        *about_fields,
    )
    report = Report((*request.findings, *findings))
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


class Translated(Struct, frozen=True):
    """A list of tools for one target, and all that was done to get it."""

    tools: list[dict[str, Any]]
    names: dict[str, str]
    """Wire name to own name, for the names that differ."""
    findings: tuple[Finding, ...]


def translate_tools(
    tools: list[dict[str, Any]],
    source: str,
    target: str | Target,
    *,
    strict: bool | None = None,
    lossy: bool = True,
) -> Translated:
    """A provider's list of tools, in the format `source`, as `target` takes it.

    `target` may also be the name of a format. With `strict` every function is made strict, or none
    is. Without `lossy`, a schema that the target cannot say is an `UntranslatableSchema`.
    """
    goal = tools_target(target)
    decoded, findings = decode_tools(tools, source)
    request = Request(Conversation(), decoded, findings=findings)
    if strict is not None:
        made = (replace(t, strict=strict) if t.kind == "function" else t for t in request.tools)
        request = replace(request, tools=tuple(made))
    policy = Policy(
        schemas="fit" if lossy else "refuse", strict_tools="made" if strict else "exact"
    )
    encoded = encode_request(request, goal, policy=policy)
    found: Any = encoded.body
    for field in get_format(goal.format).tools_at:
        found = found.get(field, {})
    # A request of nothing but tools gets what every request needs; that is not about them.
    other = encode_request(replace(request, tools=()), goal).report
    about = tuple(one for one in encoded.report if one not in other)
    return Translated(found or [], encoded.transcript.names, about)


def tools_target(target: str | Target) -> Target:
    """The target of a tool list, which a format may name: its own provider's then."""
    if isinstance(target, str) and target in FORMATS and find_profile(target) is None:
        target = f"{get_format(target).target.provider}/{target}"
    return get_target(target)


def _readable(request: Request, target: Target) -> tuple[Request, list[Finding]]:
    """`request` without a reference to turns that another provider keeps: those are lost."""
    stored = request.continues
    if stored is None or (stored.format == target.format and request.domain in ("", target.domain)):
        return request, []
    named = ", ".join(stored.fields)
    why = f"The turns before these are kept by another provider ({named}); they are not sent."
    finding = Finding("stored_turns_lost", "request", Action.DROPPED, why, Fault.RENDER)
    return replace(request, continues=None), [finding]


def _with_ids(reply: Reply, target: Target) -> Reply:
    """`reply` in which every call can be named: clients answer a call by its id.

    An id is made from the call itself, so the same reply always gets the same ids.
    """
    given = [call.id for call in reply.calls]
    if target.ids.style == "echoed" or (all(given) and len(set(given)) == len(given)):
        return reply
    canonical = Conversation().append(reply.message).calls
    projection = Projection(target)
    made = [projection.id(call, [], "") for call in canonical]
    blocks: list[Block] = []
    seen: set[str] = set()
    for block in reply.message.blocks:
        if isinstance(block, ToolCall):
            own = made.pop(0)
            named = block if block.id and block.id not in seen else replace(block, id=own)
            seen.add(named.id)
            blocks.append(named)
        else:
            blocks.append(block)
    return replace(reply, message=replace(reply.message, blocks=tuple(blocks)))
