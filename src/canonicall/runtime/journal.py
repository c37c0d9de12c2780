"""The journal: what was begun and what came of it, by the canonical id of the call.

A line is written before a side effect can start, and another when it has ended. So a call that is
seen again, after a retry or a crash, is not run again: its result is known, or it is known that
nobody can tell.
"""

from typing import Protocol

from msgspec import Struct

from canonicall.agent.inputs import CallEnded
from canonicall.blocks import ToolCall


class Begun(Struct, frozen=True):
    """A call that was started once; `ended` is None where its end was never written."""

    call_id: str
    ended: CallEnded | None = None


class Journal(Protocol):
    """Where it is written. What `begin` and `end` write is safe when they return."""

    async def begin(self, call: ToolCall) -> Begun | None:
        """Write that the call starts now; what is known of it where it was started before."""
        ...

    async def end(self, ended: CallEnded) -> None:
        """Write how the call ended."""
        ...


class MemoryJournal:
    """A journal for as long as the process lives."""

    def __init__(self) -> None:
        self._begun: dict[str, Begun] = {}

    async def begin(self, call: ToolCall) -> Begun | None:
        known = self._begun.get(call.id)
        if known is None:
            self._begun[call.id] = Begun(call.id)
        return known

    async def end(self, ended: CallEnded) -> None:
        self._begun[ended.call_id] = Begun(ended.call_id, ended)
