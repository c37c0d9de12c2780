"""The texts that stand in a provider's error, the way they were written.

In: an error as text, as bytes, as the provider's JSON, or as JSON inside text inside JSON, as
gateways send it. Out: every text in it, from the outside in, on one line each. What a terminal or a
second layer of quotes has done to a text is undone: broken lines, frames and marks at their side,
escaped and curly quotes.
Nothing here raises, and the work grows with the length of the error, up to a limit.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice

LONGEST = 20_000
"""Characters of one text that are read as a whole; of a longer one, what stands around errors."""
ALL = 200_000
"""Characters that are read in all."""
MOST = 400
"""Values of one error that are looked at."""
_TRIES = 20
"""Places in a text where JSON is looked for, and where a long text is read."""
_BEFORE, _BEHIND = 1_000, 2_000
"""Characters around a sign of an error that are read."""

_SIGN = re.compile(r"error|exception|invalid|refused", re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
_GAP = re.compile(r"(?:\\{1,8}[nrt]|\n[ \t]{0,40}[*#>|]{1,3}(?=\s)|[\s\u2500-\u259f])+")
_ESCAPED = re.compile(r"\\{1,8}(?=[\"'`])")
_CURLY = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_NAMED = {"code", "type", "status", "param"}


def texts_in(error: object) -> list[str]:
    """Every text in an error, from the outside in."""
    texts: list[str] = []
    left = ALL
    waiting: deque[object] = deque([error])
    for _ in range(MOST):  # An end, even for a value that holds itself.
        if not waiting or left <= 0:
            break
        value = waiting.popleft()
        if isinstance(value, bytes | bytearray):
            value = value.decode("utf-8", "replace")
        if isinstance(value, str):
            pieces = [_plain(piece) for piece in _pieces(value)]
            texts += pieces
            left -= sum(map(len, pieces))
            waiting.extend(_inner(value))
        elif isinstance(value, dict):
            waiting.extend(f"{key}={value[key]}" for key in sorted(_NAMED & value.keys()))
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value[:MOST])
    return texts


def _pieces(text: str) -> Iterator[str]:
    """The text itself; of a long one, a log for example, its ends and what may tell of errors."""
    yield text[:LONGEST]
    if len(text) <= LONGEST:
        return
    end, last = LONGEST, max(LONGEST, len(text) - LONGEST)
    yield text[last:]
    count = 0
    for found in _SIGN.finditer(text, LONGEST, last):
        if found.start() < end:
            continue
        start, end = max(end, found.start() - _BEFORE), found.end() + _BEHIND
        yield text[start:end]
        count += 1
        if count == _TRIES:
            return


def _plain(text: str) -> str:
    """The text on one line, with the quotes that it was written with."""
    return _ESCAPED.sub("", _GAP.sub(" ", text)).translate(_CURLY)


def _inner(text: str) -> list[object]:
    """The JSON that stands in a text, behind whatever a client wrote before it."""
    decoder = json.JSONDecoder()
    for found in islice(_OPENING.finditer(text), _TRIES):
        try:
            value, _ = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        return [value]
    return []
