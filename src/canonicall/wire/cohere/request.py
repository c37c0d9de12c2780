"""Cohere chat requests, both ways.

`messages` is written last: the body of a longer conversation then begins with the same bytes.
"""

from typing import Any

from canonicall.blocks import Origin
from canonicall.conversation import Conversation
from canonicall.facts.target import Target
from canonicall.findings import Finding
from canonicall.request import Params, Reasoning, Request
from canonicall.transcript.turns import KnownTurns, Transcript
from canonicall.wire.carried import filled_fields
from canonicall.wire.cohere import TARGET
from canonicall.wire.cohere.content import FORMAT, native_of, own_fields
from canonicall.wire.cohere.messages import decode_messages, encode_turn, lost_in_plans
from canonicall.wire.cohere.output_format import FIELD as OUTPUT
from canonicall.wire.cohere.output_format import decode_output, encode_output, is_broken
from canonicall.wire.cohere.tools import decode_choice, decode_tools, encode_choice, encode_tools
from canonicall.wire.losses import foreign_fields, left_out_of_functions, not_sent
from canonicall.wire.reading import list_at, object_at, text_at

_PARAMS = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "p": "top_p",
    "k": "top_k",
    "seed": "seed",
    "stream": "stream",
}
"""Cohere's name of each parameter, and ours."""
_KNOWN = (
    *("model", "messages", "tools", "tool_choice", "strict_tools", "thinking", "stop_sequences"),
    *_PARAMS,
)


def decode_request(
    body: dict[str, Any],
    *,
    origin: Origin | None = None,
    domain: str | None = None,  # noqa: ARG001  Cohere has no opaque state
) -> Request:
    """The canonical request of a chat body."""
    body = object_at(body, "$")
    model = text_at(body.get("model"), "$.model")
    origin = origin or Origin(provider=TARGET.provider, format=FORMAT, model=model)
    findings: list[Finding] = []
    conversation = Conversation()
    conversation.extend(
        decode_messages(body.get("messages"), "$.messages", origin=origin, findings=findings)
    )
    findings += left_out_of_functions(body)
    strict = body.get("strict_tools")
    choice = decode_choice(body.get("tool_choice"), findings)
    known = list(_KNOWN)
    params = _decode_params(body)
    if params.output is not None or is_broken(body.get(OUTPUT), findings):
        known.append(OUTPUT)
    return Request(
        conversation,
        tools=decode_tools(body.get("tools"), strict=strict if isinstance(strict, bool) else None),
        tool_choice=choice,
        params=params,
        model=model,
        native=native_of(filled_fields(body, known)),
        findings=(*findings, *conversation.report.findings),
    )


def _decode_params(body: dict[str, Any]) -> Params:
    stop = list_at(body.get("stop_sequences"), "$.stop_sequences")
    return Params(
        **{ours: body.get(theirs) for theirs, ours in _PARAMS.items()},
        stop=tuple(text_at(word, "$.stop_sequences") for word in stop),
        reasoning=_decode_thinking(body.get("thinking")),
        output=decode_output(body.get(OUTPUT)),
    )


def _decode_thinking(value: Any) -> Reasoning | None:
    if value is None:
        return None
    thinking = object_at(value, "$.thinking")
    return Reasoning(
        enabled=thinking.get("type", "enabled") != "disabled",
        budget=thinking.get("token_budget"),
    )


def encode_request(
    request: Request, transcript: Transcript, target: Target, known: KnownTurns | None = None
) -> tuple[dict[str, Any], list[Finding]]:
    """The chat body, and what of the request it cannot say."""
    known = known or KnownTurns()
    findings = foreign_fields(FORMAT, request.native)
    body: dict[str, Any] = {"model": target.model or request.model}
    params = request.params
    fields: dict[str, Any] = {theirs: getattr(params, ours) for theirs, ours in _PARAMS.items()}
    fields["stop_sequences"] = list(params.stop) or None
    fields["thinking"] = _encode_thinking(params.reasoning, findings)
    body |= {name: value for name, value in fields.items() if value is not None}
    body |= _encode_tools(request, transcript, findings)
    body |= encode_output(params.output, findings)
    body |= own_fields(request.native, except_for=(*_KNOWN, *body))
    body["messages"] = known.written(transcript.turns, target, encode_turn)
    return body, findings + lost_in_plans(transcript.turns)


def _encode_tools(
    request: Request, transcript: Transcript, findings: list[Finding]
) -> dict[str, Any]:
    names = {own: wire for wire, own in transcript.names.items()}
    tools = request.tools
    entries, told = encode_tools(tools, names)
    findings += told
    if not entries:
        return {}
    choice = encode_choice(request.tool_choice)
    fields: dict[str, Any] = {"tools": entries}
    if all(tool.strict for tool in tools):
        fields["strict_tools"] = True
    elif any(tool.strict for tool in tools):
        findings.append(not_sent("strict", "It holds for all tools here, or for none.", "tools"))
    return fields | ({"tool_choice": choice} if choice is not None else {})


def _encode_thinking(reasoning: Reasoning | None, findings: list[Finding]) -> dict[str, Any] | None:
    if reasoning is None:
        return None
    if reasoning.enabled is False or reasoning.effort == "none":
        return {"type": "disabled"}
    if reasoning.effort is not None:
        findings.append(
            not_sent(
                "effort", "Cohere takes a budget of tokens instead.", "params.reasoning.effort"
            )
        )
    budget = {} if reasoning.budget is None else {"token_budget": reasoning.budget}
    return {"type": "enabled", **budget}
