"""Inline data, addresses everybody can fetch, and files that only Google can read."""

import pytest

from canonicall.blocks import Media, Native, Opaque, Unknown
from canonicall.wire.gemini.media import encode_media
from canonicall.wire.gemini.parts import decode_parts, encode_parts

DOMAIN = "gemini-api"


def decoded(part):
    findings = []
    (block,) = decode_parts([part], "$.parts", DOMAIN, findings)
    assert findings == []
    return block


@pytest.mark.parametrize(
    "part",
    [
        {"inlineData": {"mimeType": "image/png", "data": "iVBO+/=="}},
        {"inline_data": {"mime_type": "image/png", "data": "iVBO+/=="}},
        {"inlineData": {"mimeType": "image/png", "data": "iVBO-_"}},
    ],
    ids=["camel case", "snake case", "URL-safe alphabet"],
)
def test_inline_data_is_read_into_standard_base64_and_written_in_camel_case(part):
    media = decoded(part)
    assert media == Media(media_type="image/png", data="iVBO+/==")
    assert encode_parts([media], by_model=False) == [
        {"inlineData": {"mimeType": "image/png", "data": "iVBO+/=="}}
    ]


def test_a_public_address_is_a_url():
    part = {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}}
    assert decoded(part) == Media(media_type="image/png", url="https://example.org/a.png")
    assert encode_parts([decoded(part)], by_model=False) == [part]


@pytest.mark.parametrize(
    "uri",
    ["https://generativelanguage.googleapis.com/v1beta/files/abc", "gs://bucket/a.png", "files/a"],
)
def test_a_file_only_google_can_read_is_opaque(uri):
    part = {"fileData": {"mimeType": "image/png", "fileUri": uri}}
    media = decoded(part)
    assert (media.url, media.data) == (None, None)
    assert media.opaque == (Opaque(DOMAIN, "file_id", uri),)
    assert encode_parts([media], by_model=False) == [part]


def test_a_data_address_becomes_inline_data():
    media = decoded({"fileData": {"fileUri": "data:image/png;base64,AAAA"}})
    assert media == Media(media_type="image/png", data="AAAA")


@pytest.mark.parametrize(
    ("uri", "media_type"),
    [
        ("https://youtu.be/abc", "video/*"),
        ("https://www.youtube.com/watch?v=abc", "video/*"),
        ("https://example.org/report", "application/*"),
    ],
)
def test_a_missing_type_is_a_family_and_stays_missing(uri, media_type):
    part = {"fileData": {"fileUri": uri}}
    media = decoded(part)
    assert media.media_type == media_type
    assert encode_parts([media], by_model=False) == [part]


def test_a_family_is_made_concrete_by_the_ending_of_the_address():
    media = Media(media_type="image/*", url="https://example.org/a.PNG?size=2")
    assert encode_media(media)[1]["mimeType"] == "image/png"


def test_what_surrounds_the_data_comes_back():
    part = {
        "fileData": {
            "mimeType": "video/mp4",
            "fileUri": "https://example.org/a",
            "displayName": "a",
        },
        "videoMetadata": {"fps": 2},
    }
    media = decoded(part)
    assert media.name == "a"
    assert media.native == Native(
        "gemini", {"videoMetadata": {"fps": 2}, "fileData": {"displayName": "a"}}
    )
    assert encode_parts([media], by_model=False) == [part]


def test_a_name_from_elsewhere_is_not_written():
    """The Gemini API refuses `displayName` in inline data."""
    media = Media(media_type="application/pdf", data="AAAA", name="report.pdf")
    assert encode_parts([media], by_model=False) == [
        {"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}}
    ]


@pytest.mark.parametrize("part", [{"inlineData": {"mimeType": "a/b"}}, {"fileData": {}}])
def test_media_without_a_source_is_kept_as_it_is(part):
    assert decoded(part) == Unknown(native=Native("gemini", part))
