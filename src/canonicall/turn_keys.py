"""The key of a turn: what the ids of its calls are derived from, wherever the message stands.

A message keeps the key that it came with. One that came without gets a key from what it says,
never from its place, so that replay and compaction change no id.
"""

from hashlib import sha256

import msgspec

from canonicall.blocks import Message, Text, ToolCall
from canonicall.ids import base64url

_PREFIX = "turn_"
_BYTES = 12
"""They are 16 characters of Base64."""


class TurnKeys:
    """The keys given so far. Equal messages are told apart by occurrence."""

    def __init__(self) -> None:
        self._occurrences: dict[str, int] = {}

    def fork(self) -> "TurnKeys":
        """An independent copy."""
        twin = TurnKeys()
        twin._occurrences = dict(self._occurrences)
        return twin

    def key_of(self, message: Message) -> str:
        """The key of the next message of the model."""
        if message.turn_key:
            base, _, count = message.turn_key.partition(".")
            if base.startswith(_PREFIX):
                seen = int(count) if count.isdecimal() and len(count) < 10 else 1
                self._occurrences[base] = max(self._occurrences.get(base, 0), seen)
            return message.turn_key
        base = _derived(message)
        seen = self._occurrences.get(base, 0) + 1
        self._occurrences[base] = seen
        return base if seen == 1 else f"{base}.{seen}"


def _derived(message: Message) -> str:
    """A key from what a message says.

    Reasoning is left out: clients drop and rewrite it, and the key has to survive that.
    """
    parts: list[object] = [message.role]
    for block in message.blocks:
        if type(block) is Text:
            parts.append(block.text)
        elif type(block) is ToolCall:
            arguments = block.raw if block.args is None else block.args
            parts += (block.raw_id or block.id, block.name, arguments)
    return _PREFIX + base64url(sha256(msgspec.json.encode(parts)).digest()[:_BYTES])
