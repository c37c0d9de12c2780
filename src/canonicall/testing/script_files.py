"""Scripts as text: JSON or JSON lines in, replies out.

A reply is a text, or an object with `text`, `thinking` and `calls`, each of these with a `name` and
its `arguments`.
"""

import json
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from canonicall.errors import InvalidValue
from canonicall.reply import Reply
from canonicall.testing.script import call, says, thought

_HELP = 'A reply is a text, or {"text", "thinking", "calls": [{"name", "arguments"}]}.'


class _Call(Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1)]
    arguments: dict[str, Any] = {}


class _Reply(Struct, forbid_unknown_fields=True):
    text: str = ""
    thinking: str = ""
    calls: list[_Call] = []


def read_script(text: str | bytes) -> list[Reply]:
    """The replies of a script: one list of them, or one on each line."""
    source = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    replies = [_reply(value, where) for value, where in _values(source)]
    if not replies:
        raise InvalidValue("there is no reply in it.", where="script", help=_HELP)
    return replies


def _values(source: str) -> list[tuple[Any, str]]:
    """The replies as JSON values, each with its place."""
    try:
        whole = json.loads(source)
    except (ValueError, RecursionError):
        lines = [(number, line) for number, line in enumerate(source.splitlines(), 1)]
        return [(_line(line, number), f"line {number}") for number, line in lines if line.strip()]
    listed = whole if isinstance(whole, list) else [whole]
    return [(value, f"script[{at}]") for at, value in enumerate(listed)]


def _line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        help = "A script is one JSON list of replies, or one JSON value on each line."
        raise InvalidValue(f"not JSON: {error}.", where=f"line {number}", help=help) from None


def _reply(value: Any, where: str) -> Reply:
    if isinstance(value, str):
        return says(value)
    try:
        reply = msgspec.convert(value, _Reply)
    except msgspec.ValidationError as error:
        raise InvalidValue(f"{error}.", where=where, help=_HELP) from None
    thoughts = [thought(reply.thinking)] if reply.thinking else []
    words = [reply.text] if reply.text else []
    calls = [call(one.name, one.arguments) for one in reply.calls]
    return says(*thoughts, *words, *calls)
