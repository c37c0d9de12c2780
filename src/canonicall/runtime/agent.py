"""An agent: a model, its tools and its instructions; every conversation with it is a session."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self

from msgspec.structs import replace

from canonicall.agent.inputs import Decided
from canonicall.blocks import Message, Text
from canonicall.conversation import Conversation
from canonicall.errors import CanonicallError, InvalidValue
from canonicall.outcome import MAY_HAVE_RUN, Outcome
from canonicall.providers.registry import get_target
from canonicall.runtime.events import CompleteEvent, ErrorEvent, StatusEvent
from canonicall.runtime.model import Model, model_over_http
from canonicall.runtime.session import Session
from canonicall.target import Target
from canonicall.tools.bound import BoundTool
from canonicall.tools.context import ToolContext
from canonicall.tools.functions import tool
from canonicall.tools.stopped import ToolStopped
from canonicall.tools.toolset import Toolset


class Agent:
    """What sessions are made from.

    A name says who is asked, over HTTP and with the keys of the environment. A `Model` asks in a
    way of its own whoever `target` names. Options are those of `Session`: limits, approve,
    middleware and so on.

    Models may keep connections open: `async with` closes them.
    """

    def __init__(
        self,
        model: str | Target | Model,
        target: str | Target | None = None,
        *,
        tools: Iterable[BoundTool | Toolset | Callable[..., Any]] = (),
        instructions: str = "",
        **options: Any,
    ) -> None:
        self.tools = Toolset.of(*tools)
        self._model, self.target = _who_asks_whom(model, target)
        self.instructions = instructions
        self._options = options

    def session(self, *, conversation: Conversation | None = None, **options: Any) -> Session:
        """A new conversation, or one that goes on; call it where an event loop runs."""
        talk = Conversation() if conversation is None else conversation
        if self.instructions and not talk.entries:
            talk.append(Message("system", (Text(text=self.instructions),)))
        return Session(
            self._model,
            self.target,
            self.tools,
            conversation=talk,
            **{**self._options, **options},
        )

    async def ask(self, text: str) -> str:
        """One question in a session of its own; the words of the answer."""
        answer = await _answer(self.session(), text)
        return answer.text or f"There is no answer: {_why(answer)}"

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
            if answer.reason == "cancelled":
                raise _stopped(session, answer)
            if answer.reason == "failed" or not answer.text:
                raise SubAgentFailed(_why(answer))
            return answer.text

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
    model: str | Target | Model, target: str | Target | None
) -> tuple[Model, Target]:
    if not isinstance(model, str | Target):
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
    return model_over_http(), get_target(model)


class SubAgentFailed(CanonicallError):
    """An agent that is a tool of another one has no answer."""


async def _answer(session: Session, text: str) -> CompleteEvent:
    """How the run ended; the session is over then.

    Nobody else hears of it, so a call that nobody has decided about by then is denied.
    """
    answer = CompleteEvent(reason="failed")
    problem = ""
    try:
        async for event in session.send(text):
            if isinstance(event, CompleteEvent):
                answer = event
            elif isinstance(event, ErrorEvent):
                problem = event.message
            elif isinstance(event, StatusEvent) and event.kind in ("approval", "external"):
                _decline(session, event)
    finally:
        await session.close()
    return replace(answer, detail=problem) if answer.reason == "failed" and problem else answer


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


def _why(answer: CompleteEvent) -> str:
    return answer.detail or answer.reason
