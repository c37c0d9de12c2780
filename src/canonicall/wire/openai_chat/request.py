"""A request body of the Chat Completions API, to and from canonical form."""

from collections.abc import Iterator
from typing import Any

from canonicall.blocks import Message, Origin
from canonicall.errors import MalformedBody
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Request
from canonicall.transcript.turns import KnownTurns, Transcript
from canonicall.wire.carried import set_fields
from canonicall.wire.history import History
from canonicall.wire.losses import dropped, listed_fields
from canonicall.wire.openai_chat import FORMAT, TARGET
from canonicall.wire.openai_chat.effort import asks_effort, effort_extras
from canonicall.wire.openai_chat.messages import decode_messages, encode_turn
from canonicall.wire.openai_chat.native import lost_marks, native_of, own_fields
from canonicall.wire.openai_chat.output_format import FIELD as OUTPUT
from canonicall.wire.openai_chat.params import (
    PLAIN_FIELDS,
    SPELLED_FIELDS,
    decode_params,
    encode_params,
)
from canonicall.wire.openai_chat.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)
from canonicall.wire.output_formats import NO_SUCH_FORM, broken_output, is_refused_output
from canonicall.wire.reading import kind_of, text_at

_KNOWN = (
    *("model", "messages", "tools", "functions"),
    *("tool_choice", "function_call", "parallel_tool_calls"),
    *PLAIN_FIELDS,
)
_READ = {*_KNOWN, *SPELLED_FIELDS}
"""The fields that are not native; `response_format` beside them, where it is understood."""


def decode_history(
    body: dict[str, Any], first: int, origin: Origin, domain: str, findings: list[Finding]
) -> Iterator[Message]:
    """The messages of `body` from this one on."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        what = f"expected a list of messages, got {kind_of(messages)}."
        raise MalformedBody(what, where="$.messages")
    return decode_messages(messages[first:], "$.messages", origin, domain, findings, first=first)


def decode_request(
    body: dict[str, Any],
    *,
    origin: Origin | None = None,
    domain: str | None = None,
    history: History | None = None,
) -> Request:
    """The canonical request in `body`; `history`: its messages, where they have been read."""
    model = text_at(body.get("model"), "$.model")
    origin = origin or Origin(provider=TARGET.provider, format=FORMAT, model=model)
    domain = TARGET.domain if domain is None else domain
    history = history or History.read(decode_history, body, origin, domain)
    conversation, findings = history.conversation, list(history.findings)
    choice = decode_choice(body, findings)
    params = decode_params(body, findings)
    # A format that has no canonical meaning is a native field, any other is remembered as it came.
    said = SPELLED_FIELDS if params.output is None else (*SPELLED_FIELDS, OUTPUT)
    unread = body.get(OUTPUT) if params.output is None else None
    held = unread.get("json_schema") if isinstance(unread, dict) else None
    is_broken = broken_output(unread, held, f"$.{OUTPUT}", findings)
    known = _READ if params.output is None and not is_broken else {*_READ, OUTPUT}
    return Request(
        conversation,
        tools=decode_tools(body, findings),
        tool_choice=choice,
        params=params,
        model=model,
        native=native_of(set_fields(body, known) | effort_extras(body)),
        spelled=native_of(
            {name: body[name] for name in said if name in body and asks_effort(name, body[name])}
        ),
        findings=(*findings, *conversation.report.findings),
    )


def encode_request(
    request: Request, transcript: Transcript, target: Target, known: KnownTurns | None = None
) -> tuple[dict[str, Any], list[Finding]]:
    """The body for `transcript`, and what of the request the target cannot say."""
    known = known or KnownTurns()
    names = {own: wire for wire, own in transcript.names.items()}
    native = own_fields(request.native)
    tools, findings = encode_tools(request.tools, names, target)
    offered = request.tools if tools else ()
    choice, weakened = encode_choice(request.tool_choice, offered, names, target)
    params, unsaid = encode_params(request.params, own_fields(request.spelled), target)
    findings += [*weakened, *unsaid, *lost_marks(transcript.turns, request.tools, target)]
    if request.native is not None and not native:
        listed = listed_fields(request.native.fields)
        why = f"Fields of another format have no place in this one: {listed}."
        findings.append(Finding("fields_dropped", "$", Action.DROPPED, why, Fault.RENDER))
    model = target.model or request.model
    body: dict[str, Any] = {"model": model} if model else {}  # Azure has it in the address.
    if tools:
        body["tools"] = tools
    body |= choice | params
    if is_refused_output(native.get(OUTPUT), target):
        del native[OUTPUT]
        findings.append(dropped("params.output", NO_SUCH_FORM))
    body |= {name: field for name, field in native.items() if name not in body}
    # Last, so that a longer conversation only adds to the end of the bytes.
    body["messages"] = known.written(transcript.turns, target, encode_turn)
    return body, findings
