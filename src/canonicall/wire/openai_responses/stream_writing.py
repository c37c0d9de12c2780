"""The items of a stream, written block by block, and kept for the response at its end."""

from typing import Any

from canonicall.blocks import Block, Origin, Thinking, ToolCall
from canonicall.wire.carried import opaque_value
from canonicall.wire.openai_responses import TARGET
from canonicall.wire.openai_responses.fields import ITEM_ID, made_id
from canonicall.wire.openai_responses.finish import COMPLETED, INCOMPLETE
from canonicall.wire.openai_responses.messages import encode_reply, is_words
from canonicall.wire.openai_responses.output import Naming, complete_item, is_own, own_block
from canonicall.wire.openai_responses.parts import encode_output_part, is_refusal
from canonicall.wire.openai_responses.searches import CALL, is_search
from canonicall.wire.openai_responses.stream_frames import (
    Frames,
    OpenCall,
    OpenMessage,
    OpenPart,
)
from canonicall.wire.openai_responses.stream_thought import OpenThought


class Writing:
    """Writes blocks that come one after the other, each from its start to its end."""

    def __init__(self, origin: Origin) -> None:
        self.frames = Frames()
        self.output: list[dict[str, Any]] = []
        """The items that are done, and those that were left open."""
        self.current: int | None = None
        """The block that is open."""
        self.refused = False
        self._own = is_own(origin)
        self._naming = Naming(origin.response_id)
        self._message: OpenMessage | None = None
        self._open: OpenPart | OpenThought | OpenCall | None = None

    def start(self, index: int, block: Block) -> bytes:
        """Begin a block. One that comes whole is written at its end."""
        self._leave()
        self.current = index
        kept = own_block(block, own=self._own)
        if kept is None:
            return b""
        if is_words(kept):
            return self._start_part(self._naming.named(kept))
        match kept:
            case ToolCall(kind="function" | "custom") if not is_search(kept, CALL):
                return self._start_call(kept)
            case Thinking() if not self._own or opaque_value(kept, ITEM_ID) is not None:
                return self._start_thought(kept)
            case _:
                return b""

    def add(self, text: str) -> bytes:
        """Write a piece of the open block."""
        return b"" if self._open is None else self._open.add(text)

    def end(self, block: Block) -> bytes:
        """End the open block, which is now known as a whole."""
        kept = own_block(block, own=self._own)
        written = b""
        if self._open is None and isinstance(kept, Thinking):
            # The id of a thought may come with its seal, behind its words.
            written = self._start_thought(kept)
        ended, self._open, self.current = self._open, None, None
        match ended:
            case None:
                return b"" if kept is None else self._whole(kept)
            case OpenPart():
                return self._end_part(ended, kept or block)
            case OpenThought() | OpenCall():
                self.output.append(ended.item(kept or block))
                return written + ended.end(kept or block)

    def close(self) -> bytes:
        """End all that is open: the stream has come to its end."""
        written = b"" if self._open is None else self.end(self._open.so_far())
        return written + self._close_message()

    def leave_open(self) -> None:
        """Keep what is open as it is: the stream has broken off."""
        self._leave()
        if self._message is not None:
            self.output.append(self._message.whole() | {"status": INCOMPLETE})
            self._message = None

    def _leave(self) -> None:
        """Keep a block that never ended as far as it came."""
        match self._open:
            case OpenPart() as part if self._message is not None:
                self._message.parts.append(encode_output_part(part.so_far()))
            case OpenCall() as call:
                self.output.append(call.left())
            case OpenThought() as item:
                self.output.append(item.item(item.so_far()) | {"status": INCOMPLETE})
        self._open = self.current = None

    def _start_part(self, block: Block) -> bytes:
        self.refused = self.refused or is_refusal(block)
        id = opaque_value(block, ITEM_ID)
        written = b""
        if self._message is None or self._message.item["id"] != id:
            written = self._close_message() + self._start_message(block, id)
        if self._message is not None:
            self._open = OpenPart(self.frames, self._message, block)
            written += self._open.begin()
        return written

    def _end_part(self, part: OpenPart, block: Block) -> bytes:
        written = part.end(block)
        message = self._message
        if message is not None and len(message.parts) == 1:
            message.item = _message_item(block, message.item["id"])
        return written

    def _start_message(self, block: Block, id: str | None) -> bytes:
        place = len(self.output)
        item = _message_item(block, id or made_id("msg", self._naming.suffix(place)))
        self._message = OpenMessage(item, place)
        return self._item("added", {**item, "status": "in_progress", "content": []}, place)

    def _close_message(self) -> bytes:
        if self._message is None:
            return b""
        item, place = self._message.whole(), self._message.place
        self._message = None
        self.output.append(item)
        return self._item("done", item, place)

    def _start_thought(self, block: Thinking) -> bytes:
        written = self._close_message()
        id = opaque_value(self._naming.named(block), ITEM_ID)
        self._open = OpenThought(self.frames, block, id, len(self.output), own=self._own)
        return written + self._open.begin()

    def _start_call(self, call: ToolCall) -> bytes:
        written = self._close_message()
        id = opaque_value(self._naming.named(call), ITEM_ID)
        self._open = OpenCall(self.frames, call, id, len(self.output))
        return written + self._open.begin()

    def _whole(self, block: Block) -> bytes:
        """An item that came in one piece, if there is one: some results are told by their call."""
        written = b""
        for bare in encode_reply((self._naming.named(block),), TARGET):
            written += self._close_message()
            place = len(self.output)
            item = complete_item(bare, self._naming.suffix(place))
            begun = item | {"status": "in_progress"} if "status" in item else item
            written += self._item("added", begun, place) + self._item("done", item, place)
            self.output.append(item)
        return written

    def _item(self, what: str, item: dict[str, Any], place: int) -> bytes:
        return self.frames.frame(
            f"response.output_item.{what}", {"output_index": place, "item": item}
        )


def _message_item(block: Block, id: str) -> dict[str, Any]:
    """The message that begins with this block."""
    item = encode_reply((block,), TARGET)[0]
    return {"type": "message", "role": "assistant", "status": COMPLETED} | item | {"id": id}
