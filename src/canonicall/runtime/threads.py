"""Threads for tools that block: one for each call, and nobody has to wait for its end.

A thread cannot be stopped. In a pool, calls that hang would take the place of all that come later,
and a program could not end before they do. The scheduler bounds how many there are.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class ToolThreads(Executor):
    """Starts a thread for everything that is submitted, until it is shut down."""

    def __init__(self) -> None:
        self._is_shut_down = False

    def submit(
        self,
        fn: Callable[_Arguments, _Result],
        /,
        *args: _Arguments.args,
        **kwargs: _Arguments.kwargs,
    ) -> "Future[_Result]":
        """Run it now, in a thread of its own."""
        if self._is_shut_down:
            raise RuntimeError("the session is closed")
        future: Future[_Result] = Future()
        future.set_running_or_notify_cancel()

        def run() -> None:
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001  # whoever waits for it is to hear it
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=run, name="tool", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Start no more. What runs is not waited for: it may never end."""
        self._is_shut_down = True
