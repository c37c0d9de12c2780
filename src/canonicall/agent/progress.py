"""Whether a run gets anywhere: the same calls with the same results, again and again, do not.

What is watched is progress, not repetition: a test run after every change is a repeated call with
other results. Cycles of several calls are found as well, and calls that are refused every time.
Tools that are declared as polling are not watched.
"""

from collections.abc import Iterable
from hashlib import sha256

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import ToolCall, ToolResult

REPEATS = 3
"""How often the same steps in a row are enough to be called a loop."""
LONGEST_CYCLE = 4
_KEPT = REPEATS * LONGEST_CYCLE


class Progress(Struct, frozen=True):
    """The last steps of a run, each as a digest of what was called and what came of it."""

    steps: tuple[str, ...] = ()

    def after(self, ended: Iterable[tuple[ToolCall, ToolResult | None]]) -> "Progress":
        """The steps with one more: all calls of a turn and their results, in call order."""
        made = [
            [call.name, call.args if call.args is not None else call.raw, _told(result)]
            for call, result in ended
        ]
        if not made:
            return self
        data = msgspec.json.encode(made, order="deterministic")
        return replace(self, steps=(*self.steps, sha256(data).hexdigest())[-_KEPT:])

    @property
    def cycle(self) -> int:
        """How many steps the loop has that the run is in; 0 where it is in none."""
        for length in range(1, LONGEST_CYCLE + 1):
            last = self.steps[-length * REPEATS :]
            if len(last) == length * REPEATS and last == last[:length] * REPEATS:
                return length
        return 0


def _told(result: ToolResult | None) -> object:
    if result is None:
        return None
    return [result.error, result.content]
