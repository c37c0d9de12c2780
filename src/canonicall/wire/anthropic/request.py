"""Whole requests, both ways.

The messages are written last, so that a longer conversation only adds to the end of the body.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Message, Origin
from canonicall.deltas import state_fields
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Request
from canonicall.transcript.policy import Goal, Pass
from canonicall.transcript.turns import KnownTurns, Transcript, Turn
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.compaction import FIELD as COMPACTION
from canonicall.wire.anthropic.compaction import fit_compaction
from canonicall.wire.anthropic.extras import FORMAT, native_of, own_fields, with_sound_mark
from canonicall.wire.anthropic.messages import (
    decode_messages,
    decode_system,
    encode_content,
    encode_turn,
)
from canonicall.wire.anthropic.output_format import FIELD as OUTPUT_CONFIG
from canonicall.wire.anthropic.output_format import encode_output, take_output
from canonicall.wire.anthropic.reasoning import (
    decode_reasoning,
    encode_reasoning,
    known_thinking,
    without_last_thoughts,
)
from canonicall.wire.anthropic.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)
from canonicall.wire.carried import set_fields
from canonicall.wire.losses import dropped, foreign_fields, unknown_choice
from canonicall.wire.reading import History, list_at, number_at, text_at

DEFAULT_MAX_TOKENS = 8192
"""What is sent where nobody set a limit: the field is required. All current models allow it."""

_UNSET: tuple[Any, ...] = (None, "", [])
"""What a field holds that is not sent."""

_KNOWN = {
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "stream",
    "thinking",
    "output_config",
    "output_format",
    # Which API is spoken. The target knows that itself: it is a header, or `Target.body_version`.
    "anthropic_version",
}
# SDK lib/threads/_thread_state.py: what a thread keeps, and a request that continues it must not
# repeat. It is carried as it came, so that it does not become a message.
_KEPT_BY_THREAD = ("system", "tools")


def decode_history(
    body: dict[str, Any], first: int, origin: Origin, domain: str, findings: list[Finding]
) -> list[Message]:
    """The messages of `body` from this one on; before the first stand its instructions."""
    has_system = not first and not state_fields(body, FORMAT)
    system = decode_system(body.get("system"), domain, findings) if has_system else []
    return [
        *system,
        *decode_messages(body.get("messages"), origin, domain, findings, first=first),
    ]


def decode_request(
    body: dict[str, Any],
    *,
    origin: Origin | None = None,
    domain: str | None = None,
    history: History | None = None,
) -> Request:
    """The request in `body`; `history`: its messages, where they have been read."""
    model = text_at(body.get("model"), "$.model")
    origin = origin or Origin(provider=TARGET.provider, format=FORMAT, model=model)
    domain = TARGET.domain if domain is None else domain
    history = history or History.read(decode_history, body, origin, domain)
    conversation, findings = history.conversation, list(history.findings)
    choice = decode_choice(body.get("tool_choice"))
    reasoning, rest = decode_reasoning(body, findings)
    output, said = take_output(rest, findings)
    stored = state_fields(body, FORMAT)
    repeated = _KEPT_BY_THREAD if stored else ()
    native = set_fields(with_sound_mark(body, "$", findings), {*_KNOWN, *stored} - {*repeated})
    native |= set_fields(rest, ())
    if choice is None and body.get("tool_choice") is not None:
        findings.append(unknown_choice("$.tool_choice"))
    stop = list_at(body.get("stop_sequences"), "$.stop_sequences")
    return Request(
        conversation=conversation,
        tools=() if stored else decode_tools(body.get("tools"), findings),
        tool_choice=choice,
        params=Params(
            max_tokens=number_at(body, "max_tokens"),
            temperature=number_at(body, "temperature"),
            top_p=number_at(body, "top_p"),
            top_k=number_at(body, "top_k"),
            stop=tuple(text_at(one, f"$.stop_sequences[{n}]") for n, one in enumerate(stop)),
            stream=body["stream"] if isinstance(body.get("stream"), bool) else None,
            reasoning=reasoning,
            output=output,
        ),
        model=model,
        native=native_of(native),
        spelled=native_of(said),
        continues=native_of(stored),
        findings=(*findings, *conversation.report),
    )


def with_limit(request: Request, transcript: Transcript, goal: Goal) -> tuple[Request, Transcript]:
    """The request with a limit of tokens, which the format requires."""
    params = request.params
    if params.max_tokens is not None:
        return request, transcript
    # The budget for thinking has to be smaller than the limit (docs "Extended thinking").
    budget = (params.reasoning.budget if params.reasoning is not None else None) or 0
    why = "The format requires a limit and none was given."
    where, went = "params.max_tokens", "$.max_tokens"
    goal.findings.append(Finding("param_added", where, Action.ADDED, why, Fault.NONE, went=went))
    limited = replace(params, max_tokens=DEFAULT_MAX_TOKENS + budget)
    return replace(request, params=limited), transcript


def with_thinking(
    request: Request, transcript: Transcript, goal: Goal
) -> tuple[Request, Transcript]:
    """The request with thinking as the format can have it, and no last thoughts where it is off."""
    if request.params.reasoning is None:
        return request, transcript
    return without_last_thoughts(known_thinking(request, transcript, goal), transcript, goal)


PASSES = (
    Pass("limit", with_limit, "Before thinking: a budget has to be smaller."),
    Pass("thinking", with_thinking, "When the turns of the tool loop are final."),
)


def encode_request(
    request: Request, transcript: Transcript, target: Target, known: KnownTurns | None = None
) -> tuple[dict[str, Any], list[Finding]]:
    """The body that asks `target`, and what could not be said as it was meant."""
    known = known or KnownTurns()
    native = own_fields(request.native)
    names = {own: wire for wire, own in transcript.names.items()}
    tools, findings = encode_tools(request.tools, names, target)
    params = request.params
    thinking: dict[str, Any] = {}
    if params.reasoning is not None or native:
        thinking = encode_reasoning(params.reasoning, native, target, findings)
    stored = own_fields(request.continues)
    if params.output is not None:
        output = encode_output(params.output, own_fields(request.spelled), findings)
        thinking[OUTPUT_CONFIG] = {**thinking.get(OUTPUT_CONFIG, {}), **output}
    # "tool_choice may only be specified while providing tools"
    choice = request.tool_choice if tools or stored else None
    system, turns = (
        _system_apart(transcript.turns, target) if not stored else ((), transcript.turns)
    )
    body: dict[str, Any] = {
        "anthropic_version": target.body_version,
        "model": target.model or request.model,
        "max_tokens": params.max_tokens,
        "system": encode_content(
            tuple([block for turn in system for block in turn.blocks]), target
        ),
        "tools": tools,
        "tool_choice": encode_choice(choice, names) if choice is not None else None,
        **thinking,
        **_encode_params(params, findings),
    }
    if request.native is not None:
        findings += foreign_fields(FORMAT, request.native)
    findings += [
        dropped(f"params.{name}", "The thread keeps it, and refuses a request that repeats it.")
        for name in _KEPT_BY_THREAD
        if name in native
    ]
    extras = {name: field for name, field in native.items() if name not in _KNOWN} | stored
    body = {name: field for name, field in body.items() if field not in _UNSET} | extras
    if COMPACTION in body:
        body = fit_compaction(body, findings)
    body["messages"] = known.written(turns, target, encode_turn)
    return body, findings


def _system_apart(
    turns: tuple[Turn, ...], target: Target
) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """The turns that go to the top of the request, and the others."""
    count = 0
    if target.system == "top":
        while count < len(turns) and turns[count].role in ("system", "developer"):
            count += 1
    return turns[:count], turns[count:]


def _encode_params(params: Params, findings: list[Finding]) -> dict[str, Any]:
    temperature = params.temperature
    if temperature is not None and temperature > 1:
        # API reference: "Ranges from 0.0 to 1.0".
        why = "The highest temperature here is 1."
        findings.append(
            Finding("param_changed", "params.temperature", Action.CHANGED, why, Fault.RENDER)
        )
        temperature = 1
    # "stop_sequences: each stop sequence must contain non-whitespace"
    stop = [one for one in params.stop if one.strip()]
    if len(stop) < len(params.stop):
        findings.append(dropped("params.stop", "A stop sequence cannot be blank here."))
    if params.seed is not None:
        findings.append(dropped("params.seed", "The format has no seed."))
    return {
        "temperature": temperature,
        "top_p": params.top_p,
        "top_k": params.top_k,
        "stop_sequences": stop,
        "stream": params.stream,
    }
