"""Context overflows: a conversation that is longer than the model can read.

In: a failure. Out: the figures of the overflow, as far as the provider gave them. What an overflow
is recognised by is in `facts/errors.toml`, how texts state its figures in `facts/lessons.toml`.
"""

import re
from functools import cache

from msgspec import Struct

from canonicall.client.failure import Failure
from canonicall.facts.lessons import lessons
from canonicall.verify.error_texts import texts_in
from canonicall.verify.explainer import explain

CODE = "context_overflow"
_ELSE = frozenset({"authentication", "not_found", "overloaded", "rate_limited", "redirect"})
"""Kinds of failures that are known by their status, whatever their text says."""
_TOKENS, _LIMIT = r"(?P<tokens>\d[\d,]*)", r"(?P<limit>\d[\d,]*)"


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
        for pattern in _figures():
            if found := pattern.search(text):
                figures = found.groupdict()
                return Overflow(_number(figures.get("tokens")), _number(figures.get("limit")))
    return Overflow()


@cache
def _figures() -> tuple[re.Pattern[str], ...]:
    patterns = (one.pattern for one in lessons().overflow)
    filled = (one.replace("TOKENS", _TOKENS).replace("LIMIT", _LIMIT) for one in patterns)
    return tuple(re.compile(one, re.IGNORECASE) for one in filled)


def _number(text: str | None) -> int:
    return int(text.replace(",", "")[:15]) if text else 0
