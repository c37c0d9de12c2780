"""Whole responses, both ways."""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Origin, Text
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import REFUSAL, STOP, Reply
from canonicall.wire.openai_responses import FORMAT, TARGET
from canonicall.wire.openai_responses.fields import native_of, own_fields
from canonicall.wire.openai_responses.finish import (
    COMPLETED,
    FAILED,
    INCOMPLETE,
    NOT_ENDED,
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
    finish_word,
    status_fields,
    unknown_finish,
)
from canonicall.wire.openai_responses.messages import decode_output, encode_reply
from canonicall.wire.openai_responses.output import (
    REFUSED,
    Naming,
    complete_item,
    is_own,
    own_block,
)
from canonicall.wire.openai_responses.parts import is_refusal
from canonicall.wire.openai_responses.repeated import DEFAULTS
from canonicall.wire.reading import text_at

_ID = "resp_canonicall"
_STATUS = ("status", "error", "incomplete_details")
_TIMES = ("created_at", "completed_at")
_KNOWN = {"id", "object", "model", "output", "output_text", "usage", *_TIMES, *_STATUS}


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
    findings += unknown_finish(word, finish, body.get("status") == INCOMPLETE)
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
        "completed_at": 0 if status["status"] == COMPLETED else None,
        **status,
        "model": origin.model,
        "output": encode_output(reply),
        "usage": encode_usage(reply.usage),
    }
    rest = {name: field for name, field in native.items() if name not in _KNOWN}
    return DEFAULTS | rest | body


def encode_output(reply: Reply) -> list[dict[str, Any]]:
    """The items of a reply, each with an id."""
    origin = reply.message.origin or Origin()
    naming = Naming(origin.response_id or reply.message.turn_key)
    items = encode_reply(tuple(naming.named(block) for block in _own_blocks(reply)), TARGET)
    return [complete_item(item, naming.suffix(place)) for place, item in enumerate(items)]


def _decode_rest(body: dict[str, Any], word: str, finish: str) -> dict[str, Any]:
    """The fields with no canonical meaning, and those of the status where its word says more."""
    fields = {
        name: field
        for name, field in body.items()
        if name not in _KNOWN and field is not None and field != DEFAULTS.get(name)
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
    """The blocks this format has items for."""
    own = is_own(reply.message.origin)
    refused = reply.finish == REFUSAL and not any(map(is_refusal, reply.message.blocks))
    blocks: list[Block] = []
    for block in reply.message.blocks:
        if refused and isinstance(block, Text):
            blocks.append(Text(text=block.text, native=REFUSED))
        elif (kept := own_block(block, own=own)) is not None:
            blocks.append(kept)
    if refused and not any(map(is_refusal, blocks)):
        blocks.append(Text(text="", native=REFUSED))
    return blocks
