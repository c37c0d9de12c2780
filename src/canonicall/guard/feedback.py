"""What a model is told about a call that was refused: a `tool_error`, and its text.

The first time it gets what is wrong and the part of the schema that it concerns. If that was not
enough it gets the whole schema, and at the end it is told to go on without the tool.
"""

from typing import Any

import msgspec
from msgspec import Struct

from canonicall.guard.budget import Refusal
from canonicall.guard.problems import Problems, UnknownField, WrongValue
from canonicall.outcome import Outcome, wording
from canonicall.syntax.typed_values import resolved

_LONGEST_EXCERPT = 2_000
_LONGEST_SCHEMA = 8_000
_LONGEST_MEMBER = 600
_NOT_RUN = "This tool call was not run: "
_ADVICE = {
    Refusal.UNKNOWN_TOOL: "Call a tool that was offered.",
    Refusal.TRUNCATED: "Send the whole call again; if it is long, do it in smaller steps.",
    Refusal.UNREADABLE: "Call the tool again with one JSON object.",
    Refusal.TOO_LARGE: "Do it in smaller steps.",
    Refusal.INVALID: "Call the tool again with arguments that fit its schema.",
}


class ToolError(Struct, frozen=True, omit_defaults=True):
    """Why a call was refused, as data. Its text is what the model reads."""

    tool: str
    refusal: Refusal
    message: str
    missing: tuple[str, ...] = ()
    """Required arguments that are not there."""
    wrong: tuple[WrongValue, ...] = ()
    unknown: tuple[UnknownField, ...] = ()
    schema: dict[str, Any] | None = None
    """The part of the tool's schema that it is about."""
    attempts_left: int | None = None
    """None where nobody counts."""

    @property
    def text(self) -> str:
        """The payload as JSON text, for the content of a result."""
        return msgspec.json.encode({"tool_error": self}).decode()

    @property
    def is_final(self) -> bool:
        """Whether the model was told not to try again."""
        return self.attempts_left == 0


def outcome_of(refusal: Refusal) -> Outcome:
    """The outcome of a call that was refused."""
    return Outcome.TRUNCATED if refusal is Refusal.TRUNCATED else Outcome.INVALID


def message_of(refusal: Refusal, detail: str, problems: Problems) -> str:
    """What happened to the call, in a sentence or two."""
    if refusal is Refusal.TRUNCATED:
        return wording(Outcome.TRUNCATED)
    if refusal is Refusal.UNKNOWN_TOOL:
        return f"{_NOT_RUN}{detail}"
    if refusal is not Refusal.INVALID:
        return f"{_NOT_RUN}its arguments were not accepted: {detail}."
    told = [wording(Outcome.INVALID)]
    if problems.missing:
        told.append(f"Missing: {', '.join(problems.missing)}.")
    told += [f"{one.path or 'They'}: expected {one.expected}." for one in problems.wrong[:3]]
    told += [_unknown(one) for one in problems.unknown[:3]]
    return " ".join(told)


def _unknown(field: UnknownField) -> str:
    hint = f" Did you mean {field.did_you_mean}?" if field.did_you_mean else ""
    return f"Unknown: {field.path}.{hint}"


def urged(
    message: str, tool: str, refusal: Refusal, attempts_left: int | None, refusals: int
) -> str:
    """The message with what to do now, the more urgent the more often it had to be said."""
    if attempts_left == 0:
        return (
            f"{message} There are no attempts left: do not call {tool or 'it'} again. Go on without"
            " it, or say in words what you need."
        )
    counted = f" {refusals} calls failed like this." if refusals > 1 else ""
    last = " This is the last attempt." if attempts_left == 1 else ""
    return f"{message}{counted} {_ADVICE[refusal]}{last}"


def excerpt(schema: dict[str, Any], names: tuple[str, ...], *, whole: bool) -> dict[str, Any]:
    """The schema of the arguments in question, or the whole of it where it is wanted and short."""
    if whole and _size(schema) <= _LONGEST_SCHEMA:
        return schema
    properties = schema.get("properties")
    members = properties if isinstance(properties, dict) else {}
    chosen = [name for name in names if name in members] or list(members)
    shown: dict[str, Any] = {}
    room = _LONGEST_EXCERPT
    for name in chosen:
        member = _brief(members[name], schema)
        room -= _size({name: member})
        if room < 0:
            break
        shown[name] = member
    required = schema.get("required")
    listed = required if isinstance(required, list) else []
    named = [name for name in listed if isinstance(name, str) and name in shown]
    return {"type": "object", "properties": shown, "required": named}


def _brief(member: Any, schema: dict[str, Any]) -> Any:
    """The schema of one argument; of a long one, what it says about itself in short."""
    found = resolved(member, schema)
    if not isinstance(found, dict) or _size(found) <= _LONGEST_MEMBER:
        return found
    short = {key: one for key, one in found.items() if isinstance(one, (str, int, float))}
    return {key: one[:200] if isinstance(one, str) else one for key, one in short.items()}


def _size(value: Any) -> int:
    return len(msgspec.json.encode(value))
