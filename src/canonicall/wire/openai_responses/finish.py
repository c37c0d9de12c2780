"""Why a response ended and what it cost, both ways.

The wire's word is the status of a response, or the reason where it is incomplete or failed.
"""

from typing import Any

from canonicall.findings import Finding
from canonicall.reply import (
    CONTEXT_OVERFLOW,
    ERROR,
    FILTER,
    LENGTH,
    MALFORMED_CALL,
    STOP,
    Usage,
)
from canonicall.wire.finishing import count_of, finish_findings, finish_of, own_figures
from canonicall.wire.reading import object_at, text_at

COMPLETED = "completed"
INCOMPLETE = "incomplete"
FAILED = "failed"
# SDK response_status.py: nothing has ended yet, or never will.
NOT_ENDED = ("queued", "in_progress", "cancelled", INCOMPLETE)

_DECODED = {
    COMPLETED: STOP,
    "max_output_tokens": LENGTH,
    "content_filter": FILTER,
    # Code of `response.error`: "Your input exceeds the context window of this model."
    "context_length_exceeded": CONTEXT_OVERFLOW,
    FAILED: ERROR,
}
_ENCODED = {
    LENGTH: "max_output_tokens",
    CONTEXT_OVERFLOW: "max_output_tokens",
    FILTER: "content_filter",
    MALFORMED_CALL: FAILED,
    ERROR: FAILED,
}


def finish_word(body: dict[str, Any]) -> str:
    """The word a response says about its end."""
    status = text_at(body.get("status"), "$.status")
    if status == INCOMPLETE:
        details = object_at(body.get("incomplete_details") or {}, "$.incomplete_details")
        return text_at(details.get("reason"), "$.incomplete_details.reason") or INCOMPLETE
    error = body.get("error")
    if status in ("", COMPLETED):
        return FAILED if error else COMPLETED
    code = error.get("code") if isinstance(error, dict) else None
    is_known = isinstance(code, str) and code in _DECODED
    return str(code) if status == FAILED and is_known else status


def decode_finish(raw: str, has_calls: bool) -> str:
    """The canonical word; the empty text where nothing has ended or the reason is not known."""
    return finish_of(_DECODED.get(raw, ""), has_calls and raw not in NOT_ENDED)


def unknown_finish(word: str, finish: str, is_reason: bool) -> tuple[Finding, ...]:
    """That a word about the end is not known, if it is not."""
    if word in NOT_ENDED:
        return ()
    where = "$.incomplete_details.reason" if is_reason else "$.status"
    return finish_findings(word, _DECODED.get(word, ""), finish, where)


def encode_finish(finish: str) -> str:
    """The wire's word for a canonical one."""
    return _ENCODED.get(finish, COMPLETED)


def ending_of(status: str) -> str:
    """The word in the name of the event that ends a response: there are three of them, whatever
    other word a host has for its status."""
    if status in (COMPLETED, INCOMPLETE, FAILED):
        return status
    return INCOMPLETE if status in NOT_ENDED else COMPLETED


def status_fields(word: str) -> dict[str, Any]:
    """The fields of a response that say a wire's word."""
    details = {"reason": word} if word in ("max_output_tokens", "content_filter") else None
    failure = {"code": "server_error", "message": "The model did not finish its response."}
    return {
        "status": INCOMPLETE if details else word,
        "error": failure if word == FAILED else None,
        "incomplete_details": details,
    }


def decode_usage(value: Any) -> Usage | None:
    """The tokens of a response. Cached ones are part of the input here already."""
    if value is None:
        return None
    usage = object_at(value, "$.usage")
    read = object_at(usage.get("input_tokens_details") or {}, "$.usage.input_tokens_details")
    made = object_at(usage.get("output_tokens_details") or {}, "$.usage.output_tokens_details")
    return Usage(
        input_tokens=count_of(usage.get("input_tokens")),
        output_tokens=count_of(usage.get("output_tokens")),
        cache_read_tokens=count_of(read.get("cached_tokens")),
        cache_write_tokens=count_of(read.get("cache_write_tokens")),
        reasoning_tokens=count_of(made.get("reasoning_tokens")),
        native=usage,
    )


def encode_usage(usage: Usage | None) -> dict[str, Any] | None:
    """The usage of a response: the provider's own figures, where they are this format's."""
    if usage is None:
        return None
    own = own_figures(usage, decode_usage, "input_tokens", "output_tokens", "total_tokens")
    if own is not None:
        return own
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
