"""An error inside of a stream reaches every client, as the error of the client's own format."""

import json

import pytest

from canonicall import (
    ErrorReported,
    MessageStarted,
    Origin,
    StreamDecoder,
    StreamEncoder,
)
from canonicall.blocks import Message, Text, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    StreamEnded,
    TextAdded,
)
from canonicall.reply import Reply
from canonicall.verify import verify_stream
from canonicall.wire.formats import FORMATS

SAID = "The server had an error."
CREATED = {
    "type": "response.created",
    "response": {"id": "resp_1", "model": "m", "status": "in_progress", "output": []},
}
MESSAGE = {
    "type": "response.output_item.added",
    "output_index": 0,
    "item": {"type": "message", "id": "msg_1", "role": "assistant", "content": []},
}
WORDS = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hi"}
CALL = {
    "type": "response.output_item.added",
    "output_index": 1,
    "item": {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": ""},
}
PIECE = {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a"'}
ERROR = {
    "type": "error",
    "code": "server_error",
    "message": SAID,
    "param": None,
    "sequence_number": 3,
}
FAILED = {
    "type": "response.failed",
    "response": {"id": "resp_1", "status": "failed", "error": {"code": "x", "message": SAID}},
}
STREAMS = {
    "first of all": [ERROR],
    "behind the start": [CREATED, ERROR],
    "within words": [CREATED, MESSAGE, WORDS, ERROR],
    "within a call": [CREATED, MESSAGE, WORDS, CALL, PIECE, ERROR],
    "told twice": [CREATED, CALL, PIECE, ERROR, FAILED],
    "without a code": [CREATED, ERROR | {"code": None}],
    "in an envelope": [CREATED, {"type": "error", "error": {"code": "x", "message": SAID}}],
    "before more": [CREATED, MESSAGE, ERROR, WORDS],
}


def sse(frame):
    data = json.dumps(frame, separators=(",", ":")).encode()
    return b"event: %b\ndata: %b\n\n" % (frame["type"].encode(), data)


def starts(data, format):
    """How often the message begins."""
    sign = {
        "anthropic": b'"type":"message_start"',
        "openai-responses": b'"type":"response.created"',
    }
    return data.count(sign[format]) if format in sign else 1


def errors(data, format):
    """The messages of the errors in a stream, where this format has them."""
    decoder = StreamDecoder(format)
    events = decoder.feed(data) + decoder.close()
    return [event.message for event in events if isinstance(event, ErrorReported)], events[-1]


@pytest.mark.parametrize("frames", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("format", FORMATS)
def test_the_error_event_of_openai_is_the_error_of_every_client(format, frames):
    """`{"type": "error", "code", "message", "param", "sequence_number"}` of the Responses API."""
    decoder, encoder = StreamDecoder("openai-responses"), StreamEncoder(format)
    data = b"".join(encoder.feed_all(decoder.feed(sse(frame))) for frame in frames)
    data += encoder.feed_all(decoder.close()) + encoder.close()
    assert list(verify_stream(data, format)) == []
    assert starts(data, format) == 1
    told, end = errors(data, format)
    assert told == [SAID]
    assert (end.complete, end.why, end.reply.finish) == (False, SAID, "error")
    assert all(call.truncated for call in end.reply.calls)


NATIVES = [
    None,
    SAID,
    [],
    {},
    {"type": "error"},
    {"type": "error", "error": SAID},
    {"type": "error", "message": SAID},
    {"error": SAID},
    {"error": {"message": SAID}},
    {"error": {"message": SAID, "status": "UNAVAILABLE", "code": 503}},
    [{"error": {"message": SAID}}],
    {"message": SAID, "code": 1},
]


@pytest.mark.parametrize("native", NATIVES, ids=str)
@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
def test_no_form_of_an_error_breaks_the_stream_that_tells_it(format, source, native):
    """Providers and hosts have many; the words are told, whatever is around them."""
    call = ToolCall(id="c", name="f")
    message = Message("assistant", (Text(text="Hi"), call), finish="error", partial=True)
    events = [
        MessageStarted(Origin("p", source, model="m", response_id="r")),
        BlockStarted(0, Text(text="")),
        TextAdded(0, "Hi"),
        BlockEnded(0, Text(text="Hi")),
        BlockStarted(1, call),
        ArgumentsAdded(1, '{"a"'),
        ErrorReported(SAID, "server_error", native),
        StreamEnded(Reply(message), complete=False, why=SAID),
    ]
    data = StreamEncoder(format).feed_all(events)
    assert list(verify_stream(data, format)) == []
    assert starts(data, format) == 1
    told, end = errors(data, format)
    assert told == [SAID]
    assert not end.complete
