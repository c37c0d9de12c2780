"""What a person or a program hears of a run while it goes on. Typed, versioned, one JSON line each.

`status` events of the kind "written" carry the entries of the conversation as they are written:
folding them gives the conversation back, whatever else was heard in between.
"""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from canonicall.agent.commands import Finish
from canonicall.agent.limits import Spent
from canonicall.blocks import Entry, Message, ToolCall, ToolResult
from canonicall.conversation import Conversation
from canonicall.findings import Finding
from canonicall.transcript.turns import Diagnostics

VERSION = 1


class _AgentEvent(Struct, frozen=True, tag_field="type", omit_defaults=True, kw_only=True):
    version: int = VERSION


class TextEvent(_AgentEvent, frozen=True, tag="text"):
    """More words of the model, or of its reasoning."""

    text: str
    thinking: bool = False


class ToolCallEvent(_AgentEvent, frozen=True, tag="tool_call"):
    """A call: made by the model, running, telling how far it is, ended.

    late: a result came when the call had ended without one. It is recorded and changes nothing.
    """

    phase: Literal["made", "progress", "ended", "late"]
    call: ToolCall
    outcome: str = ""
    result: ToolResult | None = None
    progress: Any = None


class StatusEvent(_AgentEvent, frozen=True, tag="status"):
    """Where the run stands: asking, approval, external, written, cut; and what the model tells of
    itself: repaired, retrying, recovered, switched, skipped, answered, saved."""

    kind: str
    detail: str = ""
    calls: tuple[ToolCall, ...] = ()
    """The calls it is about."""
    entry: Entry | None = None
    """What was written to the conversation."""
    findings: tuple[Finding, ...] = ()
    """repaired: what was changed for the request that is sent."""
    diagnostics: Diagnostics | None = None
    """repaired: the ids in that request, and what was decided about calls and results."""


class ErrorEvent(_AgentEvent, frozen=True, tag="error"):
    """Something went wrong. The run may go on: what came of it is in the events behind."""

    message: str
    kind: str = ""
    diagnostics: Diagnostics | None = None
    """Of the request that a provider answered with an error."""


class CompleteEvent(_AgentEvent, frozen=True, tag="complete"):
    """The run is over."""

    reason: str
    detail: str = ""
    text: str = ""
    """The last words of the model."""
    turns: int = 0
    tool_calls: int = 0
    tokens: int = 0
    seconds: float = 0.0


AgentEvent: TypeAlias = TextEvent | ToolCallEvent | StatusEvent | ErrorEvent | CompleteEvent


def fold_events(events: Iterable[AgentEvent]) -> Conversation:
    """The conversation that a run wrote, from its events."""
    conversation = Conversation()
    written = (event.entry for event in events if isinstance(event, StatusEvent))
    conversation.extend((entry for entry in written if entry is not None), stored=True)
    return conversation


def completed(end: Finish, spent: Spent, conversation: Conversation) -> CompleteEvent:
    """The end of a run, with what the model said at the very end; nothing where something else
    stands there."""
    last = conversation.entries[-1] if conversation.entries else None
    said = last.text if isinstance(last, Message) and last.role == "assistant" else ""
    return CompleteEvent(
        reason=end.reason,
        detail=end.detail,
        text=end.text or said,
        turns=spent.turns,
        tool_calls=spent.tool_calls,
        tokens=spent.tokens,
        seconds=spent.seconds,
    )
