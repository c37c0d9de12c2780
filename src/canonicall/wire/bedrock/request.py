"""Converse requests, both ways.

`messages` is written last: the body of a longer conversation then begins with the same bytes.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Message, Origin
from canonicall.conversation import Conversation
from canonicall.deltas import state_fields
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Reasoning, Request
from canonicall.transcript.turns import KnownTurns, Transcript
from canonicall.wire.bedrock import TARGET
from canonicall.wire.bedrock.content import FORMAT, native_of, own_fields
from canonicall.wire.bedrock.documents import with_distinct_documents
from canonicall.wire.bedrock.messages import (
    decode_blocks,
    decode_messages,
    encode_blocks,
    encode_turn,
)
from canonicall.wire.bedrock.output_format import encode_output, take_output
from canonicall.wire.bedrock.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
    is_marked,
)
from canonicall.wire.carried import with_rest
from canonicall.wire.losses import foreign_fields, not_sent
from canonicall.wire.reading import list_at, number_at, object_at, text_at

TOOLS_AT = ("toolConfig", "tools")
_KNOWN = {
    "modelId": (),
    "messages": (),
    "system": (),
    "inferenceConfig": ("maxTokens", "temperature", "topP", "stopSequences"),
    "toolConfig": ("tools", "toolChoice"),
}
_INSTRUCTING = ("system", "developer")
_MORE = "additionalModelRequestFields"
_INFERENCE = "inferenceConfig"
_OUTPUT = "output_config"
_OFF = ("disabled", "between_tools")


def decode_request(
    body: dict[str, Any], *, origin: Origin | None = None, domain: str | None = None
) -> Request:
    """The canonical request of a Converse body. The model may stand in it, or only in the URL."""
    body = object_at(body, "$")
    domain = TARGET.domain if domain is None else domain
    model = text_at(body.get("modelId"), "$.modelId")
    origin = origin or Origin(provider=TARGET.provider, format=FORMAT, model=model)
    findings: list[Finding] = []
    conversation = Conversation()
    system = tuple(decode_blocks(body.get("system"), "$.system", domain, findings))
    if system:
        conversation.append(Message("system", system))
    conversation.extend(
        decode_messages(
            body.get("messages"), "$.messages", origin=origin, domain=domain, findings=findings
        )
    )
    tools = object_at(body.get("toolConfig") or {}, "$.toolConfig")
    choice = decode_choice(tools.get("toolChoice"), findings)
    stored = state_fields(body, FORMAT)
    native = _decode_native({name: value for name, value in body.items() if name not in stored})
    output, said = take_output(native, findings)
    return Request(
        conversation,
        tools=decode_tools(tools.get("tools"), findings),
        tool_choice=choice,
        params=replace(_decode_params(body), output=output),
        model=model,
        native=native_of(native),
        spelled=native_of(said),
        continues=native_of(stored),
        findings=(*findings, *conversation.report.findings),
    )


def _decode_params(body: dict[str, Any]) -> Params:
    where = f"$.{_INFERENCE}"
    config = _object_in(body, _INFERENCE)
    stop = list_at(config.get("stopSequences"), f"{where}.stopSequences")
    return Params(
        max_tokens=number_at(config, "maxTokens", where),
        temperature=number_at(config, "temperature", where),
        top_p=number_at(config, "topP", where),
        stop=tuple(text_at(word, f"{where}.stopSequences") for word in stop),
        reasoning=_decode_reasoning(_object_in(body, _MORE)),
    )


def _object_in(body: dict[str, Any], name: str) -> dict[str, Any]:
    """The object in a field; null is as good as none."""
    value = body.get(name)
    return {} if value is None else object_at(value, f"$.{name}")


def _decode_reasoning(more: dict[str, Any]) -> Reasoning | None:
    """How much Claude shall think; what other models have here stays native."""
    thinking, config = more.get("thinking"), more.get(_OUTPUT)
    effort = config.get("effort") if isinstance(config, dict) else None
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if not isinstance(kind, str) and not isinstance(effort, str):
        return None
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    return Reasoning(
        enabled=kind not in _OFF if isinstance(kind, str) else None,
        effort=effort if isinstance(effort, str) else None,
        budget=budget if isinstance(budget, int) else None,
    )


def _decode_native(body: dict[str, Any]) -> dict[str, Any]:
    """Every field without canonical meaning, those inside the two configurations as well."""
    fields: dict[str, Any] = {}
    for name, value in body.items():
        rest = value
        if name in _KNOWN:
            known = _KNOWN[name]
            inner = value.items() if known and isinstance(value, dict) else ()
            rest = {key: item for key, item in inner if key not in known and item is not None}
        if rest not in (None, "", [], {}):
            fields[name] = rest
    return fields


def encode_request(
    request: Request, transcript: Transcript, target: Target, known: KnownTurns | None = None
) -> tuple[dict[str, Any], list[Finding]]:
    """The Converse body, and what of the request it cannot say."""
    known = known or KnownTurns()
    native = own_fields(request.native)
    findings = foreign_fields(FORMAT, request.native)
    body: dict[str, Any] = {}
    if target.model or request.model:
        body["modelId"] = target.model or request.model
    system = [
        block
        for turn in transcript.turns
        if turn.role in _INSTRUCTING
        for block in encode_blocks(turn.blocks, target)
    ]
    if system:
        body["system"] = system
    config = _encode_tool_config(request, transcript, target, findings)
    if config:
        body["toolConfig"] = with_rest(config, native.get("toolConfig", {}))
    inference = native.get(_INFERENCE, {}) | _encode_params(request.params, findings)
    if inference:
        body[_INFERENCE] = inference
    more = _encode_reasoning(request.params.reasoning, native.get(_MORE, {}), target, findings)
    if more:
        body[_MORE] = more
    body |= encode_output(request.params.output, native, own_fields(request.spelled))
    body |= {
        name: value for name, value in own_fields(request.continues).items() if name not in body
    }
    written = (*_KNOWN, *body, _MORE)
    body |= {name: value for name, value in native.items() if name not in written}
    spoken = (turn for turn in transcript.turns if turn.role not in _INSTRUCTING)
    body["messages"] = known.written(with_distinct_documents(spoken), target, encode_turn)
    return body, findings


def _encode_tool_config(
    request: Request, transcript: Transcript, target: Target, findings: list[Finding]
) -> dict[str, Any]:
    names = {own: wire for wire, own in transcript.names.items()}
    entries, told = encode_tools(request.tools, names, target)
    findings += told
    if any(tool.strict and not is_marked(tool, target) for tool in request.tools):
        findings.append(not_sent("strict", "Only some models take it, so it is left out.", "tools"))
    if not entries:
        return {}
    choice = encode_choice(request.tool_choice, names)
    return {"tools": entries} | ({"toolChoice": choice} if choice is not None else {})


def _encode_params(params: Params, findings: list[Finding]) -> dict[str, Any]:
    findings += (
        not_sent(name, "Converse has no field for it.")
        for name in ("top_k", "seed")
        if getattr(params, name) is not None
    )
    config = {
        "maxTokens": params.max_tokens,
        "temperature": params.temperature,
        "topP": params.top_p,
        "stopSequences": list(params.stop) or None,
    }
    return {name: value for name, value in config.items() if value is not None}


def _encode_reasoning(
    reasoning: Reasoning | None, more: dict[str, Any], target: Target, findings: list[Finding]
) -> dict[str, Any]:
    """`additionalModelRequestFields` with Claude's fields for thinking."""
    for name in target.refused_params:
        if name in more:
            more = {key: value for key, value in more.items() if key != name}
            findings.append(not_sent(name, "This model refuses it."))
    if target.domain == TARGET.domain and not isinstance(more.get("thinking", {}), dict):
        more = {key: value for key, value in more.items() if key != "thinking"}
        findings.append(not_sent("thinking", "It has to be an object."))
    kind = more["thinking"].get("type") if isinstance(more.get("thinking"), dict) else None
    is_known = kind is None or not target.thinking or kind in target.thinking
    if reasoning == _decode_reasoning(more):
        if is_known:
            return more
        why = f"This model does not know thinking of the type {kind}; it is asked for otherwise."
        where = f"$.{_MORE}.thinking"
        findings.append(Finding("param_changed", where, Action.CHANGED, why, Fault.RENDER))
    asked = reasoning or Reasoning()
    if target.domain != TARGET.domain:
        if reasoning is not None:
            findings.append(not_sent("reasoning", "Converse has no field for it but Claude's."))
        return more
    fields = {name: value for name, value in more.items() if name not in ("thinking", _OUTPUT)}
    thinking = _encode_thinking(asked, more.get("thinking"), target)
    given = more.get(_OUTPUT)
    kept = given.items() if isinstance(given, dict) else ()
    output = {name: value for name, value in kept if name != "effort"}
    if asked.effort not in (None, "none"):
        output["effort"] = asked.effort
    fields |= {"thinking": thinking} if thinking else {}
    return fields | ({_OUTPUT: output} if output else {})


def _encode_thinking(asked: Reasoning, native: Any, target: Target) -> dict[str, Any]:
    """Claude's field `thinking` (Anthropic documentation, extended and adaptive thinking)."""
    if asked.enabled is False or asked.effort == "none":
        is_usual = not target.thinking or "disabled" in target.thinking
        return {"type": "disabled" if is_usual else "between_tools"}
    own = native if isinstance(native, dict) else {}
    rest = {name: value for name, value in own.items() if name not in ("type", "budget_tokens")}
    if asked.budget is not None:
        return {"type": "enabled", "budget_tokens": asked.budget} | rest
    return {"type": "adaptive"} | rest if asked.enabled else {}
