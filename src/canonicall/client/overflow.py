"""Context overflows: a conversation that is longer than the model can read.

In: a failure. Out: the figures of the overflow, as far as the provider gave them. What an overflow
is recognised by is in `verify/errors.toml`; the order of its figures is known here.
"""

import re

from msgspec import Struct

from canonicall.client.failure import Failure
from canonicall.verify.error_texts import texts_in
from canonicall.verify.explainer import explain

CODE = "context_overflow"
_ELSE = frozenset({"authentication", "not_found", "overloaded", "rate_limited", "redirect"})
"""Kinds of failures that are known by their status, whatever their text says."""
_TOKENS, _LIMIT = r"(?P<tokens>\d[\d,]*)", r"(?P<limit>\d[\d,]*)"
_FIGURES = tuple(
    re.compile(pattern.replace("TOKENS", _TOKENS).replace("LIMIT", _LIMIT), re.IGNORECASE)
    for pattern in (
        # Anthropic
        r"prompt is too long: TOKENS tokens > LIMIT",
        r"exceed context limit: TOKENS \+ \d+ > LIMIT",
        # OpenAI, OpenRouter, vLLM and others that have their text
        (
            r"maximum context length is LIMIT tokens\b.{0,80}?(?:resulted in|requested(?: about)?|"
            r"request has|contains(?: at least)?) TOKENS\b"
        ),
        # Google
        r"input token count \(TOKENS\) exceeds the maximum number of tokens allowed \(LIMIT\)",
        r"input token count exceeds the maximum number of tokens allowed \(?LIMIT",
        # llama.cpp
        r"request \(TOKENS tokens\) exceeds the available context size \(LIMIT tokens\)",
        # xAI
        r"maximum prompt length is LIMIT but the request contains TOKENS tokens",
        # Mistral
        r"contains TOKENS tokens\b.{0,80}?too large for model with LIMIT maximum context length",
        # GitHub Copilot
        r"prompt token count of TOKENS exceeds the limit of LIMIT",
        # Cohere
        (
            r"too many tokens: total number of tokens in the prompt cannot exceed LIMIT"
            r"(?:.{0,40}?received TOKENS)?"
        ),
        # Moonshot, LM Studio, Qwen
        r"exceeded model token limit: LIMIT(?: \(requested: TOKENS\))?",
        r"TOKENS tokens.{0,80}?greater than the context length of LIMIT",
        r"input length should be \[\d+, ?LIMIT\]",
    )
)


class Overflow(Struct, frozen=True):
    """How long a prompt was, and how long it may be; 0 where the provider does not say."""

    tokens: int = 0
    limit: int = 0


def overflow_of(failure: Failure) -> Overflow | None:
    """The overflow that a failure is; None where it is something else."""
    if failure.error is None or failure.kind in _ELSE:
        return None
    if all(entry.code != CODE for entry in explain(failure.error).entries):
        return None
    for text in texts_in(failure.error):
        for pattern in _FIGURES:
            if found := pattern.search(text):
                figures = found.groupdict()
                return Overflow(_number(figures.get("tokens")), _number(figures.get("limit")))
    return Overflow()


def _number(text: str | None) -> int:
    return int(text.replace(",", "")[:15]) if text else 0
