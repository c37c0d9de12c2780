"""What replies with calls show: how calls come, what their ids look like, where thoughts stand."""

from collections.abc import Iterator, Sequence
from typing import Any

from canonicall.blocks import Thinking, ToolCall
from canonicall.discovery.answer import Told
from canonicall.discovery.draft import TOOLS, Draft
from canonicall.discovery.id_rules import seen_ids
from canonicall.discovery.statement import Evidence, Statement
from canonicall.discovery.text_calls import PrintedCalls
from canonicall.events import ArgumentsAdded, BlockStarted, UsageReported
from canonicall.reply import LENGTH
from canonicall.wire.openai_chat.native import field_of
from canonicall.wire.openai_chat.reasoning import DETAILS

_FINISH_AT: dict[str, tuple[str | int, ...]] = {
    "openai-chat": ("choices", 0, "finish_reason"),
    "openai-responses": ("status",),
    "anthropic": ("stop_reason",),
    "gemini": ("candidates", 0, "finishReason"),
    "bedrock": ("stopReason",),
    "cohere": ("finish_reason",),
    "ollama": ("done_reason",),
}
"""Where a whole reply says why it ended."""
_LONGEST_WORD = 40
_THOUGHTS_AT = {
    "openai-responses": "reasoning",
    "anthropic": "thinking",
    "gemini": "thought",
    "bedrock": "reasoningContent",
    "cohere": "content",
    "ollama": "thinking",
}
"""What thoughts are called where a format has one place for them."""
_SEALS = frozenset({"signature", "encrypted"})
_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens", "num_predict")


def of_calls(
    told: Told, draft: Draft, proof: Evidence, printed: PrintedCalls | None
) -> Iterator[Statement]:
    """What the first reply shows, which was asked to have two calls.

    `printed`: how its text has calls, where that is known at once.
    """
    message, format = told.reply.message, draft.target.format
    yield Statement("system_role", True, (proof,))
    limit = next((name for name in _LIMITS if name in draft.body), "")
    if limit:
        yield Statement("token_limit_field", limit, (proof,))
    if message.calls:
        yield Statement("structured_calls", True, (proof,))
        word = _at(told.body, _FINISH_AT[format])
        yield Statement("finish_with_calls", word, (proof,))
    elif printed is not None:
        yield from of_text(printed, (proof,))
    else:
        note = "The model called no tool, though it was asked to."
        yield Statement("structured_calls", None, (proof,), "U", note)
    yield of_several(len(calls_of(told, printed)), proof)


def of_text(printed: PrintedCalls, proof: tuple[Evidence, ...]) -> Iterator[Statement]:
    """Calls are printed as text."""
    yield Statement("structured_calls", False, proof)
    yield Statement("text_syntax", printed.syntax, proof)


def of_several(count: int, proof: Evidence) -> Statement:
    """How many calls came where two were asked for.

    One may be the model's choice, so it proves nothing.
    """
    return Statement("parallel_calls", True if count > 1 else None, (proof,))


def calls_of(told: Told, printed: PrintedCalls | None) -> tuple[ToolCall, ...]:
    """The calls of a reply, structured or printed."""
    if told.reply.calls or printed is None:
        return told.reply.calls
    return printed.calls(told.reply.message)


def of_stream(told: Told, proof: Evidence) -> Iterator[Statement]:
    """What a streamed reply shows besides."""
    started = {
        event.index
        for event in told.events
        if isinstance(event, BlockStarted) and isinstance(event.block, ToolCall)
    }
    pieces = [event for event in told.events if isinstance(event, ArgumentsAdded)]
    most = max((sum(one.index == at for one in pieces) for at in started), default=0)
    if started:
        yield Statement("argument_streaming", "pieces" if most > 1 else "whole", (proof,))
    counted = any(isinstance(event, UsageReported) for event in told.events)
    yield Statement("usage_in_streams", counted or told.reply.usage is not None, (proof,))


def of_ids(replies: Sequence[tuple[Told, Evidence]]) -> Iterator[Statement]:
    """What the ids of all replies look like, and whether two replies have the same ones."""
    calls = [(one.id, one.name) for told, _ in replies for one in told.reply.calls]
    proof = tuple(evidence for told, evidence in replies if told.reply.calls)[:2]
    seen = seen_ids(calls)
    if seen is None:
        return
    yield Statement("call_ids", seen.told, proof)
    ids = [{one.id for one in told.reply.calls if one.id} for told, _ in replies]
    ids = [one for one in ids if one]
    # Numbered ids begin anew with every conversation, and the probes are different ones.
    if len(ids) > 1 and seen.style != "numbered":
        is_reused = any(one & other for at, one in enumerate(ids) for other in ids[:at])
        yield Statement("ids_reused", is_reused, proof)


def of_thoughts(replies: Sequence[tuple[Told, Evidence]], format: str) -> Iterator[Statement]:
    """Where thoughts stand, and whether they are sealed."""
    for told, proof in replies:
        blocks = told.reply.message.blocks
        thoughts = [one for one in blocks if isinstance(one, Thinking)]
        if thoughts:
            # A seal may stand on the thought, or on the call behind it.
            kinds = {one.kind for block in blocks for one in block.opaque if one.value}
            chat = DETAILS if "details" in kinds else field_of(thoughts[0])
            yield Statement("reasoning_field", _THOUGHTS_AT.get(format) or chat, (proof,))
            yield Statement("reasoning_signed", bool(kinds & _SEALS), (proof,))
            return


def obeyed(question: str, told: Told, printed: PrintedCalls | None) -> str | None:
    """Whether a reply does what `tool_choice` said; None where it was cut off too early to know."""
    named = {call.name for call in calls_of(told, printed)}
    wanted = {
        "choice_required": bool(named),
        "choice_none": not named,
        "choice_named": named == {TOOLS[1].name},
    }
    if wanted[question]:
        return "obeyed"
    return None if told.reply.finish == LENGTH and not named else "ignored"


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, str) and len(value) <= _LONGEST_WORD else None
