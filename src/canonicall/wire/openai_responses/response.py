"""Whole responses, both ways."""

from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import (
    Block,
    Media,
    Message,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.findings import Action, Fault, Finding
from canonicall.ids import base64url
from canonicall.reply import REFUSAL, STOP, Reply
from canonicall.wire.carried import opaque_value
from canonicall.wire.openai_responses.fields import (
    ID_PREFIXES,
    ITEM_ID,
    made_id,
    native_of,
    own_fields,
)
from canonicall.wire.openai_responses.finish import (
    FAILED,
    INCOMPLETE,
    NOT_ENDED,
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
    finish_word,
    status_fields,
)
from canonicall.wire.openai_responses.messages import decode_output, encode_reply
from canonicall.wire.openai_responses.parts import is_refusal
from canonicall.wire.openai_responses.target import FORMAT, TARGET
from canonicall.wire.reading import text_at

_ID = "resp_canonicall"
_STATUS = ("status", "error", "incomplete_details")
_KNOWN = {"id", "object", "created_at", "model", "output", "output_text", "usage", *_STATUS}
# What SDK response.py requires beyond what a reply knows.
_REQUIRED: dict[str, Any] = {
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": None,
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
}


def decode_response(
    body: dict[str, Any], *, origin: Origin | None = None, domain: str | None = None
) -> Reply:
    """The reply in `body`."""
    origin = origin or Origin(provider=TARGET.provider, format=FORMAT)
    origin = replace(
        origin,
        model=text_at(body.get("model"), "$.model") or origin.model,
        response_id=text_at(body.get("id"), "$.id"),
    )
    domain = TARGET.domain if domain is None else domain
    blocks, findings = decode_output(body.get("output"), domain=domain)
    short = text_at(body.get("output_text"), "$.output_text")
    if short and not blocks:
        blocks = (Text(text=short),)
    word = finish_word(body)
    finish = decode_finish(word, _has_open_calls(blocks))
    if finish == STOP and any(map(is_refusal, blocks)):
        finish = REFUSAL
    if body.get("error") is not None:
        why = f"The response failed: {body['error']}"
        findings.append(Finding("error_in_reply", "$.error", Action.KEPT, why, Fault.INPUT))
    return Reply(
        message=Message(
            "assistant", blocks, origin=origin, finish=finish, partial=word in NOT_ENDED
        ),
        usage=decode_usage(body.get("usage")),
        findings=tuple(findings),
        native=native_of(_decode_rest(body, word, finish)),
    )


def encode_response(reply: Reply) -> dict[str, Any]:
    """A complete response body."""
    origin = reply.message.origin or Origin()
    native = own_fields(reply.native)
    word = encode_finish(reply.finish)
    if reply.message.partial and not reply.finish:
        word = INCOMPLETE
    status = status_fields(word)
    told = {name: native[name] for name in _STATUS if name in native}
    if told:
        status = {"status": FAILED, "error": None, "incomplete_details": None, **told}
    body = {
        "id": origin.response_id or _ID,
        "object": "response",
        "created_at": 0,
        **status,
        "model": origin.model,
        "output": encode_output(reply),
        "usage": encode_usage(reply.usage),
    }
    rest = {name: field for name, field in native.items() if name not in _KNOWN}
    return _REQUIRED | rest | body


def encode_output(reply: Reply) -> list[dict[str, Any]]:
    """The items of a reply, each with an id."""
    items = encode_reply(tuple(_with_ids(_own_blocks(reply), reply)), TARGET)
    return [_complete(item, _suffix(reply, position)) for position, item in enumerate(items)]


def _complete(item: dict[str, Any], suffix: str) -> dict[str, Any]:
    """`item` with what an item has in a response, but not in a request."""
    match item.get("type"):
        case "function_call" | "custom_tool_call":
            return {**item, "status": item.get("status", "completed")}
        case "image_generation_call":
            return {"id": made_id("ig", suffix), **item}
        case _:
            return item


def _decode_rest(body: dict[str, Any], word: str, finish: str) -> dict[str, Any]:
    """The fields with no canonical meaning, and those of the status where its word says more."""
    fields = {
        name: field
        for name, field in body.items()
        if name not in _KNOWN and field is not None and field != _REQUIRED.get(name)
    }
    if encode_finish(finish) != word or word == FAILED:
        fields |= {name: body[name] for name in _STATUS if body.get(name) is not None}
    return fields


def _has_open_calls(blocks: tuple[Block, ...]) -> bool:
    """Whether the client has to answer a call: what the provider ran has its result beside it."""
    message = Message("assistant", blocks)
    answered = {result.call_id for result in message.results}
    return any(call.kind != "server" or call.id not in answered for call in message.calls)


def _own_blocks(reply: Reply) -> list[Block]:
    """The blocks this format has items for; the state of other formats means nothing in it."""
    origin = reply.message.origin
    is_own = origin is None or origin.format in ("", FORMAT)
    refused = reply.finish == REFUSAL and not any(map(is_refusal, reply.message.blocks))
    blocks: list[Block] = []
    for block in reply.message.blocks:
        match block:
            case Unknown() if not own_fields(block.native):
                continue
            case ToolCall(kind="server") if not is_own:
                continue
            case Media():
                blocks.append(_shown(block))
            case Text() if refused:
                blocks.append(Text(text=block.text, native=native_of({"refusal": True})))
            case _:
                blocks.append(block if is_own else replace(block, opaque=()))
    if refused and not any(map(is_refusal, blocks)):
        blocks.append(Text(text="", native=native_of({"refusal": True})))
    return blocks


def _shown(media: Media) -> Block:
    """Media of the model: an image it drew is an item, of anything else only the place is told."""
    if media.data is None or not media.media_type.startswith("image/"):
        return Text(text=media.url or f"[{media.name or media.media_type}]")
    item = {"type": "image_generation_call", "status": "completed", "result": media.data}
    return Unknown(native=native_of(item))


def _with_ids(blocks: list[Block], reply: Reply) -> list[Block]:
    """`blocks` with an item id on each; texts in a row that have none share a message."""
    named: list[Block] = []
    message_id = ""
    for position, block in enumerate(blocks):
        kind = _item_type(block)
        suffix = _suffix(reply, position)
        id = opaque_value(block, ITEM_ID) or (message_id if kind == "message" else "")
        id = id or made_id(ID_PREFIXES.get(kind, ""), suffix)
        message_id = id if kind == "message" and opaque_value(block, ITEM_ID) is None else ""
        named.append(_named(block, id, suffix) if kind else block)
    return named


def _named(block: Block, id: str, suffix: str) -> Block:
    if isinstance(block, ToolCall) and not block.id:
        block = replace(block, id=f"call_{suffix}")
    if opaque_value(block, ITEM_ID) is None:
        block = replace(block, opaque=(*block.opaque, Opaque(TARGET.domain, ITEM_ID, id)))
    return block


def _suffix(reply: Reply, position: int) -> str:
    """The end of an id: the same for the same reply, another one for each position."""
    origin = reply.message.origin or Origin()
    seed = origin.response_id or reply.message.turn_key
    return base64url(sha256(f"{seed}|{position}".encode()).digest())[:24]


def _item_type(block: Block) -> str:
    """The type of a block's item, the empty text where the block is the item."""
    match block:
        case Thinking():
            return "reasoning"
        case ToolCall(kind="custom"):
            return "custom_tool_call"
        case ToolCall(kind="function"):
            return "function_call"
        case Unknown() | ToolCall() | ToolResult():
            return ""
        case _:
            return "message"
