"""Whole requests, both ways.

The input is written last, so that a longer conversation only adds to the end of the body.
"""

from collections.abc import Sequence
from typing import Any

from canonicall.blocks import Message, Native, Origin, Text
from canonicall.conversation import Conversation
from canonicall.deltas import state_fields, state_names
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Reasoning, Request, Tool
from canonicall.transcript.grouping import BRINGS_TOOLS
from canonicall.transcript.turns import KnownTurns, Transcript, Turn
from canonicall.wire.carried import set_fields
from canonicall.wire.losses import dropped, foreign_fields, unknown_choice
from canonicall.wire.openai_responses import FORMAT, TARGET
from canonicall.wire.openai_responses.fields import native_of, own_fields
from canonicall.wire.openai_responses.messages import decode_input, encode_turn
from canonicall.wire.openai_responses.output_format import FIELD as TEXT
from canonicall.wire.openai_responses.output_format import encode_output, take_output
from canonicall.wire.openai_responses.searches import with_answers
from canonicall.wire.openai_responses.tools import (
    brings_tools,
    decode_brought_tools,
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
    is_known_choice,
)
from canonicall.wire.reading import number_at, object_at, text_at
from canonicall.wire.writing import words_of

_KNOWN = {
    "model",
    "instructions",
    "input",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "max_output_tokens",
    "temperature",
    "top_p",
    "stream",
}

# Guide "Reasoning models": what is not stored is given out, and read again, encrypted.
_SEALED = "reasoning.encrypted_content"


def decode_request(
    body: dict[str, Any], *, origin: Origin | None = None, domain: str | None = None
) -> Request:
    """The request in `body`."""
    model = text_at(body.get("model"), "$.model")
    origin = origin or Origin(provider=TARGET.provider, format=FORMAT, model=model)
    conversation = Conversation()
    instructions = text_at(body.get("instructions"), "$.instructions")
    if instructions:
        conversation.append(Message("system", (Text(text=instructions),)))
    domain = TARGET.domain if domain is None else domain
    stored, is_delta = state_fields(body, FORMAT), bool(state_names(body, FORMAT))
    messages, findings = decode_input(
        body.get("input"), origin=origin, domain=domain, continues=is_delta
    )
    conversation.extend(messages)
    tools, about_tools = decode_tools(body.get("tools"))
    tools += _brought_tools(body.get("input"), about_tools)
    asked = body.get("tool_choice")
    choice, about_choice = decode_choice(asked, body.get("parallel_tool_calls"))
    reasoning, native = _decode_reasoning(body)
    if isinstance(asked, dict) and (choice is None or choice.mode is None):
        if is_known_choice(asked):
            native["tool_choice"] = asked
        else:
            about_choice.append(unknown_choice("$.tool_choice"))
    rest = set_fields(body, {*_KNOWN, *stored})
    output, said = take_output(rest, about_choice)
    return Request(
        conversation=conversation,
        tools=tools,
        tool_choice=choice,
        params=Params(
            max_tokens=number_at(body, "max_output_tokens"),
            temperature=number_at(body, "temperature"),
            top_p=number_at(body, "top_p"),
            stream=body["stream"] if isinstance(body.get("stream"), bool) else None,
            reasoning=reasoning,
            output=output,
        ),
        model=model,
        native=native_of(native | rest),
        spelled=native_of(said),
        continues=Native(FORMAT, stored) if is_delta else None,
        findings=(*findings, *about_tools, *about_choice, *conversation.report),
    )


def encode_request(
    request: Request, transcript: Transcript, target: Target, known: KnownTurns | None = None
) -> tuple[dict[str, Any], list[Finding]]:
    """The body that asks `target`, and what could not be said as it was meant."""
    known = known or KnownTurns()
    native = own_fields(request.native)
    names = {own: wire for wire, own in transcript.names.items()}
    tools, findings = encode_tools(request.tools, names, target)
    instructions, turns = _instructions_apart(transcript.turns, target)
    items = with_answers(known.written(turns, target, encode_turn))
    # What is named by a field may bring tools; an item that is named does not.
    is_continued = request.continues is not None and bool(request.continues.fields)
    are_offered = bool(tools) or is_continued or any(map(_brings_tools, items))
    choice = _encode_choice(request, names, target, findings, are_offered=are_offered)
    body: dict[str, Any] = {
        "model": target.model or request.model,
        "instructions": instructions,
        "tools": tools,
        **choice,
        **_encode_params(request.params, native, findings),
        **encode_output(
            request.params.output, native, own_fields(request.spelled), target, findings
        ),
    }
    findings += foreign_fields(FORMAT, request.native)
    extras = {name: field for name, field in native.items() if name not in (*_KNOWN, TEXT)}
    if target.unstored:
        extras |= _unstored(extras, findings)
    extras |= own_fields(request.continues)
    needed = ("instructions",) if target.instructions_required else ()
    body = {
        name: field
        for name, field in body.items()
        if name in needed or field not in (None, "", [], {})
    }
    return {**body, **extras, "input": items}, findings


def _unstored(extras: dict[str, Any], findings: list[Finding]) -> dict[str, Any]:
    """What a request says where nothing is stored: reasoning comes back sealed or not at all."""
    if extras.get("store") not in (None, False):
        why = "The host keeps nothing; the conversation has to be sent whole each time."
        code = "param_changed"
        findings.append(
            Finding(code, "native.store", Action.CHANGED, why, Fault.RENDER, rule="unstored")
        )
    given = extras.get("include")
    asked = given if isinstance(given, list) else []
    if _SEALED not in asked or "store" not in extras:
        why = "The host keeps nothing: store is false, and include asks for sealed reasoning."
        findings.append(Finding("param_added", "native.store", Action.ADDED, why, Fault.NONE))
    return {"store": False, "include": asked if _SEALED in asked else [*asked, _SEALED]}


def _encode_choice(
    request: Request,
    names: dict[str, str],
    target: Target,
    findings: list[Finding],
    *,
    are_offered: bool,
) -> dict[str, Any]:
    """The fields of the choice. That of a hosted tool is native: it is there if its tool is."""
    hosted = own_fields(request.native).get("tool_choice")
    fields: dict[str, Any] = {}
    if hosted is not None and are_offered and _is_offered(hosted, request.tools):
        fields["tool_choice"] = hosted
    elif hosted is not None:
        why = "The tool that is chosen is not offered."
        findings.append(
            Finding("choice_weakened", "tool_choice", Action.DROPPED, why, Fault.RENDER)
        )
    # "Tool choice must be specified together with 'tools' parameter."
    if request.tool_choice is None or not are_offered:
        return fields
    return fields | encode_choice(request.tool_choice, request.tools, names, target)


def _is_offered(choice: Any, tools: Sequence[Tool]) -> bool:
    """Whether a tool of the provider is offered that a choice names by its type."""
    kind = choice.get("type") if isinstance(choice, dict) else None
    if not kind or not isinstance(kind, str):
        return False
    if kind == "allowed_tools":
        return True  # Some of its tools are the provider's; they are not known here.
    kinds = [str(own_fields(tool.native).get("type")) for tool in tools]
    return any(one.startswith(kind) or kind.startswith(one) for one in kinds)


def _brought_tools(items: Any, findings: list[Finding]) -> tuple[Tool, ...]:
    """The groups of tools that items of the input bring."""
    if not isinstance(items, list):
        return ()
    brought = (
        decode_brought_tools(item, f"$.input[{index}]", findings)
        for index, item in enumerate(items)
        if isinstance(item, dict) and brings_tools(item)
    )
    return tuple(group for group in brought if group.members)


def _brings_tools(item: dict[str, Any]) -> bool:
    """Whether an item of the input offers tools that `tools` does not have."""
    return item.get("type") in BRINGS_TOOLS


def _instructions_apart(turns: tuple[Turn, ...], target: Target) -> tuple[str, tuple[Turn, ...]]:
    """What goes into `instructions`, and the turns that are items.

    Only one system message fits: behind another one stands what the client sent as an item. One
    with a cache mark is an item as well, since `instructions` cannot carry the mark.
    """
    first = turns[0] if turns else Turn("user")
    if target.system != "top" or first.role != "system":
        return "", turns
    if any(block.cache is not None for block in first.blocks):
        return "", turns
    text = "\n\n".join(words_of(block) for block in first.blocks)
    return (text, turns[1:]) if text else ("", turns)


def _decode_reasoning(body: dict[str, Any]) -> tuple[Reasoning | None, dict[str, Any]]:
    """The effort, and the native rest of the field `reasoning`."""
    fields = dict(object_at(body.get("reasoning") or {}, "$.reasoning"))
    effort = text_at(fields.pop("effort", None), "$.reasoning.effort")
    fields = set_fields(fields, ())
    native = {"reasoning": fields} if fields else {}
    return Reasoning(effort=effort) if effort else None, native


def _encode_params(
    params: Params, native: dict[str, Any], findings: list[Finding]
) -> dict[str, Any]:
    asked = params.reasoning or Reasoning()
    effort = {"effort": asked.effort} if asked.effort else {}
    if not effort and (asked.budget is not None or asked.enabled is not None):
        why = "The target is told an effort, not a budget or a switch."
        findings.append(dropped("params.reasoning", why))
    findings += (
        dropped(f"params.{name}", f"The format has no {name}.")
        for name in ("top_k", "stop", "seed")
        if getattr(params, name) not in (None, ())
    )
    return {
        "reasoning": effort | native.get("reasoning", {}),
        "max_output_tokens": params.max_tokens,
        "temperature": params.temperature,
        "top_p": params.top_p,
        "stream": params.stream,
    }
