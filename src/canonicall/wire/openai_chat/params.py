"""The parameters that mean the same everywhere, under the names that this format has for them.

Where the format has several ways to say one thing, the request remembers what was said. Only the
canonical value counts; it is said in the same way again where the target has no way of its own.
"""

from collections.abc import Mapping
from typing import Any

from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params
from canonicall.wire.losses import dropped
from canonicall.wire.openai_chat.effort import EFFORT, SWITCHES, decode_effort, encode_effort
from canonicall.wire.openai_chat.output_format import FIELD as OUTPUT
from canonicall.wire.openai_chat.output_format import decode_output, encode_output
from canonicall.wire.reading import list_at, number_at, text_at, whole

PLAIN_FIELDS = ("temperature", "top_p", "top_k", "stop", "seed", "stream")
"""Fields that have one name only."""
SPELLED_FIELDS = ("max_tokens", "max_completion_tokens", "random_seed", EFFORT, *SWITCHES)
"""Fields that are remembered, because there are several ways to say the same."""
_FIELDS = (*PLAIN_FIELDS, *SPELLED_FIELDS, OUTPUT)
_UNSET = Params()


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
        output=decode_output(body.get(OUTPUT)),
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


def _dropped(name: str, why: str) -> Finding:
    return dropped(f"params.{name}", why, "fields")
