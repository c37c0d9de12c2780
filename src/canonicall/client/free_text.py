"""Calls of tools for free text, where the target has functions only.

Such a tool is offered as a function with one text, `input`; what comes back is a call of that
function. Whoever offered the tool hears of the call in the form that they know: its bare text.
"""

from collections.abc import Collection, Iterable

import msgspec
from msgspec.structs import replace

from canonicall.admission import parse_arguments
from canonicall.blocks import Block, ToolCall
from canonicall.events import ArgumentsAdded, BlockEnded, BlockStarted, Event, StreamEnded
from canonicall.growing import GrowingJson
from canonicall.reply import Reply


class FreeText:
    """Reads one reply."""

    def __init__(self, names: Collection[str]) -> None:
        """`names`: those of the tools, as the model knows them."""
        self._names = names
        self._open: set[int] = set()

    def feed_all(self, events: Iterable[Event]) -> list[Event]:
        """The events, in which the text of a call comes in one piece at its end.

        Until then it is the inside of a JSON text, of which nobody can say where it will end.
        """
        made: list[Event] = []
        for event in events:
            match event:
                case BlockStarted(block=ToolCall() as call) if self._is_meant(call):
                    self._open.add(event.index)
                    begun = replace(call, kind="custom", args=None, raw=None)
                    made.append(BlockStarted(event.index, begun))
                case ArgumentsAdded() if event.index in self._open:
                    pass
                case BlockEnded(block=ToolCall() as call) if self._is_meant(call):
                    made += self._ended(event.index, with_free_text(call))
                case StreamEnded():
                    made.append(replace(event, reply=self._reply(event.reply)))
                case _:
                    made.append(event)
        return made

    def _ended(self, index: int, call: ToolCall) -> list[Event]:
        ended = BlockEnded(index, call)
        if index not in self._open or not call.raw:
            return [ended]
        self._open.discard(index)
        return [ArgumentsAdded(index, call.raw), ended]

    def _reply(self, reply: Reply) -> Reply:
        blocks: tuple[Block, ...] = tuple(
            with_free_text(block)
            if isinstance(block, ToolCall) and self._is_meant(block)
            else block
            for block in reply.message.blocks
        )
        return replace(reply, message=replace(reply.message, blocks=blocks))

    def _is_meant(self, call: ToolCall) -> bool:
        return call.kind == "function" and call.name in self._names


def with_free_text(call: ToolCall) -> ToolCall:
    """The call with its text. Arguments that are not that one text are the text themselves: the
    tool can say what is wrong with them, and nothing of them is lost."""
    return replace(call, kind="custom", args=None, raw=_text_of(call))


def _text_of(call: ToolCall) -> str:
    args = call.args if call.args is not None else parse_arguments(call.raw)
    if args is None and call.truncated and call.raw:
        growing = GrowingJson()
        growing.feed(call.raw)
        args = growing.value if isinstance(growing.value, dict) else None
    if args is None:
        return call.raw or ""
    text = args.get("input")
    if isinstance(text, str) and len(args) == 1:
        return text
    return call.raw or (msgspec.json.encode(args).decode() if args else "")
