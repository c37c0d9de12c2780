"""Why a model on Ollama stopped, and what it cost."""

from typing import Any

from canonicall.reply import (
    CONTEXT_OVERFLOW,
    LENGTH,
    STOP,
    Usage,
)
from canonicall.wire.finishing import count_of, finish_of, own_figures

# Source: ollama/ollama, `llm.DoneReason`. `load` and `unload` answer requests without messages.
_DECODED = {"stop": STOP, "length": LENGTH}
_ENCODED = {LENGTH: "length", CONTEXT_OVERFLOW: "length"}
USAGE_FIELDS = ("prompt_eval_count", "eval_count")


def meaning_of(raw: str) -> str:
    """What a word means by itself; the empty text where it is not known."""
    return _DECODED.get(raw, "")


def decode_finish(raw: str, has_calls: bool) -> str:
    """The canonical word; the server says `stop` also after calls."""
    return finish_of(meaning_of(raw), has_calls)


def encode_finish(finish: str) -> str:
    """The nearest `done_reason`."""
    return _ENCODED.get(finish, "stop")


def decode_usage(body: dict[str, Any]) -> Usage | None:
    """The counts of a response, which stand in its body; None if it has none."""
    figures = {name: body[name] for name in USAGE_FIELDS if body.get(name) is not None}
    if not figures:
        return None
    return Usage(
        input_tokens=count_of(figures.get("prompt_eval_count")),
        output_tokens=count_of(figures.get("eval_count")),
        native=figures,
    )


def encode_usage(usage: Usage) -> dict[str, Any]:
    """The provider's own figures where they say the same, else figures made from ours."""
    own = own_figures(usage, decode_usage)
    if own is not None:
        return own
    return {"prompt_eval_count": usage.input_tokens, "eval_count": usage.output_tokens}
