"""A request to a model, in canonical form: the conversation, the tools, and how to answer.

`decode_request` of every wire format makes one; `encode_request` of every format reads one.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from canonicall.blocks import CallKind, Native
from canonicall.conversation import Conversation
from canonicall.findings import Finding

ChoiceMode: TypeAlias = Literal["auto", "required", "none"]


class Tool(Struct, frozen=True, omit_defaults=True):
    """A tool offered to the model."""

    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None
    """JSON Schema of the arguments; None where the tool takes none or declares none."""
    kind: CallKind = "function"
    """ "server": the provider runs it; its whole definition is in `native`."""
    strict: bool | None = None
    cache: str | None = None
    native: Native | None = None
    members: tuple["Tool", ...] = ()
    """The tools of a group that is offered as one; its definition is in `native`."""


class ToolChoice(Struct, frozen=True, omit_defaults=True):
    """Whether, which and how many tools the model may call."""

    mode: ChoiceMode | None = None
    """None where only the parallel switch was given: it must not force anything."""
    names: tuple[str, ...] = ()
    """Only these tools. With "required" and one name: that tool."""
    parallel: bool | None = None


class Reasoning(Struct, frozen=True, omit_defaults=True):
    """How much the model shall think."""

    enabled: bool | None = None
    effort: str | None = None
    budget: int | None = None


class OutputFormat(Struct, frozen=True, omit_defaults=True):
    """That the reply is JSON, and of which form."""

    schema: dict[str, Any] | None = None
    """JSON Schema of the reply; None for any JSON object."""
    name: str = ""
    """A label that some formats demand. Where there is no place for it, nothing is lost."""
    description: str = ""
    strict: bool | None = None
    """Whether the model is held to the schema; None where the format has no such choice."""


class Params(Struct, frozen=True, omit_defaults=True):
    """The parameters that mean the same everywhere. The rest stays in the request's `native`."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    stream: bool | None = None
    reasoning: Reasoning | None = None
    output: OutputFormat | None = None


class Incoming(Struct, frozen=True, eq=False):
    """The body that a request was read from, for the paths of findings.

    It is no part of what is asked: requests that ask the same are equal, whatever they came in.
    """

    given: Any
    """The body as it was given. Bytes are parsed again by those few who look into it: a parsed
    body that every request keeps costs time and memory."""
    format: str
    parts: tuple[object, ...] = ()
    """What was read from JSON text beside the conversation, so that it holds nothing that JSON
    does not have."""

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Incoming)

    __hash__ = None  # type: ignore[assignment]  # a body can change


class Request(Struct, frozen=True):
    """What is asked of a model."""

    conversation: Conversation
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    params: Params = Params()
    model: str = ""
    native: Native | None = None
    """Top-level fields of the wire format it came in that have no canonical meaning."""
    spelled: Native | None = None
    """Fields that `params` says in canonical words, where the format has several ways to say it:
    a target that knows them is asked in the same way again."""
    continues: Native | None = None
    """The fields that name turns its provider keeps before these; results may answer calls that
    are not here."""
    domain: str = ""
    """The signing domain it was meant for, where it is known: whose stored turns it continues."""
    findings: tuple[Finding, ...] = ()
    source: Incoming | None = None
