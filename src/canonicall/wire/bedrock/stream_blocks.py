"""Converse blocks that come in pieces, each as far as it has come.

Words, thoughts and calls are told as they grow. What nobody reads in pieces is told when it is
whole: hidden reasoning, what ran on the provider's side, images, sources without words.
"""

from base64 import b64decode, b64encode
from functools import reduce
from typing import Any

import msgspec

from canonicall.arguments import parse_arguments
from canonicall.blocks import Block, Native, Text, Thinking, ToolCall, Unknown
from canonicall.events import Event, SignatureAdded
from canonicall.wire.bedrock.messages import decode_blocks
from canonicall.wire.carried import set_fields
from canonicall.wire.reading import id_at, object_at, text_at
from canonicall.wire.streaming import Blocks

TEXT, CITATION, CALL, RESULT = "text", "citation", "toolUse", "toolResult"
REASONING, REDACTED = "reasoningContent", "redactedContent"
_SERVER = "server_tool_use"
_BLOBS = ("bytes", REDACTED)


class GrowingBlock:
    """One content block. `kind` is the member of the deltas that belong to it."""

    kind = ""
    is_call = False
    """It is a call for the client: only its own end tells that its arguments are whole."""

    def __init__(self, blocks: Blocks, domain: str) -> None:
        self._blocks = blocks
        self._domain = domain
        self._whole: dict[str, Any] | None = None

    def add(self, member: str, value: Any, events: list[Event]) -> None:
        """Take a member of a delta in."""
        raise NotImplementedError

    def end(self, events: list[Event]) -> None:
        """Tell that it is whole."""
        self._whole = self.wire()
        self._tell_end(self._decoded(self._whole), events)

    def wire(self) -> dict[str, Any]:
        """The block of a response without streaming."""
        return self._grown() if self._whole is None else self._whole

    def _decoded(self, wire: dict[str, Any]) -> Block:
        return decode_blocks([wire], "$", self._domain)[-1]

    def _grown(self) -> dict[str, Any]:
        raise NotImplementedError

    def _tell_end(self, block: Block, events: list[Event]) -> None:
        raise NotImplementedError


class GrowingText(GrowingBlock):
    """Words, and the sources that are cited for them. Nova names sources in blocks of their own."""

    kind = TEXT

    def __init__(self, blocks: Blocks, domain: str) -> None:
        super().__init__(blocks, domain)
        self._index: int | None = None
        self._citations: list[dict[str, Any]] = []

    def add(self, member: str, value: Any, events: list[Event]) -> None:
        if member == CITATION:
            self._citations.append(object_at(value, "$.delta.citation"))
            return
        text = text_at(value, "$.delta.text")
        if self._index is None:
            self._index = self._blocks.start(Text(text=""), events)
        if text:
            self._blocks.text(self._index, text, events)

    def _grown(self) -> dict[str, Any]:
        said = [] if self._index is None else [{"text": self._blocks.said(self._index)}]
        if not self._citations:
            return said[0]
        content = {"content": said} if said else {}
        return {"citationsContent": content | {"citations": self._citations}}

    def _tell_end(self, block: Block, events: list[Event]) -> None:
        if self._index is None:
            self._blocks.whole(block, events)
        else:
            self._blocks.end(self._index, block, events)


class GrowingThought(GrowingBlock):
    """Reasoning that can be read, and its seal."""

    kind = REASONING

    def __init__(self, blocks: Blocks, domain: str) -> None:
        super().__init__(blocks, domain)
        self._index: int | None = None
        self._seal: list[str] = []
        self._rest: dict[str, Any] = {}

    def add(self, member: str, value: Any, events: list[Event]) -> None:
        where = f"$.delta.{member}"
        delta = object_at(value, where)
        text = text_at(delta.get("text"), f"{where}.text")
        self._seal.append(text_at(delta.get("signature"), f"{where}.signature"))
        self._rest |= set_fields(delta, ("text", "signature"))
        if self._index is None:
            self._index = self._blocks.start(Thinking(), events)
        if text:
            self._blocks.thinking(self._index, text, events)

    def _grown(self) -> dict[str, Any]:
        said = "" if self._index is None else self._blocks.said(self._index)
        thought = {"text": said, **self._rest}
        seal = "".join(self._seal)
        if seal:
            thought["signature"] = seal
        return {REASONING: {"reasoningText": thought}}

    def _tell_end(self, block: Block, events: list[Event]) -> None:
        if self._index is not None:
            events += [SignatureAdded(self._index, opaque) for opaque in block.opaque]
            self._blocks.end(self._index, block, events)


class GrowingCall(GrowingBlock):
    """A call for the client. Its arguments stay the text that came, so they may be cut."""

    kind = CALL
    is_call = True

    def __init__(self, start: dict[str, Any], blocks: Blocks, domain: str) -> None:
        super().__init__(blocks, domain)
        self._start = start
        self._call = ToolCall(
            id=id_at(start.get("toolUseId"), "$.start.toolUse.toolUseId"),
            name=text_at(start.get("name"), "$.start.toolUse.name"),
        )
        self._index: int | None = None

    def add(self, member: str, value: Any, events: list[Event]) -> None:
        where = f"$.delta.{member}"
        piece = object_at(value, where).get("input")
        if isinstance(piece, dict):
            # An empty object is where the arguments will be, not the first piece of them.
            piece = msgspec.json.encode(piece).decode() if piece else ""
        text = text_at(piece, f"{where}.input")
        if self._index is None:
            self._index = self._blocks.start(self._call, events)
        if text:
            self._blocks.arguments(self._index, text, events)

    def _grown(self) -> dict[str, Any]:
        said = "" if self._index is None else self._blocks.said(self._index)
        return {CALL: {**self._start, "input": said}}

    def _tell_end(self, block: Block, events: list[Event]) -> None:
        if self._index is not None:
            self._blocks.end(self._index, block, events)


class GrowingWhole(GrowingBlock):
    """Anything that is told in one piece, put together from parts."""

    def __init__(
        self, kind: str, blocks: Blocks, domain: str, server_calls: list[dict[str, Any]]
    ) -> None:
        super().__init__(blocks, domain)
        self.kind = kind
        self._parts: list[Any] = []
        self._server_calls = server_calls

    def add(self, member: str, value: Any, events: list[Event]) -> None:  # noqa: ARG002  told at its end
        part = {"content": value} if member == RESULT and isinstance(value, list) else value
        # What cannot be read is refused now, while it is known which frame it came in.
        self._decoded(self._as_block(part))
        self._parts.append(part)

    def _grown(self) -> dict[str, Any]:
        return self._as_block(reduce(_joined, self._parts))

    def _as_block(self, value: Any) -> dict[str, Any]:
        if self.kind == REDACTED:
            return {REASONING: value}
        if self.kind == CALL:
            value = object_at(value, "$.toolUse")
            given = value.get("input")
            parsed = parse_arguments(given) if isinstance(given, str) else given
            return {CALL: value | {"input": given if parsed is None else parsed}}
        return {self.kind: value}

    def _decoded(self, wire: dict[str, Any]) -> Block:
        """The block; whether a result is of the provider's own tool, its call tells."""
        blocks = decode_blocks([*self._server_calls, wire], "$", self._domain)
        if len(blocks) > len(self._server_calls):
            return blocks[-1]
        # A mark, which is nothing by itself.
        return Unknown(native=Native("", wire))

    def _tell_end(self, block: Block, events: list[Event]) -> None:
        self._blocks.whole(block, events)


def is_server_call(start: dict[str, Any]) -> bool:
    """Whether a call that starts is one that the provider runs itself."""
    return start.get("type") == _SERVER


def _joined(old: Any, new: Any, name: str = "") -> Any:
    """Two parts of a value as one: fields side by side, lists and texts one behind the other."""
    match old, new:
        case dict(), dict():
            return old | {
                key: _joined(old[key], value, key) if key in old else value
                for key, value in new.items()
            }
        case list(), list():
            return [*old, *new]
        case str(), str():
            return _joined_blobs(old, new) if name in _BLOBS else old + new
        case _:
            return new


def _joined_blobs(old: str, new: str) -> str:
    """Two blobs in base64 as one; each may have its own padding."""
    if len(old) % 4 == 0 and not old.endswith("="):
        return old + new
    try:
        return b64encode(b64decode(old) + b64decode(new)).decode()
    except ValueError:
        return old + new
