"""What the simulator of a host does, as data: the `[simulator]` table of its file.

    [simulator]
    models = ["grok-4-1-fast"]
    call_ids = { openai-chat = "call_{digits:8}" }
    whole_calls = true
    source = "Recorded streams"

    [[simulator.limits]]
    models = ["*llama-guard*"]
    field = "tools"
    when = { has = ["tools"] }
    text = "`tool calling` is not supported with this model"
    source = "Recorded traffic"

Every entry is optional. What all hosts of a format have in common is in `formats/*.toml`.

Forms of ids: `{name}` and `{number}` are those of the call; `{word:9}` are nine letters and digits,
`{digits:9}` digits from 1 to 9, `{hex:9}` hexadecimal digits, `{hash:9}` base64url. They are made
from the number of the call, so that the same run gives the same ids.
"""

from functools import cache
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from canonicall.errors import InvalidValue
from canonicall.facts.conversion import convert
from canonicall.facts.format_files import format_table

ThoughtPlace: TypeAlias = Literal[
    "reasoning_content", "reasoning", "reasoning_details", "content", "none"
]


class Condition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a body has to be like; fields are named by their paths. All that is given must hold."""

    has: tuple[str, ...] = ()
    """Fields that are set, and not empty."""
    objects: tuple[str, ...] = ()
    """Fields that hold an object."""
    above: dict[str, float] = {}
    """Fields with a number above this one."""
    lacks: dict[str, str] = {}
    """Lists without this entry, or no list at all."""
    roles: tuple[str, ...] = ()
    """Roles of which a message has one."""
    tool_types: tuple[str, ...] = ()
    """Types of which a tool has one."""


class Limit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that some models refuse, and that no rule of the judge knows."""

    models: tuple[str, ...] = ("*",)
    """Globs of their names."""
    field: str
    """The field that the error is about."""
    when: Condition
    text: str
    """`{model}`, `{value}` (of the field), `{index}` and `{role}` (of the message that has one of
    the roles) are filled in."""
    error_code: str = ""
    status: int = 400
    names_param: bool = True
    """Whether the error names the field apart from its text."""
    more: dict[str, Any] | None = None
    """What the error body has besides."""
    source: str


class MissingModel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The answer where there is no such model: `{model}` is its name."""

    status: int
    text: str
    type: str
    error_code: str = ""


class Habits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[simulator]` table of a host."""

    models: tuple[str, ...] = ()
    """Names of models that it serves, for its list of models and first tries."""
    call_ids: dict[str, str] = {}
    """The form of the ids that it gives to calls, by format."""
    thoughts: ThoughtPlace = "reasoning_content"
    """The field of a chat message that holds the reasoning; "none" where it is not shown."""
    whole_calls: bool = False
    """Whether a stream has each call in one chunk."""
    always_usage: bool = False
    """Whether every stream ends with the usage, asked for or not."""
    usage_in_last_chunk: bool = False
    """Whether the usage is in the chunk that ends the choice, not in a separate one."""
    model_in_path: bool = False
    """Whether the path names the model, so that a body without one is accepted."""
    type_error_status: int = 400
    """The status of the answer to wrong types and unknown or missing fields."""
    missing_model: MissingModel | None = None
    model_card: dict[str, Any] = {}
    """What an entry of the list of models has besides."""
    limits: tuple[Limit, ...] = ()
    source: str = ""


NO_HABITS = Habits()


_ERROR_TYPES = {
    "400": "invalid_request_error",
    "404": "not_found_error",
    "429": "rate_limit_error",
    "500": "api_error",
    "503": "overloaded_error",
    "529": "overloaded_error",
}
"""What an error of a status is called, where the file of the format does not say it."""


class FormatHabits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all simulators of a format do: the `[simulator]` table of its file."""

    call_ids: str
    """The form of the ids that calls get."""
    response_ids: str = "sim-{number:8}"
    """The form of the ids that responses get; `{number:8}` is the number of the reply with leading
    zeros."""
    error_types: dict[str, str] = {}
    """What an error is called, by its status; {} for the usual names."""
    overloaded_status: int = 503
    cuts_calls: bool = True
    """Whether a call whose arguments are cut by the token limit is sent; not where they are no
    text."""
    signed_models: tuple[str, ...] = ("*",)
    """The models whose thoughts are signed."""
    bound_models: tuple[str, ...] = ()
    """The models whose signatures cover all that precedes the thought."""


def load_habits(value: Any, formats: tuple[str, ...], where: str) -> Habits:
    """The table of a host that speaks `formats`."""
    habits: Habits = convert(value, Habits, where)
    for format in habits.call_ids:
        if format not in formats:
            what = f"the host does not speak the format {format!r}."
            help = f"It speaks {', '.join(formats)}."
            raise InvalidValue(what, where=f"{where}.call_ids", help=help)
    return habits


@cache
def format_habits(format: str) -> FormatHabits:
    """What all simulators of a format do."""
    where = f"{format}.toml: simulator"
    habits: FormatHabits = convert(format_table(format)["simulator"], FormatHabits, where)
    return habits


def error_type(format: str, status: int) -> str:
    """What a format calls an error of a status."""
    return (format_habits(format).error_types or _ERROR_TYPES)[str(status)]
