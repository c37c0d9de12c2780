"""Messages between Ollama's chat API and canonical form.

A message has one text, beside it a thought, images and calls. Arguments are objects. A result names
its tool; newer builds name the call as well.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from canonicall.arguments import arguments_of
from canonicall.blocks import (
    Block,
    Code,
    Media,
    Message,
    Native,
    Origin,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from canonicall.errors import MalformedBody
from canonicall.facts.target import Target
from canonicall.findings import Finding
from canonicall.transcript.turns import Turn
from canonicall.wire import carried
from canonicall.wire.losses import misplaced
from canonicall.wire.ollama import TARGET
from canonicall.wire.reading import (
    arguments_at,
    id_at,
    list_at,
    native_fields,
    object_at,
    objects_at,
    text_at,
)
from canonicall.wire.writing import words_of

FORMAT = TARGET.format
own_fields = partial(carried.fields_of, FORMAT)
"""The native fields of this format, nothing for those of another one."""
native_of = partial(carried.native_of, FORMAT)
"""Some fields as native fields of this format, None if there are none."""
_OF_RESULTS = ("tool_name", "tool_call_id")
_KNOWN = ("role", "content", "thinking", "images", "tool_calls", *_OF_RESULTS)
# How the base64 text of each kind of image begins: the wire does not name the kind.
_MAGIC = {"iVBOR": "png", "/9j/": "jpeg", "R0lGOD": "gif", "UklGR": "webp"}


def decode_messages(
    value: Any, where: str, *, origin: Origin, findings: list[Finding] | None = None
) -> list[Message]:
    """The canonical messages of a request's `messages`."""
    told: list[Finding] = [] if findings is None else findings
    return [_decode_message(message, at, origin, told) for message, at in objects_at(value, where)]


def _decode_message(
    message: dict[str, Any], where: str, origin: Origin, findings: list[Finding]
) -> Message:
    match message.get("role"):
        case "assistant":
            findings += misplaced(message, _OF_RESULTS, where, "a tool's")
            return decode_reply(message, where, origin)
        case "tool":
            findings += misplaced(message, ("thinking", "tool_calls"), where)
            return Message("tool", (_decode_result(message, where),))
        case "system" | "user" as role:
            findings += misplaced(message, ("thinking",), where)
            findings += misplaced(message, _OF_RESULTS, where, "a tool's")
            return _decode_plain(role, message, where)
        case role:
            raise MalformedBody(f"there is no role {role!r}.", where=f"{where}.role")


def _decode_plain(role: Role, message: dict[str, Any], where: str) -> Message:
    """A message that is not the model's; the renderer moves the calls that are in it."""
    blocks = (*_decode_content(message, where), *_decode_calls(message, where))
    return Message(role, blocks, native=native_fields(FORMAT, message, _KNOWN))


def decode_reply(message: dict[str, Any], where: str, origin: Origin) -> Message:
    """A message of the model: its thought, its words, its calls."""
    thought = text_at(message.get("thinking"), f"{where}.thinking")
    blocks: list[Block] = [Thinking(text=thought)] if thought else []
    blocks += _decode_content(message, where)
    blocks += _decode_calls(message, where)
    native = native_fields(FORMAT, message, _KNOWN)
    return Message("assistant", tuple(blocks), origin=origin, native=native)


def _decode_content(message: dict[str, Any], where: str) -> list[Text | Media]:
    content: list[Text | Media] = []
    if message.get("content") is not None:
        content.append(Text(text=text_at(message["content"], f"{where}.content")))
    return [*content, *decode_images(message, where)]


def decode_images(message: dict[str, Any], where: str) -> list[Media]:
    """The images of a message, which stand beside its text."""
    images: list[Media] = []
    for index, data in enumerate(list_at(message.get("images"), f"{where}.images")):
        image = text_at(data, f"{where}.images[{index}]")
        images.append(Media(media_type=_image_type(image), data=image))
    return images


def _decode_calls(message: dict[str, Any], where: str) -> list[ToolCall]:
    calls = objects_at(message.get("tool_calls"), f"{where}.tool_calls")
    return [decode_call(call, at, index) for index, (call, at) in enumerate(calls)]


def decode_call(call: dict[str, Any], where: str, index: int) -> ToolCall:
    """A call; `index` is its position among the calls of its message."""
    function = object_at(call.get("function") or {}, f"{where}.function")
    raw, args = arguments_at(function.get("arguments"))
    known = ("id", "type", "function", "index")
    fields = {name: value for name, value in call.items() if name not in known}
    number = function.get("index", call.get("index"))
    if number not in (None, index):
        fields["index"] = number
    return ToolCall(
        id=id_at(call.get("id"), f"{where}.id"),
        name=text_at(function.get("name"), f"{where}.function.name"),
        args=args,
        raw=raw,
        native=native_of(fields),
    )


def _decode_result(message: dict[str, Any], where: str) -> ToolResult:
    return ToolResult(
        call_id=id_at(message.get("tool_call_id"), f"{where}.tool_call_id"),
        content=tuple(_decode_content(message, where)),
        is_complete=True,
        name=text_at(message.get("tool_name"), f"{where}.tool_name"),
        native=native_fields(FORMAT, message, _KNOWN),
    )


def encode_turn(turn: Turn, target: Target) -> list[dict[str, Any]]:
    """The messages of a turn: one, or one for each result."""
    if turn.role == "assistant":
        return [encode_reply(turn.blocks, turn.native, target)]
    results = [block for block in turn.blocks if isinstance(block, ToolResult)]
    messages = [_encode_result(result, target) for result in results]
    rest = [block for block in turn.blocks if not isinstance(block, ToolResult)]
    if rest or not results:
        role = "system" if turn.role in ("system", "developer") else "user"
        message: dict[str, Any] = {"role": role} | encode_content(rest)
        messages.append(message | own_fields(turn.native, except_for=_KNOWN))
    return messages


def encode_reply(
    blocks: Iterable[Block], native: Native | None, target: Target, *, numbered: bool = False
) -> dict[str, Any]:
    """A message of the model. `numbered`: calls say their position, as in responses."""
    blocks = tuple(blocks)
    message: dict[str, Any] = {"role": "assistant"} | encode_content(blocks)
    calls = [block for block in blocks if isinstance(block, ToolCall) and block.kind != "server"]
    if calls and not message["content"] and target.empty_content_beside_calls != "empty":
        del message["content"]
    thoughts = [block.text for block in blocks if isinstance(block, Thinking) and block.text]
    if thoughts:
        message["thinking"] = "\n".join(thoughts)
    if calls:
        message["tool_calls"] = [
            encode_call(call, index if numbered else None) for index, call in enumerate(calls)
        ]
    return message | own_fields(native, except_for=_KNOWN)


def encode_content(blocks: Iterable[Block]) -> dict[str, Any]:
    """The text and the images of `blocks`. Only images that are here can be sent."""
    texts: list[str] = []
    images: list[str] = []
    for block in blocks:
        match block:
            case Text() | Summary() | Code():
                texts.append(words_of(block))
            case Media(data=str(data)):
                images.append(data)
            case Media():
                texts.append(f"[{block.media_type}: {block.url or 'not available'}]")
            case _:
                pass
    return {"content": "\n".join(texts)} | ({"images": images} if images else {})


def encode_call(call: ToolCall, index: int | None) -> dict[str, Any]:
    """A call, with its position where that is told; else with the number that it came with."""
    fields = own_fields(call.native)
    number = fields.pop("index", None)
    index = number if index is None else index
    function: dict[str, Any] = {} if index is None else {"index": index}
    function |= {"name": call.name, "arguments": arguments_of(call)}
    wire: dict[str, Any] = {"id": call.id} if call.id else {}
    return wire | {"function": function} | fields


def _encode_result(result: ToolResult, target: Target) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "tool"} | encode_content(result.content or ())
    if result.name and target.result_names_tool:
        message["tool_name"] = result.name
    if result.call_id:
        message["tool_call_id"] = result.call_id
    return message | own_fields(result.native, except_for=_KNOWN)


def _image_type(data: str) -> str:
    kinds = (kind for magic, kind in _MAGIC.items() if data.startswith(magic))
    return f"image/{next(kinds, '*')}"
