"""Ollama chat requests, both ways.

`messages` is written last: the body of a longer conversation then begins with the same bytes.
"""

from typing import Any

from canonicall.blocks import Native, Origin
from canonicall.conversation import Conversation
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Reasoning, Request
from canonicall.transcript.turns import KnownTurns, Transcript
from canonicall.wire.carried import filled_fields
from canonicall.wire.losses import foreign_fields, left_out_of_functions, not_sent
from canonicall.wire.ollama import TARGET
from canonicall.wire.ollama.messages import (
    FORMAT,
    decode_messages,
    encode_turn,
    native_of,
    own_fields,
)
from canonicall.wire.ollama.output_format import FIELD as OUTPUT
from canonicall.wire.ollama.output_format import decode_output, encode_output
from canonicall.wire.ollama.tools import decode_choice, decode_tools, encode_tools
from canonicall.wire.reading import list_at, number_at, object_at, text_at

_OPTIONS = {
    "num_predict": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
}
"""The name of each parameter in `options`, and ours."""
_KNOWN = ("model", "messages", "tools", "stream", "think", "options")
"""Fields with a canonical meaning, whatever they hold; a format of the reply may have none."""


def decode_request(
    body: dict[str, Any],
    *,
    origin: Origin | None = None,
    domain: str | None = None,  # noqa: ARG001  Ollama has no opaque state
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
    return Request(
        conversation,
        tools=decode_tools(body.get("tools")),
        tool_choice=decode_choice(body.get("tool_choice"), findings),
        params=_decode_params(body),
        model=model,
        native=_decode_native(body, findings),
        findings=(*findings, *conversation.report.findings),
    )


def _decode_params(body: dict[str, Any]) -> Params:
    options = object_at(body.get("options") or {}, "$.options")
    stop = options.get("stop")
    words = [stop] if isinstance(stop, str) else list_at(stop, "$.options.stop")
    stream = body.get("stream")
    return Params(
        **{
            ours: number_at(options, name, "$.options")
            for name, ours in _OPTIONS.items()
            if _is_ours(name, options)
        },
        stop=tuple(text_at(word, "$.options.stop") for word in words),
        # `ChatRequest.Stream`: true by default.
        stream=True if stream is None else bool(stream),
        reasoning=_decode_think(body.get("think")),
        output=decode_output(body.get(OUTPUT)),
    )


def _is_ours(name: str, options: dict[str, Any]) -> bool:
    """Whether an option means the same everywhere: -1 and -2 are no number of tokens."""
    value = options.get(name)
    negative = name == "num_predict" and isinstance(value, int) and value < 0
    return name in _OPTIONS and not negative


def _decode_think(value: Any) -> Reasoning | None:
    if value is None:
        return None
    if isinstance(value, str):
        return Reasoning(enabled=True, effort=value)
    return Reasoning(enabled=bool(value))


def _decode_native(body: dict[str, Any], findings: list[Finding]) -> Native | None:
    fields = filled_fields(body, _KNOWN)
    asked = fields.pop(OUTPUT, None)
    if asked is not None and decode_output(asked) is None:
        # 'invalid format: "xml"; expected "json" or a valid JSON Schema object' (llm/server.go)
        why = f"There is no format {asked!r}; the reply may have any."
        place = f"$.{OUTPUT}"
        findings.append(Finding("value_changed", place, Action.CHANGED, why, Fault.INPUT))
    options = body.get("options") or {}
    rest = {
        name: value
        for name, value in options.items()
        if name != "stop" and value is not None and not _is_ours(name, options)
    }
    if rest:
        fields["options"] = rest
    return native_of(fields)


def encode_request(
    request: Request, transcript: Transcript, target: Target, known: KnownTurns | None = None
) -> tuple[dict[str, Any], list[Finding]]:
    """The chat body, and what of the request it cannot say."""
    known = known or KnownTurns()
    native = own_fields(request.native)
    findings = foreign_fields(FORMAT, request.native)
    body: dict[str, Any] = {"model": target.model or request.model}
    # The default is to stream, so that the opposite has to be said.
    body["stream"] = bool(request.params.stream)
    think = _encode_think(request.params.reasoning, findings)
    if think is not None:
        body["think"] = think
    options = native.pop("options", {}) | _encode_options(request.params)
    if options:
        body["options"] = options
    tools = _encode_tools(request, transcript, findings)
    if tools:
        body["tools"] = tools
    body |= encode_output(request.params.output, findings)
    body |= {name: value for name, value in native.items() if name not in (*_KNOWN, *body)}
    body["messages"] = known.written(transcript.turns, target, encode_turn)
    return body, findings


def _encode_options(params: Params) -> dict[str, Any]:
    options: dict[str, Any] = {name: getattr(params, ours) for name, ours in _OPTIONS.items()}
    options["stop"] = list(params.stop) or None
    return {name: value for name, value in options.items() if value is not None}


def _encode_tools(
    request: Request, transcript: Transcript, findings: list[Finding]
) -> list[dict[str, Any]]:
    names = {own: wire for wire, own in transcript.names.items()}
    entries, told = encode_tools(request.tools, names)
    findings += told
    if any(tool.strict for tool in request.tools):
        findings.append(
            not_sent("strict", "Ollama does not hold a model to a schema of arguments.", "tools")
        )
    return entries


def _encode_think(reasoning: Reasoning | None, findings: list[Finding]) -> bool | str | None:
    if reasoning is None:
        return None
    if reasoning.enabled is False or reasoning.effort == "none":
        return False
    if reasoning.budget is not None:
        findings.append(
            not_sent("budget", "Ollama takes no budget for thinking.", "params.reasoning.budget")
        )
    return reasoning.effort or True
