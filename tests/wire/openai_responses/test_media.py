"""Images, files and sound keep their source."""

import pytest

from canonicall.blocks import Media, Native, Opaque, Unknown
from canonicall.wire.openai_responses import FORMAT
from canonicall.wire.openai_responses.media import encode_media
from canonicall.wire.openai_responses.parts import decode_part, encode_part


def decode(part):
    return decode_part(part, "$", "openai", [])


@pytest.mark.parametrize(
    ("part", "media"),
    [
        (
            {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
            Media(media_type="image/png", data="aGk="),
        ),
        (
            {"type": "input_image", "image_url": "https://example.com/a", "detail": "low"},
            Media(
                media_type="image/*",
                url="https://example.com/a",
                native=Native(FORMAT, {"detail": "low"}),
            ),
        ),
        (
            {"type": "input_image", "file_id": "file-1"},
            Media(media_type="image/*", opaque=(Opaque("openai", "file_id", "file-1"),)),
        ),
        (
            {"type": "input_file", "file_data": "data:text/csv;base64,aGk=", "filename": "a.csv"},
            Media(media_type="text/csv", data="aGk=", name="a.csv"),
        ),
        (
            {"type": "input_file", "file_url": "https://example.com/a.pdf?x=1"},
            Media(media_type="application/pdf", url="https://example.com/a.pdf?x=1"),
        ),
        (
            {"type": "input_file", "file_id": "file-1"},
            Media(
                media_type="application/octet-stream",
                opaque=(Opaque("openai", "file_id", "file-1"),),
            ),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            Media(
                media_type="audio/mp3", data="aGk=", native=Native(FORMAT, {"type": "input_audio"})
            ),
        ),
    ],
)
def test_media_in_both_directions(part, media):
    assert decode(part) == media
    assert encode_part(media) == part


def test_bare_base64_is_the_content_of_a_file():
    part = {"type": "input_file", "file_data": "aGk=", "filename": "a.pdf"}
    assert decode(part) == Media(media_type="application/pdf", data="aGk=", name="a.pdf")


@pytest.mark.parametrize(
    ("kind", "name"),
    [("application/pdf", "file.pdf"), ("audio/mpeg", "file.bin"), ("text/plain", "file.txt")],
)
def test_a_file_with_data_always_has_a_name(kind, name):
    assert encode_media(Media(media_type=kind, data="aGk=")) == {
        "type": "input_file",
        "file_data": f"data:{kind};base64,aGk=",
        "filename": name,
    }


@pytest.mark.parametrize("kind", ["input_image", "input_file"])
def test_media_without_a_source_is_kept_and_sent_to_nobody(kind):
    findings = []
    part = {"type": kind, "image_url": None}
    assert decode_part(part, "$", "openai", findings) == Unknown(native=Native("", part))
    assert [one.code for one in findings] == ["unknown_part"]


@pytest.mark.parametrize(
    ("cache", "mark"),
    [
        ("default", {"mode": "explicit"}),
        ("30m", {"mode": "explicit", "ttl": "30m"}),
        ("12h", {"mode": "explicit", "ttl": "12h"}),
    ],
)
def test_cache_marks_in_both_directions(cache, mark):
    part = {"type": "input_image", "image_url": "u", "prompt_cache_breakpoint": mark}
    assert decode(part).cache == cache
    assert encode_part(decode(part)) == part


def test_a_lifetime_of_another_provider_becomes_the_default():
    part = encode_part(Media(media_type="image/png", url="u", cache="5m"))
    assert part["prompt_cache_breakpoint"] == {"mode": "explicit"}
