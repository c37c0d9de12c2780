"""Whole bodies: decode a request or response of any format, encode one for any target.

This is where the parts meet: a format's decoder, the renderer, a format's encoder. Nothing is
repaired here; what was changed on the way is in the report.
"""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.arguments import agreeing, message_with_arguments
from canonicall.blocks import Block, Origin, ToolCall, Unknown
from canonicall.conversation import Conversation
from canonicall.coverage import is_plain, refuse_loss, refuse_unsent, with_empty_reported
from canonicall.deltas import (
    ITEM_REFERENCE,
    is_item_reference,
    item_ids,
    named,
    state_names,
)
from canonicall.errors import CanonicallError, MalformedBody, StateElsewhere
from canonicall.facts.bodies import Source, source_of
from canonicall.facts.names import TargetName
from canonicall.facts.registry import get_target, with_rule_keys
from canonicall.facts.target import Format, Target
from canonicall.finding_paths import Sent
from canonicall.findings import Action, Fault, Finding, Report
from canonicall.folding import with_truncated_call
from canonicall.frameworks import refuse_framework
from canonicall.lookalikes import (
    HISTORY_FIELD,
    likeness,
    refuse_other_reply,
    refuse_other_request,
    reply_error,
    with_likeness,
)
from canonicall.plain import plain_json
from canonicall.reply import ERROR, Reply
from canonicall.request import Incoming, Request, Tool
from canonicall.transcript.lifetimes import ordered_lifetimes
from canonicall.transcript.offer import fitted_offer, renamed_tools, within_cache_marks
from canonicall.transcript.output import fitted_output
from canonicall.transcript.params import fitted_params
from canonicall.transcript.plain_request import parts_of, plain_request
from canonicall.transcript.policy import DEFAULT, Policy
from canonicall.transcript.projection import Projection
from canonicall.transcript.render import Renderer
from canonicall.transcript.render import render as render_for_target
from canonicall.transcript.thinking import as_asked
from canonicall.transcript.turns import Diagnostics, Transcript, diagnose
from canonicall.wire.formats import get_format
from canonicall.wire.grouping import ungrouped
from canonicall.wire.leaked_tokens import with_own_names
from canonicall.wire.reading import parse_json
from canonicall.wire.refused import without_refused, without_wrong_kinds

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

    @property
    def diagnostics(self) -> Diagnostics:
        """What a person or a program needs to find out why a provider refused the request."""
        transcript = self.transcript
        return diagnose(transcript.turns, transcript.ids, self.report, self.target)


def decode_request(body: Body, format: Format | str, *, provider: str = "") -> Request:
    """Read a request body of a wire format. `provider` names who spoke, if it is known.

    The name of a provider in place of the format means the one of its formats that the body is in.
    """
    findings: list[Finding] = []
    value = parse_json(body, findings)
    try:
        request = _decoded_request(value, format, provider, findings, body)
    except UnicodeEncodeError:
        # Only values that were not parsed from JSON can hold surrogates.
        value, replaced = plain_json(value, "$")
        request = _decoded_request(value, format, provider, replaced, value)
    except CanonicallError:
        refuse_framework(value, format)
        raise
    return request


def _decoded_request(
    value: Any, format: str, provider: str, findings: list[Finding], body: Body
) -> Request:
    if not isinstance(value, dict):
        refuse_other_request(value, format)
    source, domain = _source(value, format, provider)
    refuse_other_request(value, source.format)
    parsed, wrong = without_wrong_kinds(value, source.format, Fault.INPUT)
    model = parsed.get("model")
    origin = Origin(source.provider, source.format, model=model if isinstance(model, str) else "")
    try:
        request = get_format(source.format).decode_request(parsed, origin=origin, domain=domain)
    except MalformedBody as error:
        raise with_likeness(error, value, source.format) from None
    if request.findings or not is_plain(value, request):
        # What is read as a whole, and without a finding, is in the form that was expected.
        refuse_framework(value, format)
        refuse_loss(value, request, source.format)
    parts = parts_of(request) if body is not value else ()
    request = replace(
        request,
        domain=domain or "",
        findings=(*findings, *wrong, *_of_delta(request, value, source.format)),
        source=Incoming(body, source.format, parts),
    )
    return with_empty_reported(request)


def _of_delta(request: Request, body: dict[str, Any], format: str) -> tuple[Finding, ...]:
    """The findings of a request. Of a delta, none says that the call of a result is missing."""
    if request.continues is None:
        return request.findings
    names = state_names(body, format)
    why = f"The request continues what its provider keeps ({named(names)}). That is not known here."
    where = f"$.{names[0]}" if len(names) == 1 and names[0] != ITEM_REFERENCE else "$"
    said = Finding("state_elsewhere", where, Action.KEPT, why, Fault.NONE)
    return (said, *(one for one in request.findings if one.code != "orphan_result"))


def _source(body: Any, named: str, provider: str) -> tuple[Source, str | None]:
    """Where a body comes from, and the signing domain of that provider if it is known."""
    source = source_of(body, named)
    provider = provider or source.provider
    if not provider:
        return source, None
    return Source(source.format, provider), get_target(f"{provider}/{source.format}").domain


def decode_tools(
    tools: list[dict[str, Any]], format: Format | str
) -> tuple[tuple[Tool, ...], tuple[Finding, ...]]:
    """Read a list of tools as a request of a wire format has it, and what was said of it."""
    format = source_of(None, format).format
    body: Any = tools
    for name in reversed(get_format(format).tools_at):
        body = {name: body}
    # A body that has no place for messages is not a request.
    request = decode_request({HISTORY_FIELD.get(format, "messages"): [], **body}, format)
    return request.tools, tuple(one for one in request.findings if one.code != "no_messages")


def decode_response(body: Body, format: Format | str, *, provider: str = "") -> Reply:
    """Read a response body of a wire format. A call the token limit cut is marked `truncated`.

    The name of a provider in place of the format means the one of its formats that the body is in.
    """
    findings: list[Finding] = []
    parsed = parse_json(body, findings)
    if not isinstance(parsed, dict):
        refuse_other_reply(parsed, format)
    source, domain = _source(parsed, format, provider)
    wire = get_format(source.format)
    origin = Origin(source.provider, source.format) if source.provider else None
    try:
        reply = with_own_names(wire.decode_response(parsed, origin=origin, domain=domain))
    except MalformedBody as error:
        raise reply_error(error, parsed, source.format) from None
    if not reply.message.blocks and reply.message.finish != ERROR:
        refuse_other_reply(parsed, source.format)
    if parsed.get("role", reply.message.role) != reply.message.role:
        raise MalformedBody(likeness(parsed).instead_of("reply", source.format))
    findings += reply.findings
    message = message_with_arguments(with_truncated_call(reply.message), findings)
    return replace(reply, message=message, findings=tuple(findings))


def encode_response(reply: Reply, format: Format | str) -> dict[str, Any]:
    """Write a reply as a response body of a wire format. Calls without an id get one."""
    wire = get_format(format)
    message = reply.message
    blocks = tuple(agreeing(one) if isinstance(one, ToolCall) else one for one in message.blocks)
    reply = replace(reply, message=replace(message, blocks=blocks))
    return wire.encode_response(_with_ids(reply, wire.target))


def render(
    conversation: Conversation, target: TargetName | Target, *, policy: Policy = DEFAULT
) -> Transcript:
    """The transcript of a conversation for a target: provider, "provider:model", or a Target."""
    return render_for_target(conversation, get_target(target), policy=policy)


def encode_request(
    request: Request,
    target: TargetName | Target,
    *,
    policy: Policy = DEFAULT,
    renderer: Renderer | None = None,
) -> Encoded:
    """Write a request for a target.

    Where only a provider is named, the request keeps the model it names, and the rules of that
    model count. A request that continues what the target does not keep is a `StateElsewhere`. A
    `renderer` made for this target that has rendered the conversation before saves
    what it knows; its policy counts then.
    """
    goal = get_target(target)
    if isinstance(target, str) and request.model and not goal.model and renderer is None:
        goal = get_target(f"{target.removesuffix(':')}:{request.model}")
    request, about_texts = plain_request(request)
    _refuse_elsewhere(request, goal)
    given = request.conversation
    request, about_groups = ungrouped(request, goal)
    asked = request
    wanted = renderer.policy if renderer else policy
    if request.continues is not None and not wanted.continues:
        wanted = replace(wanted, continues=True)
    if goal.model and goal.model != request.model:
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
    renderer.offer(request.tools)
    transcript = renderer.render(request.conversation)
    transcript, about_names = renamed_tools(request, transcript)
    request, about_marks = within_cache_marks(request, transcript, goal)
    request, transcript, about_lifetimes = ordered_lifetimes(
        request, transcript, goal, marked=renderer.has_marks
    )
    body, told = get_format(goal.format).encode_request(
        request, transcript, goal, renderer.known_turns
    )
    body, about_kinds = without_wrong_kinds(body, goal.format)
    body, about_fields = without_refused(body, goal)
    _refuse_lost(request, body, goal)
    findings = [
        *about_texts,
        *about_groups,
        *about_params,
        *about_output,
        *about_offer,
        *about_names,
        *transcript.findings,
        *about_marks,
        *about_lifetimes,
    ]
    written = (*told, *about_kinds, *about_fields)
    if not request.findings and not findings and all(one.went for one in written):
        findings = with_rule_keys(written, goal)
    else:
        sent = Sent(asked, request, renderer, transcript, body)
        located = sent.read(request.findings)
        if findings:
            located += sent.rendered(with_rule_keys(findings, goal))
        if written:
            located += sent.written(with_rule_keys(written, goal))
        findings = located
    report = Report(tuple(findings))
    return Encoded(body, report, transcript, goal)


def translate(
    body: Body,
    source: TargetName,
    target: TargetName | Target,
    *,
    policy: Policy = DEFAULT,
    provider: str = "",
) -> Encoded:
    """A request body of one format as the body another target accepts.

    `source` is the format of the body, or a provider that the body was written for. A body of which
    less than half would go out is a `MostlyUnread`.
    """
    request = decode_request(body, source, provider=provider)
    encoded = encode_request(request, target, policy=policy)
    refuse_unsent(request, encoded.report, encoded.target)
    return encoded


class Translated(Struct, frozen=True):
    """A list of tools for one target, and all that was done to get it."""

    tools: list[dict[str, Any]]
    names: dict[str, str]
    """Wire name to own name, for the names that differ."""
    findings: tuple[Finding, ...]


def translate_tools(
    tools: list[dict[str, Any]],
    source: Format | str,
    target: TargetName | Target,
    *,
    strict: bool | None = None,
    lossy: bool = True,
) -> Translated:
    """A provider's list of tools, in the format `source`, as `target` takes it.

    With `strict` every function is made strict, or none is. Without `lossy`, a schema that the
    target cannot say is an `UntranslatableSchema`.
    """
    goal = get_target(target)
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


def _refuse_elsewhere(request: Request, target: Target) -> None:
    """Raise `StateElsewhere` if the request continues what the target does not keep."""
    stored = request.continues
    if stored is None:
        return
    names = tuple(stored.fields) or (ITEM_REFERENCE,)
    is_own = stored.format == target.format and request.domain in ("", target.domain)
    kept = names if target.kept_state is None else target.kept_state
    if not is_own or not set(kept).issuperset(names):
        raise StateElsewhere(names, target=_place(target))


def _refuse_lost(request: Request, body: dict[str, Any], target: Target) -> None:
    """Raise `StateElsewhere` if something that refers to kept state is not in the body."""
    if request.continues is None:
        return
    lost = [name for name, value in request.continues.fields.items() if body.get(name) != value]
    if _referenced(request.conversation) - set(item_ids(body)):
        lost.append(ITEM_REFERENCE)
    if lost:
        raise StateElsewhere(lost, target=_place(target))


def _referenced(conversation: Conversation) -> set[str]:
    """The ids of the stored items that a conversation refers to."""
    return {
        str(block.native.fields.get("id"))
        for message in conversation.messages
        for block in message.blocks
        if type(block) is Unknown and block.native and is_item_reference(block.native.fields)
    }


def _place(target: Target) -> str:
    return f"{target.provider}/{target.format}" if target.provider else target.format


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
