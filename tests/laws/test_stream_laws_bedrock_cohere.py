"""Any frames at all: a decoder never raises, any split is the same, and what it tells can be written.

The frames are made of the words of the two formats in any arrangement, so most of them are wrong.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.events import BlockEnded, BlockStarted, StreamEnded
from canonicall.folding import fold
from canonicall.framing.eventstream import write_frame

KEYS = st.sampled_from(
    [
        "contentBlockIndex",
        "delta",
        "start",
        "text",
        "toolUse",
        "toolUseId",
        "name",
        "type",
        "input",
        "toolResult",
        "content",
        "image",
        "format",
        "source",
        "bytes",
        "reasoningContent",
        "signature",
        "redactedContent",
        "citation",
        "stopReason",
        "usage",
        "metrics",
        "message",
        "messageStart",
        "contentBlockDelta",
        "index",
        "tool_calls",
        "function",
        "arguments",
        "id",
        "tool_plan",
        "thinking",
        "citations",
        "finish_reason",
        "error",
        "logprobs",
        "__type",
        "cachePoint",
        "document",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.integers(0, 2)
    | st.sampled_from(
        ["", "{}", '{"a":', "aGk=", "text", "thinking", "server_tool_use", "end_turn"]
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
NAMES = {
    "bedrock": [
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
        "throttlingException",
        "other",
    ],
    "cohere": [
        "message-start",
        "content-start",
        "content-delta",
        "content-end",
        "tool-plan-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "citation-start",
        "citation-end",
        "message-end",
        "debug",
    ],
}
SHAPES = {
    "bedrock": st.fixed_dictionaries(
        {"contentBlockIndex": st.integers(0, 1)},
        optional={
            "start": st.dictionaries(KEYS, VALUES, max_size=2),
            "delta": st.dictionaries(KEYS, VALUES, max_size=2),
        },
    ),
    "cohere": st.fixed_dictionaries(
        {"index": st.integers(0, 1)},
        optional={
            "delta": st.fixed_dictionaries({"message": st.dictionaries(KEYS, VALUES, max_size=2)})
        },
    ),
}


def frames(format):
    bodies = SHAPES[format] | st.dictionaries(KEYS, VALUES, max_size=3)
    frame = st.tuples(st.sampled_from(["", *NAMES[format]]), bodies)
    return st.lists(frame, max_size=8)


def decoded(data, format, size):
    decoder = StreamDecoder(format)
    events = []
    for start in range(0, len(data), size):
        events += decoder.feed(data[start : start + size])
    return events + decoder.close()


@pytest.mark.parametrize("format", ["bedrock", "cohere"])
@given(st.data())
def test_any_frames(format, data):
    wire = b"".join(
        write_frame(name, json.dumps(body).encode()) for name, body in data.draw(frames(format))
    )
    events = decoded(wire, format, 1 << 20)
    assert decoded(wire, format, 1) == events
    *told, ended = events
    assert isinstance(ended, StreamEnded)
    assert fold(events) == ended.reply
    started = [event.index for event in told if isinstance(event, BlockStarted)]
    closed = [event.index for event in told if isinstance(event, BlockEnded)]
    assert started == sorted(set(started))
    assert len(closed) == len(set(closed))
    assert set(closed) <= set(started)
    for target in ("openai-chat", "bedrock", "cohere"):
        again = decoded(StreamEncoder(target).feed_all(events), target, 1 << 20)
        assert again[-1].complete == ended.complete
