"""The key of a turn: what the ids of its calls are derived from, wherever the message is.

A message keeps the key that it came with. One that came without gets a key from what it says,
never from its place, so that replay and compaction change no id.

Models repeat themselves: the same call, under the same id or none, in many turns. A message that
was there before gets a key from what it says and from what it answers: the messages between it and
the turn before. So these keep their ids too when a client prunes the head of its history; only the
first that is left may change. Messages that are equal and answer the same are counted.
"""

from hashlib import sha256

import msgspec

from canonicall.blocks import Message, Text, ToolCall, ToolResult
from canonicall.ids import base64url

_PREFIX = "turn_"
_BYTES = 12
"""They are 16 characters of Base64."""
_LONGEST_COUNT = 9
"""Digits. What an equal message answers is a longer part of a key."""


class TurnKeys:
    """The keys given so far. Equal messages are told apart by what they answer, then counted."""

    def __init__(self) -> None:
        self._occurrences: dict[str, int] = {}
        """How often a key was given, without the count at its end."""
        self.heard: list[Message] = []
        """What was said to the model since its last message; it is for others to add to."""

    def fork(self) -> "TurnKeys":
        """An independent copy."""
        twin = TurnKeys()
        twin._occurrences = dict(self._occurrences)
        twin.heard = list(self.heard)
        return twin

    def key_of(self, message: Message) -> str:
        """The key of the next message of the model."""
        if message.turn_key:
            self._note(message.turn_key)
            self.heard.clear()
            return message.turn_key
        base, occurrences = _PREFIX + _digest(_said(message)), self._occurrences
        if base in occurrences:
            base = f"{base}.{_digest([_said(one) for one in self.heard])}"
        self.heard.clear()
        if base not in occurrences:
            occurrences[base] = 1
            return base
        occurrences[base] += 1
        return f"{base}.{occurrences[base]}"

    def _note(self, key: str) -> None:
        """Count a key that was given before."""
        if not key.startswith(_PREFIX):
            return
        base, _, count = key.rpartition(".")
        if not (count.isdecimal() and len(count) <= _LONGEST_COUNT):
            base, count = key, "1"
        self._occurrences[base] = max(self._occurrences.get(base, 0), int(count))
        self._occurrences.setdefault(base.partition(".")[0], 1)


def _digest(said: list[object]) -> str:
    return base64url(sha256(msgspec.json.encode(said)).digest()[:_BYTES])


def _said(message: Message) -> list[object]:
    """What a message says, for its key.

    Reasoning is left out: clients drop and rewrite it, and the key has to survive that.
    """
    parts: list[object] = [message.role]
    for block in message.blocks:
        if type(block) is Text:
            parts.append(block.text)
        elif type(block) is ToolCall:
            parts += (block.raw_id or block.id, block.name)
            parts.append(block.raw if block.args is None else block.args)
        elif type(block) is ToolResult and message.role != "assistant":
            parts.append(block.text)
    return parts
