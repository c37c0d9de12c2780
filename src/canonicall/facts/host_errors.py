"""How a host refuses a request, as data: the `[errors]` table of its file.

    [errors.codes]                       # what its error body has in `code`, by our codes
    unknown_parameter = ["unknown_field"]

    [[errors.answers]]                   # its own text or status for what the judge finds
    codes = ["orphan_result_sent"]
    text = "Invalid request: tool_call_id {id} is not found"
    source = "MoonshotAI/kimi-cli#178"

    [[errors.texts]]                     # what a text of it means; the form of facts/errors.toml
    code = "blank_text"
    pattern = 'text content is empty'
    example = "text content is empty"
    source = "MoonshotAI/kimi-cli#2621"

Every entry is optional. `says` names entries of `facts/errors.toml` that several hosts share.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from canonicall.errors import InvalidValue
from canonicall.facts.conversion import convert

ErrorForm: TypeAlias = Literal["flat", "code_and_text", "status_code", "detail"]
"""flat: the fields of OpenAI's error without the object around them. code_and_text: `code` and the
text in `error`. status_code: OpenAI's error with the HTTP status in `code`, and `metadata`. detail:
the text alone, in `detail`."""


class Answer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a host answers to some violations, where it differs from the owner of the format."""

    codes: tuple[str, ...]
    """The violations, by the codes of the judge."""
    field: str = ""
    """The only field of the request that it holds for; "" for any."""
    text: str = ""
    """`{index}` is the number of the message, `{role}` its role, `{id}` the id that it answers,
    `{call}` the id of the call, `{field}` the name of the field, `{choice}` the tool choice."""
    status: int = 0
    """0 for the usual one."""
    formats: tuple[str, ...] = ()
    """The formats it holds for; () for the host's own."""
    source: str


class ErrorText(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An error text and what it means."""

    code: str
    pattern: str
    """A regular expression, without regard to case; a group named `ids` holds ids it names."""
    example: str
    source: str
    name: str = ""
    """What hosts call it in `says`, in the shared table."""
    meaning: str = ""
    repair: str = ""
    also: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    vague: bool = False
    outside: bool = False


class EffortTexts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a host answers to a reasoning effort. `{model}`, `{value}`, `{known}`, `{plain}` and
    `{path}` are filled in."""

    any: str
    """To any effort, where the model supports none."""
    unknown: str
    """To one that the model does not support."""
    source: str


class PartText(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a host answers to a part of an unknown type: `{message}` is the place, `{kind}` the
    type."""

    text: str
    source: str


class HostErrors(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[errors]` table of a host."""

    like: str = ""
    """The host whose `codes` and `answers` it has as well."""
    says: tuple[str, ...] = ()
    """Names of entries in `facts/errors.toml` that are texts of this host."""
    bodies: dict[str, ErrorForm] = {}
    """The form of error bodies by format, where it is not that of the format."""
    codes: dict[str, tuple[str, ...]] = {}
    """Values of the field `code` in the error body, each with the codes of the judge."""
    answers: tuple[Answer, ...] = ()
    texts: tuple[ErrorText, ...] = ()
    efforts: EffortTexts | None = None
    parts: PartText | None = None


NO_ERRORS = HostErrors()


def load_errors(value: Any, formats: tuple[str, ...], where: str) -> HostErrors:
    """The table of a host that speaks `formats`."""
    errors: HostErrors = convert(value, HostErrors, where)
    named = {*errors.bodies, *(one for answer in errors.answers for one in answer.formats)}
    for format in sorted(named - set(formats)):
        what = f"the host does not speak the format {format!r}."
        raise InvalidValue(what, where=where, help=f"It speaks {', '.join(formats)}.")
    return errors
