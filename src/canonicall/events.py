"""What happens while a reply streams in. Each event is a noun and what became of it.

A stream is `MessageStarted`, then blocks, then `StreamEnded`. A block is `BlockStarted`, pieces
that are added to it, `BlockEnded` with the whole block; blocks may overlap (parallel calls do),
their `index` tells the pieces apart. A block that came in one piece has no pieces between.

The pieces are for showing while they come. What is kept is the reply in `StreamEnded`: it is read
from all that arrived, by the decoder that reads whole responses. Never run a call before it: only
the end tells whether its arguments were cut.
"""

from typing import Any, TypeAlias

from msgspec import Struct

from canonicall.blocks import Block, Opaque, Origin
from canonicall.reply import Reply, Usage


class _Event(Struct, frozen=True, tag_field="event", gc=False):
    pass


class MessageStarted(_Event, frozen=True, tag="message_started"):
    """The first sign of a reply, and who makes it."""

    origin: Origin = Origin()


class BlockStarted(_Event, frozen=True, tag="block_started"):
    """A block begins: empty words or thought, a call with its name, or something whole."""

    index: int
    """The number of the block in its message."""
    block: Block


class TextAdded(_Event, frozen=True, tag="text_added"):
    """More words."""

    index: int
    text: str


class ThinkingAdded(_Event, frozen=True, tag="thinking_added"):
    """More reasoning."""

    index: int
    text: str


class ArgumentsAdded(_Event, frozen=True, tag="arguments_added"):
    """More of a call's arguments: a piece of JSON text, or of freeform input."""

    index: int
    text: str


class SignatureAdded(_Event, frozen=True, tag="signature_added"):
    """Opaque state of a block: the seal of a thought, an encrypted one, a server-side id."""

    index: int
    opaque: Opaque


class BlockEnded(_Event, frozen=True, tag="block_ended"):
    """A block is whole."""

    index: int
    block: Block


class UsageReported(_Event, frozen=True, tag="usage_reported"):
    """The figures so far; later ones take the place of earlier ones."""

    usage: Usage


class FinishReported(_Event, frozen=True, tag="finish_reported"):
    """The provider's word for why the model stopped, in canonical form. More may follow."""

    finish: str


class ErrorReported(_Event, frozen=True, tag="error_reported"):
    """The provider told of an error inside the stream."""

    message: str
    type: str = ""
    native: Any = None
    """The error as it came."""


class StreamEnded(_Event, frozen=True, tag="stream_ended"):
    """Nothing more will come."""

    reply: Reply
    """All that arrived. A call that may have been cut is marked `truncated`."""
    complete: bool = True
    """Whether the provider said that it had ended; else the stream was cut, or broke."""
    why: str = ""
    """What was wrong where it is not complete."""


Event: TypeAlias = (
    MessageStarted
    | BlockStarted
    | TextAdded
    | ThinkingAdded
    | ArgumentsAdded
    | SignatureAdded
    | BlockEnded
    | UsageReported
    | FinishReported
    | ErrorReported
    | StreamEnded
)
