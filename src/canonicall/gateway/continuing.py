"""What a client has been given of a reply, and what can be done where it breaks off there.

A call that was begun and not ended cannot be taken back: such a reply ends as cut. Calls that were
whole stand, and the turn ends with them. Where there were only words, another attempt can go on.
"""

from typing import Literal, TypeAlias

from msgspec.structs import replace

from canonicall.blocks import Message, Text, Thinking, ToolCall
from canonicall.events import (
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    MessageStarted,
    StreamEnded,
    TextAdded,
)
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import TOOL_CALLS, Reply, Usage
from canonicall.request import Request

Way: TypeAlias = Literal["cut", "ended", "again"]
"""cut: it stays broken. ended: the calls it has are all whole. again: another goes on."""

GO_ON = (
    "The connection broke while you were answering. What you had said so far is above and has been"
    " shown. Go on exactly where it stops, without repeating any of it."
)


class Given:
    """What was passed on of a reply, over all attempts."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._calls = 0
        self._words: list[str] = []
        self._base = 0
        self._next = 0
        self._before: list[Reply] = []

    def taken(self, events: list[Event]) -> list[Event]:
        """Note events that are passed on; indices go on behind those of earlier attempts."""
        if self._base:
            events = [self._moved(event) for event in events if type(event) is not MessageStarted]
        for event in events:
            kind = type(event)
            if kind is TextAdded:
                self._words.append(event.text)  # type: ignore[union-attr]
            elif kind is BlockStarted:
                self._start(event)  # type: ignore[arg-type]
            elif kind is BlockEnded:
                self._open.discard(event.index)  # type: ignore[union-attr]
        return events

    @property
    def way(self) -> Way:
        """What can be done if the reply breaks off here."""
        if self._open:
            return "cut"
        if self._calls:
            return "ended"
        return "again" if "".join(self._words).strip() else "cut"

    def request_to_go_on(self, request: Request) -> Request:
        """`request` with the words that came, for whoever goes on with them."""
        conversation = request.conversation.fork()
        words = Text(text="".join(self._words))
        conversation.append(Message("assistant", (words,), partial=True))
        conversation.user(GO_ON)
        return replace(request, conversation=conversation)

    def begin_again(self, end: StreamEnded) -> None:
        """Another attempt follows the one that ended so."""
        self._base = self._next
        self._before.append(end.reply)

    def whole(self, end: StreamEnded) -> StreamEnded:
        """The end of all attempts together."""
        before = [reply for reply in self._before if reply is not end.reply]
        if not before:
            return end
        last = end.reply
        parts = [reply.message.blocks for reply in before]
        blocks = tuple(block for part in (*parts, last.message.blocks) for block in part)
        findings = [one for reply in before for one in reply.findings]
        why = "The connection broke in the words of the reply; another attempt went on with them."
        findings.append(Finding("stream_continued", "reply", Action.CHANGED, why, Fault.INPUT))
        usage = last.usage
        for reply in before:
            usage = _sum(reply.usage, usage)
        message = replace(last.message, blocks=blocks)
        whole = replace(last, message=message, usage=usage, findings=(*findings, *last.findings))
        return replace(end, reply=whole)

    def _start(self, event: BlockStarted) -> None:
        self._next = max(self._next, event.index + 1)
        block = event.block
        if isinstance(block, ToolCall):
            self._open.add(event.index)
            self._calls += block.kind != "server"
        elif isinstance(block, Text) and block.text:
            self._words.append(block.text)

    def _moved(self, event: Event) -> Event:
        index = getattr(event, "index", None)
        return event if index is None else replace(event, index=index + self._base)


def ended_with_calls(end: StreamEnded) -> StreamEnded:
    """The end of a reply that broke off behind whole calls: it ends with them."""
    why = f"The stream broke off behind whole calls ({end.why}); the turn ends with them."
    told = Finding("stream_ended_early", "reply", Action.CHANGED, why, Fault.INPUT)
    message = end.reply.message
    kept = tuple(
        block for block in message.blocks if not (isinstance(block, ToolCall) and block.truncated)
    )
    while kept and isinstance(kept[-1], Thinking):
        kept = kept[:-1]
    message = replace(message, blocks=kept, finish=TOOL_CALLS, partial=False)
    reply = replace(end.reply, message=message, findings=(*end.reply.findings, told))
    return StreamEnded(reply, complete=True)


def without_end(events: list[Event]) -> list[Event]:
    """What is passed on at once: how an attempt ended is told when it is known what follows."""
    if not isinstance(events[-1], StreamEnded):
        return events
    return [one for one in events[:-1] if not isinstance(one, ErrorReported)]


def _sum(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    counted = {name: getattr(one, name) + getattr(other, name) for name in names}
    return Usage(**counted, reasoning_tokens=one.reasoning_tokens + other.reasoning_tokens)
