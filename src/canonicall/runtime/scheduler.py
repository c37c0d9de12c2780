"""The scheduler: runs the calls of a turn, and tells how every one of them ended, exactly once.

One for each session, for as long as it lives. Calls of a wave run beside each other, up to a bound
and never two on the same resource. One that fails, hangs or is cancelled leaves the others alone.
Cancelling is a request first: the tool sees a flag. After a grace period nobody waits for it any
more; what it did is unknown then, and a result that comes after all is told as a late one.
"""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any

from canonicall.agent.batch import Batch
from canonicall.agent.inputs import CallEnded
from canonicall.blocks import ToolCall
from canonicall.runtime.call_run import CallRun
from canonicall.runtime.journal import Journal, MemoryJournal
from canonicall.runtime.threads import ToolThreads
from canonicall.tools.toolset import Toolset


class Scheduler:
    """Runs batches of calls."""

    def __init__(
        self,
        tools: Toolset,
        *,
        journal: Journal | None = None,
        at_once: int = 10,
        grace: float = 5.0,
        timeout: float | None = None,
        batch_timeout: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """
        `at_once`: how many calls run beside each other. `grace`: seconds a cancelled call has to
        end by itself. `timeout`: for tools that have none of their own. `batch_timeout`: for all
        calls of a turn together. `clock`: seconds since whenever, to tell how long calls take.
        """
        self.tools = tools
        self.journal: Journal = journal or MemoryJournal()
        self.grace = grace
        self.timeout = timeout
        self.batch_timeout = batch_timeout
        self.clock = clock
        self.slots = asyncio.Semaphore(at_once)
        self.threads = ToolThreads()
        self._resources: dict[str, asyncio.Lock] = {}
        self._running: dict[str, CallRun] = {}

    def start(
        self,
        batch: Batch,
        tell: Callable[[CallEnded], None],
        *,
        progress: Callable[[ToolCall, Any], None] | None = None,
        begun: Callable[[ToolCall], None] | None = None,
    ) -> "asyncio.Task[None]":
        """Run all calls of `batch`; `tell` hears of each end as soon as it is there.

        `begun` is called before a tool starts; the tool has the context that it leaves behind.

        From here on they can be stopped, also before any of them has begun.
        """
        waves = [
            [CallRun(planned, self, tell, progress, begun) for planned in wave]
            for wave in batch.waves
        ]
        runs = [run for wave in waves for run in wave]
        self._running.update((run.call.id, run) for run in runs)
        task = asyncio.ensure_future(_in_order(waves))
        timer = self._timer_of(runs)

        def over(_: "asyncio.Task[None]") -> None:
            if timer is not None:
                timer.cancel()
            for run in runs:
                run.abandon()
                self._running.pop(run.call.id, None)

        task.add_done_callback(over)
        return task

    def _timer_of(self, runs: list[CallRun]) -> asyncio.TimerHandle | None:
        """What ends a batch that takes too long."""
        limit = self.batch_timeout
        if limit is None:
            return None
        why = f"the calls of its turn took longer than {limit:g} seconds"

        def expired() -> None:
            for run in runs:
                run.expire(why)

        return asyncio.get_running_loop().call_later(limit, expired)

    def stop(self, call_ids: tuple[str, ...], why: str) -> None:
        """Ask these calls to stop. Those that have not begun never will."""
        for id in call_ids:
            run = self._running.get(id)
            if run is not None:
                run.stop(why)

    def close(self) -> None:
        """Start no more threads; calls that still run in one are not waited for."""
        self.threads.shutdown()

    def resource(self, name: str) -> asyncio.Lock:
        """What calls on the same thing wait for."""
        return self._resources.setdefault(name, asyncio.Lock())


async def _in_order(waves: list[list[CallRun]]) -> None:
    for wave in waves:
        for over in [run.start() for run in wave]:
            await over
