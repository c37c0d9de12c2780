"""Why a Cohere model stopped, and what it cost."""

from typing import Any

from canonicall.reply import (
    CONTEXT_OVERFLOW,
    ERROR,
    FILTER,
    LENGTH,
    MALFORMED_CALL,
    REFUSAL,
    STOP,
    STOP_SEQUENCE,
    TOOL_CALLS,
    Usage,
)
from canonicall.wire.finishing import count_of, finish_of, own_figures

# Source: API reference, `finish_reason`; TIMEOUT is in the SDK's `ChatFinishReason`.
_DECODED = {
    "COMPLETE": STOP,
    "STOP_SEQUENCE": STOP_SEQUENCE,
    "MAX_TOKENS": LENGTH,
    "TOOL_CALL": TOOL_CALLS,
    "ERROR": ERROR,
    "TIMEOUT": ERROR,
}
_ENCODED = {
    STOP: "COMPLETE",
    STOP_SEQUENCE: "STOP_SEQUENCE",
    LENGTH: "MAX_TOKENS",
    CONTEXT_OVERFLOW: "MAX_TOKENS",
    TOOL_CALLS: "TOOL_CALL",
    MALFORMED_CALL: "ERROR",
    # There is no word for either: as an end, what was held back would look complete.
    FILTER: "ERROR",
    REFUSAL: "ERROR",
    ERROR: "ERROR",
}


def meaning_of(raw: str) -> str:
    """What a word means by itself; the empty text where it is not known."""
    return _DECODED.get(raw, "")


def decode_finish(raw: str, has_calls: bool) -> str:
    """The canonical word, beside calls or without any."""
    return finish_of(meaning_of(raw), has_calls)


def encode_finish(finish: str) -> str:
    """The nearest `finish_reason`."""
    return _ENCODED.get(finish, "COMPLETE")


def decode_usage(usage: dict[str, Any]) -> Usage:
    """`tokens` is what the model read and wrote; `billed_units` leaves out Cohere's own prompt.

    `cached_tokens` and `reasoning_tokens` are parts of what `tokens` counts.
    """
    tokens = _part(usage, "tokens") or _part(usage, "billed_units")
    return Usage(
        input_tokens=count_of(tokens.get("input_tokens")),
        output_tokens=count_of(tokens.get("output_tokens")),
        cache_read_tokens=count_of(usage.get("cached_tokens")),
        reasoning_tokens=count_of(tokens.get("reasoning_tokens")),
        native=usage,
    )


def encode_usage(usage: Usage) -> dict[str, Any]:
    """The provider's own figures where they say the same, else figures made from ours."""
    own = own_figures(usage, decode_usage, "billed_units")
    if own is not None:
        return own
    read_and_written = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    tokens = dict(read_and_written)
    if usage.reasoning_tokens:
        tokens["reasoning_tokens"] = usage.reasoning_tokens
    figures: dict[str, Any] = {"billed_units": read_and_written, "tokens": tokens}
    if usage.cache_read_tokens:
        figures["cached_tokens"] = usage.cache_read_tokens
    return figures


def _part(usage: dict[str, Any], name: str) -> dict[str, Any]:
    part = usage.get(name)
    return part if isinstance(part, dict) else {}
