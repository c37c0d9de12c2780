"""A reply as events, over all the attempts that it takes: one that breaks off is continued.

A call that was begun and not ended cannot be taken back: such a reply ends as cut. Calls that were
whole stand, and the turn ends with them. Where there were only words, another attempt can go on.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Literal, TypeAlias

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Text, Thinking, ToolCall
from canonicall.client.attempts import Attempts, NoReply, Opened
from canonicall.codec.streams import DAMAGED, TOO_LARGE
from canonicall.events import (
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    MessageStarted,
    StreamEnded,
    TextAdded,
)
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.gateway.takeover import TakenOver
from canonicall.reply import TOOL_CALLS, Reply, Usage
from canonicall.request import Request

Way: TypeAlias = Literal["cut", "ended", "again"]
"""cut: it stays broken. ended: the calls it has are all whole. again: another goes on."""

GO_ON = (
    "The connection broke while you were answering. What you had said so far is above and has been"
    " shown. Go on exactly where it stops, without repeating any of it."
)

_FINAL = (TOO_LARGE, DAMAGED)
"""The errors of replies that no other attempt goes on with."""


class Continuation:
    """The events of one reply, as the client gets them."""

    def __init__(
        self, attempts: Attempts[Any], continue_with: Callable[["Given"], None], *, continues: bool
    ) -> None:
        """`continue_with`: makes the next attempt go on behind what was given. `continues`: whether
        a reply that breaks off is brought to an end, where that can be: by another attempt that
        goes on with its words, or by the calls that it has."""
        self._attempts = attempts
        self._continue_with = continue_with
        self._continues = continues
        self._may_try_again = continues
        self._given = Given()
        self._errors: list[Event] = []
        """What the provider told of, in the reply that is the last so far."""

    async def events(self, opened: Opened[list[Event]]) -> AsyncGenerator[list[Event], None]:
        """The events of a reply, as they come; the last is `StreamEnded`. A failure is part of the
        reply: whoever has seen its beginning is told how it ended."""
        following: Opened[list[Event]] | None = opened
        end: StreamEnded | None = None
        while following is not None:
            events, rest = following.first, following.rest
            async with aclosing(rest):
                while events:
                    if isinstance(last := events[-1], StreamEnded):
                        end = last
                        self._attempts.answered(end.reply.usage, complete=end.complete)
                    if passed := self._passed(events):
                        yield passed
                    events = await anext(rest, [])
            assert end is not None  # noqa: S101  the last event of an attempt
            following = None if end.complete else await self._next(end, following.target)
        if end is not None:
            yield self._last(end)

    async def events_after(self, broken: TakenOver) -> AsyncGenerator[list[Event], None]:
        """The events that follow a reply which has broken off already, behind what the client has
        of it."""
        self._given.taken(broken.events)
        if closing := self._given.closed(broken.closing):
            yield closing
        opened = await self._next(broken.end, broken.target)
        if opened is None:
            yield self._last(broken.end)
            return
        async with aclosing(self.events(opened)) as batches:
            async for events in batches:
                yield events

    async def _next(self, end: StreamEnded, target: Target) -> Opened[list[Event]] | None:
        """The attempt that goes on after a reply broke off, where one may and does."""
        if not self._may_try_again or self._given.way != "again":
            return None
        if any(isinstance(one, ErrorReported) and one.type in _FINAL for one in self._errors):
            return None
        self._may_try_again = False
        self._errors = []
        self._given.begin_again(end)
        self._continue_with(self._given)
        if not self._attempts.has_more:
            # The one who broke off may try again.
            self._attempts.end_chain(target)
        try:
            return await self._attempts.open()
        except NoReply:
            return None

    def _passed(self, events: list[Event]) -> list[Event]:
        """What the client gets of events at once: how an attempt ended is told when it is known
        what follows."""
        last = events[-1]
        if type(last) is TextAdded and len(events) == 1:
            return self._given.taken(events)
        told = [one for one in events if type(one) not in (ErrorReported, StreamEnded)]
        if len(told) < len(events):
            self._errors += [one for one in events if isinstance(one, ErrorReported)]
        if isinstance(last, StreamEnded) and not last.complete:
            return self._given.closed(told)
        return self._given.taken(told)

    def _last(self, end: StreamEnded) -> list[Event]:
        """The end of the reply, with why it has none. Where its provider said nothing, the
        connection tells: a client whose format has other ways to stop early must not take it for
        one of those."""
        whole = self._given.whole(end)
        if self._continues and not whole.complete and self._given.way == "ended":
            whole = self._given.ended_with_calls(whole)
        why: list[Event] = []
        if not whole.complete:
            why = self._errors or [ErrorReported(whole.why, "connection")]
        return [*self._given.left(), *why, whole]


class Given:
    """What was passed on of a reply, over all attempts."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        """The calls that have begun and not ended."""
        self._ended: list[tuple[str, str]] = []
        """Id and name of the client's calls that are whole."""
        self._words: list[str] = []
        self._base = 0
        self._next = 0
        self._before: list[Reply] = []
        self._seam: Seam | None = None

    def taken(self, events: list[Event]) -> list[Event]:
        """Note events that are passed on; indices go on behind those of earlier attempts."""
        if self._base:
            events = [self._moved(event) for event in events if type(event) is not MessageStarted]
        if self._seam is not None:
            events = self._seam.joined(events)
        for event in events:
            kind = type(event)
            if kind is TextAdded:
                self._words.append(event.text)  # type: ignore[union-attr]
            elif kind is BlockStarted:
                self._start(event)  # type: ignore[arg-type]
            elif kind is BlockEnded:
                self._end(event)  # type: ignore[arg-type]
        return events

    def closed(self, events: list[Event]) -> list[Event]:
        """Note the last events of a reply that breaks off. The end of its last words is held back:
        another attempt may go on in the midst of them."""
        events = self.taken(events)
        last = events[-1] if events else None
        if self._seam is None and isinstance(last, BlockEnded) and type(last.block) is Text:
            self._seam = Seam(last)
            return events[:-1]
        return events

    def left(self) -> list[Event]:
        """What was held back and that nobody went on with."""
        return [] if self._seam is None else self._seam.left()

    @property
    def way(self) -> Way:
        """What can be done if the reply breaks off here."""
        if self._open:
            return "cut"
        if self._ended:
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
        blocks: list[Block] = []
        for reply in (*before, last):
            blocks = self._joined(blocks, reply.message.blocks)
        findings = [one for reply in before for one in reply.findings]
        why = "The connection broke in the words of the reply; another attempt went on with them."
        findings.append(Finding("stream_continued", "reply", Action.CHANGED, why, Fault.INPUT))
        usage = last.usage
        for reply in before:
            usage = _sum(reply.usage, usage)
        message = replace(last.message, blocks=tuple(blocks))
        whole = replace(last, message=message, usage=usage, findings=(*findings, *last.findings))
        return replace(end, reply=whole)

    def _joined(self, blocks: list[Block], more: tuple[Block, ...]) -> list[Block]:
        first = more[0] if more else None
        is_joined = self._seam is not None and self._seam.is_joined
        if blocks and is_joined and isinstance(blocks[-1], Text) and isinstance(first, Text):
            begun = blocks[-1]
            words = replace(first, text=begun.text + first.text, opaque=begun.opaque)
            return [*blocks[:-1], words, *more[1:]]
        return [*blocks, *more]

    def ended_with_calls(self, end: StreamEnded) -> StreamEnded:
        """The end of a reply that broke off behind whole calls: it ends with them."""
        why = f"The stream broke off behind whole calls ({end.why}); the turn ends with them."
        told = Finding("stream_ended_early", "reply", Action.CHANGED, why, Fault.INPUT)
        message = end.reply.message
        blocks = self._whole_blocks(message.blocks)
        while blocks and isinstance(blocks[-1], Thinking):
            blocks.pop()
        message = replace(message, blocks=tuple(blocks), finish=TOOL_CALLS, partial=False)
        # What its own fields say of the whole is that it has no end.
        findings = (*end.reply.findings, told)
        return StreamEnded(
            replace(end.reply, message=message, native=None, findings=findings), complete=True
        )

    def _whole_blocks(self, blocks: tuple[Block, ...]) -> list[Block]:
        """Without calls that never began for the client. The last one is marked as cut because
        nothing follows it; where its own end was seen, it is whole."""
        ended = list(self._ended)
        kept: list[Block] = []
        for block in blocks:
            if not isinstance(block, ToolCall) or block.kind == "server":
                kept.append(block)
            elif (block.id, block.name) in ended:
                ended.remove((block.id, block.name))
                kept.append(replace(block, truncated=False))
        return kept

    def _start(self, event: BlockStarted) -> None:
        self._next = max(self._next, event.index + 1)
        block = event.block
        if isinstance(block, ToolCall):
            self._open.add(event.index)
        elif isinstance(block, Text) and block.text:
            self._words.append(block.text)

    def _end(self, event: BlockEnded) -> None:
        block = event.block
        if isinstance(block, ToolCall) and block.truncated:
            # It ended inside its arguments: nothing makes it whole any more.
            return
        self._open.discard(event.index)
        if isinstance(block, ToolCall) and block.kind != "server":
            self._ended.append((block.id, block.name))

    def _moved(self, event: Event) -> Event:
        index = getattr(event, "index", None)
        return event if index is None else replace(event, index=index + self._base)


class Seam:
    """Between words that broke off and those that go on with them: one block, as a break may be in
    the midst of a word."""

    def __init__(self, end: BlockEnded) -> None:
        self._end: BlockEnded | None = end
        """The end of the words that broke off, until it is told or not needed."""
        self._index = end.index
        self._words = end.block.text if isinstance(end.block, Text) else ""
        self._joined_index: int | None = None

    @property
    def is_joined(self) -> bool:
        return self._joined_index is not None

    def joined(self, events: list[Event]) -> list[Event]:
        """Events of the attempt that goes on; words that it begins with are more of the same."""
        made: list[Event] = []
        for event in events:
            if isinstance(event, BlockStarted) and self._end is not None:
                if type(event.block) is not Text:
                    made += self.left()
                    made.append(event)
                    continue
                self._end, self._joined_index = None, event.index
                if event.block.text:
                    made.append(TextAdded(self._index, event.block.text))
            elif self.is_joined and getattr(event, "index", None) == self._joined_index:
                made.append(self._more(event))
            else:
                made.append(event)
        return made

    def left(self) -> list[Event]:
        """The end that was held back, once."""
        end, self._end = self._end, None
        return [] if end is None else [end]

    def _more(self, event: Event) -> Event:
        if isinstance(event, BlockEnded) and isinstance(event.block, Text):
            words = replace(event.block, text=self._words + event.block.text)
            return BlockEnded(self._index, words)
        return replace(event, index=self._index)


def _sum(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    counted = {name: getattr(one, name) + getattr(other, name) for name in names}
    return Usage(**counted, reasoning_tokens=one.reasoning_tokens + other.reasoning_tokens)
