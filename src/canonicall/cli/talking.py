"""One turn of a talk: something is said, and what comes of it is heard to its end.

Ctrl-C stops the turn, not the program: what was running gets the end that is true for it, and the
conversation stays fit to go on.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec import Struct

from canonicall.blocks import CallClosed
from canonicall.cli.approvals import Approvals
from canonicall.cli.listeners import Listener
from canonicall.cli.reading import Interrupted, Interrupts
from canonicall.outcome import Outcome
from canonicall.runtime.events import AgentEvent, CompleteEvent, StatusEvent
from canonicall.runtime.session import Session


class Ended(Struct, frozen=True):
    """How a turn ended."""

    complete: CompleteEvent
    was_interrupted: bool = False
    was_denied: bool = False
    """Whether a call was not allowed to run."""


class Talk:
    """Says things in a session, and lets somebody hear what happens."""

    def __init__(self, listener: Listener, approvals: Approvals, interrupts: Interrupts) -> None:
        self.listener = listener
        self.approvals = approvals
        self.interrupts = interrupts

    async def say(self, session: Session, text: str) -> Ended:
        """Say `text` and wait for the end."""
        return await self._heard(session, session.send(text))

    async def resume(self, session: Session) -> Ended:
        """Go on with the calls that wait in a session, and wait for the end."""
        return await self._heard(session, session.resume())

    async def _heard(self, session: Session, run: AsyncGenerator[AgentEvent, None]) -> Ended:
        """Hear what happens in a run, and ask about calls that need approval."""
        complete = CompleteEvent(reason="failed")
        interrupted = denied = False

        def interrupt() -> None:
            nonlocal interrupted
            interrupted = True
            session.cancel()

        with self.interrupts.to(interrupt):
            # Where nobody reads what is shown any more, the turn ends here and now.
            async with aclosing(run) as events:
                async for event in events:
                    self.listener.hear(event)
                    if isinstance(event, CompleteEvent):
                        complete = event
                    elif isinstance(event, StatusEvent) and event.kind == "approval":
                        try:
                            await self._approve(session, event)
                        except Interrupted:
                            interrupt()
                    elif isinstance(event, StatusEvent) and isinstance(event.entry, CallClosed):
                        denied = denied or event.entry.outcome is Outcome.DENIED
        return Ended(complete, interrupted, denied)

    async def overhear(self, session: Session) -> None:
        """Let somebody hear what happens between turns, when it does: results that come late."""
        async for event in session.listen(only_between=True):
            self.listener.hear(event)

    async def _approve(self, session: Session, event: StatusEvent) -> None:
        """Ask about the calls that nothing has been said about yet."""
        for call in event.calls:
            if call in session.undecided:
                session.decide(await self.approvals.decide(call))
