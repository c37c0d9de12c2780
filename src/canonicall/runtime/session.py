"""A session: one conversation, one scheduler, one machine, for as long as somebody talks to it.

`send` says something and gives the events of the run. A turn that is cancelled, or whose reader
goes away, leaves a conversation in which every call has an end.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from time import monotonic
from typing import Any

from msgspec.structs import replace

from canonicall.agent.commands import (
    AskApproval,
    AwaitExternal,
    CallModel,
    Command,
    Finish,
    RunBatch,
    StopCalls,
)
from canonicall.agent.counters import Tally
from canonicall.agent.inputs import (
    CallEnded,
    Cancelled,
    Decided,
    Input,
    ModelChosen,
    ModelReplied,
    Resumed,
    Supplied,
    UserSaid,
)
from canonicall.agent.limits import RunLimits
from canonicall.agent.machine import Machine
from canonicall.agent.progress import LoopPolicy
from canonicall.blocks import Entry, ToolCall, ToolResult
from canonicall.conversation import Content, Conversation, blocks_of
from canonicall.decisions import WhilePending
from canonicall.facts.names import TargetName
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.findings import Finding, Report
from canonicall.guard.budget import CorrectionBudget
from canonicall.request import Params
from canonicall.runtime.approving import Approver, approved
from canonicall.runtime.events import (
    AgentEvent,
    CompleteEvent,
    StatusEvent,
    ToolCallEvent,
    completed,
)
from canonicall.runtime.listening import Listeners, heard
from canonicall.runtime.middleware import Chain, ToolMiddleware
from canonicall.runtime.model import Model
from canonicall.runtime.model_run import Answer, ModelRun
from canonicall.runtime.observer import Observer, RunObserver
from canonicall.runtime.options import Keeper, known_keywords
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.stats import SessionStats, Watch
from canonicall.tools.toolset import Toolset

_MOST_FINDINGS = 1000
"""As many different findings of requests are kept."""


class Session:
    """One agent's conversation, and what runs it."""

    @known_keywords
    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        model: Model,
        target: TargetName | Target,
        tools: Toolset | None = None,
        *,
        conversation: Conversation | None = None,
        scheduler: Scheduler | None = None,
        approve: Approver | None = None,
        keep: Keeper | None = None,
        middleware: Iterable[ToolMiddleware] = (),
        observer: Observer | None = None,
        keeps_cut_words: bool = True,
        clock: Callable[[], float] = monotonic,
        limits: RunLimits | None = None,
        budget: CorrectionBudget | None = None,
        params: Params | None = None,
        loops: LoopPolicy | None = None,
        while_pending: WhilePending = "wait",
        standing_decisions: bool = True,
        tally: Tally | None = None,
    ) -> None:
        """`SessionOptions` says what each option is for."""
        tools = tools or Toolset()
        self.conversation = Conversation() if conversation is None else conversation
        self.machine = Machine(
            self.conversation,
            get_target(target),
            tools,
            limits=limits,
            budget=budget,
            params=params,
            loops=loops,
            while_pending=while_pending,
            standing_decisions=standing_decisions,
            tally=tally,
        )
        self.scheduler = scheduler or Scheduler(tools, clock=clock)
        self._model = model
        self._approve = approve
        self._listeners = Listeners()
        self._tell = self._listeners.tell
        self._tasks: set[asyncio.Task[Any]] = set()
        self._asking: asyncio.Task[Answer] | None = None
        self._keep_entries = keep
        self._chain = Chain(middleware)
        self._observer = observer or Observer()
        self._watching = RunObserver()
        self._is_suspended = False
        self._keeps_cut_words = keeps_cut_words
        self._written = len(self.conversation)
        self._clock = clock
        self._watch = Watch(self.conversation.ledger)
        self._findings: dict[Finding, None] = {}
        self._unlisted = 0

    @property
    def stats(self) -> SessionStats:
        """What this session has done so far, in numbers."""
        return self._watch.stats(self.machine.tally.by_provider, self.conversation.ledger.values())

    @property
    def report(self) -> Report:
        """What was changed in the requests of this session so far, in the order of first sight.

        A finding that is repeated in every request is listed once. After 1,000 different findings
        the others are only counted, in `notes`. A request without `repaired` event adds nothing;
        `conversation.report` has what was found when entries were written.
        """
        more = self._unlisted
        notes = (f"{more} more findings are not listed.",) if more else ()
        return Report(tuple(self._findings), notes)

    def send(self, content: Content) -> AsyncGenerator[AgentEvent, None]:
        """Say something; the events of the run, up to its `complete`.

        While a run is under way, what is said joins it. The other events of that run come from the
        `send` that began it, and this one gives its `complete`.
        """
        return self._run_from(UserSaid(blocks_of(content)))

    def resume(self) -> AsyncGenerator[AgentEvent, None]:
        """Go on where the conversation was left: `complete` as idle where no call waits in it.

        Calls that waited for a decision or for a result are told again, with `approval` and
        `external`; when all have their ends, the run goes on.
        """
        return self._run_from(Resumed())

    async def _run_from(self, said: UserSaid | Resumed) -> AsyncGenerator[AgentEvent, None]:
        joins = not self.machine.is_idle
        if joins:
            async for event in self._join(said):
                yield event
            return
        self._watching = self._observer.run_started()
        with self._listeners.of_a_run() as queue:
            try:
                self._step(said)
                async for event in heard(queue):
                    yield event
                    if isinstance(event, CompleteEvent):
                        return
            finally:
                # Whoever listened is gone, or all is done: nothing may be left running.
                if not self.machine.is_idle and not self._is_suspended:
                    self.cancel("nobody waits for the answer any more")
                    await self._drained()

    async def _join(self, said: UserSaid | Resumed) -> AsyncGenerator[AgentEvent, None]:
        """Tell the run that is under way, and give its end."""
        with self._listeners.all(only_between=False) as queue:
            self._step(said)
            async for event in heard(queue):
                if isinstance(event, CompleteEvent):
                    yield event
                    return

    async def listen(self, *, only_between: bool = False) -> AsyncGenerator[AgentEvent, None]:
        """Everything that happens, when it happens, until the session is closed.

        `only_between`: only what no `send` tells, such as results that come when a run is over.
        """
        with self._listeners.all(only_between=only_between) as queue:
            async for event in heard(queue):
                yield event

    def use(self, target: TargetName | Target) -> None:
        """Another model, from the next thing the user says."""
        self._step(ModelChosen(get_target(target)))

    def cancel(self, why: str = "the user cancelled") -> None:
        """Stop the run. `send` still gives what happens until its end."""
        self._step(Cancelled(why))

    @property
    def undecided(self) -> tuple[ToolCall, ...]:
        """The calls that wait for somebody's decision now."""
        return self.machine.undecided

    def decide(self, decision: Decided) -> None:
        """What somebody says to a call that waits for approval, or to calls that are to come.

        It is written to the conversation. One that stands for later calls is in force for as long
        as the conversation is, wherever it is opened again.
        """
        self._step(decision if decision.by else replace(decision, by="user"))

    def supply(self, call_id: str, result: ToolResult) -> None:
        """The result of an external call."""
        self._step(Supplied(call_id, result))

    async def suspend(self) -> None:
        """Close the session, and leave calls that only wait as they are, for `resume` later.

        While a call or the model runs, everything is stopped as `close` does.
        """
        self._is_suspended = self.machine.only_waits
        await self.close()

    async def close(self) -> None:
        """Stop everything and let go of what was held."""
        if not self._is_suspended:
            self.cancel("the session was closed")
        await self._drained()
        self.scheduler.close()
        self._listeners.close()

    def _step(self, event: Input) -> None:
        """Tell the machine, tell who listens, and do what the machine wants."""
        answered = event.target if isinstance(event, ModelReplied) else None
        self._watch.heard(event, (answered or self.machine.target).provider)
        ends = event if isinstance(event, CallEnded | Supplied) else None
        known = None if ends is None else self.conversation.ledger.get(ends.call_id)
        commands = self.machine.step(event)
        new = self._kept_entries()
        if ends is not None and known is not None:
            self._tell_end(ends, is_late=not known.is_open)
        for entry in new:
            self._tell(StatusEvent(kind="written", entry=entry))
        for command in commands:
            self._do(command)

    def _do(self, command: Command) -> None:
        match command:
            case CallModel():
                self._ask(command)
            case RunBatch():
                self._run(command)
            case AskApproval():
                self._ask_approval(command.calls)
            case AwaitExternal():
                self._tell(StatusEvent(kind="external", calls=command.calls))
            case StopCalls():
                self.scheduler.stop(command.call_ids, command.why)
                if command.model and self._asking is not None:
                    self._asking.cancel()
            case Finish():
                self._finish(command)

    def _ask(self, command: CallModel) -> None:
        self._tell(StatusEvent(kind="asking", detail=command.target.name))
        run = ModelRun(
            command,
            self._chain,
            self.machine.tally,
            self._watching,
            self._tell_of_model,
            keeps_words=self._keeps_cut_words,
        )
        asked_at = self._clock()

        def asked(task: "asyncio.Task[Answer]") -> None:
            """One that was cancelled, even before it began, answers no more than it has."""
            event = run.cut_off() if task.cancelled() else task.result()
            self._step(replace(event, seconds=self._clock() - asked_at))

        self._asking = asyncio.ensure_future(run.to_its_end(self._model))
        self._asking.add_done_callback(asked)
        self._keep(self._asking)

    def _run(self, command: RunBatch) -> None:
        """Run a batch; what the middleware answers itself has ended before it begins."""
        for call in command.batch.calls:
            self._tell(ToolCallEvent(phase="made", call=call))
        batch, answered = self._chain.batch(command.batch, self.scheduler.tools)
        calls = {call.id: call for call in command.batch.calls}
        watching = self._watching

        def ended(event: CallEnded) -> None:
            call = calls[event.call_id]
            watching.tool_ended(call, event)
            self._step(self._chain.ended(call, event))

        task = self.scheduler.start(
            batch, ended, progress=self._tell_progress, begun=watching.tool_started
        )
        self._keep(task)
        for event in answered:
            self._step(event)

    def _ask_approval(self, calls: tuple[ToolCall, ...]) -> None:
        self._tell(StatusEvent(kind="approval", calls=calls))
        for call in calls:
            if call not in self.undecided:
                # What was said to one before stands for this one too.
                continue
            said = None if self._approve is None else approved(self._approve, call)
            if said is not None:
                self._step(said if said.by else replace(said, by="approve"))

    def _finish(self, command: Finish) -> None:
        self._watching.run_ended(command, self.machine.spent)
        self._tell(completed(command, self.machine.spent, self.conversation))

    def _tell_of_model(self, event: AgentEvent) -> None:
        for one in event.findings if isinstance(event, StatusEvent) else ():
            if one in self._findings:
                continue
            if len(self._findings) < _MOST_FINDINGS:
                self._findings[one] = None
            else:
                self._unlisted += 1
        self._tell(event)

    def _tell_progress(self, call: ToolCall, value: Any) -> None:
        self._tell(ToolCallEvent(phase="progress", call=call, progress=value))

    def _tell_end(self, event: CallEnded | Supplied, *, is_late: bool) -> None:
        """A late result is told as one, and never in place of the end that the call has."""
        one = self.conversation.ledger[event.call_id]
        if isinstance(event, CallEnded):
            self._watch.ran(one.name, event)
        outcome = str(one.outcome or "")
        told = ToolCallEvent(phase="ended", call=one.call, outcome=outcome, result=one.result)
        self._tell(replace(told, phase="late", result=event.result) if is_late else told)

    def _kept_entries(self) -> Sequence[Entry]:
        """What is new in the conversation; nobody hears of it before it is stored."""
        first, entries = self._written, self.conversation.entries
        new = entries[first:]
        self._written = len(entries)
        if new and self._keep_entries is not None:
            kept = self._keep_entries(first, new)
            if kept is not None:
                self._listeners.wait_for(kept)
        return new

    def _keep(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drained(self) -> None:
        """Until everything that was started has come to its end."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))
