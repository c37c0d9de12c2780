"""Images, documents, video and sound between Converse blocks and `Media`.

A Converse block names a short `format`, canonical media a media type. Bytes are base64 text in
JSON, in both. The only addresses Bedrock reads are S3's; any other becomes a line of text.
"""

import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

from canonicall.blocks import Media, Native
from canonicall.facts.vocabulary import vocabulary
from canonicall.wire.bedrock import TARGET
from canonicall.wire.reading import native_fields, object_at, split_data_url, text_at

MEDIA_KINDS = ("image", "document", "video", "audio")

# Where the short name is not simply the second half of the media type.
# Source: the service model's `ImageFormat`, `DocumentFormat`, `VideoFormat`, `AudioFormat`.
_TYPES = {
    ("document", "pdf"): "application/pdf",
    ("document", "csv"): "text/csv",
    ("document", "doc"): "application/msword",
    (
        "document",
        "docx",
    ): "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ("document", "xls"): "application/vnd.ms-excel",
    ("document", "xlsx"): "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ("document", "html"): "text/html",
    ("document", "txt"): "text/plain",
    ("document", "md"): "text/markdown",
    ("video", "mov"): "video/quicktime",
    ("video", "mkv"): "video/x-matroska",
    ("video", "flv"): "video/x-flv",
    ("video", "wmv"): "video/x-ms-wmv",
    ("video", "three_gp"): "video/3gpp",
    ("audio", "mp3"): "audio/mpeg",
}
_FORMATS = {media_type: (kind, format) for (kind, format), media_type in _TYPES.items()}
_FORMATS |= {
    "image/jpg": ("image", "jpeg"),
    "image/*": ("image", "png"),
    "video/*": ("video", "mp4"),
    # Both are text, and refused under their own names (strands-agents/harness-sdk#2204).
    "application/json": ("document", "txt"),
    "application/xml": ("document", "txt"),
}


def decode_media(kind: str, block: dict[str, Any], where: str) -> Media:
    """The media of an `image`, `document`, `video` or `audio` block."""
    format = text_at(block.get("format"), f"{where}.format")
    source = object_at(block.get("source") or {}, f"{where}.source")
    media_type = _media_type(kind, format.lower())
    fields = _unknown_fields(block)
    # A format that the service model does not have is refused: the media type says what is meant.
    is_known = format in vocabulary("bedrock").media_formats.get(kind, ())
    if is_known and _kind_and_format(media_type) != (kind, format):
        fields["format"] = format
    data, url = _read_source(source, f"{where}.source")
    if not source or _write_source(data, url) != source:
        fields["source"] = source
    return Media(
        media_type=media_type,
        data=data,
        url=url,
        name=text_at(block.get("name"), f"{where}.name") or None,
        native=Native(TARGET.format, fields) if fields else None,
    )


def encode_media(media: Media) -> dict[str, Any]:
    """The Converse block of `media`, or a text block where Bedrock cannot be given it."""
    fields = dict(media.native.fields) if media.native is not None else {}
    source = fields.pop("source", None) or _write_source(media.data, media.url)
    if not source:
        return {"text": f"[{media.media_type}: {media.url or 'not available'}]"}
    kind, format = _kind_and_format(media.media_type)
    block: dict[str, Any] = {"format": fields.pop("format", format)}
    if block["format"] in ("", "*"):
        del block["format"]
    if kind == "document":
        block["name"] = _document_name(media, source)
    return {kind: block | {"source": source} | fields}


def document_name(media: Media) -> str:
    """The name under which `media` is sent as a document; "" where it is sent as something else."""
    wire = encode_media(media).get("document", {})
    return str(wire.get("name", ""))


def _media_type(kind: str, format: str) -> str:
    known = _TYPES.get((kind, format))
    if known is not None:
        return known
    return f"{'application' if kind == 'document' else kind}/{format or '*'}"


def _kind_and_format(media_type: str) -> tuple[str, str]:
    known = _FORMATS.get(media_type)
    if known is not None:
        return known
    family, _, subtype = media_type.partition("/")
    if family in MEDIA_KINDS:
        return family, subtype
    return "document", "txt" if family == "text" else subtype


def _read_source(source: dict[str, Any], where: str) -> tuple[str | None, str | None]:
    """The bytes, as base64 text, and the address."""
    if "bytes" in source:
        return text_at(source["bytes"], f"{where}.bytes"), None
    if "s3Location" in source:
        place = object_at(source["s3Location"], f"{where}.s3Location")
        uri = text_at(place.get("uri"), f"{where}.s3Location.uri")
        inline = split_data_url(uri)
        return (None, uri) if inline is None else (inline[1], None)
    if "text" in source:
        return b64encode(text_at(source["text"], f"{where}.text").encode()).decode(), None
    return None, None


def _write_source(data: str | None, url: str | None) -> dict[str, Any]:
    if data is not None:
        return {"bytes": data}
    return {"s3Location": {"uri": url}} if url is not None and url.startswith("s3://") else {}


def _document_name(media: Media, source: dict[str, Any]) -> str:
    """A document's name, which Bedrock demands, in its alphabet.

    Letters, digits, single blanks, hyphens, round and square brackets (API reference,
    `DocumentBlock.name`). A document without one is named by what it holds: names must differ.
    """
    name = re.sub(r"[^A-Za-z0-9\s()\[\]-]+", "-", media.name or "")
    name = re.sub(r"\s+", " ", name).strip()[:200]
    return name or f"document-{sha256(repr(source).encode()).hexdigest()[:12]}"


def _unknown_fields(block: dict[str, Any]) -> dict[str, Any]:
    native = native_fields(TARGET.format, block, ("format", "source", "name"))
    return dict(native.fields) if native is not None else {}
