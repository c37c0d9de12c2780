"""Parts of the content: media, refusals, and what is none."""

import pytest

from canonicall import Media, Native, Text, ToolCall, Unknown
from canonicall.wire.openai_chat import FORMAT
from wire.openai_chat.forms import decode, decoded, encode


def test_unknown_parts_are_kept_and_reported():
    part = {"type": "hologram", "hologram": {"url": "https://x.test"}}
    (message,), findings = decode({"role": "user", "content": [part]})
    assert message.blocks == (Unknown(native=Native(FORMAT, part)),)
    assert findings == [("unknown_part", "$.messages[0].content[0]")]
    assert encode(*message.blocks, role="user")["content"] == [part]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url"},
        {"type": "image_url", "image_url": {"detail": "low"}},
        {"type": "input_audio", "input_audio": {"format": "mp3"}},
        {"type": "file", "file": {"filename": "a.pdf"}},
        {"type": "file", "file_id": "1"},
    ],
)
def test_media_without_a_source_is_kept_and_sent_to_nobody(part):
    (message,), findings = decode({"role": "user", "content": [part]})
    assert message.blocks == (Unknown(native=Native("", part)),)
    assert findings[0][0] == "unknown_part"


@pytest.mark.parametrize(
    ("part", "media"),
    [
        ({"type": "image_url", "image_url": "https://x.test/a"}, ("image/*", None)),
        ({"type": "input_audio", "input_audio": "aGk="}, ("audio/*", "aGk=")),
        ({"type": "input_audio", "input_audio": "https://x.test/a"}, ("audio/*", None)),
        (
            {"type": "file", "file": {"file_data": "https://x.test/a"}},
            ("application/octet-stream", None),
        ),
        (
            {"type": "file", "file": {"file_data": "aGk=", "filename": "A.PDF"}},
            ("application/pdf", "aGk="),
        ),
        ({"type": "image_url", "image_url": {"url": "data:;base64,aGk="}}, ("image/*", "aGk=")),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;a=b;base64,aGk="}},
            ("image/png", "aGk="),
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}},
            ("image/*", None),
        ),
    ],
)
def test_other_spellings_of_media(part, media):
    (block,) = decoded({"role": "user", "content": [part]}).blocks
    assert (block.media_type, block.data) == media


def test_images_of_a_model_stand_beside_its_content():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    wire = {"role": "assistant", "content": "Here", "images": [image]}
    message = decoded(wire)
    assert [type(block) for block in message.blocks] == [Text, Media]
    assert encode(*message.blocks) == wire


def test_the_words_of_lost_sound_are_text():
    """A target that cannot read the id gets the transcript."""
    audio = {"id": "audio_1", "data": "aGk=", "transcript": "Hello", "expires_at": 1}
    words, sound = decoded({"role": "assistant", "content": None, "audio": audio}).blocks
    assert encode(words, sound)["audio"] == {"id": "audio_1"}
    assert encode(words) == {"role": "assistant", "content": "Hello"}


@pytest.mark.parametrize("part", ["Hi", {"text": "Hi"}])
def test_text_without_a_type_is_text(part):
    (message,), findings = decode({"role": "user", "content": [part]})
    assert message.blocks == (Text(text="Hi"),)
    assert findings == [("untyped_part", "$.messages[0].content[0]")]


def test_a_refusal_may_be_a_part():
    part = {"type": "refusal", "refusal": "No."}
    message = decoded({"role": "assistant", "content": [part]})
    assert message.finish == "refusal"
    assert encode(*message.blocks) == {"role": "assistant", "content": None, "refusal": "No."}
    assert encode(*message.blocks, role="user")["content"] == [part]


def test_a_call_is_no_content():
    """The renderer never puts one there; if it did, it would not go unseen."""
    with pytest.raises(TypeError, match="ToolCall"):
        encode(ToolCall(id="c", name="f"), role="user")
