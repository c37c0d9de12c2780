"""Events of streams with any number of pieces or calls; every format is written from them."""

from collections.abc import Callable, Iterable

from canonicall import Message, Reply, Text, Thinking, ToolCall
from canonicall.blocks import Block
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    Event,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.folding import events_of


def reply_with_calls(names: Iterable[str]) -> Reply:
    """One reply with a call of each tool."""
    return _reply(_call(number, name) for number, name in enumerate(names))


def _texts(count: int) -> list[Event]:
    words = [f"word {number} " for number in range(count)]
    added: list[Event] = [TextAdded(0, word) for word in words]
    return _streamed(Text(text=""), added, Text(text="".join(words)))


def _thoughts(count: int) -> list[Event]:
    words = [f"word {number} " for number in range(count)]
    added: list[Event] = [ThinkingAdded(0, word) for word in words]
    return _streamed(Thinking(text=""), added, Thinking(text="".join(words)))


def _arguments(count: int) -> list[Event]:
    pieces = ['{"path":"', *(f"word {number} " for number in range(count - 2)), '"}']
    added: list[Event] = [ArgumentsAdded(0, piece) for piece in pieces]
    begun = ToolCall(id="call_0", name="read")
    return _streamed(begun, added, ToolCall(id="call_0", name="read", raw="".join(pieces)))


def _calls(count: int) -> list[Event]:
    return list(events_of(reply_with_calls(["read"] * count)))


def _calls_with_text(count: int) -> list[Event]:
    pairs = ((Text(text=f"Text {at}."), _call(at)) for at in range(count // 2))
    return list(events_of(_reply(block for pair in pairs for block in pair)))


def _calls_at_once(count: int) -> list[Event]:
    """All calls start before the first one ends."""
    calls = [_call(number) for number in range(count)]
    return [
        MessageStarted(),
        *(BlockStarted(at, ToolCall(id=call.id, name=call.name)) for at, call in enumerate(calls)),
        *(ArgumentsAdded(at, call.raw or "") for at, call in enumerate(calls)),
        *(BlockEnded(at, call) for at, call in enumerate(calls)),
        StreamEnded(_reply(calls)),
    ]


def _streamed(begun: Block, added: list[Event], ended: Block) -> list[Event]:
    end: list[Event] = [BlockEnded(0, ended), StreamEnded(_reply([ended]))]
    return [MessageStarted(), BlockStarted(0, begun), *added, *end]


def _reply(blocks: Iterable[Block]) -> Reply:
    return Reply(Message("assistant", tuple(blocks), finish="tool_calls"))


def _call(number: int, name: str = "read") -> ToolCall:
    return ToolCall(id=f"call_{number:024d}", name=name, raw='{"path":"a"}', args={"path": "a"})


STREAMS: dict[str, Callable[[int], list[Event]]] = {
    "pieces of text": _texts,
    "pieces of reasoning": _thoughts,
    "pieces of arguments": _arguments,
    "calls": _calls,
    "calls between texts": _calls_with_text,
    "calls at once": _calls_at_once,
}
