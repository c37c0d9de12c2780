"""Bodies that come in: a request, a reply or a list of tools of any wire format, in canonical form.

A decoder takes what it knows. What is left over is compared with what came (`coverage`): a body of
which most would be lost is in another form than was expected, and is refused by name.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.arguments import message_with_arguments
from canonicall.blocks import Message, Origin, Unknown
from canonicall.codec.body_fields import without_wrong_kinds
from canonicall.codec.coverage import HISTORIES, refuse_loss
from canonicall.deltas import ITEM_REFERENCE, named, state_names
from canonicall.errors import CanonicallError, MalformedBody
from canonicall.facts.bodies import Source, source_of
from canonicall.facts.registry import get_target
from canonicall.facts.target import Format
from canonicall.findings import Action, Fault, Finding
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
from canonicall.transcript.params import parts_of
from canonicall.wire.formats import get_format
from canonicall.wire.leaked_tokens import with_own_names
from canonicall.wire.reading import parse_json

Body = dict[str, Any] | bytes | str


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


def is_plain(body: dict[str, Any], request: Request) -> bool:
    """Whether every message was read as a whole, as far as its decoder can see."""
    entries = request.conversation.entries
    came = 0
    for name in HISTORIES:
        if name in body and type(body[name]) is list:
            came += len(body[name])
    if 2 * len(entries) < came or not entries:
        return False
    for entry in entries:
        if type(entry) is not Message or entry.native is not None or not entry.blocks:
            return False
        if Unknown in map(type, entry.blocks):
            return False
    return True


def with_empty_reported(request: Request) -> Request:
    """`request`, with a finding if there is no message in it."""
    if request.conversation.entries or request.continues is not None:
        return request
    why = "The request has no messages: there is nothing to answer."
    finding = Finding("no_messages", "$", Action.KEPT, why, Fault.INPUT)
    return replace(request, findings=(*request.findings, finding))


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
