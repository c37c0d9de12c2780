"""Content between Cohere and canonical form: text, thoughts, images and documents."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from canonicall.blocks import Block, Media, Native, Text, Thinking, Unknown
from canonicall.findings import Finding
from canonicall.wire import carried
from canonicall.wire.cohere import TARGET
from canonicall.wire.foreign_parts import foreign_part, unread_part
from canonicall.wire.reading import native_fields, objects_at, split_data_url, text_at
from canonicall.wire.writing import data_url, words_of

FORMAT = TARGET.format
own_fields = partial(carried.fields_of, FORMAT)
"""The native fields of this format, nothing for those of another one."""
native_of = partial(carried.native_of, FORMAT)
"""Some fields as native fields of this format, None if there are none."""


def decode_content(value: Any, where: str, findings: list[Finding] | None = None) -> list[Block]:
    """The blocks of a `content`, which is text or a list of parts."""
    if isinstance(value, str):
        return [Text(text=value)]
    return [decode_part(part, at, findings) for part, at in objects_at(value, where)]


def decode_part(part: dict[str, Any], where: str, findings: list[Finding] | None = None) -> Block:
    """The block of one part."""
    match part:
        case {"type": "text"}:
            native = native_fields(FORMAT, part, ("type", "text"))
            return Text(text=text_at(part.get("text"), f"{where}.text"), native=native)
        case {"type": "thinking"}:
            native = native_fields(FORMAT, part, ("type", "thinking"))
            thought = text_at(part.get("thinking"), f"{where}.thinking")
            return Thinking(text=thought, native=native)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return _decode_image(url, native_fields(FORMAT, part["image_url"], ("url",)))
        case {"type": "document", "document": document}:
            return Text(text=document_text(document), native=Native(FORMAT, {"document": document}))
        case _:
            found = foreign_part(part, where, findings)
            is_hollow = part.get("type") in ("image_url", "document")
            return found or unread_part("" if is_hollow else FORMAT, part, where, findings)


def encode_content(
    blocks: Sequence[Block], *, documents: bool = False
) -> str | list[dict[str, Any]]:
    """One plain text as it is, anything else as a list of parts. `documents`: it is a result."""
    parts = [encode_part(block, documents=documents) for block in blocks]
    if len(parts) == 1 and parts[0].keys() == {"type", "text"}:
        return str(parts[0]["text"])
    return parts


def encode_part(block: Block, *, documents: bool = False) -> dict[str, Any]:
    """The part of one block; only results hold documents."""
    fields = own_fields(block.native)
    match block:
        case Text():
            document = fields.pop("document", None)
            # A text that was changed on the way is no longer what the document says.
            if documents and document is not None and document_text(document) == block.text:
                return {"type": "document", "document": document}
            fields.pop("tool_plan", None)
            return {"type": "text", "text": block.text} | fields
        case Thinking():
            return {"type": "thinking", "thinking": block.text} | fields
        case Media():
            return _encode_media(block, fields)
        case Unknown():
            return fields
        case _:
            return {"type": "text", "text": words_of(block)}


def _encode_media(media: Media, fields: dict[str, Any]) -> dict[str, Any]:
    url = media.url if media.data is None else data_url(media)
    if url is None:
        return {"type": "text", "text": f"[{media.media_type}: not available]"}
    return {"type": "image_url", "image_url": {"url": url} | fields}


def document_text(document: Any) -> str:
    """What a document says: its data as it is, or as JSON."""
    data = document.get("data") if isinstance(document, dict) else document
    return data if isinstance(data, str) else msgspec.json.encode(data).decode()


def _decode_image(url: str, native: Native | None) -> Media:
    inline = split_data_url(url)
    if inline is None:
        return Media(media_type="image/*", url=url, native=native)
    media_type, data = inline
    return Media(media_type=media_type or "image/*", data=data, native=native)
