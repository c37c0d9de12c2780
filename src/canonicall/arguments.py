"""The arguments of a call: the text that came, the object in it, and what is written of both.

`raw` is the text as the model wrote it, `args` the object that it means. The rule, for every format
and every door: `args` is None only for free text, and for text that is not a JSON object, which is
reported. Empty text and `null` are `{}`. Where both are there, `raw` is the text of `args`; it is
written as it came, so duplicate keys and long numbers reach the next reader unchanged.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.blocks import Message, ToolCall
from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding
from canonicall.growing import GrowingJson
from canonicall.plain import MAX_DEPTH, plain_json


def parse_arguments(
    raw: str | None, findings: list[Finding] | None = None
) -> dict[str, Any] | None:
    """The JSON object in `raw`, None if there is none. Nothing, blank and null mean `{}`.

    Characters that had to be replaced are reported in `findings`.
    """
    if not raw or raw.isspace():
        return {}
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeEncodeError):
        # The strict parser refuses escaped lone surrogates, which models do write.
        value = _lenient(raw, findings) if "\\u" in raw or not raw.isascii() else None
    except RecursionError:
        value = None
    if isinstance(value, str) and value != raw:
        # Encoded twice: the text of an object, or an empty text, inside a JSON text.
        return parse_arguments(value, findings)
    if not isinstance(value, dict):
        return {} if raw.strip() == "null" else None
    # What the strict parser gives is plain already, unless it is nested too deeply to be kept:
    # every level has an opening bracket and a closing one.
    if len(raw) < 2 * MAX_DEPTH or raw.count("{") + raw.count("[") < MAX_DEPTH:
        return value
    return _plain_object(value, findings)


def with_arguments(call: ToolCall, findings: list[Finding]) -> ToolCall:
    """`call` with its arguments parsed.

    What is unusual about their text is reported, at a path inside the call: `raw` or `args`.
    """
    if call.args is not None or call.kind == "custom":
        return call
    args = parse_arguments(call.raw, findings)
    if args is None:
        what = call.name or "the call"
        why = f"The arguments of {what} are not a JSON object; only their text is kept."
        findings.append(Finding("arguments_unreadable", "raw", Action.KEPT, why, Fault.INPUT))
        return call
    raw = call.raw or ""
    if raw[:1] != "{" and raw.lstrip().startswith('"'):
        why = "The arguments came as a JSON text that holds their JSON; it was read as meant."
        findings.append(Finding("arguments_unwrapped", "raw", Action.CHANGED, why, Fault.INPUT))
    return replace(call, args=args)


def message_with_arguments(
    message: Message,
    findings: list[Finding],
    read: Callable[[ToolCall, list[Finding]], ToolCall] = with_arguments,
) -> Message:
    """The message of a reply, in which every call has its arguments parsed by `read`."""
    if ToolCall not in map(type, message.blocks):
        return message
    blocks = list(message.blocks)
    for at, block in enumerate(message.blocks):
        if type(block) is ToolCall:
            reported: list[Finding] = []
            blocks[at] = read(block, reported)
            if reported:
                findings += inside(f"reply.blocks[{at}]", reported)
    return replace(message, blocks=tuple(blocks))


def inside(where: str, findings: Iterable[Finding]) -> list[Finding]:
    """What was reported inside of a call, at its place from outside."""
    return [replace(one, where=f"{where}.{one.where}") for one in findings]


def is_cut(call: ToolCall) -> bool:
    """Whether a call was cut off: it is marked so, or its text ends inside its arguments.

    Text that is broken, or is another JSON value as a whole, was not cut.
    """
    if call.truncated or call.kind != "function" or call.args is not None:
        return call.truncated
    raw = (call.raw or "").lstrip()
    if raw[:1] not in ("{", "[", '"'):
        return False
    growing = GrowingJson()
    growing.feed(raw)
    return not growing.is_whole and not growing.is_broken


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object; free text and text that is no object become its only field."""
    if call.args is not None:
        return call.args
    if call.kind == "custom":
        return {"input": call.raw or ""}
    parsed = parse_arguments(call.raw)
    return {"_raw": call.raw} if parsed is None else parsed


def with_object(call: ToolCall) -> ToolCall:
    """`call` with an object in any case: free text, and text that is none, become its field."""
    call = with_arguments(call, [])
    return call if call.args is not None else replace(call, args=arguments_of(call), raw=None)


def agreeing(call: ToolCall) -> ToolCall:
    """`call` without its text where that says something else than the object: the object counts.

    Code that makes or changes a call may leave it like that; in a conversation no call is.
    """
    if call.args is None or call.raw is None or call.truncated or call.kind == "custom":
        return call
    return call if parse_arguments(call.raw) == call.args else replace(call, raw=None)


def arguments_text(call: ToolCall) -> str:
    """The arguments as a function has them, which is the text of an object.

    It is the text that came where that is an object, and where it cannot be read.
    """
    if call.kind == "custom":
        return _written(arguments_of(call))
    if call.args is None:
        return object_text(call.raw or "")
    if call.raw is not None and _is_braced(call.raw):
        return call.raw
    return _written(call.args)


def object_text(raw: str) -> str:
    """Arguments as the text of an object, if they are one in any form: null, blank, text in text.

    Text that cannot be read stays as it came.
    """
    if _is_braced(raw):
        return raw
    parsed = parse_arguments(raw)
    return raw if parsed is None else _written(parsed)


def _is_braced(raw: str) -> bool:
    return raw[:1] == "{" or raw.lstrip()[:1] == "{"


def _written(args: dict[str, Any]) -> str:
    return msgspec.json.encode(args).decode()


def _lenient(raw: str, findings: list[Finding] | None) -> Any:
    try:
        return _plain_object(json.loads(raw), findings)
    except (ValueError, RecursionError):
        return None


def _plain_object(value: Any, findings: list[Finding] | None) -> dict[str, Any] | None:
    try:
        plain, replaced = plain_json(value, "args")
    except InvalidValue:
        return None
    if findings is not None:
        findings += replaced
    return plain if isinstance(plain, dict) else None
