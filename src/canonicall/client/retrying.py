"""Which failures are tried again, and after how long. Pure: chance and the clock are handed in."""

import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from msgspec import Struct

_STATUSES = frozenset({408, 409, 425, 429, *range(500, 600)} - {501})
"""What may be none the next time: conflicts, limits, and all that a server has to answer for, but
for what it says it cannot do."""
# What providers call it when they are busy or broken, in error types and codes: Anthropic's
# overloaded_error, OpenAI's server_error, Gemini's UNAVAILABLE, Bedrock's ThrottlingException.
_PASSING = re.compile(
    r"overload|rate.?limit|throttl|unavailable|resource.?exhausted|internal|server.?(?:had.an.)?error"
    r"|api_error|time.?out|too.?many.?requests|modelstreamerror|notready",
    re.IGNORECASE,
)
# A 429 of these kinds stays one, however long one waits.
_LASTING = re.compile(
    r"insufficient_quota|billing|credit.{0,20}(?:exhausted|balance)", re.IGNORECASE
)


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """How often and how patiently."""

    attempts: int = 4
    """All of them, the first included."""
    first_delay: float = 0.5
    longest_delay: float = 20.0
    """Where the provider does not say how long to wait."""
    longest_wait: float = 60.0
    """A provider that says to wait longer counts as failed."""

    def delay(
        self, attempt: int, random: Callable[[], float], *, told: float | None = None
    ) -> float | None:
        """Seconds to wait after this attempt, the first is 1; None to give up.

        Half of the delay is left to chance, so that clients which failed together do not come back
        together. What the provider told is never cut short.
        """
        if attempt >= self.attempts:
            return None
        usual = min(self.first_delay * 2.0 ** min(attempt - 1, 30), self.longest_delay)
        if told is None:
            return usual * (0.5 + random() / 2)
        return None if told > self.longest_wait else told + self.first_delay * random()


def is_passing(status: int, headers: Mapping[str, str], words: str = "") -> bool:
    """Whether an error response may be none the next time; `words`: its type, code and text."""
    # Sent by OpenAI and Anthropic, obeyed by their own clients.
    asked = headers.get("x-should-retry", "")
    if asked in ("true", "false"):
        return asked == "true"
    return status in _STATUSES and not _LASTING.search(words)


def is_passing_error(kind: str, code: object = None) -> bool:
    """Whether an error inside a stream may be none the next time; `kind`: its type or name."""
    if isinstance(code, int) and not isinstance(code, bool):
        return code in _STATUSES
    return bool(_PASSING.search(kind)) and not _LASTING.search(kind)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the provider says to wait; `now` in seconds since 1970."""
    exact = _number(headers.get("retry-after-ms", ""))
    if exact is not None:
        return exact / 1000
    told = headers.get("retry-after", "")
    seconds = _number(told)
    if seconds is not None or not told:
        return seconds
    try:
        return max(parsedate_to_datetime(told).timestamp() - now, 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str) -> float | None:
    if not re.fullmatch(r"\s*\d{1,12}(\.\d{1,9})?\s*", text):
        return None
    return float(text)
