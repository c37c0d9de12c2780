"""Images and documents from every kind of source."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import Media, Opaque
from canonicall.blocks import Native, Unknown
from canonicall.errors import MalformedBody
from canonicall.wire.anthropic.media import decode_media, encode_media


def decoded(block):
    return decode_media(block, "$", "anthropic")


def document(source, **fields):
    return {"type": "document", "source": source} | fields


def image(source):
    return {"type": "image", "source": source}


PNG = {"type": "base64", "media_type": "image/png", "data": "iVBO"}
PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}
TEXT = {"type": "text", "media_type": "text/plain", "data": "Grüße"}


@pytest.mark.parametrize(
    ("block", "media"),
    [
        (image(PNG), Media(media_type="image/png", data="iVBO")),
        (
            image({"type": "url", "url": "https://a.example/x.png"}),
            Media(media_type="image/*", url="https://a.example/x.png"),
        ),
        (
            image({"type": "file", "file_id": "file_1"}),
            Media(media_type="image/*", opaque=(Opaque("anthropic", "file_id", "file_1"),)),
        ),
        (
            document(PDF, title="Report", context="c", citations={"enabled": True}),
            Media(
                media_type="application/pdf",
                data="JVBE",
                name="Report",
                native=Native("anthropic", {"context": "c", "citations": {"enabled": True}}),
            ),
        ),
        (
            document({"type": "url", "url": "https://a.example/x.pdf"}),
            Media(media_type="application/pdf", url="https://a.example/x.pdf"),
        ),
        (
            document({"type": "file", "file_id": "file_1"}),
            Media(media_type="application/*", opaque=(Opaque("anthropic", "file_id", "file_1"),)),
        ),
        (
            document(TEXT, cache_control={"type": "ephemeral"}),
            Media(
                media_type="text/plain",
                data=b64encode("Grüße".encode()).decode(),
                cache="default",
            ),
        ),
    ],
)
def test_every_source_both_ways(block, media):
    assert decoded(block) == media
    assert encode_media(media) == block


def test_a_data_url_is_split():
    block = image({"type": "url", "url": "data:image/gif;charset=x;base64,R0lG"})
    assert decoded(block) == Media(media_type="image/gif", data="R0lG")


@pytest.mark.parametrize("content", ["One.", [{"type": "text", "text": "One."}]])
def test_a_content_source_of_text_is_text_for_others_and_comes_back(content):
    block = document({"type": "content", "content": content})
    media = decoded(block)
    assert (media.media_type, media.data) == ("text/plain", b64encode(b"One.").decode())
    assert encode_media(media) == block


def test_a_content_source_does_not_outlive_a_change_of_the_text():
    media = decoded(document({"type": "content", "content": "One."}))
    changed = Media(media_type="text/plain", data=b64encode(b"Two.").decode(), native=media.native)
    assert encode_media(changed)["source"] == TEXT | {"data": "Two."}


@pytest.mark.parametrize(
    "source", [{"type": "content", "content": [image(PNG)]}, {"type": "of_tomorrow", "x": 1}]
)
def test_a_source_without_canonical_form_is_kept_whole(source):
    block = document(source, title="t", cache_control={"type": "ephemeral", "ttl": "1h"})
    kept = decoded(block)
    assert isinstance(kept, Unknown)
    assert kept.cache == "1h"
    assert kept.native.fields == {"type": "document", "source": source, "title": "t"}


@pytest.mark.parametrize("media_type", ["text/markdown", "application/json"])
def test_documents_of_text_are_sent_as_text(media_type):
    media = Media(media_type=media_type, data=b64encode(b"{}").decode())
    assert encode_media(media)["source"] == TEXT | {"data": "{}"}


@pytest.mark.parametrize("data", ["not base64!", b64encode(b"\xff\xfe").decode()])
def test_what_only_claims_to_be_text_is_sent_as_it_is(data):
    media = Media(media_type="text/plain", data=data)
    source = {"type": "base64", "media_type": "text/plain", "data": data}
    assert encode_media(media)["source"] == source


@pytest.mark.parametrize(
    ("block", "where"),
    [
        ({"type": "image"}, "$.source"),
        (image("x"), "$.source"),
        (image({"type": "base64", "data": 1}), "$.source.data"),
        (document({"type": "content", "content": 1}), "$.source.content"),
    ],
)
def test_wrong_kinds_are_refused_with_their_path(block, where):
    with pytest.raises(MalformedBody) as error:
        decoded(block)
    assert error.value.where == where


@given(st.text())
def test_any_plain_text_document_survives(text):
    block = document(TEXT | {"data": text})
    assert encode_media(decoded(block)) == block
