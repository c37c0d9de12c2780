"""Arguments of a streamed call as every client can read them: the text of a JSON object.

Hosts write no arguments as null or blank, and some write the object inside a JSON text. What does
not begin as an object waits for the end of its call; what is an object then, is written as one.
"""

from msgspec.structs import replace

from canonicall.arguments import object_text
from canonicall.blocks import ToolCall
from canonicall.events import ArgumentsAdded, BlockEnded, Event


class ObjectArguments:
    """Holds back what is not seen to be an object, for all calls of one stream."""

    def __init__(self) -> None:
        self.waiting: dict[int, list[str]] = {}
        """What came of the arguments of calls that have not begun as an object."""

    def start(self, index: int, call: ToolCall) -> None:
        """A call begins. Freeform input is whatever it is."""
        if call.kind == "function":
            self.waiting[index] = []

    def add(self, event: ArgumentsAdded) -> ArgumentsAdded | None:
        """What can be written now of the arguments of a call that waits."""
        held = self.waiting[event.index]
        held.append(event.text)
        first = "".join(held).lstrip()[:1]
        if first != "{":
            return None
        del self.waiting[event.index]
        return ArgumentsAdded(event.index, "".join(held)) if len(held) > 1 else event

    def end(self, event: BlockEnded, call: ToolCall) -> list[Event]:
        """The end of a call, behind what was held back of it."""
        text = "".join(self.waiting.pop(event.index, ()))
        if not text:
            return [event]
        read = object_text(text)
        if read == text:
            return [ArgumentsAdded(event.index, text), event]
        return [BlockEnded(event.index, replace(call, raw=read))]
