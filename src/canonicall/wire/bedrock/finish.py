"""Why a model on Bedrock stopped, and what it cost."""

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

# Source: the service model's `StopReason`; `refusal` is Claude's own word, passed on.
_DECODED = {
    "end_turn": STOP,
    "tool_use": TOOL_CALLS,
    "max_tokens": LENGTH,
    "stop_sequence": STOP_SEQUENCE,
    "guardrail_intervened": FILTER,
    "content_filtered": FILTER,
    "refusal": REFUSAL,
    "malformed_tool_use": MALFORMED_CALL,
    "malformed_model_output": MALFORMED_CALL,
    "model_context_window_exceeded": CONTEXT_OVERFLOW,
}
_ENCODED = {
    STOP: "end_turn",
    TOOL_CALLS: "tool_use",
    LENGTH: "max_tokens",
    STOP_SEQUENCE: "stop_sequence",
    FILTER: "content_filtered",
    REFUSAL: "content_filtered",
    MALFORMED_CALL: "malformed_tool_use",
    ERROR: "malformed_model_output",
    CONTEXT_OVERFLOW: "model_context_window_exceeded",
}


def meaning_of(raw: str) -> str:
    """What a word means by itself; the empty text where it is not known."""
    return _DECODED.get(raw, "")


def decode_finish(raw: str, has_calls: bool) -> str:
    """The canonical word, beside calls or without any."""
    return finish_of(meaning_of(raw), has_calls)


def encode_finish(finish: str) -> str:
    """The nearest `stopReason`."""
    return _ENCODED.get(finish, "end_turn")


def decode_usage(usage: dict[str, Any]) -> Usage:
    """Converse counts what was read from or written to the cache apart from `inputTokens`."""
    read = count_of(usage.get("cacheReadInputTokens"))
    written = count_of(usage.get("cacheWriteInputTokens"))
    return Usage(
        input_tokens=count_of(usage.get("inputTokens")) + read + written,
        output_tokens=count_of(usage.get("outputTokens")),
        cache_read_tokens=read,
        cache_write_tokens=written,
        native=usage,
    )


def encode_usage(usage: Usage) -> dict[str, Any]:
    """The provider's own figures where they say the same, else figures made from ours."""
    own = own_figures(usage, decode_usage, "inputTokens")
    if own is not None:
        return own
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    figures = {
        "inputTokens": max(usage.input_tokens - cached, 0),
        "outputTokens": usage.output_tokens,
        "totalTokens": usage.input_tokens + usage.output_tokens,
    }
    if cached:
        figures["cacheReadInputTokens"] = usage.cache_read_tokens
        figures["cacheWriteInputTokens"] = usage.cache_write_tokens
    return figures
