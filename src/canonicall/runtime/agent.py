"""An agent: a model, its tools and its instructions; every conversation with it is a session."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple, Self, Unpack

from msgspec.structs import replace

from canonicall.agent.counters import Tally
from canonicall.agent.inputs import Decided
from canonicall.agent.limits import RunLimits
from canonicall.agent.progress import LoopPolicy
from canonicall.blocks import Message, Text
from canonicall.conversation import Conversation
from canonicall.decisions import WhilePending
from canonicall.errors import CanonicallError, InvalidValue
from canonicall.facts.names import TargetName
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.guard.budget import CorrectionBudget
from canonicall.outcome import MAY_HAVE_RUN, Outcome
from canonicall.request import Params
from canonicall.runtime.approving import Approver
from canonicall.runtime.events import CompleteEvent, ErrorEvent, StatusEvent
from canonicall.runtime.middleware import ToolMiddleware
from canonicall.runtime.model import Model, model_over_http
from canonicall.runtime.observer import Observer
from canonicall.runtime.options import Keeper, SessionOptions, known_keywords
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.session import Session
from canonicall.syntax.recovery import Recover
from canonicall.tools.bound import BoundTool
from canonicall.tools.context import ToolContext
from canonicall.tools.functions import tool
from canonicall.tools.stopped import ToolStopped
from canonicall.tools.toolset import Toolset
from canonicall.transcript.turns import Diagnostics

_WITHOUT_DETAIL = {
    "answered": "the model ended its turn without any text.",
    "cut": "the stream of the model ended in the middle of its reply.",
}
_UNFINISHED = ("failed", "cut", "cancelled")
"""Ends of a run after which its last text is not an answer."""


class AgentFailed(CanonicallError):
    """An agent has no answer. `complete` says how its run ended.

    `reason` is that of the run, `detail` what went wrong, `kind` the kind of error where the model
    failed, `text` what the model had said until then. `conversation` is all that was written: it
    is valid, and another session can go on with it. `diagnostics` are those of the request that a
    provider answered with an error.
    """

    def __init__(
        self,
        complete: CompleteEvent,
        conversation: Conversation,
        *,
        kind: str = "",
        diagnostics: Diagnostics | None = None,
    ) -> None:
        self.complete = complete
        self.conversation = conversation
        self.reason = complete.reason
        self.detail = complete.detail
        self.kind = kind
        self.diagnostics = diagnostics
        self.text = complete.text
        detail = complete.detail or _WITHOUT_DETAIL.get(complete.reason, "")
        super().__init__(
            f"there is no answer ({complete.reason})" + (f": {detail}" if detail else ".")
        )


class Agent:
    """What sessions are made from.

    A name says who is asked, over HTTP and with the keys of the environment. A `Model` asks in its
    own way the provider that `target` names. `save_refused` is a folder for requests that a
    provider refuses, one file each, without keys. `recover` says whether calls are read from the
    text of replies: "known" (the default) if the provider is known to print them, "always" or
    "off". A `Model` has its own settings for both. The other options are those of every session of
    the agent; `SessionOptions` says what each is for.

    Models may keep connections open: `async with` closes them.
    """

    @known_keywords
    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        model: TargetName | Target | Model,
        target: TargetName | Target | None = None,
        *,
        tools: Iterable[BoundTool | Toolset | Callable[..., Any]] = (),
        instructions: str = "",
        save_refused: str | Path | None = None,
        recover: Recover | None = None,
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
        self.tools = Toolset.of(*tools)
        self._model, self.target = _who_asks_whom(model, target, save_refused, recover)
        self.instructions = instructions
        self._options: SessionOptions = {
            "scheduler": scheduler,
            "approve": approve,
            "keep": keep,
            "middleware": tuple(middleware),
            "observer": observer,
            "keeps_cut_words": keeps_cut_words,
            "clock": clock,
            "limits": limits,
            "budget": budget,
            "params": params,
            "loops": loops,
            "while_pending": while_pending,
            "standing_decisions": standing_decisions,
            "tally": tally,
        }

    def session(
        self, *, conversation: Conversation | None = None, **options: Unpack[SessionOptions]
    ) -> Session:
        """A new conversation, or one that goes on; call it where an event loop runs.

        `options` count before those of the agent.
        """
        talk = Conversation() if conversation is None else conversation
        if self.instructions and not talk.entries:
            talk.append(Message("system", (Text(text=self.instructions),)))
        chosen: SessionOptions = {**self._options, **options}
        return Session(self._model, self.target, self.tools, conversation=talk, **chosen)

    async def ask(self, text: str) -> str:
        """The answer to one question, in a separate session.

        Raises `AgentFailed` where there is none: the provider failed, the run was cut or cancelled,
        or it ended without text.
        """
        session = self.session()
        return _text_of(await _answer(session, text), session)

    def ask_sync(self, text: str) -> str:
        """The same for programs without an event loop."""

        async def once() -> str:
            # Connections belong to an event loop, and this one ends with the answer.
            async with self:
                return await self.ask(text)

        return asyncio.run(once())

    def as_tool(self, name: str, description: str, **declared: Any) -> BoundTool:
        """This agent as a tool of another one: each call is a session of its own."""

        async def ask(task: str, context: ToolContext) -> str:
            if context.cancelled:
                raise ToolStopped(outcome=Outcome.NOT_RUN)
            session = self.session()

            def stop() -> None:
                """Else it would go on asking and running tools, and nobody waits for that."""
                session.cancel()
                # All that is left of it, if a call of its own does not stop in time.
                said = [
                    one.text for one in session.conversation.messages if one.role == "assistant"
                ]
                if said and said[-1]:
                    context.report(said[-1])

            context.on_cancel(stop)
            answer = await _answer(session, task)
            if answer.complete.reason == "cancelled":
                raise _stopped(session, answer.complete)
            return _text_of(answer, session)

        return tool(ask, name=name, description=description, **declared)

    async def __aenter__(self) -> Self:
        if isinstance(self._model, AbstractAsyncContextManager):
            await self._model.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(self._model, AbstractAsyncContextManager):
            await self._model.__aexit__(kind, error, trace)


def _who_asks_whom(
    model: TargetName | Target | Model,
    target: TargetName | Target | None,
    save_refused: str | Path | None,
    recover: Recover | None,
) -> tuple[Model, Target]:
    if not isinstance(model, str | Target):
        for name, given in (("save_refused", save_refused), ("recover", recover)):
            if given is not None:
                raise InvalidValue(
                    "a model of your own has its own settings.",
                    where=f"Agent({name}=...)",
                    help=f"Write HttpModel(ClientConfig({name}=...)).",
                )
        if target is None:
            raise InvalidValue(
                "a model of your own does not say who is asked.",
                where="Agent(target=...)",
                help='Name it: Agent(model, "anthropic:claude-sonnet-4-5").',
            )
        return model, get_target(target)
    if target is not None:
        raise InvalidValue(
            f"both {get_target(model).name!r} and {get_target(target).name!r} shall be asked.",
            where="Agent(target=...)",
            help="Name one of them. Fallbacks belong to HttpModel(fallbacks=[...]).",
        )
    return model_over_http(save_refused, recover), get_target(model)


class _Answer(NamedTuple):
    """How a run ended, and the last error of it."""

    complete: CompleteEvent
    error: ErrorEvent | None


def _text_of(answer: _Answer, session: Session) -> str:
    """The text of an answer; raises `AgentFailed` where it is none."""
    complete, error = answer
    if complete.text.strip() and complete.reason not in _UNFINISHED:
        return complete.text
    if complete.reason != "failed" or error is None:
        raise AgentFailed(complete, session.conversation)
    complete = replace(complete, detail=error.message or complete.detail)
    raise AgentFailed(
        complete, session.conversation, kind=error.kind, diagnostics=error.diagnostics
    )


async def _answer(session: Session, text: str) -> _Answer:
    """How the run ended; the session is over then.

    Nobody else hears of it, so a call that nobody has decided about by then is denied.
    """
    answer = CompleteEvent(reason="failed")
    error: ErrorEvent | None = None
    try:
        async for event in session.send(text):
            if isinstance(event, CompleteEvent):
                answer = event
            elif isinstance(event, ErrorEvent):
                error = event
            elif isinstance(event, StatusEvent) and event.kind in ("approval", "external"):
                _decline(session, event)
    finally:
        await session.close()
    return _Answer(answer, error)


def _decline(session: Session, event: StatusEvent) -> None:
    """Deny what would wait for ever."""
    waiting = session.undecided if event.kind == "approval" else event.calls
    for call in waiting:
        session.decide(Decided(call.id, "deny", "nobody is there to decide", by="agent"))


def _stopped(session: Session, answer: CompleteEvent) -> ToolStopped:
    """What is true of an agent that was cancelled: it may have done what its calls may have."""
    has_acted = any(
        one.outcome in MAY_HAVE_RUN and not session.scheduler.tools[one.name].read_only
        for one in session.conversation.ledger.values()
        if one.name in session.scheduler.tools
    )
    outcome = Outcome.UNKNOWN if has_acted or answer.text else Outcome.NOT_RUN
    return ToolStopped(answer.detail, outcome=outcome, partial=answer.text or None)
