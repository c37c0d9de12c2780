"""The values a conversation is made of. Frozen, plain, the same for every provider.

A *block* is one piece of a message. Blocks say what was said; they hold no identity of their own
except for tool calls, whose id is what results refer to.

Three fields are common to all blocks:

- `opaque`: state only its issuer can read (signatures, encrypted reasoning, server-side ids),
  each with the signing domain it belongs to. It is never put anywhere else, least of all into ids.
- `cache`: a prompt-cache mark behind this block: its time to live, or "default".
- `native`: fields of one wire format that have no canonical meaning, kept for that format.

Values never contain themselves, so the garbage collector need not visit them (`gc=False`): a long
conversation would cost it more than everything else.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from canonicall.decisions import Record
from canonicall.outcome import Outcome

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
CallKind: TypeAlias = Literal["function", "custom", "server"]


class Opaque(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Provider state that can be replayed only inside its own signing domain."""

    domain: str
    """Who can verify it, for example "anthropic" or "gemini-api"."""
    kind: str
    """What it is: "signature", "encrypted", "redacted", "item_id", "file_id" and so on."""
    value: Any
    """The bytes as they came: text, or a JSON value to be echoed unmodified."""


class Native(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Fields in one wire format's own vocabulary."""

    format: str
    fields: dict[str, Any]


class _Block(
    Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
    gc=False,
):
    opaque: tuple[Opaque, ...] = ()
    cache: str | None = None
    native: Native | None = None


class Text(_Block, frozen=True, tag="text"):
    """Words for the model or from it."""

    text: str


class Thinking(_Block, frozen=True, tag="thinking"):
    """Reasoning of a model. The text may be empty: the opaque part is what counts then."""

    text: str = ""


class Media(_Block, frozen=True, tag="media"):
    """An image, a document, sound or video: inline, by address, or by an opaque file id."""

    media_type: str
    """For example "image/png"; "image/*" where only the family is known."""
    data: str | None = None
    """Base64 text, as it came."""
    url: str | None = None
    name: str | None = None


class Code(_Block, frozen=True, tag="code"):
    """Program text as content of its own, for instance code a provider runs on its side."""

    code: str
    language: str = ""


class Tombstone(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """What is left of a call that was compacted away.

    A result that comes late is recognised by it, and no other call is given its ids.
    """

    id: str
    name: str = ""
    raw_id: str = ""
    number: int = 0
    outcome: Outcome | None = None
    digest: str = ""
    """A hash of the result; empty if there was none."""


class Summary(_Block, frozen=True, tag="summary"):
    """What takes the place of earlier messages that were compacted away."""

    text: str
    covers: int = 0
    """How many log entries it stands for."""
    tombstones: tuple[Tombstone, ...] = ()
    """The calls among them."""


class ToolCall(_Block, frozen=True, tag="tool_call"):
    """A request of the model to run a tool.

    `id` is canonical once the call is part of a conversation; `raw_id` is then what the provider
    wrote. Arguments have two forms: `args`, the parsed object, and `raw`, the text as it came.
    `args` is None only for the free text of a custom tool, and for text that is not a JSON object;
    the latter is reported. Empty text and `null` are `{}`. `canonicall.arguments` has the rule.
    """

    id: str = ""
    name: str = ""
    args: dict[str, Any] | None = None
    raw: str | None = None
    kind: CallKind = "function"
    raw_id: str = ""
    index: int = 0
    """Position among the calls of its turn."""
    number: int = 0
    """Running number in its conversation. It never changes, whatever is compacted away."""
    truncated: bool = False
    """The stream was cut, or the token limit reached, inside this call: it must not be run."""
    recovered: bool = False
    """It was read from the text of a reply: its host gave it as words, not as a call."""


class Unknown(_Block, frozen=True, tag="unknown"):
    """A block canonicall has no word for. All of it is in `native`."""


ResultContent: TypeAlias = Text | Media | Unknown


class ToolResult(_Block, frozen=True, tag="tool_result"):
    """What came back from a tool.

    `content` None means that nothing came back yet, an empty tuple that it came back empty.
    `error` says that the tool failed; what went wrong is in the content, where the model reads it.
    """

    call_id: str = ""
    content: tuple[ResultContent, ...] | None = None
    error: bool = False
    is_complete: bool | None = None
    outcome: Outcome | None = None
    name: str = ""
    """The tool's name, where the result carries one. It helps to find the call."""
    kind: CallKind = "function"
    """The kind of call it answers: as it came, and that of its call when it is rendered."""
    raw_id: str = ""
    synthetic: bool = False
    """Made up by a runtime because no result was known. A real result takes its place."""
    bound: bool = False
    """Its call was found: `call_id` is canonical and final. Set by the conversation."""
    placed: bool = False
    """It names no call; `call_id` is what its position says. A result that names this call may
    still displace it while the exchange lasts: then `Ledger.answered` knows better."""

    @property
    def text(self) -> str:
        """The text of the content."""
        return "\n".join(block.text for block in self.content or () if isinstance(block, Text))


Block: TypeAlias = Text | Thinking | Media | Code | Summary | ToolCall | ToolResult | Unknown


class Origin(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which provider, speaking which format at which endpoint, made a message."""

    provider: str = ""
    format: str = ""
    endpoint: str = ""
    model: str = ""
    response_id: str = ""


class Message(
    Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="entry",
    tag="message",
    gc=False,
):
    """One message of a conversation."""

    role: Role
    blocks: tuple[Block, ...] = ()
    turn_key: str = ""
    """Stable name of the turn; given by the runtime, or derived from the content."""
    origin: Origin | None = None
    finish: str = ""
    """Why the model stopped, in canonical words: "stop", "tool_calls", "length" and so on."""
    partial: bool = False
    """The stream was cut: what stands here is all that arrived."""
    edited: bool = False
    """Compaction shortened it, so state bound to the exact earlier text may no longer hold."""
    native: Native | None = None

    @property
    def text(self) -> str:
        """The words of the message, without reasoning and tool traffic."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, (Text, Summary)))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the message, in order."""
        return tuple([block for block in self.blocks if isinstance(block, ToolCall)])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results of the message, in order."""
        return tuple([block for block in self.blocks if isinstance(block, ToolResult)])


class CallClosed(
    Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="entry",
    tag="call_closed",
    gc=False,
):
    """A call ended without a result: cancelled, refused, timed out, superseded, lost."""

    call_id: str
    outcome: Outcome
    why: str = ""
    content: tuple[ResultContent, ...] = ()
    """Output that had arrived before the end."""
    bound: bool = False
    """Its call was found: `call_id` is canonical and final. Set by the conversation."""


Entry: TypeAlias = Message | CallClosed | Record
"""What a conversation's log is made of."""
