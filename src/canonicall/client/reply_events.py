"""What comes back: bytes in, events out, with calls that leaked into words read as calls, and the
names and kinds of tools as they were offered."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from functools import cached_property

from msgspec.structs import replace

from canonicall.blocks import Message, Origin, Text, Thinking, ToolCall
from canonicall.client.failure import MALFORMED
from canonicall.client.free_text import FreeText
from canonicall.client.transport import Response, TooMuch, TransportError, whole_body
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import Encoded
from canonicall.codec.streams import TOO_LARGE, StreamDecoder
from canonicall.errors import MalformedBody
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.findings import Finding
from canonicall.folding import events_of
from canonicall.framing.limits import DEFAULT_LIMITS, ReplyLimits
from canonicall.request import Request, Tool
from canonicall.syntax.recovery import CallRecovery, Recover, reads_text
from canonicall.transcript.grouping import alone, members_of
from canonicall.wire.formats import get_format
from canonicall.wire.reading import parse_body

_CHANGED = (BlockStarted, BlockEnded, StreamEnded)


class ReplyEvents:
    """One reply to one encoded request."""

    def __init__(
        self,
        encoded: Encoded,
        request: Request,
        *,
        after_end: float,
        limits: ReplyLimits = DEFAULT_LIMITS,
        recover: Recover = "known",
    ) -> None:
        """`request`: what was encoded. `after_end`: seconds for what may follow the end of the
        reply. `limits`: the most that is read of it. `recover`: whether calls are read from its
        text."""
        self._limits = limits
        self._after_end = after_end
        self._target = encoded.target
        self._names = encoded.transcript.names
        self._members = members_of(request.tools, encoded.target)
        offered = _as_sent(alone(request.tools, encoded.target), self._names)
        self._recovery: CallRecovery | None = None
        if offered and reads_text(recover, encoded.target):
            known = encoded.target if recover == "known" else None
            self._recovery = CallRecovery(offered, request=request, target=known)
        texts = {tool.name for tool in offered if tool.kind == "custom"}
        needs_reading = texts and not encoded.target.custom_tools
        self._free_text = FreeText(texts) if needs_reading else None
        self.broken: TransportError | None = None
        """What cut the reply off, if the connection did."""

    @cached_property
    def _decoder(self) -> StreamDecoder:
        """Most bodies that come whole do without it."""
        target = self._target
        return StreamDecoder(
            target.format, provider=target.provider, limits=self._limits, skips=False
        )

    async def read(self, response: Response) -> AsyncGenerator[list[Event], None]:
        """The events as they come, some at a time; with the last ones comes `StreamEnded`.

        A body that is no stream is read whole: hosts answer so that cannot stream, and with errors.
        """
        if response.headers.get("content-type", "").startswith("application/json"):
            yield await self._read_whole(response)
            return
        decoder = self._decoder
        chunks, left = response.chunks(), self._limits.total_bytes
        try:
            async for chunk in chunks:
                left -= len(chunk)
                if left < 0:
                    raise TooMuch(self._limits.too_many_bytes())
                events = self._passed(decoder.feed(chunk))
                if events:
                    yield events
                if decoder.done or decoder.is_broken:
                    break
        except TransportError as error:
            self.broken = error
        rest = await self._rest(chunks) if decoder.done and not decoder.is_broken else []
        yield [*rest, *self._told(), *self._passed(decoder.close())]

    def _told(self) -> list[Event]:
        """The error of a reply that is too large: who has seen its beginning must not ask again."""
        broken = self.broken
        if not isinstance(broken, TooMuch):
            return []
        return [ErrorReported(broken.what, TOO_LARGE)]

    async def _rest(self, chunks: AsyncIterator[bytes]) -> list[Event]:
        """What follows the end: it is not waited for long, and what breaks there does no harm."""
        events: list[Event] = []
        try:
            async with asyncio.timeout(self._after_end):
                async for chunk in chunks:
                    events += self._passed(self._decoder.feed(chunk))
        except (TimeoutError, TransportError):
            pass
        return events

    async def _read_whole(self, response: Response) -> list[Event]:
        try:
            data = await whole_body(response.chunks(), self._limits)
        except TransportError as error:
            self.broken = error
            return [*self._told(), *self._passed(self._decoder.close())]
        if data.lstrip()[:1] == b"{":
            return self._whole_body(data)
        return self._passed([*self._decoder.feed(data), *self._decoder.close()])

    def _whole_body(self, data: bytes) -> list[Event]:
        format = self._target.format
        why = "there is no message in it"
        try:
            findings: list[Finding] = []
            body = parse_body(data, findings)
            if body.get("error"):
                said = get_format(format).decode_error(body)
                said_so = ErrorReported(said.message, said.type, body)
                return self._passed([said_so, *self._decoder.close()])
            reply = decode_response(body, format, provider=self._target.provider)
            reply = replace(reply, findings=(*findings, *reply.findings))
            if reply.message.blocks or reply.finish:
                if self._recovery is not None:
                    reply = self._recovery.whole(reply)
                return self._own_events(events_of(reply))
        except MalformedBody as error:
            why = str(error)
        unread = ErrorReported(f"the reply cannot be read: {why}", MALFORMED)
        return self._passed([unread, *self._decoder.close()])

    def _passed(self, events: list[Event]) -> list[Event]:
        if self._recovery is not None:
            events = self._recovery.feed_all(events)
        return self._own_events(events)

    def _own_events(self, events: Iterable[Event]) -> list[Event]:
        if self._free_text is not None:
            events = self._free_text.feed_all(events)
        # Nearly all events are pieces of words, which stay as they are.
        return [self._named(one) if type(one) in _CHANGED else one for one in events]

    def _named(self, event: Event) -> Event:
        match event:
            case BlockStarted(block=ToolCall() as call) | BlockEnded(block=ToolCall() as call):
                return replace(event, block=self._own(call))
            case StreamEnded():
                message = self._made(event.reply.message)
                why = event.why if event.complete or self.broken is None else str(self.broken)
                return replace(event, reply=replace(event.reply, message=message), why=why)
            case _:
                return event

    def _made(self, message: Message) -> Message:
        """The message with the tools' own names, and with who made it.

        Some formats do not name the model in a reply; what only that model can read depends on it.
        """
        made = message.origin or Origin(self._target.provider, self._target.format)
        origin = made if made.model else replace(made, model=self._target.model)
        blocks = tuple(
            self._own(block) if isinstance(block, ToolCall) else block for block in message.blocks
        )
        return replace(message, blocks=blocks, origin=origin)

    def _own(self, call: ToolCall) -> ToolCall:
        name = self._names.get(call.name, call.name)
        member = self._members.get(name)
        if member is not None:
            return member.own_call(call)
        return call if name == call.name else replace(call, name=name)


def _as_sent(tools: Iterable[Tool], names: dict[str, str]) -> list[Tool]:
    """The tools under the names that the model knows them by."""
    sent = {own: wire for wire, own in names.items()}
    return [
        replace(tool, name=sent[tool.name]) if sent.get(tool.name, tool.name) != tool.name else tool
        for tool in tools
    ]


def is_content(event: Event) -> bool:
    """Whether somebody who saw this would notice that the reply begins anew."""
    match event:
        case TextAdded() | ThinkingAdded() | ArgumentsAdded():
            return bool(event.text)
        case (
            BlockStarted(block=Text() | Thinking() as block)
            | BlockEnded(block=Text() | Thinking() as block)
        ):
            return bool(block.text)
        case BlockStarted() | BlockEnded() | StreamEnded():
            return True
        case _:
            return False
