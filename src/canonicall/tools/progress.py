"""What comes out of a tool that yields: progress, and in the end its result.

A generator that returns a value has that for a result, and all it yields is progress. Any other has
for a result what it yielded last. So a value is known to be progress only when something follows.
"""

from typing import Any

_NOTHING = object()


class Yields:
    """Tells progress from the result. Whoever runs the generator feeds it."""

    def __init__(self) -> None:
        self._last: Any = _NOTHING

    def feed(self, value: Any) -> list[Any]:
        """The generator yielded `value`; what is now known to be progress."""
        earlier, self._last = self._last, value
        return [] if earlier is _NOTHING else [earlier]

    def close(self, returned: Any = None) -> tuple[list[Any], Any]:
        """The generator ended; what else was progress, and the result."""
        last, self._last = self._last, _NOTHING
        if last is _NOTHING:
            return [], returned
        return ([], last) if returned is None else ([last], returned)
