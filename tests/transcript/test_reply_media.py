"""Media that a model made, sent back to it or to another."""

import pytest

from canonicall import translate, verify

CHAT = "openai-chat"
DRAWN = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
HISTORY = {
    "contents": [
        {"role": "user", "parts": [{"text": "Draw a cat."}]},
        {"role": "model", "parts": [{"text": "Here."}, DRAWN]},
        {"role": "user", "parts": [{"text": "And a dog."}]},
    ]
}
PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


@pytest.mark.parametrize(
    "target",
    ["openai", "openai/openai-responses", "anthropic", "bedrock", "cohere", "mistral", "vllm"],
)
def test_an_image_of_the_model_is_noted_where_only_users_show_images(target):
    made = translate(HISTORY, "gemini", target)
    assert "aGk=" not in str(made.body)
    assert "image/png left out" in str(made.body)
    assert made.report.counts["media_dropped"] == 1
    assert not verify(made.body, target)


@pytest.mark.parametrize("target", ["gemini", "vertex", "ollama", "openrouter"])
def test_an_image_of_the_model_stays_where_it_has_a_place(target):
    made = translate(HISTORY, "gemini", target)
    assert "aGk=" in str(made.body)
    assert "media_dropped" not in made.report
    assert not verify(made.body, target)


@pytest.mark.parametrize("image", [PART, {"image_url": PART["image_url"]}])
def test_images_beside_the_content_go_back_to_openrouter_and_to_nobody_else(image):
    said = {"role": "assistant", "content": "Here.", "images": [image]}
    user = {"role": "user", "content": "Go."}
    body = {"model": "m", "messages": [user, said, user]}
    made = translate(body, CHAT, "openrouter", provider="openrouter")
    assert made.body["messages"][1] == said | {"images": [PART]}
    assert not verify({"model": "m", "messages": [user, said | {"content": None}]}, "openrouter")
    other = translate(body, CHAT, "openai", provider="openrouter")
    assert "images" not in other.body["messages"][1]
    assert not verify(other.body, "openai")


def test_sound_of_the_model_is_named_by_its_id_where_it_was_made():
    said = {"role": "assistant", "audio": {"id": "audio_1"}}
    user = {"role": "user", "content": "Go."}
    body = {"model": "m", "messages": [user, said, user]}
    made = translate(body, CHAT, "openai", provider="openai")
    assert made.body["messages"][1]["audio"] == {"id": "audio_1"}
    assert "media_dropped" not in made.report
    heard = {"id": "audio_1", "data": "aGk=", "transcript": "Hello."}
    body["messages"][1] = said | {"audio": heard}
    other = translate(body, CHAT, "openrouter", provider="openai")
    assert "audio_1" not in str(other.body)
    assert "Hello." in str(other.body)
    assert "media_dropped" in other.report
    assert not verify(other.body, "openrouter")
