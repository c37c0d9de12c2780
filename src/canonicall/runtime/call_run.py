"""One call of a batch, from its place in the queue to its one end."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from canonicall.agent.batch import Planned
from canonicall.agent.inputs import CallEnded
from canonicall.blocks import ResultContent, ToolCall
from canonicall.guard.results import result_blocks
from canonicall.outcome import Outcome
from canonicall.runtime.running import run_tool
from canonicall.tools.bound import BoundTool
from canonicall.tools.context import ToolContext
from canonicall.tools.stopped import ToolStopped

if TYPE_CHECKING:
    from canonicall.runtime.scheduler import Scheduler

_NEVER_ENDED = "it was started before, and its end is not known"


class CallRun:
    """One call, from its place in the queue to its end.

    One task waits for its turn and runs the tool. Others wait for `over`, never for the task: the
    tool may go on when its end was told. Whatever cuts the waiting short is a plain callback.
    """

    def __init__(
        self,
        planned: Planned,
        scheduler: "Scheduler",
        tell: Callable[[CallEnded], None],
        progress: Callable[[ToolCall, Any], None] | None,
        begun: Callable[[ToolCall], None] | None,
    ) -> None:
        self.call = planned.call
        self._planned = planned
        self._scheduler = scheduler
        self._tell = tell
        self._progress = progress
        self._begun = begun
        self._loop = asyncio.get_running_loop()
        self._is_stopping = False
        self._to_stop: list[Callable[[], object]] = []
        """What the tool wants done as soon as it is to stop."""
        self._why = ""
        self._has_begun = False
        self._began_at = 0.0
        self._is_told = False
        self.over: asyncio.Future[None] = self._loop.create_future()
        """Done when its end was told."""
        self._task: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        """Writes that it took too long."""
        self._held: list[asyncio.Lock | asyncio.Semaphore] = []
        """What others wait for as long as nobody knows how it ended."""
        self._has_returned = False
        self._is_let_go = False
        self._timer: asyncio.TimerHandle | None = None
        self._last: Any = None
        """What the tool reported last: all that is left of it if it is cut off."""

    def stop(self, why: str) -> None:
        """Somebody wants it to stop: give it the time it is allowed."""
        if self._is_stopping or self._is_told:
            return
        self._why = why
        if not self._has_begun:
            self._cut_off(Outcome.NOT_RUN)
            return
        self._set_timer(self._scheduler.grace, self._cut_off, Outcome.UNKNOWN)
        self._ask_to_stop()

    def expire(self, why: str) -> None:
        """The time of its batch is up: it has no grace any more."""
        if self._is_told:
            return
        self._why = why
        self._ask_to_stop()
        self._cut_off(Outcome.TIMED_OUT if self._has_begun else Outcome.NOT_RUN)

    def abandon(self) -> None:
        """Nobody runs the batch any more: say what is known, if nothing has been said."""
        if not self._is_told:
            self._give_up()
            self._let_go()

    def start(self) -> "asyncio.Future[None]":
        """Wait for a slot and for the resources, run, and tell; what is done when it was told."""
        if not self._is_told:
            self._task = self._loop.create_task(self._to_its_end())
        return self.over

    async def _to_its_end(self) -> None:
        try:
            await self._wait_and_run()
        except asyncio.CancelledError:
            self._give_up()
            raise
        except Exception as error:  # noqa: BLE001  # a journal may raise anything
            self._not_recorded(error)
        finally:
            self._stop_timer()
            self._release()

    def _give_up(self) -> None:
        outcome = Outcome.UNKNOWN if self._has_begun else Outcome.NOT_RUN
        self._end(outcome, self._why or "the run was stopped")

    def _not_recorded(self, error: Exception) -> None:
        self._why = f"it could not be recorded: {error}"
        self._give_up()

    def _cut_off(self, outcome: Outcome) -> None:
        """Nobody waits any longer, neither for its turn nor for the tool."""
        self._end(outcome, self._why)
        self._let_go()

    async def _wait_and_run(self) -> None:
        scheduler = self._scheduler
        # Always in the same order, so that no two calls wait for each other.
        for name in sorted(set(self._planned.resources)):
            await self._hold(scheduler.resource(name))
        await self._hold(scheduler.slots)
        await self._run()

    async def _hold(self, lock: asyncio.Lock | asyncio.Semaphore) -> None:
        await lock.acquire()
        self._held.append(lock)

    def _release(self) -> None:
        while self._held:
            self._held.pop().release()

    async def _run(self) -> None:
        if self._is_told:
            return
        known = await self._scheduler.journal.begin(self.call)
        self._has_begun = True
        self._began_at = self._scheduler.clock()
        if known is not None:
            self._tell_again(known.ended)
            return
        tool = self._scheduler.tools[self.call.name]
        context = ToolContext(
            self.call.id,
            is_cancelled=self._is_asked_to_stop,
            report=self._reported,
            on_cancel=self._when_stopping,
        )
        if self._begun is not None:
            self._begun(self.call)
        timeout = self._planned.timeout or self._scheduler.timeout
        if timeout is not None and not self._is_stopping:
            self._set_timer(timeout, self._time_is_up, timeout)
        done = await self._done(tool, context)
        self._has_returned = True
        if self._is_late:
            await self._came(done)
        else:
            await self._returned(done)

    @property
    def _is_late(self) -> bool:
        """Whether its end was told already, or is just being written."""
        return self._is_told or self._closing is not None

    async def _done(self, tool: BoundTool, context: ToolContext) -> "asyncio.Future[Any]":
        """Run the tool; what it gave or raised, or that it was cancelled by itself."""
        done = self._loop.create_future()
        try:
            done.set_result(await run_tool(tool, self.call, context, self._scheduler.threads))
        except asyncio.CancelledError:
            is_own = self._is_stopping or not (self._task and self._task.cancelling())
            if self._is_let_go or not is_own:
                raise
            done.cancel()
        except Exception as error:  # noqa: BLE001  # whatever it raises is its result
            done.set_exception(error)
        return done

    def _time_is_up(self, timeout: float) -> None:
        if not self._is_told and not self._has_returned:
            self._ask_to_stop()
            why = f"it took longer than {timeout:g} seconds"
            self._closing = self._loop.create_task(self._timed_out(why))

    async def _timed_out(self, why: str) -> None:
        try:
            await self._written(Outcome.TIMED_OUT, why)
        except Exception as error:  # noqa: BLE001  # a journal may raise anything
            self._not_recorded(error)
        self._let_go()

    def _let_go(self) -> None:
        """Nobody waits any more. A thread cannot be stopped: its result comes late, if at all."""
        style = self._scheduler.tools[self.call.name].style
        is_in_thread = style not in ("coroutine", "async_generator")
        if self._has_begun and is_in_thread and not self._has_returned:
            return
        self._is_let_go = True
        if self._task is not None:
            self._task.cancel()

    async def _returned(self, task: "asyncio.Future[Any]") -> None:
        """Write and tell what the tool gave; one that stopped as it was asked to gave nothing."""
        if task.cancelled() and self._is_stopping:
            await self._written(Outcome.UNKNOWN, self._why)
            return
        stopped = None if task.cancelled() else task.exception()
        if isinstance(stopped, ToolStopped):
            if stopped.partial is not None:
                self._last = stopped.partial
            await self._written(stopped.outcome, stopped.why or self._why)
            return
        ended = self._ended(task)
        await self._scheduler.journal.end(ended)
        self._say(ended)

    async def _written(self, outcome: Outcome, why: str) -> None:
        ended = self._without_result(outcome, why)
        await self._scheduler.journal.end(ended)
        self._say(ended)

    def _ended(self, task: "asyncio.Future[Any]") -> CallEnded:
        value: Any
        if task.cancelled():
            value = RuntimeError("the tool cancelled itself")
        else:
            value = task.exception() or task.result()
        tool = self._scheduler.tools[self.call.name]
        result = tool.returned(value).result(self.call)
        return CallEnded(self.call.id, result, seconds=self._seconds())

    def _without_result(self, outcome: Outcome, why: str) -> CallEnded:
        return CallEnded(
            self.call.id, outcome=outcome, why=why, partial=self._partial(), seconds=self._seconds()
        )

    def _seconds(self) -> float:
        """How long it has been running; 0 where it never began."""
        return self._scheduler.clock() - self._began_at if self._has_begun else 0.0

    async def _came(self, task: "asyncio.Future[Any]") -> None:
        """A result that nobody waited for any more is told as well; it changes no outcome."""
        if not self.over.done():
            await asyncio.wait((self.over,))
        if not task.cancelled() and not isinstance(task.exception(), ToolStopped):
            self._tell(self._ended(task))

    def _tell_again(self, ended: CallEnded | None) -> None:
        if ended is None:
            self._end(Outcome.UNKNOWN, _NEVER_ENDED)
        else:
            self._say(ended)

    def _end(self, outcome: Outcome, why: str) -> None:
        if not self._is_told:
            self._say(self._without_result(outcome, why))

    def _say(self, ended: CallEnded) -> None:
        if not self._is_told:
            self._is_told = True
            self._release()
            if not self.over.done():
                self.over.set_result(None)
            self._tell(ended)

    def _reported(self, value: Any) -> None:
        """May be called from the tool's own thread."""
        self._last = value
        if self._progress is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._progress, self.call, value)

    def _when_stopping(self, act: Callable[[], object]) -> None:
        if self._is_stopping:
            act()
        else:
            self._to_stop.append(act)

    def _ask_to_stop(self) -> None:
        self._is_stopping = True
        for act in self._to_stop:
            act()

    def _is_asked_to_stop(self) -> bool:
        return self._is_stopping

    def _set_timer(self, seconds: float, act: Callable[[Any], None], value: Any) -> None:
        self._stop_timer()
        self._timer = self._loop.call_later(seconds, act, value)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _partial(self) -> tuple[ResultContent, ...]:
        return () if self._last is None else result_blocks(self._last).content
