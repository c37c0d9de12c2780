"""Who hears what happens in a session: whoever sent something, and whoever listens all the time.

Each has a queue of its own. What happens between two runs, such as a result that comes late, is
heard when it happens by those who listen; whoever sends later does not hear it again.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from msgspec import Struct

from canonicall.runtime.events import AgentEvent


class Safe(Struct, frozen=True):
    """Stands between events: those behind it are told when this has come."""

    kept: Awaitable[object]


EventQueue: TypeAlias = "asyncio.Queue[AgentEvent | Safe | None]"
"""None is the end."""


async def heard(queue: EventQueue) -> AsyncGenerator[AgentEvent, None]:
    """The events of a queue, each when it may be told."""
    while (one := await queue.get()) is not None:
        if isinstance(one, Safe):
            await one.kept
        else:
            yield one


class Listeners:
    """Passes events on."""

    def __init__(self) -> None:
        self._run: EventQueue | None = None
        self._listening: dict[EventQueue, bool] = {}
        """Each with whether it wants what comes between runs only."""
        self._is_closed = False

    def tell(self, event: AgentEvent) -> None:
        """Something happened."""
        self._put(event)

    def wait_for(self, kept: Awaitable[object]) -> None:
        """What happens from now on is told when this has come."""
        self._put(Safe(kept))

    def _put(self, event: AgentEvent | Safe) -> None:
        if self._run is not None:
            self._run.put_nowait(event)
        for queue, only_between in self._listening.items():
            if self._run is None or not only_between:
                queue.put_nowait(event)

    @contextmanager
    def of_a_run(self) -> Iterator[EventQueue]:
        """The events of the run that begins now."""
        queue: EventQueue = asyncio.Queue()
        self._run = queue
        try:
            yield queue
        finally:
            if self._run is queue:
                self._run = None

    @contextmanager
    def all(self, *, only_between: bool) -> Iterator[EventQueue]:
        """All events from now on."""
        queue: EventQueue = asyncio.Queue()
        self._listening[queue] = only_between
        if self._is_closed:
            queue.put_nowait(None)
        try:
            yield queue
        finally:
            del self._listening[queue]

    def close(self) -> None:
        """Nothing more will happen."""
        self._is_closed = True
        for queue in (*self._listening, *((self._run,) if self._run else ())):
            queue.put_nowait(None)
