"""Chat messages and what they mean: one table, read in both directions."""

import pytest

from canonicall import Media, Message, Opaque, Text, ToolCall, ToolResult
from canonicall.transcript.turns import Turn
from canonicall.wire.openai_chat import TARGET
from canonicall.wire.openai_chat.messages import encode_turn
from wire.openai_chat.forms import ORIGIN, decoded, native

# Wire messages with what they mean; each is what its meaning is written as.
PAIRS = {
    "string": ({"role": "user", "content": "Hi"}, Message("user", (Text(text="Hi"),))),
    "developer": (
        {"role": "developer", "content": "Be brief."},
        Message("developer", (Text(text="Be brief."),)),
    ),
    "named": (
        {"role": "user", "content": "Hi", "name": "a"},
        Message("user", (Text(text="Hi"),), native=native(name="a")),
    ),
    "image": (
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See"},
                {"type": "image_url", "image_url": {"url": "https://x.test/a", "detail": "low"}},
            ],
        },
        Message(
            "user",
            (
                Text(text="See"),
                Media(
                    media_type="image/*",
                    url="https://x.test/a",
                    native=native(image_url={"detail": "low"}),
                ),
            ),
        ),
    ),
    "inline image": (
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            ],
        },
        Message("user", (Media(media_type="image/png", data="aGk="),)),
    ),
    "sound": (
        {
            "role": "user",
            "content": [
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
            ],
        },
        Message(
            "user",
            (
                Media(media_type="audio/mpeg", data="aGk="),
                Media(media_type="audio/wav", data="aGk="),
            ),
        ),
    ),
    "sound by address": (
        {
            "role": "user",
            "content": [{"type": "audio_url", "audio_url": {"url": "https://x.test/a"}}],
        },
        Message("user", (Media(media_type="audio/*", url="https://x.test/a"),)),
    ),
    "file": (
        {
            "role": "user",
            "content": [
                {
                    "type": "file",
                    "file": {
                        "filename": "a.pdf",
                        "file_data": "data:application/pdf;base64,aGk=",
                    },
                },
                {"type": "file", "file": {"file_id": "file-1"}},
            ],
        },
        Message(
            "user",
            (
                Media(media_type="application/pdf", data="aGk=", name="a.pdf"),
                Media(
                    media_type="application/octet-stream",
                    opaque=(Opaque("openai", "file_id", "file-1"),),
                ),
            ),
        ),
    ),
    "document of Mistral": (
        {
            "role": "user",
            "content": [{"type": "document_url", "document_url": "https://x.test/a.pdf"}],
        },
        Message(
            "user",
            (
                Media(
                    media_type="application/pdf",
                    url="https://x.test/a.pdf",
                    native=native(type="document_url"),
                ),
            ),
        ),
    ),
    "video": (
        {
            "role": "user",
            "content": [{"type": "video_url", "video_url": {"url": "data:video/mp4;base64,aGk="}}],
        },
        Message("user", (Media(media_type="video/mp4", data="aGk="),)),
    ),
    "cache marks": (
        {
            "role": "system",
            "content": [
                {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": "b", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            ],
        },
        Message("system", (Text(text="a", cache="default"), Text(text="b", cache="1h"))),
    ),
    "calls": (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"a": 1}'},
                },
                {"id": "call_2", "type": "custom", "custom": {"name": "g", "input": "ls"}},
                {
                    "id": "call_3",
                    "type": "builtin_function",
                    "function": {"name": "$web_search", "arguments": "{}"},
                },
            ],
        },
        Message(
            "assistant",
            (
                ToolCall(id="call_1", name="f", raw='{"a": 1}'),
                ToolCall(id="call_2", name="g", raw="ls", kind="custom"),
                ToolCall(
                    id="call_3",
                    name="$web_search",
                    raw="{}",
                    native=native(type="builtin_function"),
                ),
            ),
            origin=ORIGIN,
        ),
    ),
    "result": (
        {"role": "tool", "tool_call_id": "call_1", "content": "42"},
        Message(
            "tool", (ToolResult(call_id="call_1", content=(Text(text="42"),), is_complete=True),)
        ),
    ),
    "empty result": (
        {"role": "tool", "tool_call_id": "call_1", "content": ""},
        Message("tool", (ToolResult(call_id="call_1", content=(), is_complete=True),)),
    ),
    "result with an image": (
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image_url", "image_url": {"url": "https://x.test/a"}},
            ],
            "cache_control": {"type": "ephemeral"},
        },
        Message(
            "tool",
            (
                ToolResult(
                    call_id="call_1",
                    content=(Text(text="a"), Media(media_type="image/*", url="https://x.test/a")),
                    is_complete=True,
                    cache="default",
                ),
            ),
        ),
    ),
    "refusal": (
        {"role": "assistant", "content": None, "refusal": "No."},
        Message(
            "assistant",
            (Text(text="No.", native=native(refusal=True)),),
            origin=ORIGIN,
            finish="refusal",
        ),
    ),
    "sound of the model": (
        {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
        Message(
            "assistant",
            (
                Media(
                    media_type="audio/*",
                    opaque=(Opaque("openai", "item_id", "audio_1"),),
                ),
            ),
            origin=ORIGIN,
        ),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_message_means_the_same_in_both_forms(name):
    wire, message = PAIRS[name]
    assert decoded(wire) == message
    turn = Turn(message.role, message.blocks, message.origin, message.native)
    assert encode_turn(turn, TARGET) == [wire]
