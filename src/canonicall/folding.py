"""Events to a reply, and a reply to events.

`fold` gives the same reply however the stream was split. A stream that did not get to its end is
folded from its pieces: what was still open is kept as far as it came, and marked.
"""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from canonicall.arguments import agreeing, message_with_arguments
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
from canonicall.findings import Finding
from canonicall.reply import CONTEXT_OVERFLOW, ERROR, LENGTH, Reply, Usage

CUT_SHORT = (LENGTH, CONTEXT_OVERFLOW)
"""The ends at which a limit cut the reply off: its last call may not be whole."""
WHY_CUT = "the stream ended before the provider said that it was complete"


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
        self._open: set[int] = set()
        self._usage: Usage | None = None
        self._finish = ""
        self._reply: Reply | None = None

    def add(self, event: Event) -> None:
        match event:
            case TextAdded() | ThinkingAdded() | ArgumentsAdded():
                self._pieces.setdefault(event.index, []).append(event.text)
            case BlockStarted():
                self._blocks[event.index] = event.block
                self._open.add(event.index)
            case BlockEnded():
                self._blocks[event.index] = event.block
                self._pieces.pop(event.index, None)
                self._open.discard(event.index)
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
        blocks = tuple(map(self._block, sorted(self._blocks)))
        message = Message(
            "assistant", blocks, origin=self._origin, finish=self._finish, partial=True
        )
        findings: list[Finding] = []
        message = message_with_arguments(with_truncated_call(message), findings)
        return Reply(message, self._usage, tuple(findings))

    def _block(self, index: int) -> Block:
        """A block as far as it has come."""
        block = _grown(self._blocks[index], "".join(self._pieces.get(index, ())))
        return _cut(block) if index in self._open else block


def events_of(reply: Reply) -> Iterator[Event]:
    """A whole reply as the events of a stream. A call that a cut stream left open stays open."""
    message = reply.message
    yield MessageStarted(message.origin or Origin())
    for index, block in enumerate(message.blocks):
        yield from block_events(index, block)
        if not (message.partial and isinstance(block, ToolCall) and block.truncated):
            yield BlockEnded(index, block)
    if reply.usage is not None:
        yield UsageReported(reply.usage)
    yield FinishReported(message.finish)
    yield StreamEnded(reply, not message.partial, WHY_CUT if message.partial else "")


def with_truncated_call(message: Message) -> Message:
    """`message` in which a call that may have been cut is marked.

    That is the call at its very end, where the stream broke off or the token limit was reached.
    """
    blocks = message.blocks
    if not blocks or not (message.partial or message.finish in CUT_SHORT):
        return message
    last = _cut(blocks[-1])
    return message if last is blocks[-1] else replace(message, blocks=(*blocks[:-1], last))


def with_open_calls(message: Message, calls: Iterable[ToolCall]) -> Message:
    """`message` in which calls that never ended are marked, each given as it started.

    An id or a name may have come behind the start, and a message need not have its calls in the
    order of their starts. Of several that could be meant, the last one is.
    """
    blocks = list(message.blocks)
    for started in calls:
        at = _last_like(blocks, started)
        if at is not None:
            blocks[at] = _cut(blocks[at])
    return replace(message, blocks=tuple(blocks))


def _last_like(blocks: list[Block], started: ToolCall) -> int | None:
    """Where the last call stands that may be the one that started so, and is not marked yet."""
    found = [
        (block.id == started.id, block.name == started.name, at)
        for at, block in enumerate(blocks)
        if isinstance(block, ToolCall)
        and block.kind != "server"
        and not block.truncated
        and (started.id in ("", block.id) or not block.id)
    ]
    return max(found)[2] if found else None


def _cut(block: Block) -> Block:
    """`block`, marked if it is a call that the client would have to run."""
    if not isinstance(block, ToolCall) or block.kind == "server" or block.truncated:
        return block
    return replace(block, truncated=True)


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


def block_events(index: int, block: Block) -> Iterator[Event]:
    """The events of a block up to its end, which is not among them."""
    match block:
        case Text(text=text) if text:
            yield BlockStarted(index, replace(block, text=""))
            yield TextAdded(index, text)
        case Thinking(text=text) if text:
            yield BlockStarted(index, replace(block, text="", opaque=()))
            yield ThinkingAdded(index, text)
            for opaque in block.opaque:
                yield SignatureAdded(index, opaque)
        case ToolCall(kind="function" | "custom"):
            yield BlockStarted(index, replace(block, args=None, raw=None))
            text = raw_arguments(agreeing(block))
            if text:
                yield ArgumentsAdded(index, text)
        case _:
            yield BlockStarted(index, block)


def raw_arguments(call: ToolCall) -> str:
    """The arguments of a call as text."""
    if call.raw is not None:
        return call.raw
    return "" if call.args is None else msgspec.json.encode(call.args).decode()
