"""Bodies are read and data addresses taken apart in one way, whichever format they come in."""

import pytest

from canonicall.blocks import Media
from canonicall.codec.decode import decode_request, decode_response
from canonicall.errors import MalformedBody
from canonicall.wire.reading import parse_body, split_data_url

APART = {
    "data:image/png;base64,AAAA": ("image/png", "AAAA"),
    "DATA:Image/PNG;Base64,AAAA": ("image/png", "AAAA"),
    "data:text/plain;charset=utf-8;base64,aGk=": ("text/plain", "aGk="),
    "data:;base64,AAAA": ("", "AAAA"),
    "data:image/png;base64,": ("image/png", ""),
    "data:image/png;base64,AA\nAA": ("image/png", "AA\nAA"),
}
WHOLE = [
    "https://a.example/x.png?y=data:image/png;base64,AAAA",
    "data:text/plain,hello",
    "data:text/plain;charset=utf-8,hello",
    "data:image/png;base64",
    "AAAA",
    "",
]


@pytest.mark.parametrize(("url", "parts"), APART.items())
def test_a_data_address_is_taken_apart(url, parts):
    assert split_data_url(url) == parts


@pytest.mark.parametrize("url", WHOLE)
def test_any_other_address_is_left_whole(url):
    assert split_data_url(url) is None


def _chat(url):
    return {"messages": [_said({"type": "image_url", "image_url": {"url": url}})]}


def _said(part):
    return {"role": "user", "content": [part]}


IMAGES = {
    "openai-chat": _chat,
    "cohere": _chat,
    "openai-responses": lambda url: {"input": [_said({"type": "input_image", "image_url": url})]},
    "anthropic": lambda url: {
        "messages": [_said({"type": "image", "source": {"type": "url", "url": url}})]
    },
    "gemini": lambda url: {
        "contents": [{"role": "user", "parts": [{"fileData": {"fileUri": url}}]}]
    },
}


@pytest.mark.parametrize("format", IMAGES)
def test_every_format_reads_capitals_and_parameters(format):
    body = IMAGES[format]("Data:Image/PNG;name=a.png;BASE64,AAAA")
    (message,) = decode_request(body, format).conversation.messages
    (media,) = (block for block in message.blocks if isinstance(block, Media))
    assert (media.media_type, media.data, media.url) == ("image/png", "AAAA", None)


@pytest.mark.parametrize("format", IMAGES)
def test_a_missing_type_is_that_of_the_place(format):
    (message,) = decode_request(IMAGES[format]("data:;base64,AAAA"), format).conversation.messages
    (media,) = message.blocks
    family = "application/*" if format == "gemini" else "image/*"
    assert (media.media_type, media.data) == (family, "AAAA")


HALVED = rb'{"model": "m", "messages": [{"role": "user", "content": "A \ud83d."}]}'


def test_half_a_character_does_not_make_a_body_unreadable():
    findings = []
    body = parse_body(HALVED, findings)
    assert body["messages"][0]["content"] == "A \ufffd."
    assert [(one.code, one.where) for one in findings] == [
        ("lone_surrogate", "$.messages[0].content")
    ]
    request = decode_request(HALVED, "openai-chat")
    assert [one.code for one in request.findings] == ["lone_surrogate"]


@pytest.mark.parametrize(
    "data",
    [b'{"a": "\\ud83d"', b'{"a": NaN, "b": "\\ud83d"}', b'{"a": "\xff"}', b"{}}", b"[" * 9999],
)
def test_what_is_no_json_stays_refused(data):
    with pytest.raises(MalformedBody):
        parse_body(data)


def test_a_reply_with_half_a_character_is_read():
    reply = decode_response(rb'{"content": [{"type": "text", "text": "\ude00 ok"}]}', "anthropic")
    assert reply.message.text == "\ufffd ok"
    assert [one.code for one in reply.findings] == ["lone_surrogate"]
