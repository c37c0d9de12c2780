"""Whether a run gets anywhere: the same steps, again and again, do not.

What is watched is progress, not repetition: a test run after every change is a repeated call with
other results, and files that are read one after another may be announced with the same words. A
step is all calls of a turn with their results, refused ones among them. Two things are loops:

1. the same step several times in a row, or a cycle of several steps;
2. the same words several times in a row, or a cycle of them, while nothing new comes of it: no call
   that was not made before gives a result that was not seen before. This finds loops whose results
   differ only in a time or a number.

Tools that are declared as polling are not watched.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from canonicall.agent.limits import AtLimit
from canonicall.blocks import ToolCall, ToolResult
from canonicall.errors import InvalidValue

_FEWEST = 2


class LoopPolicy(Struct, frozen=True, kw_only=True):
    """When a run is in a loop, and what happens then."""

    repeats: int | None = 3
    """How often the same steps in a row are a loop; None where that is not watched."""
    same_words: int | None = 4
    """How often the same words in a row are one, while nothing new comes of them."""
    longest_cycle: int = 4
    """How many steps a cycle may have and still be found."""
    at_loop: AtLimit = "answer"

    def __post_init__(self) -> None:
        for name in ("repeats", "same_words"):
            wanted = getattr(self, name)
            if wanted is not None and wanted < _FEWEST:
                raise InvalidValue(
                    f"what happens {wanted} times is not repeated.",
                    where=f"LoopPolicy.{name}",
                    help="Use 2 or more, or None where it is not watched.",
                )


class Progress:
    """What has been called, and what came of it, since the run began."""

    def __init__(self, policy: LoopPolicy) -> None:
        self._policy = policy
        self._steps: list[bytes] = []
        self._words: list[bytes] = []
        """Of the last turns that brought nothing new."""
        self._calls: set[bytes] = set()
        self._results: set[bytes] = set()

    def add(self, words: str, ended: Iterable[tuple[ToolCall, ToolResult | None]]) -> None:
        """Take in a turn: what was said, and its calls with their results, in call order."""
        made = [(_digest(_asked(call)), _digest(_told(result))) for call, result in ended]
        if not made:
            return
        self._steps.append(b"".join(part for one in made for part in one))
        is_new = any(
            call not in self._calls and result not in self._results for call, result in made
        )
        self._calls.update(call for call, _ in made)
        self._results.update(result for _, result in made)
        said = " ".join(words.split()).casefold()
        if is_new or not said:
            self._words.clear()
        if said:
            self._words.append(_digest(said))

    @property
    def loop(self) -> str:
        """What the run does again and again; empty where it is in no loop."""
        policy = self._policy
        steps = _cycle(self._steps, policy.repeats, policy.longest_cycle)
        if steps:
            return f"{steps} step{'s' if steps > 1 else ''} again and again, with the same results"
        if _cycle(self._words, policy.same_words, policy.longest_cycle):
            return "the same words again and again, and nothing new"
        return ""


def _cycle(seen: list[bytes], repeats: int | None, longest: int) -> int:
    """How long the cycle is that `seen` ends with; 0 where there is none."""
    if repeats is None:
        return 0
    for length in range(1, longest + 1):
        last = seen[-length * repeats :]
        if len(last) == length * repeats and last == last[:length] * repeats:
            return length
    return 0


def _asked(call: ToolCall) -> Any:
    return [call.name, call.args if call.args is not None else call.raw]


def _told(result: ToolResult | None) -> Any:
    return None if result is None else [result.error, result.content]


def _digest(value: Any) -> bytes:
    return sha256(msgspec.json.encode(value, order="deterministic")).digest()
