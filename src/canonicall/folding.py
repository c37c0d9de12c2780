"""Events to a reply, and a reply to events.

`fold` gives the same reply however the stream was split. A stream that did not get to its end is
folded from its pieces: what was still open is kept as far as it came, and marked.
"""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from canonicall.blocks import Block, Message, Origin, Summary, Text, Thinking, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    FinishReported,
    MessageStarted,
    SignatureAdded,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.reply import ERROR, LENGTH, Reply, Usage


def fold(events: Iterable[Event]) -> Reply:
    """The reply that a stream told of."""
    folder = Folder()
    for event in events:
        folder.add(event)
    return folder.reply


class Folder:
    """Folds events one by one."""

    def __init__(self) -> None:
        self._origin: Origin | None = None
        self._blocks: dict[int, Block] = {}
        self._pieces: dict[int, list[str]] = {}
        self._usage: Usage | None = None
        self._finish = ""
        self._reply: Reply | None = None

    def add(self, event: Event) -> None:
        match event:
            case TextAdded() | ThinkingAdded() | ArgumentsAdded():
                self._pieces.setdefault(event.index, []).append(event.text)
            case BlockStarted() | BlockEnded():
                self._blocks[event.index] = event.block
                self._pieces.pop(event.index, None)
            case SignatureAdded():
                block = self._blocks[event.index]
                self._blocks[event.index] = replace(block, opaque=(*block.opaque, event.opaque))
            case MessageStarted():
                self._origin = event.origin
            case UsageReported():
                self._usage = event.usage
            case FinishReported():
                self._finish = event.finish
            case ErrorReported():
                self._finish = ERROR
            case StreamEnded():
                self._reply = event.reply

    @property
    def reply(self) -> Reply:
        """The reply so far; the one at the end of the stream, once that is there."""
        if self._reply is not None:
            return self._reply
        blocks = tuple(
            _grown(self._blocks[index], "".join(self._pieces.get(index, ())))
            for index in sorted(self._blocks)
        )
        message = Message(
            "assistant", blocks, origin=self._origin, finish=self._finish, partial=True
        )
        return Reply(with_truncated_call(message), self._usage)


def events_of(reply: Reply) -> Iterator[Event]:
    """A whole reply as the events of a stream."""
    message = reply.message
    yield MessageStarted(message.origin or Origin())
    for index, block in enumerate(message.blocks):
        yield from _events_of_block(index, block)
    if reply.usage is not None:
        yield UsageReported(reply.usage)
    yield FinishReported(message.finish)
    yield StreamEnded(reply, complete=not message.partial)


def with_truncated_call(message: Message) -> Message:
    """`message` in which a call that may have been cut is marked.

    That is the call at its very end, where the stream broke off or the token limit was reached.
    """
    blocks = message.blocks
    if not blocks or not (message.partial or message.finish == LENGTH):
        return message
    last = blocks[-1]
    if not isinstance(last, ToolCall) or last.kind == "server" or last.truncated:
        return message
    return replace(message, blocks=(*blocks[:-1], replace(last, truncated=True)))


def _grown(block: Block, text: str) -> Block:
    if not text:
        return block
    match block:
        case Text() | Thinking() | Summary():
            return replace(block, text=block.text + text)
        case ToolCall():
            return replace(block, raw=(block.raw or "") + text)
        case _:
            return block


def _events_of_block(index: int, block: Block) -> Iterator[Event]:
    match block:
        case Text(text=text) if text and not block.opaque:
            yield BlockStarted(index, replace(block, text=""))
            yield TextAdded(index, text)
        case Thinking(text=text) if text:
            yield BlockStarted(index, replace(block, text="", opaque=()))
            yield ThinkingAdded(index, text)
            for opaque in block.opaque:
                yield SignatureAdded(index, opaque)
        case ToolCall(kind="function" | "custom"):
            yield BlockStarted(index, replace(block, args=None, raw=None))
            text = raw_arguments(block)
            if text:
                yield ArgumentsAdded(index, text)
        case _:
            yield BlockStarted(index, block)
    yield BlockEnded(index, block)


def raw_arguments(call: ToolCall) -> str:
    """The arguments of a call as text."""
    if call.raw is not None:
        return call.raw
    return "" if call.args is None else msgspec.json.encode(call.args).decode()
