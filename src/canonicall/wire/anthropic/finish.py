"""Why a reply ended, and what it cost: both ways.

`input_tokens` on the wire leaves out what was read from and written to the cache; canonically it is
everything that was read (docs "Prompt caching", tracking cache performance).
"""

from typing import Any

from msgspec.structs import replace

from canonicall import reply
from canonicall.reply import Usage
from canonicall.wire.finishing import count_of, finish_of

# SDK stop_reason.py; `compaction` is what a pause for server-side compaction is called.
_FINISHES = {
    "end_turn": reply.STOP,
    "tool_use": reply.TOOL_CALLS,
    "max_tokens": reply.LENGTH,
    "model_context_window_exceeded": reply.CONTEXT_OVERFLOW,
    "stop_sequence": reply.STOP_SEQUENCE,
    "refusal": reply.REFUSAL,
    "pause_turn": reply.PAUSED,
    "compaction": reply.PAUSED,
}
FIGURES = (
    *("cache_creation", "cache_creation_input_tokens", "cache_read_input_tokens", "inference_geo"),
    *("input_tokens", "iterations", "output_tokens", "output_tokens_details"),
    *("server_tool_use", "service_tier", "speed"),
)
"""SDK usage.py, beta_usage.py: every response has them all, null where there is nothing to say."""
_WORDS = {
    reply.TOOL_CALLS: "tool_use",
    reply.LENGTH: "max_tokens",
    reply.CONTEXT_OVERFLOW: "model_context_window_exceeded",
    reply.STOP_SEQUENCE: "stop_sequence",
    reply.FILTER: "refusal",
    reply.REFUSAL: "refusal",
    reply.PAUSED: "pause_turn",
}


def meaning_of(raw: str | None) -> str:
    """What a stop reason means by itself; the empty text where it is not known."""
    return _FINISHES.get(raw or "", "")


def decode_finish(raw: str | None, has_calls: bool) -> str:
    """The canonical word for `raw`, beside calls or without any."""
    return finish_of(meaning_of(raw), has_calls)


def encode_finish(finish: str) -> str:
    """The stop reason for `finish`. What has no word here is an end of the turn."""
    return _WORDS.get(finish, "end_turn")


def decode_usage(usage: dict[str, Any]) -> Usage:
    """The tokens of one exchange."""
    read = count_of(usage.get("cache_read_input_tokens"))
    written = count_of(usage.get("cache_creation_input_tokens"))
    details = usage.get("output_tokens_details")
    return Usage(
        input_tokens=count_of(usage.get("input_tokens")) + read + written,
        output_tokens=count_of(usage.get("output_tokens")),
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=count_of(details.get("thinking_tokens"))
        if isinstance(details, dict)
        else 0,
        native={name: figure for name, figure in usage.items() if figure is not None},
    )


def encode_usage(usage: Usage, native: dict[str, Any] | None = None) -> dict[str, Any]:
    """The wire's figures. `native` are further ones in this format's own words."""
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    wire: dict[str, Any] = {
        "input_tokens": max(usage.input_tokens - cached, 0),
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
    }
    if usage.reasoning_tokens:
        wire["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    if native is not None and replace(usage, native=native) == decode_usage(native):
        wire = native
    return dict.fromkeys(FIGURES) | wire
