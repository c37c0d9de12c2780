"""Media: `inlineData` and `fileData` to a Media block and back.

An address everybody can fetch is the block's url. One that only Google can read (its Files API, a
storage bucket) is an opaque file id of the signing domain.
"""

import re
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Media, Native, Opaque
from canonicall.wire.reading import split_data_url, text_at

_PUBLIC = re.compile(r"https?://(?!generativelanguage\.googleapis\.com/)", re.IGNORECASE)
_VIDEO_SITE = re.compile(r"https?://(www\.|m\.)?(youtube\.com|youtu\.be)/", re.IGNORECASE)
_ENDING = re.compile(r"[^?#]*\.(\w+)(?:[?#]|$)")
_URL_SAFE = str.maketrans("-_", "+/")

_TYPES_BY_ENDING = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "pdf": "application/pdf",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "mp4": "video/mp4",
}


def decode_inline(
    inline: dict[str, Any], where: str, opaque: tuple[Opaque, ...], native: Native | None
) -> Media | None:
    """The media in an `inlineData`, None if there is no data in it."""
    if "data" not in inline:
        return None
    return Media(
        media_type=text_at(inline.get("mimeType"), f"{where}.mimeType") or "application/*",
        data=_standard_base64(text_at(inline["data"], f"{where}.data")),
        name=_name(inline),
        opaque=opaque,
        native=native,
    )


def decode_file(
    file: dict[str, Any],
    where: str,
    domain: str,
    opaque: tuple[Opaque, ...],
    native: Native | None,
) -> Media | None:
    """The media a `fileData` refers to, None if it refers to none."""
    uri = text_at(file.get("fileUri"), f"{where}.fileUri")
    if not uri:
        return None
    given = text_at(file.get("mimeType"), f"{where}.mimeType")
    media_type = given or ("video/*" if _VIDEO_SITE.match(uri) else "application/*")
    media = Media(media_type=media_type, name=_name(file), opaque=opaque, native=native)
    inside = split_data_url(uri)
    if inside is not None:
        named, data = inside
        return replace(media, media_type=given or named or media_type, data=data)
    if _PUBLIC.match(uri):
        return replace(media, url=uri)
    return replace(media, opaque=(*opaque, Opaque(domain, "file_id", uri)))


def encode_media(media: Media) -> tuple[str, dict[str, Any]]:
    """The name of the part's data field, and what stands in it.

    The block's name is not written: the Gemini API has no `displayName` in these places. One that
    came in this format is among the native fields.
    """
    media_type = _concrete_type(media)
    known = {"mimeType": media_type} if media_type else {}
    if media.data is not None:
        return "inlineData", {**known, "data": _standard_base64(media.data)}
    ids = [one.value for one in media.opaque if one.kind == "file_id"]
    return "fileData", {**known, "fileUri": ids[0] if ids else media.url or ""}


def _concrete_type(media: Media) -> str:
    """The media type; by the ending of the address where only the family is known."""
    if not media.media_type.endswith("/*"):
        return media.media_type
    ending = _ENDING.match(media.url or "")
    return _TYPES_BY_ENDING.get(ending[1].lower(), "") if ending else ""


def _standard_base64(data: str) -> str:
    """`data` in the alphabet everybody reads. Google's own clients write the URL-safe one."""
    if "-" not in data and "_" not in data:
        return data
    data = data.translate(_URL_SAFE)
    return data + "=" * (-len(data) % 4)


def _name(fields: dict[str, Any]) -> str | None:
    name = fields.get("displayName")
    return name if isinstance(name, str) else None
