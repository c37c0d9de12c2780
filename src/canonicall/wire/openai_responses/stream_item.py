"""What the items of a streamed response have in common.

What an item says at its end counts. Hosts repeat in it all that came in pieces, or leave the pieces
out, or leave out there what the pieces said.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.blocks import Block, ToolCall
from canonicall.events import Event
from canonicall.folding import raw_arguments
from canonicall.wire.openai_responses.items import decode_item
from canonicall.wire.reading import text_at
from canonicall.wire.streaming import Blocks


class Told:
    """What the items of one stream share: their blocks, and who issues their opaque state."""

    def __init__(self, domain: str) -> None:
        self.blocks = Blocks()
        self._domain = domain
        self._at_provider: list[Block] = []

    def decode(self, item: dict[str, Any]) -> list[Block]:
        """The blocks of an item. What is odd about it is found when all of the reply is read."""
        return decode_item(item, "$.item", self._domain, self._at_provider, [])

    def whole(self, blocks: list[Block], events: list[Event]) -> None:
        """Tell of blocks that came in one piece."""
        for block in blocks:
            if isinstance(block, ToolCall) and block.kind != "server":
                index = self.blocks.start(replace(block, args=None, raw=None), events)
                self.blocks.arguments(index, raw_arguments(block), events)
                self.blocks.end(index, block, events)
            else:
                self.blocks.whole(block, events)
        self._at_provider += blocks


class GrowingItem:
    """An item of which only the end counts: one that the provider runs, or one nobody knows."""

    def __init__(self, item: dict[str, Any], told: Told) -> None:
        self.item = item
        self.is_done = False
        self._told = told

    @property
    def is_call(self) -> bool:
        """Whether the client is to run it."""
        return False

    def start(self, events: list[Event]) -> None:
        """Tell that it began, if there is something to tell yet."""

    def finish(self, item: dict[str, Any], events: list[Event]) -> None:
        """Take in the whole item."""
        self._told.whole(self._told.decode(item), events)
        self._end(item)

    def cut(self, events: list[Event]) -> None:
        """Nothing more comes: end what can be kept as far as it came."""

    def whole(self) -> dict[str, Any] | None:
        """The item as far as it came; None where a part of it means nothing."""
        return self.item if self.is_done else None

    def _end(self, item: dict[str, Any]) -> None:
        self.item = item
        self.is_done = True


def missing(said: str, whole: str) -> str:
    """What `whole` has beyond what was said; nothing where the two do not agree."""
    return whole[len(said) :] if whole.startswith(said) else ""


def written(value: Any, where: str) -> str:
    """A piece of text. Some hosts send arguments as the object itself, in one piece."""
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    return text_at(value, where)
