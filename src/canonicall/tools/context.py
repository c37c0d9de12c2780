"""What a tool may know of the call it runs for. Whoever runs it fills it in."""

from collections.abc import Callable
from typing import Any


class ToolContext:
    """Handed to a function that has a parameter with this annotation; models do not see it."""

    __slots__ = ("_is_cancelled", "_on_cancel", "_report", "call_id")

    def __init__(
        self,
        call_id: str = "",
        *,
        is_cancelled: Callable[[], bool] | None = None,
        report: Callable[[Any], None] | None = None,
        on_cancel: Callable[[Callable[[], object]], None] | None = None,
    ) -> None:
        self.call_id = call_id
        """The canonical id of the call. It stays the same when the call is tried again, so it
        serves as a key by which an effect happens once."""
        self._is_cancelled = is_cancelled
        self._report = report
        self._on_cancel = on_cancel

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the result any more: a good moment to stop."""
        return self._is_cancelled is not None and self._is_cancelled()

    def on_cancel(self, act: Callable[[], object]) -> None:
        """Have `act` called, once, when the call is to stop: for tools that wait for others."""
        if self._on_cancel is not None:
            self._on_cancel(act)

    def report(self, progress: Any) -> None:
        """Say how far the work is. Nothing comes of it where nobody listens."""
        if self._report is not None:
            self._report(progress)
