"""A request body of the Chat Completions API, to and from canonical form.

Where the format has several ways to say one parameter, the request remembers what was said. Only
the canonical value counts; it is said in the same way again where the target has no way of its own.
So it is with thinking: `reasoning_effort` is OpenAI's and known nearly everywhere. A host may have
a switch of its own as well: `thinking` (DeepSeek, Kimi, Z.ai), `enable_thinking` with
`thinking_budget` (Qwen), `reasoning` (OpenRouter). The target says which of them is written.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from canonicall.blocks import Message, Origin
from canonicall.errors import MalformedBody
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Reasoning, Request
from canonicall.transcript.turns import KnownTurns, Transcript
from canonicall.wire.carried import set_fields
from canonicall.wire.losses import dropped, listed_fields
from canonicall.wire.openai_chat import FORMAT, TARGET
from canonicall.wire.openai_chat.messages import decode_messages, encode_turn
from canonicall.wire.openai_chat.native import native_of, own_fields
from canonicall.wire.openai_chat.output_format import FIELD as OUTPUT
from canonicall.wire.openai_chat.output_format import decode_output, encode_output
from canonicall.wire.openai_chat.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)
from canonicall.wire.output_formats import NO_SUCH_FORM, broken_output, is_refused_output
from canonicall.wire.reading import History, kind_of, list_at, number_at, object_at, text_at, whole

EFFORT = "reasoning_effort"
SWITCHES = ("reasoning", "thinking", "enable_thinking", "thinking_budget")
_SAID = (EFFORT, *SWITCHES)
_CANONICAL = {
    "reasoning": ("effort", "max_tokens", "enabled"),
    "thinking": ("type", "budget_tokens"),
}
_WORDS = {
    "": _SAID,
    "thinking": (EFFORT, "thinking"),
    "enable_thinking": (EFFORT, "enable_thinking", "thinking_budget"),
    "reasoning": (EFFORT, "reasoning"),
}
"""The fields that a host reads, by the one it switches thinking with; any where that is unknown."""
PLAIN_FIELDS = ("temperature", "top_p", "top_k", "stop", "seed", "stream")
"""Fields that have one name only."""
SPELLED_FIELDS = ("max_tokens", "max_completion_tokens", "random_seed", EFFORT, *SWITCHES)
"""Fields that are remembered, because there are several ways to say the same."""
_FIELDS = (*PLAIN_FIELDS, *SPELLED_FIELDS, OUTPUT)
_UNSET = Params()
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
    is_broken = unread is not None and broken_output(unread, held, f"$.{OUTPUT}", findings)
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
    # "'parallel_tool_calls' is only allowed when 'tools' are specified.", tool_choice likewise.
    choice = encode_choice(request.tool_choice, request.tools, names, target) if tools else {}
    params, unsaid = encode_params(request.params, own_fields(request.spelled), target)
    findings += unsaid
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


def decode_params(body: dict[str, Any], findings: list[Finding]) -> Params:
    """The parameters of a request body."""
    if body.keys().isdisjoint(_FIELDS):
        return _UNSET
    limit, newer = number_at(body, "max_tokens"), number_at(body, "max_completion_tokens")
    if limit is not None and newer is not None and limit != newer:
        why = "Two different token limits are given; max_completion_tokens counts."
        where = "$.max_tokens"
        findings.append(Finding("two_limits", where, Action.DROPPED, why, Fault.INPUT))
    seed = number_at(body, "seed")
    stream = body.get("stream")
    return Params(
        max_tokens=whole(limit if newer is None else newer),
        temperature=number_at(body, "temperature"),
        top_p=number_at(body, "top_p"),
        top_k=whole(number_at(body, "top_k")),
        stop=_decode_stop(body.get("stop")),
        seed=whole(number_at(body, "random_seed") if seed is None else seed),
        stream=stream if isinstance(stream, bool) else None,
        reasoning=decode_effort(body),
        output=decode_output(body[OUTPUT]) if OUTPUT in body else None,
    )


def encode_params(
    params: Params, spelled: Mapping[str, Any], target: Target
) -> tuple[dict[str, Any], list[Finding]]:
    """The fields for `params`; `spelled` are the words of this format that said some of them."""
    fields = {
        _limit_name(spelled, target): params.max_tokens,
        "temperature": params.temperature,
        "top_p": params.top_p,
        "top_k": params.top_k,
        "stop": list(params.stop) or None,
        target.seed_field: params.seed,
        "stream": params.stream,
    }
    said = {name: field for name, field in fields.items() if field is not None}
    # "Unrecognized request argument supplied: top_k" (OpenAI)
    lost = [name for name in said if not target.fields.takes(name)]
    findings = [_dropped(name, "The target has no such parameter.") for name in lost]
    reasoning, more = encode_effort(params.reasoning, spelled, target)
    findings += more
    checked = target.schemas.checked
    output = encode_output(params.output, spelled, findings, needs_name=checked)
    if not all(target.fields.takes(name) for name in output):
        findings.append(_dropped("output", "The target cannot be told the form of its reply."))
        output = {}
    kept = {name: field for name, field in said.items() if name not in lost}
    return kept | reasoning | output, findings


def _limit_name(spelled: Mapping[str, Any], target: Target) -> str:
    """The target's name, else the one that was used, else the one that most hosts know.

    "Unsupported parameter: 'max_tokens' is not supported with this model. Use
    'max_completion_tokens' instead." (o-series and later); many other hosts know the old name only.
    """
    if target.token_limit_field:
        return target.token_limit_field
    return "max_completion_tokens" if "max_completion_tokens" in spelled else "max_tokens"


def _decode_stop(stop: Any) -> tuple[str, ...]:
    if isinstance(stop, str):
        return (stop,)
    return tuple(
        text_at(one, f"$.stop[{index}]") for index, one in enumerate(list_at(stop, "$.stop"))
    )


def _dropped(name: str, why: str, rule: str = "fields") -> Finding:
    return dropped(f"params.{name}", why, rule)


def decode_effort(body: Mapping[str, Any]) -> Reasoning | None:
    """What a body says of it, in whatever way."""
    if body.keys().isdisjoint(_SAID):
        return None
    routed = object_at(body.get("reasoning") or {}, "$.reasoning")
    thinking = object_at(body.get("thinking") or {}, "$.thinking")
    effort = text_at(body.get(EFFORT), f"$.{EFFORT}")
    effort = effort or text_at(routed.get("effort"), "$.reasoning.effort")
    switch = text_at(thinking.get("type"), "$.thinking.type")
    enabled = [
        flag
        for flag in (
            switch != "disabled" if switch else None,
            body.get("enable_thinking"),
            routed.get("enabled"),
            False if effort == "none" else None,
        )
        if isinstance(flag, bool)
    ]
    budgets = [
        number_at(thinking, "budget_tokens", "$.thinking"),
        number_at(body, "thinking_budget"),
        number_at(routed, "max_tokens", "$.reasoning"),
    ]
    reasoning = Reasoning(
        enabled=enabled[0] if enabled else None,
        effort=effort or None,
        budget=whole(next((budget for budget in budgets if budget is not None), None)),
    )
    return None if reasoning == Reasoning() else reasoning


def effort_extras(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the objects that ask for reasoning hold beyond what is canonical."""
    if body.keys().isdisjoint(_CANONICAL):
        return {}
    extras = {
        name: {key: item for key, item in held.items() if key not in known and item is not None}
        for name, known in _CANONICAL.items()
        if isinstance(held := body.get(name), dict)
    }
    return {name: held for name, held in extras.items() if held}


def asks_effort(name: str, field: Any) -> bool:
    """Whether a field asks for reasoning: an object that only says something else does not."""
    known = _CANONICAL.get(name)
    if known is None or not isinstance(field, dict):
        return field is not None
    said = [key for key, item in field.items() if item is not None]
    return not said or any(key in known for key in said)


def encode_effort(
    reasoning: Reasoning | None, spelled: Mapping[str, Any], target: Target
) -> tuple[dict[str, Any], list[Finding]]:
    """The fields that said it, where the target reads them and they still say the same; else those
    that the target has. Empty text says nothing, and no host takes it."""
    blank = [name for name in _SAID if spelled.get(name) == ""]
    if blank:
        rest = {name: value for name, value in spelled.items() if name not in blank}
        fields, lost = encode_effort(reasoning, rest, target)
        return fields, [*lost, *(dropped(f"params.{name}", "It is empty.") for name in blank)]
    words = {name: spelled[name] for name in _SAID if name in spelled}
    read = _WORDS[target.thinking_field]
    is_read = all(name in read and target.fields.takes(name) for name in words)
    if is_read and decode_effort(words) == reasoning:
        return words, []
    if reasoning is None:
        return {}, []
    said, lost = _restated(reasoning, target)
    if not all(target.fields.takes(name) for name in said):
        return {}, [_dropped("reasoning", "The target cannot be told how much to think.", "fields")]
    return said, lost


def _restated(reasoning: Reasoning, target: Target) -> tuple[dict[str, Any], list[Finding]]:
    effort = {} if reasoning.effort is None else {EFFORT: reasoning.effort}
    # A budget is a wish to think as well.
    enabled = True if reasoning.enabled is None and reasoning.budget else reasoning.enabled
    no_budget = (
        []
        if reasoning.budget is None
        else [_dropped("reasoning.budget", _NO_BUDGET, "thinking_field")]
    )
    match target.thinking_field:
        case "thinking" if enabled is not None:
            # The switch says it already, and "none" is an effort that few of these hosts know.
            effort = {} if reasoning.effort == "none" else effort
            switch = {"type": "enabled" if enabled else "disabled"}
            return {**effort, "thinking": switch}, no_budget
        case "enable_thinking" if enabled is not None:
            budget = {} if reasoning.budget is None else {"thinking_budget": reasoning.budget}
            return {"enable_thinking": enabled, **budget}, _unsaid_effort(reasoning)
        case "reasoning":
            return {"reasoning": _routed(reasoning)}, no_budget if effort else []
    if reasoning.budget is not None or (reasoning.enabled is not None and not effort):
        return effort, [
            _dropped("reasoning", "The target can only be told an effort.", "thinking_field")
        ]
    return effort, []


_NO_BUDGET = "The target is given no budget to think with."


def _routed(reasoning: Reasoning) -> dict[str, Any]:
    """OpenRouter: an effort or a budget, never both; "none" is refused where a model always thinks,
    and known to be."""
    if reasoning.effort is not None:
        return {"effort": reasoning.effort}
    if reasoning.enabled is False:
        return {"effort": "none"}
    if reasoning.budget is not None:
        return {"max_tokens": reasoning.budget}
    return {"enabled": True}


def _unsaid_effort(reasoning: Reasoning) -> list[Finding]:
    if reasoning.effort in (None, "none"):
        return []
    why = "The target is told whether to think, not how hard."
    return [_dropped("reasoning.effort", why, "thinking_field")]
