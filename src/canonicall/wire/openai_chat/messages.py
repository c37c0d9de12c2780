"""Messages: one wire message is one canonical message, and one turn is one wire message.

An assistant message holds its reasoning first, then its content, a refusal, sound, images, and its
calls last. Where an assistant says nothing, this format has four ways to write it (null, "", [], no
field); all of them are read as no block.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import (
    Block,
    Media,
    Message,
    Native,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from canonicall.errors import MalformedBody
from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import REFUSAL
from canonicall.transcript.turns import Turn
from canonicall.wire.losses import misplaced
from canonicall.wire.openai_chat import FORMAT
from canonicall.wire.openai_chat.audio import decode_audio, encode_audio_reference, own_sound
from canonicall.wire.openai_chat.calls import decode_calls, encode_call
from canonicall.wire.openai_chat.native import (
    HINT,
    decode_mark,
    field_of,
    native_rest,
    own_fields,
    whole_mark,
    with_rest,
)
from canonicall.wire.openai_chat.parts import (
    REFUSED,
    decode_content,
    decode_part,
    decode_result_content,
    encode_content,
    encode_part,
    is_bare_text,
    is_refusal,
)
from canonicall.wire.openai_chat.reasoning import (
    REASONING_FIELDS,
    as_instruction,
    decode_reasoning,
    encode_reasoning,
)
from canonicall.wire.openai_chat.usual import usual_message
from canonicall.wire.reading import id_at, object_at, objects_at, text_at

_CALLS = ("tool_calls", "function_call")
_OF_REPLIES = ("refusal", "audio", "images", *REASONING_FIELDS)
ASSISTANT_FIELDS = ("role", "content", *_CALLS, *_OF_REPLIES)
_ROLES = vocabulary(FORMAT).roles


def decode_messages(
    messages: list[Any],
    where: str,
    origin: Origin,
    domain: str,
    findings: list[Finding],
    *,
    first: int = 0,
) -> Iterator[Message]:
    """The canonical messages of a request; `first` is the number of the first of them."""
    for index, value in enumerate(messages, first):
        usual = usual_message(value, origin) if isinstance(value, dict) else None
        if usual is not None:
            yield usual
        else:
            yield decode_message(value, f"{where}[{index}]", origin, domain, findings)


def decode_message(
    value: Any, where: str, origin: Origin, domain: str, findings: list[Finding]
) -> Message:
    """One message, whatever is in it."""
    message = object_at(value, where)
    match message.get("role"):
        case "assistant":
            return _decode_assistant(message, where, origin, domain, findings)
        case "tool" | "function":
            return _decode_result(message, where, domain, findings)
        case "system" | "developer" | "user" as role:
            blocks = _decode_words(message, where, domain, findings)
            findings += misplaced(message, _OF_REPLIES, where)
            return Message(role, blocks, native=native_rest(message, ASSISTANT_FIELDS))
        case role:
            what = f"{role!r} is not a role. Use one of {', '.join(_ROLES)}."
            raise MalformedBody(what, where=f"{where}.role")


def decode_assistant_blocks(
    message: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> tuple[Block, ...]:
    """What a model said, in a request's history or in a response."""
    blocks: list[Block] = [*decode_reasoning(message, where, domain, findings)]
    content = message.get("content")
    if content != "":
        blocks += decode_content(content, f"{where}.content", domain, findings)
    refusal = text_at(message.get("refusal"), f"{where}.refusal")
    if refusal:
        blocks.append(Text(text=refusal, native=REFUSED))
    blocks += decode_audio(message.get("audio"), f"{where}.audio", domain)
    # OpenRouter: images a model made stand beside its content.
    for image, place in objects_at(message.get("images"), f"{where}.images"):
        block = decode_part({"type": "image_url", **image}, place, domain, findings)
        blocks.append(as_made(block))
    calls = decode_calls(message, where, findings)
    return (*_said_once(blocks, calls, where, findings), *calls)


def as_made(block: Block) -> Block:
    """An image of the model's stands where OpenRouter puts it, wherever it came from."""
    if isinstance(block, Media) and block.media_type.startswith("image/") and not field_of(block):
        return replace(block, native=Native(FORMAT, {**own_fields(block.native), HINT: "images"}))
    return block


def _said_once(
    blocks: list[Block], calls: Sequence[ToolCall], where: str, findings: list[Finding]
) -> list[Block]:
    """`blocks` without the calls that `tool_calls` has as well."""
    ids = {call.id for call in calls}
    once = [block for block in blocks if not (isinstance(block, ToolCall) and block.id in ids)]
    if len(once) < len(blocks):
        why = "A call stands in the content and in tool_calls; it is one call."
        findings.append(Finding("call_twice", where, Action.DROPPED, why, Fault.INPUT))
    return once


def encode_turn(turn: Turn, target: Target) -> list[dict[str, Any]]:
    """The wire messages of a turn: one, or one for each result."""
    if turn.role == "tool":
        results = (block for block in turn.blocks if isinstance(block, ToolResult))
        return [_encode_result(result, target) for result in results]
    if turn.role == "assistant":
        message = _encode_assistant(turn, target)
    else:
        message = {"role": turn.role, "content": encode_content(turn.blocks, target)}
    for name, field in own_fields(turn.native).items() if turn.native is not None else ():
        if name != "prefix":
            message.setdefault(name, field)
    return [message]


def content_blocks(blocks: Sequence[Block], chunks: Sequence[Thinking] = ()) -> tuple[Block, ...]:
    """The blocks of an assistant message that its content is made of, `chunks` among them."""
    beside = own_sound(blocks)
    return tuple(
        block
        for block in blocks
        if not isinstance(block, (ToolCall, ToolResult))
        and (not isinstance(block, Thinking) or block in chunks)
        and not is_refusal(block)
        and field_of(block) != "images"
        and block not in beside
    )


def encode_beside(blocks: Sequence[Block]) -> dict[str, Any]:
    """What stands beside the content in requests and responses alike: a refusal and images."""
    fields: dict[str, Any] = {}
    refusals = [block.text for block in blocks if isinstance(block, Text) and is_refusal(block)]
    if refusals:
        fields["refusal"] = "\n".join(refusals)
    images = [encode_part(block) for block in blocks if field_of(block) == "images"]
    if images:
        fields["images"] = images
    return fields


def _decode_words(
    message: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> tuple[Block, ...]:
    """The blocks of a system, developer or user message."""
    if message.get("content") is None:
        _note_missing_content(where, findings)
    content = decode_content(message.get("content"), f"{where}.content", domain, findings)
    # Only the model refuses.
    blocks = map(as_instruction, map(_as_text, content))
    return _marked((*blocks, *decode_calls(message, where, findings)), message, where)


def _decode_assistant(
    message: dict[str, Any], where: str, origin: Origin, domain: str, findings: list[Finding]
) -> Message:
    blocks = _marked(decode_assistant_blocks(message, where, domain, findings), message, where)
    known = ASSISTANT_FIELDS if message.get("prefix") else (*ASSISTANT_FIELDS, "prefix")
    return Message(
        "assistant",
        blocks,
        origin=origin,
        finish=REFUSAL if any(map(is_refusal, blocks)) else "",
        native=native_rest(message, known),
    )


def _decode_result(
    message: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> Message:
    if message["role"] == "function":
        why = "A message of the legacy role function is read as a tool result."
        findings.append(Finding("legacy_function", where, Action.CHANGED, why, Fault.INPUT))
    content = message.get("content")
    if content is None:
        _note_missing_content(where, findings)
    if lost := [name for name in _CALLS if message.get(name) is not None]:
        why = f"A result cannot make calls; these fields are left out: {', '.join(lost)}."
        findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT))
    result = ToolResult(
        call_id=id_at(message.get("tool_call_id"), f"{where}.tool_call_id"),
        content=decode_result_content(content, f"{where}.content", domain, findings),
        is_complete=True,
        name=text_at(message.get("name"), f"{where}.name"),
        cache=decode_mark(message, where),
        native=native_rest(message, ("role", "content", "tool_call_id", "name", *_CALLS)),
    )
    return Message("tool", (result,))


def _marked(blocks: tuple[Block, ...], message: dict[str, Any], where: str) -> tuple[Block, ...]:
    """`blocks` with the mark that stands on the message as a whole behind the last of them."""
    mark = decode_mark(message, where)
    if mark is None or not blocks:
        return blocks
    return (*blocks[:-1], replace(blocks[-1], cache=mark))


def _note_missing_content(where: str, findings: list[Finding]) -> None:
    why = "The message has no content."
    findings.append(Finding("missing_content", where, Action.KEPT, why, Fault.INPUT))


def _encode_assistant(turn: Turn, target: Target) -> dict[str, Any]:
    calls = [block for block in turn.blocks if type(block) is ToolCall]
    words: Sequence[Block] = [block for block in turn.blocks if is_bare_text(block)]
    thoughts: list[Thinking] = []
    beside: dict[str, Any] = {}
    if len(words) + len(calls) < len(turn.blocks):
        blocks = tuple(map(as_made, turn.blocks)) if target.reply_media else turn.blocks
        if not _has_refusals(target):
            blocks = tuple(map(_as_text, blocks))
        thoughts = [block for block in blocks if isinstance(block, Thinking)]
        chunks = thoughts if target.reasoning_field == "content" else ()
        beside = encode_beside(blocks) | encode_audio_reference(blocks)
        words = content_blocks(blocks, chunks)
    message: dict[str, Any] = {"role": "assistant"}
    written = encode_content(words, target)
    if written or not (calls or beside):
        message["content"] = written
    elif target.empty_content_beside_calls != "omit":
        message["content"] = "" if target.empty_content_beside_calls == "empty" else None
    if thoughts:
        message |= encode_reasoning(thoughts, target.reasoning_field)
    message |= beside
    if calls:
        message["tool_calls"] = [encode_call(call, target) for call in calls]
    if turn.prefix:
        message["prefix"] = True
    return message


def _has_refusals(target: Target) -> bool:
    """Whether a message of the model may have the field `refusal`."""
    return "message" not in target.fields.closed or "refusal" in target.fields.message


def _as_text(block: Block) -> Block:
    """A refusal as the text that it is."""
    if isinstance(block, Text) and is_refusal(block):
        return replace(block, native=None)
    return block


def _encode_result(result: ToolResult, target: Target) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "tool", "tool_call_id": result.call_id}
    if target.result_names_tool and result.name:
        message["name"] = result.name
    content = result.content or ()
    mark = whole_mark(result.cache, target)
    if result.cache is not None and not mark and content:
        content = (*content[:-1], replace(content[-1], cache=result.cache))
    message["content"] = encode_content(content, target)
    return with_rest(message, result) | mark if mark else with_rest(message, result)
