"""Content: a string or a list of parts on the wire, blocks in canonical form.

What the user says is made of `input_*` parts, what the model says of `output_text` and `refusal`.
"""

from collections.abc import Iterable
from typing import Any, TypeGuard

from canonicall.blocks import Block, Media, Native, ResultContent, Text, Unknown
from canonicall.findings import Finding
from canonicall.wire.carried import with_rest
from canonicall.wire.foreign_parts import foreign_part, unread_part
from canonicall.wire.openai_responses import FORMAT
from canonicall.wire.openai_responses.fields import (
    decode_mark,
    encode_mark,
    native_of,
    own_fields,
    rest_of,
)
from canonicall.wire.openai_responses.media import MEDIA_PARTS, decode_media, encode_media
from canonicall.wire.reading import list_at, object_at, text_at
from canonicall.wire.writing import words_of

ITEM = "item"
"""Where the native fields of a text keep those of the message item around it."""


def decode_content(
    content: Any, where: str, domain: str, findings: list[Finding]
) -> tuple[ResultContent, ...]:
    """The blocks of a message's content."""
    if isinstance(content, str):
        return (Text(text=content),)
    return tuple(
        decode_part(part, f"{where}[{index}]", domain, findings)
        for index, part in enumerate(list_at(content, where))
    )


def decode_part(value: Any, where: str, domain: str, findings: list[Finding]) -> ResultContent:
    """One part of a content list."""
    part = object_at(value, where)
    kind = part.get("type")
    if kind in ("input_text", "output_text", "text"):
        return _decode_text(part, where)
    if kind == "refusal":
        refusal = text_at(part.get("refusal"), f"{where}.refusal")
        return Text(text=refusal, native=native_of({**rest_of(part), "refusal": True}))
    media = decode_media(part, where, domain) if kind in MEDIA_PARTS else None
    if media is not None:
        return media
    found = foreign_part(part, where, findings)
    # No host takes parts of another type (error text "Supported values are: 'input_text', ...").
    is_own = kind == "input_video"
    return found or unread_part(FORMAT if is_own else "", part, where, findings)


def encode_content(blocks: Iterable[Block]) -> str | list[dict[str, Any]]:
    """What a user, an instruction or a result says: a string where one bare text is all."""
    blocks = tuple(blocks)
    if len(blocks) == 1 and _is_bare_text(blocks[0]):
        return blocks[0].text
    parts = [encode_part(block) for block in blocks]
    if not parts:
        return ""
    if len(parts) == 1 and parts[0].keys() == {"type", "text"} and type(blocks[0]) is not Unknown:
        return str(parts[0]["text"])
    return parts


def encode_part(block: Block) -> dict[str, Any]:
    """One part of what goes in."""
    match block:
        case Unknown(native=Native(fields=fields)):
            return fields
        case Media():
            return encode_media(block)
        case _:
            part = {"type": "input_text", "text": words_of(block), **encode_mark(block.cache)}
            return with_rest(part, _part_fields(block))


def encode_output_part(block: Block) -> dict[str, Any]:
    """One part of what came out of the model."""
    if isinstance(block, (Unknown, Media)):
        return encode_part(block)
    rest = _part_fields(block)
    if is_refusal(block):
        return with_rest({"type": "refusal", "refusal": words_of(block)}, rest)
    part = {"type": "output_text", "text": words_of(block), "annotations": []}
    return part | rest


def is_refusal(block: Block) -> bool:
    """Whether a text is a refusal."""
    return own_fields(block.native).get("refusal") is True


def _decode_text(part: dict[str, Any], where: str) -> Text:
    rest = rest_of(part, "text")
    for name in ("annotations", "logprobs"):
        if rest.get(name) == []:
            del rest[name]
    return Text(
        text=text_at(part.get("text"), f"{where}.text"),
        cache=decode_mark(part, where),
        native=native_of(rest),
    )


def _is_bare_text(block: Block) -> TypeGuard[Text]:
    return type(block) is Text and block.native is None and block.cache is None


def _part_fields(block: Block) -> dict[str, Any]:
    fields = own_fields(block.native)
    return {name: field for name, field in fields.items() if name not in (ITEM, "refusal")}
