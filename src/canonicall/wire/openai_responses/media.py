"""Images, files and sound: parts on the wire, `Media` in canonical form."""

from typing import Any

from canonicall.blocks import Media
from canonicall.wire.carried import opaque_of, opaque_value, with_rest
from canonicall.wire.openai_responses.fields import (
    FILE_ID,
    decode_mark,
    encode_mark,
    native_of,
    own_fields,
    rest_of,
)
from canonicall.wire.reading import object_at, split_data_url, text_at
from canonicall.wire.writing import data_url

_SOUND = "input_audio"
MEDIA_PARTS = ("input_image", "input_file", _SOUND)

_UNKNOWN_FILE = "application/octet-stream"
_BY_ENDING = {
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
_ENDINGS = {kind: ending for ending, kind in _BY_ENDING.items()}


def decode_media(part: dict[str, Any], where: str, domain: str) -> Media | None:
    """The media in a part, None where it has no source."""
    match part["type"]:
        case "input_image":
            media = _decode_image(part, where, domain)
        case "input_audio":
            media = _decode_sound(part, where)
        case _:
            media = _decode_file(part, where, domain)
    has_source = media.data is not None or media.url is not None or media.opaque
    return media if has_source else None


def encode_media(media: Media) -> dict[str, Any]:
    """The part for an image, a sound or a file."""
    family, _, kind = media.media_type.partition("/")
    rest = own_fields(media.native)
    mark = encode_mark(media.cache)
    if family == "audio" and rest.get("type") == _SOUND:
        sound = {"type": _SOUND, _SOUND: {"data": media.data, "format": kind}}
        return with_rest(sound | mark, rest)
    if family == "image":
        return with_rest({"type": "input_image", **_source(media, "image_url"), **mark}, rest)
    file = {"type": "input_file", **_source(media, "file_url")}
    if media.data is not None or media.name:
        # "Missing required parameter: 'input[0].content[0].filename'" where a file has data.
        file["filename"] = media.name or f"file.{_ENDINGS.get(media.media_type, 'bin')}"
    return with_rest({**file, **mark}, rest)


def _source(media: Media, address: str) -> dict[str, str]:
    id = opaque_value(media, FILE_ID)
    if id is not None:
        return {"file_id": id}
    if media.data is None:
        return {address: media.url or ""}
    inline = "file_data" if address == "file_url" else address
    return {inline: data_url(media)}


def _decode_image(part: dict[str, Any], where: str, domain: str) -> Media:
    url = text_at(part.get("image_url"), f"{where}.image_url")
    media_type, data = split_data_url(url) or ("", None)
    file_id = text_at(part.get("file_id"), f"{where}.file_id")
    return Media(
        media_type=media_type or "image/*",
        data=data,
        url=url if url and data is None else None,
        opaque=opaque_of(domain, FILE_ID, file_id),
        cache=decode_mark(part, where),
        native=native_of(rest_of(part, "image_url", "file_id")),
    )


def _decode_file(part: dict[str, Any], where: str, domain: str) -> Media:
    content = text_at(part.get("file_data"), f"{where}.file_data")
    url = text_at(part.get("file_url"), f"{where}.file_url")
    name = text_at(part.get("filename"), f"{where}.filename")
    if not content and split_data_url(url) is not None:
        content, url = url, ""
    media_type, data = split_data_url(content) or ("", None)
    # The reference says "the content of the file": bare base64 is in use beside data URLs.
    data = content if content and data is None else data
    file_id = text_at(part.get("file_id"), f"{where}.file_id")
    return Media(
        media_type=media_type or _type_by_name(name or url),
        data=data,
        url=url or None,
        name=name or None,
        opaque=opaque_of(domain, FILE_ID, file_id),
        cache=decode_mark(part, where),
        native=native_of(rest_of(part, "file_data", "file_url", "filename", "file_id")),
    )


def _decode_sound(part: dict[str, Any], where: str) -> Media:
    """Sound, which only some hosts take (OpenRouter); elsewhere it is a file like others."""
    sound = object_at(part.get(_SOUND), f"{where}.{_SOUND}")
    kind = text_at(sound.get("format"), f"{where}.{_SOUND}.format")
    return Media(
        media_type=f"audio/{kind or '*'}",
        data=text_at(sound.get("data"), f"{where}.{_SOUND}.data"),
        cache=decode_mark(part, where),
        native=native_of({**rest_of(part, _SOUND), "type": _SOUND}),
    )


def _type_by_name(name: str) -> str:
    ending = name.partition("?")[0].rpartition(".")[2].lower()
    return _BY_ENDING.get(ending, _UNKNOWN_FILE)
