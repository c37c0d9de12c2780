"""Media parts: `{"type": T, T: {...}}` with the address or the data inside.

The family of the media tells the type of its part. Where it came in another one (`document_url`),
the native fields remember the type; what else the part held is there in the shape it had.
"""

import re
from typing import Any

from canonicall.blocks import Media, Native, Opaque
from canonicall.facts.target import Target
from canonicall.wire.openai_chat.native import (
    decode_mark,
    native_of,
    native_rest,
    own_fields,
    rest_of,
)
from canonicall.wire.reading import split_data_url
from canonicall.wire.writing import data_url

# Parts that hold an address, with the family of what is found there. Beside image_url these are
# words of hosts: document_url of Mistral, video_url and audio_url of vLLM and OpenRouter.
_ADDRESSED = {
    "image_url": "image/*",
    "video_url": "video/*",
    "audio_url": "audio/*",
    "document_url": "application/pdf",
}
_NAME = "document_name"
"""The field beside `document_url`."""
MEDIA_PARTS = (*_ADDRESSED, "input_audio", "file")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
"""How an address begins; base64 has no colon."""
_AUDIO_TYPES = {"mp3": "audio/mpeg"}
_AUDIO_FORMATS = {"audio/mpeg": "mp3", "audio/x-wav": "wav", "audio/wave": "wav"}


def decode_media(part: dict[str, Any], where: str, domain: str) -> Media | None:
    """The media in a part; None where there is no source in it that could be read."""
    kind = part["type"]
    held = part.get(kind)
    if isinstance(held, str):  # Mistral: the address, or base64, without an object around it.
        held = {"data" if kind == "input_audio" else "url": held}
    if not isinstance(held, dict):
        return None
    if kind == "file":
        media = _decode_file(held, domain)
    elif kind == "input_audio":
        media = _decode_audio(held)
    else:
        media = _located(held.get("url"), _ADDRESSED[kind], native_rest(held, ("url",)))
    if media is None:
        return None
    rest = rest_of(part, ("type", kind))
    name = media.name
    if kind == "document_url" and isinstance(rest.get(_NAME), str):
        name = rest.pop(_NAME)
    # Data that says that it is no sound is what it says.
    is_named_wrong = kind == "input_audio" and not media.media_type.startswith("audio/")
    if kind != _part_for(media) and not is_named_wrong:
        rest["type"] = kind
    if own_fields(media.native) and not is_named_wrong:
        rest[kind] = own_fields(media.native)
    return Media(
        media_type=media.media_type,
        data=media.data,
        url=media.url,
        name=name,
        opaque=media.opaque,
        cache=decode_mark(part, where),
        native=native_of(rest),
    )


def encode_media(media: Media, target: Target) -> dict[str, Any]:
    """The part for `media`, without its native fields."""
    kind = own_fields(media.native).get("type") or _part_for(media)
    if kind == "file" and not _is_known_by_id(media):
        kind = target.document_part
    if target.part_types and kind not in target.part_types:
        kind = _part_for(media)  # An image in the part of a file, for example.
    if kind == "audio_url" and target.part_types and kind not in target.part_types:
        kind = "input_audio"  # DashScope takes an address as its data.
    source = _address_of(media)
    match kind:
        case "file":
            return {"type": kind, kind: _encode_file(media, source)}
        case "input_audio":
            subtype = media.media_type.partition("/")[2]
            format = _AUDIO_FORMATS.get(media.media_type, subtype)
            return {"type": kind, kind: {"data": media.data or source, "format": format}}
        case "document_url":
            named = {_NAME: media.name} if media.name is not None else {}
            return {"type": kind, kind: source, **named}
        case _:
            return {"type": kind, kind: {"url": source}}


def _part_for(media: Media) -> str:
    """The type of part in which media of this family is sent."""
    if _is_known_by_id(media):
        return "file"
    match media.media_type.partition("/")[0]:
        case "image":
            return "image_url"
        case "video":
            return "video_url"
        case "audio":
            return "audio_url" if media.data is None else "input_audio"
        case _:
            return "file"


def _is_known_by_id(media: Media) -> bool:
    """Whether the provider has it already."""
    return media.data is None and media.url is None


def _located(source: Any, media_type: str, extra: Native | None = None) -> Media | None:
    """Media at an address; a data address is taken apart."""
    if not isinstance(source, str):
        return None
    inline = split_data_url(source)
    if inline is None:
        return Media(media_type=media_type, url=source, native=extra)
    given, data = inline
    return Media(media_type=given or media_type, data=data, native=extra)


def _is_address(source: str) -> bool:
    return _SCHEME.match(source) is not None


def _address_of(media: Media) -> str:
    return media.url or "" if media.data is None else data_url(media)


def _decode_audio(held: dict[str, Any]) -> Media | None:
    data, format = held.get("data"), held.get("format") or "*"
    if not isinstance(data, str) or not isinstance(format, str):
        return None
    media_type = _AUDIO_TYPES.get(format, f"audio/{format}")
    extra = native_rest(held, ("data", "format"))
    if _is_address(data):  # DashScope and Mistral take addresses.
        return _located(data, media_type, extra)
    return Media(media_type=media_type, data=data, native=extra)


def _decode_file(held: dict[str, Any], domain: str) -> Media | None:
    data, id, name = held.get("file_data"), held.get("file_id"), held.get("filename")
    is_pdf = isinstance(name, str) and name.lower().endswith(".pdf")
    media_type = "application/pdf" if is_pdf else "application/octet-stream"
    opaque = (Opaque(domain, "file_id", id),) if isinstance(id, str) else ()
    if not isinstance(data, str) and not opaque:
        return None
    media = Media(media_type=media_type)
    if isinstance(data, str):
        located = _located(data, media_type) if _is_address(data) else None
        media = located or Media(media_type=media_type, data=data)
    return Media(
        media_type=media.media_type,
        data=media.data,
        url=media.url,
        name=name if isinstance(name, str) else None,
        opaque=opaque,
        native=native_rest(held, ("file_data", "file_id", "filename")),
    )


def _encode_file(media: Media, source: str) -> dict[str, Any]:
    held = {"filename": media.name} if media.name is not None else {}
    if source:
        held["file_data"] = source
    for opaque in media.opaque:
        if opaque.kind == "file_id":
            held["file_id"] = opaque.value
    return held
