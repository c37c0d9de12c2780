"""Images and documents: the source of a block, both ways.

A document of plain text holds its text as it is; canonical media hold base64, so it is encoded on
the way in and decoded on the way out.
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from typing import Any

from canonicall.blocks import Media, Native, Opaque, Unknown
from canonicall.plain import clean_text
from canonicall.wire.anthropic.extras import (
    FORMAT,
    decode_cache,
    decode_rest,
    own_fields,
    with_extras,
    without_mark,
)
from canonicall.wire.carried import opaque_value
from canonicall.wire.reading import object_at, objects_at, split_data_url, text_at

# A source by address or file id does not say what it is; documents by address have to be PDF
# (SDK url_pdf_source_param.py).
_TYPE_BY_URL = {"image": "image/*", "document": "application/pdf"}
_TYPE_BY_FILE = {"image": "image/*", "document": "application/*"}
_READABLE = ("application/json", "application/xml")


def decode_media(block: dict[str, Any], where: str, domain: str) -> Media | Unknown | None:
    """An `image` or `document` block. A source of a document that canonicall has no form for stays
    as it is; None where there is no source that any host could read."""
    kind = block["type"]
    source = object_at(block.get("source"), f"{where}.source")
    found = _decode_source(source, kind, f"{where}.source", domain)
    cache = decode_cache(block, where)
    if found is None and (kind == "image" or not isinstance(source.get("type"), str)):
        return None
    if found is None:
        return Unknown(cache=cache, native=Native(FORMAT, without_mark(block)))
    native = decode_rest(block, "source", "title")
    if source.get("type") == "content":
        native = Native(FORMAT, own_fields(native) | {"source": source})
    return Media(
        media_type=found.media_type,
        data=found.data,
        url=found.url,
        name=text_at(block.get("title"), f"{where}.title") or None,
        opaque=found.opaque,
        cache=cache,
        native=native,
    )


def encode_media(media: Media) -> dict[str, Any]:
    """The block that shows `media`: an image, or else a document."""
    kind = "image" if media.media_type.startswith("image/") else "document"
    wire: dict[str, Any] = {"type": kind, "source": _encode_source(media, kind)}
    if media.name and kind == "document":
        wire["title"] = media.name
    return with_extras(wire, cache=media.cache, native=media.native)


def _decode_source(source: dict[str, Any], kind: str, where: str, domain: str) -> Media | None:
    match source.get("type"):
        case "base64":
            media_type = text_at(source.get("media_type"), f"{where}.media_type")
            data = text_at(source.get("data"), f"{where}.data")
            return Media(media_type=media_type or _TYPE_BY_URL[kind], data=data)
        case "url":
            return _from_url(text_at(source.get("url"), f"{where}.url"), kind)
        case "file":
            file = Opaque(domain, "file_id", text_at(source.get("file_id"), f"{where}.file_id"))
            return Media(media_type=_TYPE_BY_FILE[kind], opaque=(file,))
        case "text":
            text = text_at(source.get("data"), f"{where}.data")
            return Media(media_type="text/plain", data=_packed(text, where))
        case "content":
            text_only = _text_of(source.get("content"), f"{where}.content")
            if text_only is not None:
                return Media(media_type="text/plain", data=_packed(text_only, where))
    return None


def _from_url(url: str, kind: str) -> Media:
    inline = split_data_url(url)
    if inline is None:
        return Media(media_type=_TYPE_BY_URL[kind], url=url)
    media_type, data = inline
    return Media(media_type=media_type or _TYPE_BY_URL[kind], data=data)


def _text_of(content: Any, where: str) -> str | None:
    """The words of a content source, None if it holds anything but words."""
    if isinstance(content, str):
        return content
    parts = [part for part, _ in objects_at(content, where)]
    if any(part.get("type") != "text" for part in parts):
        return None
    return "\n".join(text_at(part.get("text"), where) for part in parts)


def _encode_source(media: Media, kind: str) -> dict[str, Any]:
    id = opaque_value(media, "file_id")
    if id is not None:
        return {"type": "file", "file_id": id}
    written = own_fields(media.native).get("source")
    if isinstance(written, dict) and _still_says(written, media.data):
        return written
    if media.data is None:
        return {"type": "url", "url": media.url or ""}
    text = _unpacked(media) if kind == "document" else None
    if text is not None:
        return {"type": "text", "media_type": "text/plain", "data": text}
    return {"type": "base64", "media_type": media.media_type, "data": media.data}


def _still_says(source: dict[str, Any], data: str | None) -> bool:
    """Whether a source kept in its own form is what the media holds now."""
    text = _text_of(source.get("content"), "$")
    return text is not None and _packed(text, "$") == data


def _packed(text: str, where: str) -> str:
    return b64encode(clean_text(text, where)[0].encode()).decode("ascii")


def _unpacked(media: Media) -> str | None:
    """The text of a document that is text, None for any other."""
    if not (media.media_type.startswith("text/") or media.media_type in _READABLE):
        return None
    try:
        return b64decode(media.data or "", validate=True).decode()
    except (NotBase64, UnicodeDecodeError, ValueError):
        return None
