"""What one target accepts, as data. The renderer obeys it, the verifier checks against it.

A target is a provider and a model, spoken to in one wire format. Everything that tells two targets
apart is a field here; no code compares provider names. `formats/*.toml` has the base of
each format; families of models and hosts override fields, with a source for each.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from canonicall.facts.schema_rules import SchemaRule

Format: TypeAlias = Literal[
    "openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "cohere", "ollama"
]
"""The names of the wire formats."""
FORMATS: tuple[str, ...] = get_args(Format)
IdStyle: TypeAlias = Literal["prefixed", "numbered", "short", "echoed"]
ResultPlace: TypeAlias = Literal["tool_messages", "user_message", "own_user_message", "items"]
Keep: TypeAlias = Literal["signed", "open", "none"]
FieldPlace: TypeAlias = Literal[
    "request", "message", "part", "text", "thinking", "result", "call", "tool"
]
ThinkingKind: TypeAlias = Literal["adaptive", "enabled", "disabled", "between_tools", "effort"]
ThinkingField: TypeAlias = Literal["", "thinking", "enable_thinking", "reasoning"]
OutputMode: TypeAlias = Literal["schema", "object"]


class IdRule(Struct, frozen=True):
    """How a tool-call id looks on the wire."""

    style: IdStyle = "prefixed"
    """prefixed: `prefix` and the canonical suffix. numbered: `functions.{name}:{number}`.
    short: exactly `max_length` letters and digits. echoed: ids are sent only where the provider
    itself gave one."""
    prefix: str = "call_"
    pattern: str = "[A-Za-z0-9_-]+"
    """What the whole id has to match."""
    max_length: int = 40
    refused: bool = True
    """Whether another id is refused; else it is taken, and only leads the model astray."""


class NameRule(Struct, frozen=True):
    """What a tool's name may look like on the wire."""

    pattern: str = "[A-Za-z0-9_-]+"
    max_length: int = 64
    min_length: int = 1
    refused: bool = True
    """Whether another name is refused; else it is taken, and only not rendered."""


class FieldRule(Struct, frozen=True):
    """Which fields a target knows beyond those with a canonical meaning, by where they stand.

    A field that is not named is sent to the provider that made it and where nobody knows whose it
    is, and never where another provider is known to have made it up. In a place that names none,
    any field is sent, unless the place is closed. "a.b" is the field `b` of the object `a`: of such
    an object all fields are named, of others none is looked at.
    """

    request: tuple[str, ...] = ()
    """All fields of a request, those with a canonical meaning among them."""
    message: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    """Those fields of a message that only instructions have."""
    part: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    """Those of parts that are text, where only these are closed; so for thinking and results."""
    thinking: tuple[str, ...] = ()
    result: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    closed: tuple[FieldPlace, ...] = ()
    """The places where a field that is not named is refused. It is not sent, or in a request, a
    tool and a part only to the provider that made it: that may be newer than this list."""

    def takes(self, name: str) -> bool:
        """Whether a request may have the field `name`."""
        return "request" not in self.closed or name in self.request


FieldTree: TypeAlias = Mapping[str, "FieldTree"]
"""Fields by their names, each with those inside of it; an empty one may hold any."""


@lru_cache(maxsize=256)
def field_tree(names: tuple[str, ...]) -> FieldTree:
    """The fields that a rule names, "a.b" inside of "a"."""
    tree: dict[str, Any] = {}
    for name in names:
        inner = tree
        for step in name.split("."):
            inner = inner.setdefault(step, {})
    return tree


class Refusal(Struct, frozen=True, kw_only=True):
    """A field of a request, or some values of it, that a model refuses; maybe only beside another.

    Fields are named by their path in the body: `thinking.type`.
    """

    field: str
    values: tuple[str | bool, ...] = ()
    """The values that are refused; () for any."""
    taken: tuple[str | float, ...] = ()
    """The values that are taken all the same."""
    beside: str = ""
    """The field that makes it refused; "" where it is refused in any company."""
    beside_values: tuple[str | bool, ...] = ()
    """The values of that field which do so; () for any that is set."""
    error: str
    """What the provider answers; `{value}` and `{model}` are filled in."""


class TextForm(Struct, frozen=True, kw_only=True):
    """How a host prints a call as text, as data: a syntax of that host alone.

    `{name}` means the name of the call, `{key}` the name of the argument:

        opening NAME between ARGUMENTS closing
        opening NAME between [before_key KEY before_value VALUE after_value separator]... closing
    """

    name: str
    opening: str
    between: str = ""
    closing: str = ""
    joint: str = ""
    """What is between two calls, where it is not the closing and the opening."""
    arguments: Literal["json", "object", "members"] = "json"
    """json: a JSON object after the name. object: a JSON object that has the name as well. members:
    each argument by itself, as an element, an attribute or a pair."""
    name_key: str = ""
    arguments_key: str = ""
    """The members of such an object; without the second the arguments are beside the name."""
    before_key: str = ""
    before_value: str = ""
    after_value: str = ""
    separator: str = ""
    quote: str = ""
    """The quotation mark around values."""
    quoted: Literal["strings", "all"] = "strings"
    escapes: Literal["", "xml", "json"] = ""
    """How a value is escaped."""

    def __post_init__(self) -> None:
        if not self.name or not self.opening.strip():
            raise ValueError("a form needs a name, and an opening that is not blank")
        if self.arguments == "object" and not self.name_key:
            raise ValueError("an object needs the key of the name: name_key")
        ends = self.after_value + self.separator + self.before_key
        if self.arguments == "members" and not (self.before_value and (self.quote or ends)):
            raise ValueError("members need before_value, and something that ends a value")


class Target(Struct, frozen=True):
    """One target: who it is and what it accepts."""

    format: str
    provider: str = ""
    model: str = ""
    domain: str = ""
    """The signing domain: whose opaque state it can read."""

    ids: IdRule = IdRule()
    names: NameRule = NameRule()
    fields: FieldRule = FieldRule()
    schemas: SchemaRule = SchemaRule()

    # Parameters.
    token_limit_field: str = ""
    """What the limit of tokens is called; "" where either name will do: as it came."""
    seed_field: str = "seed"

    # Messages.
    results: ResultPlace = "tool_messages"
    result_names_tool: bool = False
    """A result carries the name of its tool."""
    result_media: tuple[str, ...] = ()
    """Families a result may hold: "image", "document", "audio", "video"; or media types, where not
    all of a family can stand there. Others are moved."""
    result_parts: tuple[str, ...] = ()
    """The types of parts that a result may hold, in the words of the format; () for any."""
    echoed_fields: tuple[str, ...] = ()
    """Fields of a call that its result has to repeat."""
    empty_results: bool = True
    """A result may have no content; else a sentence stands in for it."""
    result_error_flag: bool = False
    """A result can be marked as failed; elsewhere its text has to say it."""
    media: tuple[str, ...] = ("image",)
    """Families a user message may hold."""
    media_types: tuple[str, ...] = ()
    """The media types that it reads, "text/*" for all that begin so; () where none is refused. A
    note stands in for others."""
    document_part: Literal["file", "document_url"] = "file"
    """The type of part in which a chat message holds a document."""
    reply_media: tuple[str, ...] = ()
    """Families the model's own messages may hold; a note stands in for others."""
    named_sound: bool = False
    """Sound that the provider's model made is sent back by its id, and needs no place."""
    part_types: tuple[str, ...] = ()
    """The types that a part of a chat message may have; () where others are not refused."""
    address_schemes: tuple[str, ...] = ()
    """How an address has to begin that it can fetch: "s3://"; () for any."""
    media_by_url: tuple[str, ...] = ("image", "document", "audio", "video")
    """Families of which the address is enough; of others the data has to be sent."""
    file_ids: bool = True
    """Media may be named by the id of a file that was uploaded before."""
    document_needs_text: bool = False
    """A message with a document has to have text as well."""
    system: Literal["top", "inline"] = "inline"
    system_later: bool = True
    """Instructions may stand behind the first message; else they become user text."""
    system_before_reply: bool = False
    """Later instructions stand behind a user message, and before a reply or the end."""
    speaker_names: str = ""
    """What the name of the one who speaks has to match; "" where nothing is known of a rule."""
    developer: bool = False
    """There is a developer role; else it is a system message."""
    merge_roles: bool = False
    """Messages of one role in a row have to be one message."""
    starts_with_user: bool = False
    ends_with_user: bool = False
    """The last message must not be the assistant's."""
    trimmed_ending: bool = False
    """Words that the model shall continue must not end in white space."""
    user_beside_results: bool = True
    """Results in a user message of their own may be followed by another user message."""
    documents_beside_results: bool = True
    """Documents and films may stand in one message with results."""
    user_after_results: bool = True
    """A user message may follow results at once; else a short assistant message stands between."""
    text_beside_calls: bool = True
    calls_last: bool = False
    """Nothing but calls may stand behind the first call of a message."""
    empty_content_beside_calls: Literal["null", "empty", "omit"] = "null"
    """What stands for the text of a message that has only calls."""
    content_as_text: bool = False
    """Text content is one string, never a list of parts."""
    lists_refused: tuple[str, ...] = ()
    """The roles whose content is refused where it is a list, be it of text alone."""
    calls_per_message: int = 0
    """More calls are split over several messages; 0 means no limit."""

    # Reasoning.
    reasoning: Keep = "none"
    """signed: only with opaque state of the own domain. open: as plain text. none: never sent."""
    reasoning_field: str = "reasoning_content"
    """Where open reasoning stands in a chat message."""
    reasoning_same_model: bool = False
    """Opaque reasoning is readable only by the model that made it."""
    reasoning_state: tuple[str, ...] = ()
    """Kinds of opaque state of which a signed thought needs one, because the format has no place
    for others; () for any."""
    reasoning_placeholder: str | None = None
    """What a message with calls carries where it has no reasoning but must have some."""
    thinks: bool = True
    """Where reasoning is demanded: it thinks unless told not to; else only when told to."""
    thinking_field: ThinkingField = ""
    """The field of a chat request that switches thinking on and off; "" where none is known, and
    only an effort is told."""
    thinking: tuple[ThinkingKind, ...] = ()
    """How thinking can be switched, in Claude's words; () where nothing is known to be refused.
    adaptive: on, as the model thinks fit. enabled: on, with a budget. disabled, between_tools: off.
    effort: by what it is told as the effort, for which "none" may stand. A model with none of the
    last three always thinks."""
    thinking_limits: tuple[int, int] | None = None
    """The least and the largest budget for thinking; None where they are not known."""
    tools_while_reasoning: bool = True
    """Tools may be offered while the model reasons; else it has to be told not to."""
    efforts: tuple[str, ...] | None = None
    """The efforts it knows; () where it is told none, None where nothing is known to be refused."""
    signature_sentinel: str | None = None
    """What stands for the missing signature of the first call of a step."""

    # Tools.
    tools_with_history: bool = False
    """Tools must be declared when the history has tool blocks."""
    max_tools: int = 128
    """How many tools a request may have; 0 where no limit is known."""
    schema_required: bool = False
    """A tool without parameters has to have a schema that says so."""
    strict_tools: bool = True
    """A tool may be marked as strict; else the mark is refused."""
    choice_modes: tuple[str, ...] = ("auto", "required", "none")
    choice_names: Literal["one", "many", "no"] = "many"
    """Whether a choice can name one tool, a list of tools, or none."""
    late_choice: bool = True
    """A choice can name a tool that stands among the messages."""
    parallel_switch: bool = True
    custom_tools: bool = False
    forced_choice_with_reasoning: bool = True

    # Structured output.
    output_modes: tuple[OutputMode, ...] = ("schema", "object")
    """What a reply can be asked to be: JSON by a schema, any JSON object."""
    output_refused: bool = True
    """Whether anything else is refused; else it is taken, and the reply does not keep to it."""
    output_schemas: SchemaRule | None = None
    """What the schema of a reply may say; None where it is what those of tools may say."""
    output_strict: Literal["flag", "always", "never"] = "flag"
    """Whether a request says that the model is held to the schema. always: it is, by the rules of
    strict mode. never: it is as far as the host can, without such rules."""
    output_word: str = ""
    """What has to stand in some message where any JSON object is asked for."""

    # Parameters.
    refused_params: tuple[str, ...] = ()
    """Parameters it refuses, by their canonical names: "temperature", "top_p", "top_k", ..."""
    refusals: tuple[Refusal, ...] = ()
    """What is refused by its place in the body: fields, values, and combinations of them."""
    body_version: str = ""
    """The version of the API, where the body has to name it and not a header."""
    kept_state: tuple[str, ...] | None = None
    """The fields by which a request can continue what is kept here; `item_reference` is the item
    that names a stored one. A request with another such field cannot be answered here. None where
    nothing is known to be refused."""
    kept_instructions: bool = False
    """What a request continues has its own instructions: the request gives none at the top."""
    unstored: bool = False
    """Nothing is kept for later requests, and each of them has to say that it knows."""
    stream_only: bool = False
    """A reply comes as a stream or not at all."""
    instructions_required: bool = False
    """The field for instructions has to be there, be it empty."""

    server_history: bool = True
    """Calls that the provider ran on its side may be sent back to it."""
    unreplayed: tuple[str, ...] = ()
    """The names of those among them that may not."""
    replayed_if_offered: tuple[str, ...] = ()
    """The names of those that may, where the tool is offered again; "*": all, if any tool is."""
    group_names: str = ""
    """A pattern for the names of groups of tools, "" where any will do."""
    client_run: tuple[str, ...] = ()
    """The names of those that the caller runs: a call of theirs is sent with its result only."""
    mixed_tools: bool = True
    """Functions may be offered beside tools that the provider runs on its side."""

    # Cache marks.
    cache_marks: int = 0
    """How many marks a request may have."""
    marked_tools: bool = True
    """A tool may have a mark."""
    marked_results: bool = True
    """What stands inside of a result may have a mark of its own; else the result has it."""
    marked_documents: bool = True
    """Any document may have a mark; else only a PDF."""
    cache_order: bool = False
    """A mark that lasts an hour must not stand behind one that lasts five minutes."""
    cache_field: Literal["cache_control", "prompt_cache_breakpoint"] = "cache_control"
    """How a mark is written in a chat request."""

    # What is looked at more closely than elsewhere.
    arguments_checked: bool = False
    """Arguments in the history are read: their text has to be that of a JSON object."""
    blank_is_empty: bool = False
    """Empty text counts as no content."""
    reasoning_refused: bool = False
    """A message with reasoning is refused where none is accepted, not read without it."""
    parallel_needs_tools: bool = False
    """The switch for parallel calls is refused where no tools are declared."""
    item_ids: bool = False
    """Items are looked up by their ids, so these have to be the provider's own."""

    # What a reply may hold beside structured calls.
    leaks: tuple[str, ...] = ()
    """The syntaxes in which calls are known to be printed into the text of replies, by name.
    "family": the syntax of the model's family, or every syntax with markers of its own if the
    family is unknown. Empty: text is only text."""
    text_forms: tuple[TextForm, ...] = ()
    """Forms of calls in text that only this host is known to print; `leaks` names them."""

    # What is looked at less closely than elsewhere.
    unenforced: tuple[str, ...] = ()
    """Rules of the format that a model or a host is recorded not to have, by the code of their
    violation. Nothing is rendered differently for it: a rule that is not enforced is still one."""
    served: tuple[tuple[str, Any], ...] = ()
    """Fields and their values as the service has them, where it takes more than is rendered for it.
    The base of a format names here what its owner refuses and others that speak it are not known
    to; a rule in a profile that is more than uncertain (`U`) counts before it."""

    @property
    def as_served(self) -> "Target":
        """The rules of the service itself. What is rendered keeps the narrower ones, so that it
        passes with every model and every version of it."""
        return replace(self, served=(), **dict(self.served)) if self.served else self

    @property
    def name(self) -> str:
        """Who it is: "provider:model", or the provider alone."""
        return f"{self.provider}:{self.model}" if self.model else self.provider
