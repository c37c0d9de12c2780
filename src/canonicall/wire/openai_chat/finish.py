"""Why a model stopped and what it cost, in the words of OpenAI and of the compatible hosts."""

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
from canonicall.wire.finishing import OUTRANKS_CALLS, count_of, finish_of, own_figures

_WORDS = {
    "stop": STOP,
    "tool_calls": TOOL_CALLS,
    "function_call": TOOL_CALLS,  # legacy functions
    "length": LENGTH,
    "content_filter": FILTER,
    "eos": STOP,  # Together
    "eos_token": STOP,  # Hugging Face TGI
    "end_turn": STOP,  # hosts in front of Claude
    "completed": STOP,  # OpenRouter, native_finish_reason of the Responses API
    "stop_sequence": STOP_SEQUENCE,  # Hugging Face TGI
    "tool_use": TOOL_CALLS,
    "max_tokens": LENGTH,
    "max_output_tokens": LENGTH,  # OpenRouter, native_finish_reason of the Responses API
    "model_length": LENGTH,  # Mistral
    "model_context_window_exceeded": CONTEXT_OVERFLOW,  # Z.ai, Claude
    "sensitive": FILTER,  # Z.ai
    "safety": FILTER,  # Gemini behind a gateway
    "refusal": REFUSAL,
    "malformed_function_call": MALFORMED_CALL,  # Gemini behind a gateway
    "error": ERROR,  # Mistral, OpenRouter
    "abort": ERROR,  # vLLM
    "network_error": ERROR,  # Z.ai
    "insufficient_system_resource": ERROR,  # DeepSeek
}

# What the model's own provider said counts more than the gateway's translation.
_NATIVE_COUNTS = (LENGTH, MALFORMED_CALL)

_WRITTEN = {
    STOP: "stop",
    TOOL_CALLS: "tool_calls",
    LENGTH: "length",
    CONTEXT_OVERFLOW: "length",
    STOP_SEQUENCE: "stop",
    FILTER: "content_filter",
    REFUSAL: "content_filter",
    PAUSED: "stop",
    MALFORMED_CALL: "error",
    ERROR: "error",
}


def meaning_of(raw: str | None) -> str:
    """What a word means by itself; the empty text where it is not known."""
    return _WORDS.get((raw or "").lower(), "")


def decode_finish(raw: str | None, has_calls: bool, native: str | None = None) -> str:
    """The canonical word; `native` is OpenRouter's `native_finish_reason`.

    Forced calls end with "stop", and some hosts say "" or nothing beside calls.
    OpenRouter says "tool_calls" for calls that were cut off, and only `native` tells.
    """
    word, original = meaning_of(raw), meaning_of(native)
    if original in _NATIVE_COUNTS and word not in OUTRANKS_CALLS:
        return original
    return finish_of(word, has_calls)


def encode_finish(finish: str) -> str | None:
    """The wire's word, null where nothing is known."""
    return _WRITTEN.get(finish)


def decode_usage(usage: dict[str, Any] | None) -> Usage | None:
    """The tokens of an exchange, whatever the host calls them."""
    if not usage:
        return None
    read = _object(usage, "prompt_tokens_details")
    written = _object(usage, "completion_tokens_details")
    reasoning = _first(written.get("reasoning_tokens"), usage.get("reasoning_tokens"))
    prompt, completion = _first(usage.get("prompt_tokens")), _first(usage.get("completion_tokens"))
    # xAI counts reasoning beside the completion, everybody else within it; the total tells.
    if reasoning and _first(usage.get("total_tokens")) == prompt + completion + reasoning:
        completion += reasoning
    return Usage(
        input_tokens=prompt,
        output_tokens=completion,
        cache_read_tokens=_first(
            read.get("cached_tokens"),
            usage.get("prompt_cache_hit_tokens"),  # DeepSeek
            usage.get("cached_tokens"),  # Kimi, Hugging Face
            usage.get("num_cached_tokens"),  # Mistral
            usage.get("cache_read_input_tokens"),  # gateways in front of Claude
        ),
        cache_write_tokens=_first(
            read.get("cache_write_tokens"),  # OpenRouter
            usage.get("cache_creation_input_tokens"),
        ),
        reasoning_tokens=reasoning,
        native=usage,
    )


def encode_usage(usage: Usage) -> dict[str, Any]:
    """The figures as they came if they are of this format, else OpenAI's."""
    own = own_figures(usage, decode_usage, "prompt_tokens")
    if own is not None:
        # Databricks leaves out what clients read.
        total = usage.input_tokens + usage.output_tokens
        read = {"completion_tokens": usage.output_tokens, "total_tokens": total}
        return own if own.keys() >= read.keys() else read | own
    wire: dict[str, Any] = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }
    if usage.cache_write_tokens:
        wire["prompt_tokens_details"]["cache_write_tokens"] = usage.cache_write_tokens
    return wire


def _object(usage: dict[str, Any], name: str) -> dict[str, Any]:
    value = usage.get(name)
    return value if isinstance(value, dict) else {}


def _first(*figures: Any) -> int:
    """The first figure that is one and not zero."""
    for figure in figures:
        if figure is not None and (count := count_of(figure)):
            return count
    return 0
