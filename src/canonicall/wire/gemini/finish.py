"""Finish reasons and token counts, both ways."""

from typing import Any

from canonicall.reply import (
    CONTEXT_OVERFLOW,
    ERROR,
    FILTER,
    LENGTH,
    MALFORMED_CALL,
    PAUSED,
    REFUSAL,
    STOP,
    STOP_SEQUENCE,
    TOOL_CALLS,
    Usage,
)
from canonicall.wire.finishing import count_of, finish_of, own_figures

# google-genai, FinishReason, and what the Gemini API was seen to send besides.
_FROM_WIRE = {
    "STOP": STOP,
    "MAX_TOKENS": LENGTH,
    "SAFETY": FILTER,
    "RECITATION": FILTER,
    "LANGUAGE": FILTER,
    "BLOCKLIST": FILTER,
    "PROHIBITED_CONTENT": FILTER,
    "SPII": FILTER,
    "MODEL_ARMOR": FILTER,
    "IMAGE_SAFETY": FILTER,
    "IMAGE_PROHIBITED_CONTENT": FILTER,
    "IMAGE_RECITATION": FILTER,
    "IMAGE_OTHER": FILTER,
    "NO_IMAGE": ERROR,
    "OTHER": ERROR,
    "MALFORMED_FUNCTION_CALL": MALFORMED_CALL,
    "UNEXPECTED_TOOL_CALL": MALFORMED_CALL,
    "TOO_MANY_TOOL_CALLS": MALFORMED_CALL,
    "MALFORMED_RESPONSE": MALFORMED_CALL,
    "MISSING_THOUGHT_SIGNATURE": MALFORMED_CALL,
    "CONTINUATION": PAUSED,
}
# Numbers of the enum, where a client asked for them. Vertex and the Gemini API number differently
# from 6 on; up to 8 both mean the same here.
_FROM_NUMBER = {
    1: STOP, 2: LENGTH, 3: FILTER, 4: FILTER, 5: ERROR, 6: FILTER, 7: FILTER, 8: FILTER,
}  # fmt: skip
_TO_WIRE = {
    STOP: "STOP",
    TOOL_CALLS: "STOP",
    STOP_SEQUENCE: "STOP",
    LENGTH: "MAX_TOKENS",
    CONTEXT_OVERFLOW: "MAX_TOKENS",
    FILTER: "SAFETY",
    REFUSAL: "SAFETY",
    PAUSED: "CONTINUATION",
    MALFORMED_CALL: "MALFORMED_FUNCTION_CALL",
    ERROR: "OTHER",
}


def meaning_of(raw: Any) -> str:
    """What a word or its number means by itself; the empty text where it is not known."""
    if type(raw) is int:
        return _FROM_NUMBER.get(raw, "")
    return _FROM_WIRE.get(raw.upper(), "") if isinstance(raw, str) else ""


def decode_finish(raw: Any, has_calls: bool) -> str:
    """The canonical word. STOP is all the API says after calls."""
    return finish_of(meaning_of(raw), has_calls)


def says(raw: Any, finish: str) -> bool:
    """Whether a word or number tells `finish` as well as the word that is written for it."""
    return meaning_of(raw) in (finish, meaning_of(encode_finish(finish)))


def encode_finish(finish: str) -> str | None:
    """The reason on the wire, None where there is none to tell."""
    return _TO_WIRE.get(finish)


def decode_usage(usage: dict[str, Any]) -> Usage:
    """Token counts. The tokens of tool results that the server read count as input."""
    prompt = count_of(usage.get("promptTokenCount")) + count_of(
        usage.get("toolUsePromptTokenCount")
    )
    thoughts = count_of(usage.get("thoughtsTokenCount"))
    return Usage(
        input_tokens=prompt,
        # The candidates' count is without the thoughts: the total is the sum of both.
        output_tokens=count_of(usage.get("candidatesTokenCount")) + thoughts,
        cache_read_tokens=count_of(usage.get("cachedContentTokenCount")),
        reasoning_tokens=thoughts,
        native=usage,
    )


def encode_usage(usage: Usage) -> dict[str, Any]:
    """`usageMetadata`: as it came if it came like this, else made from the counts."""
    own = own_figures(usage, decode_usage, "promptTokenCount")
    if own is not None:
        return own
    counts = {
        "promptTokenCount": usage.input_tokens,
        "cachedContentTokenCount": usage.cache_read_tokens,
        "candidatesTokenCount": max(usage.output_tokens - usage.reasoning_tokens, 0),
        "thoughtsTokenCount": usage.reasoning_tokens,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
    }
    always = ("promptTokenCount", "candidatesTokenCount", "totalTokenCount")
    return {name: count for name, count in counts.items() if count or name in always}
