"""One content block of a streamed message, as far as it has come.

Words, thoughts and the input of calls come in pieces. Everything else comes whole when the block
starts; a later increment that names one of its fields takes the place of what was there.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from canonicall.arguments import inside, parse_arguments
from canonicall.blocks import Block
from canonicall.events import ArgumentsAdded, Event, TextAdded, ThinkingAdded
from canonicall.findings import Finding
from canonicall.wire.anthropic.blocks import decode_block, replied
from canonicall.wire.reading import object_at, text_at

TEXT, THINKING, INPUT = "text", "thinking", "input"

_GROWN = {
    "text": TEXT,
    "thinking": THINKING,
    "tool_use": INPUT,
    "server_tool_use": INPUT,
    "mcp_tool_use": INPUT,
}
"""The field of a block that comes in pieces, by the type of the block."""

_ADDED: dict[str, Callable[[int, str], Event]] = {
    TEXT: TextAdded,
    THINKING: ThinkingAdded,
    INPUT: ArgumentsAdded,
}

_TOLD = ("text", "thinking", "tool_use")
"""The types whose pieces mean something before the block is whole."""


class GrowingBlock:
    """Collects what belongs to one block."""

    __slots__ = ("_added", "_domain", "_fields", "_where", "grown", "index", "is_whole", "pieces")

    def __init__(self, fields: dict[str, Any], where: str, domain: str) -> None:
        # What cannot be read is refused now, so that the message can be read in the end.
        decode_block(fields, where, domain, [])
        self._fields = dict(fields)
        self._where = where
        self._domain = domain
        self.grown = _GROWN.get(self.type, "")
        """The field that comes in pieces, "" where none has come yet."""
        self.pieces: list[str] = []
        self.index = -1
        """The number of the block once it has been told of."""
        self.is_whole = False
        self._added = _ADDED.get(self.grown, TextAdded)

    def add(self, piece: str, events: list[Event]) -> None:
        """Add a piece, and tell of it where the block has been told of."""
        self.pieces.append(piece)
        if self.index >= 0:
            events.append(self._added(self.index, piece))

    @property
    def type(self) -> str:
        kind = self._fields.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def is_call(self) -> bool:
        """Whether the client has to run it."""
        return self.type == "tool_use"

    @property
    def is_told(self) -> bool:
        """Whether its pieces are told as they come."""
        return self.type in _TOLD

    @property
    def first_piece(self) -> str:
        """The words that the block had when it started."""
        said = self._fields.get(self.grown)
        return said if self.grown != INPUT and isinstance(said, str) else ""

    def empty(self) -> Block:
        """The block as it starts, without what comes in pieces."""
        bare = self._fields | {self.grown: {} if self.grown == INPUT else ""}
        if self.type == "thinking":
            bare["signature"] = ""
        return replied(decode_block(bare, self._where, self._domain, []))

    def decoded(self) -> Block:
        """The block as far as it has come."""
        return replied(decode_block(self.wire(), self._where, self._domain, []))

    def can_grow(self, field: str) -> bool:
        """Whether pieces of `field` belong to it; a type nobody knows takes what comes first."""
        if self.type not in _GROWN and not self.grown:
            self.grown = field
            self.pieces = [self.first_piece]
        return self.grown == field

    def assign(self, delta: dict[str, Any]) -> bool:
        """Take in an increment that is no piece. Returns whether its type is known."""
        match delta.get("type"):
            case "signature_delta":
                # SDK lib/streaming: the signature is set, not continued.
                self._fields["signature"] = text_at(delta.get("signature"), "$.delta.signature")
            case "citations_delta":
                citation = object_at(delta.get("citation"), "$.delta.citation")
                cited = self._fields["citations"] = self._fields.get("citations") or []
                cited.append(citation)
            case "compaction_delta":
                said = {name: value for name, value in delta.items() if value is not None}
                self._fields |= {**said, "type": self.type}
            case _:
                return False
        return True

    def close(self, findings: list[Finding]) -> None:
        """Nothing more belongs to it. What had to be replaced in its input is reported."""
        replaced: list[Finding] = []
        self._fields = self.wire(replaced)
        findings += inside(self._where, replaced)
        self.pieces = []
        self.is_whole = True

    def wire(self, replaced: list[Finding] | None = None) -> dict[str, Any]:
        """The block as it stands in a response without streaming."""
        if self.is_whole or not self.grown:
            return self._fields
        text = "".join(self.pieces)
        said = self._input(text, replaced) if self.grown == INPUT else text
        return self._fields | {self.grown: said}

    def _input(self, text: str, replaced: list[Finding] | None) -> Any:
        """The input that `text` says; what stood in the start counts where nothing was added."""
        if not text.strip():
            return self._fields.get(INPUT) or {}
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            # Halves of characters are replaced; anything else that is no JSON stays text.
            value = parse_arguments(text, replaced) or text
        if isinstance(value, dict):
            return value
        if value is None:
            return {}
        return text if self.is_call else {"_raw": text}
