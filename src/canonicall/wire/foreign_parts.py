"""Text and media in a part that is written as another format has it.

In: a part that a decoder has no word for. Out: the text or the media in it, None where it is
something else. Programs that speak several formats mix their parts up, most often in the results
of tools; some leave out the `type`. What a part means can be seen by its fields alone, so every
decoder asks here before it keeps a part unread.
"""

from base64 import b64encode
from typing import Any

from canonicall.blocks import Media, Native, Text, Unknown
from canonicall.findings import Action, Fault, Finding
from canonicall.wire.reading import split_data_url

_TEXT_TYPES = ("text", "input_text", "output_text")
_SOUND = {"mp3": "audio/mpeg"}


def foreign_part(part: Any, where: str, findings: list[Finding] | None) -> Text | Media | None:
    """The text or the media that a part of another format is; said in `findings`."""
    if isinstance(part, str):
        found: Text | Media | None = Text(text=part)
    elif isinstance(part, dict):
        found = _text(part) or _media(part)
    else:
        return None
    if found is not None and findings is not None:
        why = "The part is written as another format has it; it is read as what it says."
        findings.append(Finding("foreign_part", where, Action.CHANGED, why, Fault.INPUT))
    return found


def unread_part(
    format: str, part: dict[str, Any], where: str, findings: list[Finding] | None
) -> Unknown:
    """A part that is kept as it is, for the hosts of a format; "" if none of them takes it."""
    if findings is not None:
        why = f"A part of type {part.get('type')!r} could not be read; it is kept as it is."
        findings.append(Finding("unknown_part", where, Action.KEPT, why, Fault.INPUT))
    return Unknown(native=Native(format, part))


def _text(part: dict[str, Any]) -> Text | None:
    text, kind = part.get("text"), part.get("type")
    is_text = isinstance(text, str) and (not isinstance(kind, str) or kind in _TEXT_TYPES)
    return Text(text=str(text)) if is_text and not part.get("thought") else None


def _media(part: dict[str, Any]) -> Media | None:  # noqa: PLR0911 -- a table of shapes
    match part:
        case {"image_url": str(url)} | {"image_url": {"url": str(url)}}:
            return _at(url, "image/*")
        case {"type": "image" | "document" as kind, "source": dict(source)}:
            return _from_source(source, kind)
        case {"inlineData": dict(held)} | {"inline_data": dict(held)}:
            return _packed(held.get("mimeType") or held.get("mime_type"), held.get("data"))
        case {"fileData": dict(held)} | {"file_data": dict(held)}:
            return _named(held.get("mimeType") or held.get("mime_type"), held)
        case {"image": {"format": str(format), "source": {"bytes": str(data)}}}:
            return _packed(f"image/{format}", data)
        case {"document": {"format": "pdf", "source": {"bytes": str(data)}} as held}:
            name = held.get("name")
            return _packed("application/pdf", data, name if isinstance(name, str) else None)
        case {"input_audio": {"data": str(data), "format": str(format)}}:
            return _packed(_SOUND.get(format, f"audio/{format}"), data)
        case {"type": "file", "file": {"file_data": str(url)} as held}:
            return _file(url, held.get("filename"))
        case {"type": "input_file", "file_data": str(url)}:
            return _file(url, part.get("filename"))
        case _:
            return None


def _from_source(source: dict[str, Any], kind: str) -> Media | None:
    """The source of an image or a document of the Messages API."""
    usual = "image/*" if kind == "image" else "application/pdf"
    match source:
        case {"type": "base64", "data": str(data)}:
            return _packed(source.get("media_type") or usual, data)
        case {"type": "url", "url": str(url)}:
            return _at(url, usual)
        case {"type": "text", "data": str(text)}:
            return _packed("text/plain", b64encode(text.encode("utf-8", "replace")).decode())
        case _:
            return None


def _packed(media_type: Any, data: Any, name: str | None = None) -> Media | None:
    if not isinstance(media_type, str) or not isinstance(data, str) or not data:
        return None
    return Media(media_type=media_type, data=data, name=name)


def _named(media_type: Any, held: dict[str, Any]) -> Media | None:
    url = held.get("fileUri") or held.get("file_uri")
    if not isinstance(media_type, str) or not isinstance(url, str):
        return None
    return _at(url, media_type)


def _file(url: str, name: Any) -> Media | None:
    """A file whose data is a data address; other data does not say what it is."""
    inline = split_data_url(url)
    if inline is None:
        return None
    return _packed(
        inline[0] or "application/pdf", inline[1], name if isinstance(name, str) else None
    )


def _at(url: str, media_type: str) -> Media:
    """Media at an address; a data address is taken apart."""
    inline = split_data_url(url)
    if inline is None:
        return Media(media_type=media_type, url=url)
    return Media(media_type=inline[0] or media_type, data=inline[1])
