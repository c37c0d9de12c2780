"""An agent: a model, its tools and its instructions; every conversation with it is a session."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from canonicall.blocks import Message, Text
from canonicall.conversation import Conversation
from canonicall.runtime.events import CompleteEvent, ErrorEvent
from canonicall.runtime.model import Model
from canonicall.runtime.session import Session
from canonicall.target import Target
from canonicall.tools.bound import BoundTool
from canonicall.tools.context import ToolContext
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset


class Agent:
    """What sessions are made from.

    `target` names who is asked, `model` is what asks it. Options are those of `Session`: limits,
    approve, middleware and so on.
    """

    def __init__(
        self,
        model: Model,
        target: str | Target,
        *,
        tools: Iterable[BoundTool | Toolset | Callable[..., Any]] = (),
        instructions: str = "",
        **options: Any,
    ) -> None:
        self.tools = Toolset.of(*tools)
        self.target = target
        self.instructions = instructions
        self._model = model
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
        return await _answer(self.session(), text)

    def ask_sync(self, text: str) -> str:
        """The same for programs without an event loop."""
        return asyncio.run(self.ask(text))

    def as_tool(self, name: str, description: str, **declared: Any) -> BoundTool:
        """This agent as a tool of another one: each call is a session of its own."""

        async def ask(task: str, context: ToolContext) -> str:
            session = self.session()
            # Else it would go on asking and running tools until nobody waits for it any more.
            context.on_cancel(session.cancel)
            if context.cancelled:
                return "There is no answer: it was cancelled before it began"
            return await _answer(session, task)

        return tool(ask, name=name, description=description, **declared)


async def _answer(session: Session, text: str) -> str:
    """The words of the answer, or why there are none; the session is over then."""
    answer, problem = CompleteEvent(reason="failed"), ""
    try:
        async for event in session.send(text):
            if isinstance(event, CompleteEvent):
                answer = event
            elif isinstance(event, ErrorEvent):
                problem = event.message
    finally:
        await session.close()
    return answer.text or f"There is no answer: {problem or answer.detail or answer.reason}"
