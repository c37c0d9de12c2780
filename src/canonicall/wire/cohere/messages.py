"""Messages between Cohere's chat API and canonical form.

What a model says beside its calls stands in `tool_plan`: a text with the hint `tool_plan`. On the
way out all text of a message with calls goes there, for it is not known that text and calls may
stand side by side.
"""

from collections.abc import Sequence
from typing import Any

from canonicall.arguments import arguments_text
from canonicall.blocks import (
    Block,
    Code,
    Media,
    Message,
    Native,
    Origin,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.errors import MalformedBody
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.transcript.turns import Turn
from canonicall.wire.cohere.content import (
    FORMAT,
    decode_content,
    encode_content,
    encode_part,
    own_fields,
)
from canonicall.wire.foreign_parts import unread_part
from canonicall.wire.losses import misplaced
from canonicall.wire.reading import (
    arguments_at,
    id_at,
    native_fields,
    object_at,
    objects_at,
    text_at,
)
from canonicall.wire.writing import words_of

_KNOWN = ("role", "content", "tool_plan", "tool_calls")
PLAN = Native(FORMAT, {"tool_plan": True})
"""What tells a plan from other words."""


def decode_messages(
    value: Any, where: str, *, origin: Origin, findings: list[Finding] | None = None
) -> list[Message]:
    """The canonical messages of a request's `messages`."""
    return [
        _decode_message(message, at, origin, findings) for message, at in objects_at(value, where)
    ]


def _decode_message(
    message: dict[str, Any], where: str, origin: Origin, findings: list[Finding] | None
) -> Message:
    match message.get("role"):
        case "assistant":
            return decode_reply(message, where, origin, findings)
        case "tool":
            return Message("tool", (_decode_result(message, where, findings),))
        case "system" | "user" as role:
            blocks = decode_content(message.get("content"), f"{where}.content", findings)
            blocks += _decode_calls(message, where)
            if findings is not None:
                findings += misplaced(message, ("tool_plan",), where)
            return Message(role, tuple(blocks), native=native_fields(FORMAT, message, _KNOWN))
        case role:
            raise MalformedBody(f"there is no role {role!r}.", where=f"{where}.role")


def decode_reply(
    message: dict[str, Any],
    where: str,
    origin: Origin,
    findings: list[Finding] | None = None,
) -> Message:
    """A message of the model: what it thought and said, its plan, its calls."""
    blocks = decode_content(message.get("content"), f"{where}.content", findings)
    plan = text_at(message.get("tool_plan"), f"{where}.tool_plan")
    if plan:
        blocks.append(Text(text=plan, native=PLAN))
    blocks += _decode_calls(message, where)
    native = native_fields(FORMAT, message, _KNOWN)
    return Message("assistant", tuple(blocks), origin=origin, native=native)


def _decode_calls(message: dict[str, Any], where: str) -> list[ToolCall]:
    """The calls of a message. The renderer moves those that are not the model's."""
    calls = objects_at(message.get("tool_calls"), f"{where}.tool_calls")
    return [decode_call(call, at) for call, at in calls]


def decode_call(call: dict[str, Any], where: str) -> ToolCall:
    """A call; its arguments are text, but an object is taken too."""
    function = object_at(call.get("function") or {}, f"{where}.function")
    raw, args = arguments_at(function.get("arguments"))
    return ToolCall(
        id=id_at(call.get("id"), f"{where}.id"),
        name=text_at(function.get("name"), f"{where}.function.name"),
        args=args,
        raw=raw,
        native=native_fields(FORMAT, call, ("id", "type", "function")),
    )


def _decode_result(
    message: dict[str, Any], where: str, findings: list[Finding] | None
) -> ToolResult:
    given: Any = message.get("content")
    content = decode_content(given, f"{where}.content", findings)
    if findings is not None:
        findings += misplaced(message, ("tool_plan", "tool_calls"), where)
    return ToolResult(
        call_id=id_at(message.get("tool_call_id"), f"{where}.tool_call_id"),
        content=tuple(
            block
            if isinstance(block, (Text, Media, Unknown))
            else unread_part("", given[at], f"{where}.content[{at}]", findings)
            for at, block in enumerate(content)
        ),
        is_complete=True,
        native=native_fields(FORMAT, message, (*_KNOWN, "tool_call_id")),
    )


def encode_turn(turn: Turn, target: Target) -> list[dict[str, Any]]:
    """The messages of a turn: one, or one for each result."""
    results = [block for block in turn.blocks if isinstance(block, ToolResult)]
    if turn.role == "assistant":
        return [encode_reply(turn.blocks, turn.native, target)]
    messages = [_encode_result(result) for result in results]
    rest = [block for block in turn.blocks if not isinstance(block, ToolResult)]
    if rest or not results:
        role = "system" if turn.role in ("system", "developer") else "user"
        message: dict[str, Any] = {"role": role, "content": encode_content(rest)}
        messages.append(message | own_fields(turn.native, except_for=message))
    return messages


def encode_reply(
    blocks: tuple[Block, ...], native: Native | None, target: Target
) -> dict[str, Any]:
    """A message of the model."""
    calls = [block for block in blocks if isinstance(block, ToolCall) and block.kind != "server"]
    content = [block for block in blocks if not isinstance(block, (ToolCall, ToolResult))]
    message: dict[str, Any] = {"role": "assistant"}
    if calls:
        said = [words_of(block) for block in content if _is_text(block)]
        content = [block for block in content if not _is_text(block)]
        plan = "\n".join(words for words in said if words)
        if plan:
            message["tool_plan"] = plan
        message["tool_calls"] = [_encode_call(call) for call in calls]
    if content or not calls:
        # Replies have a list here, always; requests take one.
        parts = [encode_part(block) for block in content]
        # What only another format has a word for has no part.
        message["content"] = [part for part in parts if part]
    elif target.empty_content_beside_calls != "omit":
        message["content"] = "" if target.empty_content_beside_calls == "empty" else None
    return message | own_fields(native, except_for=_KNOWN)


def _encode_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments_text(call)}
    wire: dict[str, Any] = {"id": call.id, "type": "function", "function": function}
    return wire | own_fields(call.native, except_for=wire)


def _encode_result(result: ToolResult) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "tool",
        "tool_call_id": result.call_id,
        "content": encode_content(result.content or (), documents=True) or "",
    }
    return message | own_fields(result.native, except_for=message)


def lost_in_plans(turns: Sequence[Turn]) -> list[Finding]:
    """Fields of texts that are sent in `tool_plan`, which is text alone."""
    findings: list[Finding] = []
    for at, turn in enumerate(turns):
        if turn.role != "assistant" or ToolCall not in map(type, turn.blocks):
            continue
        for position, block in enumerate(turn.blocks):
            lost = own_fields(block.native).keys() - {"tool_plan", "document"}
            if type(block) is Text and lost:
                where = f"turns[{at}].blocks[{position}]"
                why = f"Text beside calls has no such fields: {', '.join(sorted(lost))}."
                findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.RENDER))
    return findings


def _is_text(block: Block) -> bool:
    return isinstance(block, (Text, Summary, Code))
