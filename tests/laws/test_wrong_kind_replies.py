"""A value of a wrong kind, anywhere in a reply, is told and never an exception of Python's own."""

import json

import msgspec
import pytest

from canonicall import (
    MalformedBody,
    Message,
    Origin,
    Text,
    Thinking,
    ToolCall,
    decode_response,
    fold,
)
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.folding import events_of
from canonicall.framing.detect import AnyFraming
from canonicall.framing.eventstream import write_frame
from canonicall.reply import Reply, Usage
from canonicall.wire.formats import FORMATS
from wire.support import places, put

WRONG = ([], {}, [7], 7, "x", None, True)
REPLY = Reply(
    Message(
        "assistant",
        (
            Thinking(text="Hm."),
            Text(text="I search."),
            ToolCall(id="call_1", name="search", args={"q": "tea"}),
        ),
        origin=Origin(model="m", response_id="r"),
        finish="tool_calls",
    ),
    Usage(3, 4, 1, 1, 2),
)
CHANCES = {"content": [{"token": "a", "logprob": -0.1, "bytes": None, "top_logprobs": []}]}
CITED = {"type": "url_citation", "url": "https://x.test", "start_index": 0, "end_index": 1}
WORDS = {"type": "output_text", "text": "a", "annotations": [CITED], "logprobs": []}
FAILED = {"code": "server_error", "message": "m"}
MORE = {
    "openai-chat": {
        "choices": [
            {"index": 0, "message": {"content": "a"}, "logprobs": CHANCES},
            {"index": 1, "message": {"tool_calls": [{"function": {}}]}, "finish_reason": "stop"},
        ],
    },
    "openai-responses": {
        "status": "failed",
        "error": FAILED,
        "output": [
            {"type": "message", "id": "msg_1", "role": "assistant", "content": [WORDS]},
            {"type": "of_tomorrow", "id": "x_1"},
        ],
    },
}
"""What replies have that no reply of another format has."""
CHUNKS = {
    "openai-chat": [{"choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": CHANCES}]}]
    * 2,
    "openai-responses": [
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}},
        {"type": "response.content_part.added", "output_index": 0, "part": WORDS},
        {
            "type": "response.output_text.annotation.added",
            "output_index": 0,
            "annotation_index": 0,
            "annotation": CITED,
        },
        {"type": "error", **FAILED},
    ],
}


def damaged(body):
    """The body with each of its values in turn replaced by each wrong one."""
    inside = (path for path in places(body) if path)
    return (put(body, path, wrong) for path in inside for wrong in WRONG)


def written(reply):
    """What a reply becomes in every format, which nobody looks at: it can be written."""
    for format in FORMATS:
        msgspec.json.encode(encode_response(reply, format))
        StreamEncoder(format).feed_all(events_of(reply))


@pytest.mark.parametrize("format", FORMATS)
def test_a_wrong_kind_anywhere_in_a_reply_is_told(format):
    """`decode_response` reads it, and then it can be written, or raises `MalformedBody`."""
    bodies = [msgspec.to_builtins(encode_response(REPLY, format)), MORE.get(format, {})]
    for copy in (one for body in bodies for one in damaged(body)):
        try:
            reply = decode_response(copy, format)
        except MalformedBody as error:
            assert error.where.startswith("$")  # noqa: PT017  # most bodies can be read
        else:
            written(reply)


def frames_of(format):
    """The frames of a streamed reply, each with its name."""
    data = StreamEncoder(format).feed_all(events_of(REPLY))
    framing = AnyFraming()
    frames = [*framing.feed(data), *framing.close()]
    more = [("", json.dumps(one).encode()) for one in CHUNKS.get(format, ())]
    return [(name, data) for name, data in [*frames[:1], *more, *frames[1:]] if data[:1] == b"{"]


def bytes_of(format, name, body):
    data = json.dumps(body).encode()
    if format == "bedrock":
        return write_frame(name, data)
    if format == "ollama":
        return data + b"\n"
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + data + b"\n\n"


@pytest.mark.parametrize("format", FORMATS)
def test_a_wrong_kind_anywhere_in_a_stream_is_told(format):
    """Each frame in turn is spoiled; what can be read of the stream can be written."""
    frames = [(name, json.loads(data)) for name, data in frames_of(format)]
    whole = [bytes_of(format, name, body) for name, body in frames]
    for at, (name, body) in enumerate(frames):
        for copy in damaged(body):
            decoder = StreamDecoder(format)
            data = b"".join([*whole[:at], bytes_of(format, name, copy), *whole[at + 1 :]])
            events = decoder.feed(data) + decoder.close()
            msgspec.json.encode(fold(events).message)
            StreamEncoder(format).feed_all(events)
