"""Media between Converse's short formats and media types."""

import pytest

from canonicall.blocks import Media
from canonicall.wire.bedrock.media import decode_media, encode_media


@pytest.mark.parametrize(
    ("kind", "format", "media_type"),
    [
        ("image", "jpeg", "image/jpeg"),
        ("document", "pdf", "application/pdf"),
        ("document", "md", "text/markdown"),
        (
            "document",
            "docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        ("video", "mov", "video/quicktime"),
        ("video", "three_gp", "video/3gpp"),
        ("audio", "mp3", "audio/mpeg"),
        ("document", "rtf", "application/rtf"),
    ],
)
def test_a_format_is_a_media_type_and_back(kind, format, media_type):
    block = {"format": format, "source": {"bytes": "aGk="}}
    if kind == "document":
        block["name"] = "paper"
    media = decode_media(kind, block, "$")
    assert media.media_type == media_type
    assert media.native is None
    assert encode_media(media) == {kind: block}


@pytest.mark.parametrize(
    ("media_type", "kind", "format"),
    [
        ("image/jpg", "image", "jpeg"),
        ("image/*", "image", "png"),
        ("text/x-log", "document", "txt"),
        ("application/pdf", "document", "pdf"),
    ],
)
def test_media_of_other_formats_finds_its_place(media_type, kind, format):
    block = encode_media(Media(media_type=media_type, data="aGk="))
    assert block[kind]["format"] == format


def test_text_of_a_document_is_bytes_elsewhere_and_text_again_here():
    block = {"format": "txt", "name": "n", "source": {"text": "hi"}}
    media = decode_media("document", block, "$")
    assert media.data == "aGk="
    assert encode_media(media) == {"document": block}


def test_a_source_of_parts_goes_back_as_it_came():
    block = {"format": "txt", "name": "n", "source": {"content": [{"text": "hi"}]}}
    assert encode_media(decode_media("document", block, "$")) == {"document": block}


def test_fields_that_only_bedrock_has_stay():
    block = {
        "format": "pdf",
        "name": "n",
        "source": {"bytes": "aGk="},
        "citations": {"enabled": True},
    }
    assert encode_media(decode_media("document", block, "$")) == {"document": block}


@pytest.mark.parametrize(
    ("name", "written"),
    [("report_v2.pdf", "report-v2-pdf"), ("a   b (1) [x]", "a b (1) [x]"), ("été", "-t-")],
)
def test_a_documents_name_keeps_to_the_alphabet(name, written):
    media = Media(media_type="application/pdf", data="aGk=", name=name)
    assert encode_media(media)["document"]["name"] == written


def test_documents_without_a_name_are_named_by_what_they_hold():
    def name(data):
        return encode_media(Media(media_type="application/pdf", data=data))["document"]["name"]

    assert name("aGk=") == name("aGk=")
    assert name("aGk=") != name("aG8=")


def test_media_without_any_source_can_still_be_stored():
    media = decode_media("image", {"format": "png"}, "$")
    assert media.native is not None
    assert encode_media(media) == {"text": "[image/png: not available]"}
