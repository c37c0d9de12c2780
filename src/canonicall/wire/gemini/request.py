"""generateContent request bodies. The model is named in the address, not in the body."""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Origin
from canonicall.conversation import Conversation
from canonicall.deltas import state_fields
from canonicall.facts.target import Target
from canonicall.findings import Finding
from canonicall.request import Request
from canonicall.transcript.policy import Pass
from canonicall.transcript.turns import KnownTurns, Transcript
from canonicall.wire.gemini import FORMAT, PROVIDER, TARGET
from canonicall.wire.gemini.fields import fields_at, native_of, own_fields
from canonicall.wire.gemini.messages import (
    decode_contents,
    decode_system,
    encode_system,
    encode_turn,
)
from canonicall.wire.gemini.output_format import encode_output, take_output
from canonicall.wire.gemini.params import decode_params, encode_params
from canonicall.wire.gemini.tools import (
    choice_of_functions,
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)
from canonicall.wire.losses import foreign_fields
from canonicall.wire.reading import text_at

_CONFIG = "generationConfig"
PASSES = (Pass("functions", choice_of_functions, "When the offer is final."),)
_KNOWN = ("model", "systemInstruction", "tools", "toolConfig", _CONFIG, "contents")


def decode_request(
    body: dict[str, Any], *, origin: Origin | None = None, domain: str | None = None
) -> Request:
    """The request in a body."""
    fields = fields_at(body, "$")
    model = text_at(fields.get("model"), "$.model")
    origin = origin or Origin(provider=PROVIDER, format=FORMAT, model=model)
    domain = TARGET.domain if domain is None else domain
    findings: list[Finding] = []
    messages = decode_system(fields.get("systemInstruction"), domain=domain, findings=findings)
    messages += decode_contents(
        fields.get("contents"), domain=domain, origin=origin, findings=findings
    )
    conversation = Conversation.of(messages)
    tools = decode_tools(fields.get("tools"), findings)
    choice, tool_config = decode_choice(fields.get("toolConfig"), findings)
    params, config = decode_params(fields.get(_CONFIG))
    output, said = take_output(config, findings)
    stored = state_fields(fields, FORMAT)
    rest = {
        name: field for name, field in fields.items() if name not in _KNOWN and name not in stored
    }
    if tool_config:
        rest["toolConfig"] = tool_config
    if config:
        rest[_CONFIG] = config
    return Request(
        conversation=conversation,
        tools=tools,
        tool_choice=choice,
        params=replace(params, output=output),
        model=model,
        native=native_of(rest),
        spelled=native_of({_CONFIG: said} if said else {}),
        continues=native_of(stored),
        findings=(*findings, *conversation.report.findings),
    )


def encode_request(
    request: Request, transcript: Transcript, target: Target, known: KnownTurns | None = None
) -> tuple[dict[str, Any], list[Finding]]:
    """The body for a request. `contents` stand last, so that one more turn only adds bytes."""
    known = known or KnownTurns()
    rest = own_fields(request.native)
    names = {own: wire for wire, own in transcript.names.items()}
    tools, findings = encode_tools(request.tools, names, target)
    has_functions = any("functionDeclarations" in entry for entry in tools)
    given = rest.pop("toolConfig", {})
    tool_config = encode_choice(request.tool_choice, given, names, has_functions=has_functions)
    findings += foreign_fields(FORMAT, request.native)
    said = own_fields(request.spelled).get(_CONFIG, {})
    config = encode_params(request.params, rest.pop(_CONFIG, {}), findings, target.efforts)
    config |= encode_output(request.params.output, said, findings)
    system = [turn for turn in transcript.turns if turn.role in ("system", "developer")]
    spoken = [turn for turn in transcript.turns if turn.role not in ("system", "developer")]
    fields = {
        "systemInstruction": encode_system(system, target),
        "tools": tools,
        "toolConfig": tool_config,
        **{name: field for name, field in rest.items() if name not in _KNOWN},
        **own_fields(request.continues),
        _CONFIG: config,
    }
    body = {name: field for name, field in fields.items() if field not in (None, [], {})}
    body["contents"] = known.written(spoken, target, encode_turn)
    return body, findings
