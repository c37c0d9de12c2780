"""A session: one conversation, one scheduler, one machine, for as long as somebody talks to it.

`send` says something and gives the events of the run. A turn that is cancelled, or whose reader
goes away, leaves a conversation in which every call has an end.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from time import monotonic
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from canonicall.agent.batch import Batch
from canonicall.agent.commands import (
    AskApproval,
    AwaitExternal,
    CallModel,
    Command,
    Finish,
    RunBatch,
    StopCalls,
)
from canonicall.agent.inputs import (
    CallEnded,
    Cancelled,
    Decided,
    Input,
    ModelChosen,
    ModelFailed,
    ModelReplied,
    Supplied,
    UserSaid,
)
from canonicall.agent.machine import Machine
from canonicall.blocks import Block, Entry, Message, Text, ToolCall, ToolResult
from canonicall.conversation import Conversation
from canonicall.events import StreamEnded, TextAdded, ThinkingAdded
from canonicall.providers.registry import get_target
from canonicall.runtime.events import (
    AgentEvent,
    CompleteEvent,
    ErrorEvent,
    StatusEvent,
    TextEvent,
    ToolCallEvent,
)
from canonicall.runtime.middleware import Chain, ToolMiddleware
from canonicall.runtime.model import Model, ModelError, Notice
from canonicall.runtime.observer import Observer, RunObserver
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.stats import SessionStats, Watch
from canonicall.target import Target
from canonicall.tools.toolset import Toolset

Content: TypeAlias = str | Block | Sequence[Block]
Approver: TypeAlias = Callable[[ToolCall], "Decided | bool | None"]
"""Says yes, no, or None to have somebody decide later with `Session.decide`."""


_REFUSED = (400, 422)
"""Providers have either for a request that is not as they want it."""

Keeper: TypeAlias = Callable[[int, Sequence[Entry]], Awaitable[object] | None]
"""Stores entries that were written, the first of them with this number. What it gives back is
awaited before anybody hears of them, or of anything behind them."""


class _Safe(Struct, frozen=True):
    """Stands between events: those behind it are told when this has come."""

    kept: Awaitable[object]


class Session:
    """One agent's conversation, and what runs it."""

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        model: Model,
        target: str | Target,
        tools: Toolset | None = None,
        *,
        conversation: Conversation | None = None,
        scheduler: Scheduler | None = None,
        approve: Approver | None = None,
        keep: Keeper | None = None,
        middleware: Iterable[ToolMiddleware] = (),
        observer: Observer | None = None,
        clock: Callable[[], float] = monotonic,
        **options: Any,
    ) -> None:
        """`options`: limits, budget, params, while_pending, tally: those of the machine.

        `clock` tells seconds since whenever; limits and `stats` go by it.
        """
        tools = tools or Toolset()
        self.conversation = Conversation() if conversation is None else conversation
        self.machine = Machine(self.conversation, get_target(target), tools, **options)
        self.scheduler = scheduler or Scheduler(tools, clock=clock)
        self._model = model
        self._approve = approve
        self._events: asyncio.Queue[AgentEvent | _Safe] = asyncio.Queue()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._asking: asyncio.Task[ModelReplied | ModelFailed] | None = None
        self._keep_entries = keep
        self._chain = Chain(middleware)
        self._observer = observer or Observer()
        self._watching = RunObserver()
        self._written = len(self.conversation)
        self._clock = clock
        self._asked_at = 0.0
        self._watch = Watch(self.conversation.ledger)

    @property
    def stats(self) -> SessionStats:
        """What this session has done so far, in numbers."""
        return self._watch.stats(self.machine.tally.by_provider, self.conversation.ledger.values())

    async def send(self, content: Content) -> AsyncGenerator[AgentEvent, None]:
        """Say something; the events of the run, up to its `complete`.

        While a run is under way, what is said joins it, and its events come to whoever began it.
        """
        blocks = (Text(text=content),) if isinstance(content, str) else _as_blocks(content)
        is_begun = self.machine.is_idle
        if is_begun:
            self._watching = self._observer.run_started()
        self._step(UserSaid(blocks))
        if not is_begun:
            return
        is_over = False
        try:
            while not is_over:
                event = await self._events.get()
                if isinstance(event, _Safe):
                    await event.kept
                    continue
                is_over = isinstance(event, CompleteEvent)
                yield event
        finally:
            # Whoever listened is gone, or all is done: nothing may be left running.
            if not self.machine.is_idle:
                self.cancel("nobody waits for the answer any more")
                await self._drained()
            if not is_over:
                # Nobody wants the rest; the next run would take it for its own.
                self._events = asyncio.Queue()

    def use(self, target: str | Target) -> None:
        """Another model, from the next thing the user says."""
        self._step(ModelChosen(get_target(target)))

    def cancel(self, why: str = "the user cancelled") -> None:
        """Stop the run. `send` still gives what happens until its end."""
        self._step(Cancelled(why))

    def decide(self, decision: Decided) -> None:
        """What somebody says to a call that waits for approval."""
        self._step(decision)

    def supply(self, call_id: str, result: ToolResult) -> None:
        """The result of an external call."""
        self._step(Supplied(call_id, result))

    async def close(self) -> None:
        """Stop everything and let go of what was held."""
        self.cancel("the session was closed")
        await self._drained()
        self.scheduler.close()

    def _step(self, event: Input) -> None:
        """Tell the machine, tell who listens, and do what the machine wants."""
        self._watch.heard(event, self.machine.target.provider)
        commands = self.machine.step(event)
        new = self._kept_entries()
        if isinstance(event, CallEnded):
            self._tell_end(event)
        for entry in new:
            self._tell(StatusEvent(kind="written", entry=entry))
        for command in commands:
            self._do(command)

    def _do(self, command: Command) -> None:
        match command:
            case CallModel():
                self._tell(StatusEvent(kind="asking", detail=_name(command.target)))
                self._asked_at = self._clock()
                self._asking = asyncio.ensure_future(self._ask(command))
                self._asking.add_done_callback(self._asked)
                self._keep(self._asking)
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

    async def _ask(self, command: CallModel) -> ModelReplied | ModelFailed:
        """Ask the model, and give what the machine is to hear of it."""
        self._watching.model_started(command.request, command.target)
        error = "cancelled"
        answer: ModelReplied | ModelFailed = ModelFailed("it was cancelled")
        try:
            answer, error = await self._answer(command)
        finally:
            self._watching.model_ended(answer, error)
        return answer

    async def _answer(self, command: CallModel) -> tuple[ModelReplied | ModelFailed, str]:
        """What the model answers, passed on as it comes; if it fails, in which way."""
        try:
            request = self._chain.request(command.request)
            async for one in self._model.ask(request, command.target, notice=self._tell_notice):
                if isinstance(one, TextAdded | ThinkingAdded):
                    self._tell(TextEvent(text=one.text, thinking=isinstance(one, ThinkingAdded)))
                elif isinstance(one, StreamEnded):
                    return ModelReplied(self._chain.reply(one.reply)), ""
        except ModelError as error:
            asked = command.target.provider if error.status in _REFUSED else ""
            self._count_refusal(asked if error.refused_by is None else error.refused_by)
            self._tell(ErrorEvent(message=error.message, kind=error.kind))
            return ModelFailed(error.message), error.kind or str(error.status or "")
        except Exception as error:  # noqa: BLE001  # a run ends, whatever a model or middleware does
            kind = type(error).__name__
            self._tell(ErrorEvent(message=str(error), kind=kind))
            return ModelFailed(f"{kind}: {error}"), kind
        return ModelFailed("the stream ended without a reply"), "stream_ended"

    def _asked(self, task: "asyncio.Task[ModelReplied | ModelFailed]") -> None:
        """The model was asked; one that was cancelled, even before it began, did not answer."""
        event = ModelFailed("it was cancelled") if task.cancelled() else task.result()
        self._step(replace(event, seconds=self._clock() - self._asked_at))

    def _run(self, command: RunBatch) -> None:
        """Run a batch; what the middleware answers itself has ended before it begins."""
        answered: list[CallEnded] = []
        waves = []
        for wave in command.batch.waves:
            ready = []
            for planned in wave:
                self._tell(ToolCallEvent(phase="made", call=planned.call))
                made = self._chain.call(planned.call)
                if isinstance(made, ToolResult):
                    answered.append(CallEnded(planned.call.id, made))
                elif made is planned.call:
                    ready.append(planned)
                else:
                    ready.append(replace(planned, call=made))
            waves.append(tuple(ready))
        calls = {call.id: call for call in command.batch.calls}
        watching = self._watching

        def ended(event: CallEnded) -> None:
            call = calls[event.call_id]
            watching.tool_ended(call, event)
            self._step(self._chain.ended(call, event))

        task = self.scheduler.start(
            Batch(tuple(waves)), ended, progress=self._tell_progress, begun=watching.tool_started
        )
        self._keep(task)
        for event in answered:
            self._step(event)

    def _ask_approval(self, calls: tuple[ToolCall, ...]) -> None:
        self._tell(StatusEvent(kind="approval", calls=calls))
        for call in calls:
            said = None if self._approve is None else self._approve(call)
            if said is None:
                continue
            if isinstance(said, bool):
                said = Decided(call.id, "allow" if said else "deny")
            self._step(said)

    def _finish(self, command: Finish) -> None:
        spent = self.machine.spent
        self._watching.run_ended(command, spent)
        self._tell(
            CompleteEvent(
                reason=command.reason,
                detail=command.detail,
                text=_last_words(self.conversation),
                turns=spent.turns,
                tool_calls=spent.tool_calls,
                tokens=spent.tokens,
                seconds=spent.seconds,
            )
        )

    def _tell(self, event: AgentEvent) -> None:
        self._events.put_nowait(event)

    def _tell_notice(self, notice: Notice) -> None:
        # Refusals that the model gets over by itself never come as an error.
        self._count_refusal(notice.refused_by)
        self._tell(StatusEvent(kind=notice.kind, detail=notice.detail))

    def _count_refusal(self, provider: str) -> None:
        if provider:
            self.machine.tally.add(provider, "tool_api_400_total")

    def _tell_progress(self, call: ToolCall, value: Any) -> None:
        self._tell(ToolCallEvent(phase="progress", call=call, progress=value))

    def _tell_end(self, event: CallEnded) -> None:
        one = self.conversation.ledger.get(event.call_id)
        if one is not None:
            self._watch.ran(one.name, event)
            outcome = str(one.outcome or "")
            self._tell(
                ToolCallEvent(phase="ended", call=one.call, outcome=outcome, result=one.result)
            )

    def _kept_entries(self) -> Sequence[Entry]:
        """What is new in the conversation; nobody hears of it before it is stored."""
        first, entries = self._written, self.conversation.entries
        new = entries[first:]
        self._written = len(entries)
        if new and self._keep_entries is not None:
            kept = self._keep_entries(first, new)
            if kept is not None:
                self._events.put_nowait(_Safe(kept))
        return new

    def _keep(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drained(self) -> None:
        """Until everything that was started has come to its end."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))


def _as_blocks(content: Block | Sequence[Block]) -> tuple[Block, ...]:
    return tuple(content) if isinstance(content, Sequence) else (content,)


def _last_words(conversation: Conversation) -> str:
    """What the model said at the very end; nothing where something else stands there."""
    last = conversation.entries[-1] if conversation.entries else None
    return last.text if isinstance(last, Message) and last.role == "assistant" else ""


def _name(target: Target) -> str:
    return f"{target.provider}:{target.model}" if target.model else target.provider
