"""Calls that never ended: they are marked, and no format writes them as whole."""

import json

import pytest

from canonicall import Message, Origin, Reply, StreamDecoder, StreamEncoder, Text, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    FinishReported,
    MessageStarted,
    StreamEnded,
)
from canonicall.folding import events_of
from canonicall.verify import StreamChecker
from canonicall.wire.formats import FORMATS


def chunk(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    return b"data: %b\n\n" % json.dumps(body).encode()


def piece(index, arguments, **begun):
    function = {"arguments": arguments} | ({"name": begun.pop("name")} if begun else {})
    return chunk({"tool_calls": [{"index": index, "function": function, **begun}]})


def chat(*frames):
    decoder = StreamDecoder("openai-chat")
    return decoder.feed(b"".join(frames)) + decoder.close()


def begun(index):
    return piece(index, "", id=f"call_{index}", type="function", name="f")


def ended(events):
    return [event.index for event in events if isinstance(event, BlockEnded)]


def test_the_token_limit_leaves_the_last_call_of_a_chat_stream_open():
    events = chat(begun(0), piece(0, "{}"), begun(1), piece(1, '{"a": "b'), chunk({}, "length"))
    assert events[-1].complete
    assert ended(events) == [0]
    assert [call.truncated for call in events[-1].reply.calls] == [False, True]


def test_at_the_token_limit_a_call_that_cannot_grow_is_whole():
    events = chat(begun(0), piece(0, '{"a": 1}'), chunk({}, "length"))
    assert ended(events) == [0]


def test_calls_that_overlap_are_all_marked_when_the_stream_breaks_off():
    events = chat(begun(0), begun(1), piece(0, '{"a"'), piece(1, '{"b"'), begun(2), piece(2, "{}"))
    assert ended(events) == [2]
    assert [call.truncated for call in events[-1].reply.calls] == [True, True, True]


def test_a_call_that_ended_before_the_cut_is_not_marked():
    events = chat(begun(0), piece(0, "{}"), begun(1), piece(1, '{"b"'))
    assert [call.truncated for call in events[-1].reply.calls] == [False, True]


def anthropic_frame(kind, **fields):
    return b"event: %b\ndata: %b\n\n" % (
        kind.encode(),
        json.dumps({"type": kind, **fields}).encode(),
    )


def test_calls_of_formats_with_ends_are_marked_where_these_are_missing():
    def start(index):
        block = {"type": "tool_use", "id": f"toolu_{index}", "name": "f", "input": {}}
        return anthropic_frame("content_block_start", index=index, content_block=block)

    message = {"id": "m", "role": "assistant", "model": "c", "content": [], "usage": {}}
    decoder = StreamDecoder("anthropic")
    decoder.feed(anthropic_frame("message_start", message=message) + start(0) + start(1))
    decoder.feed(anthropic_frame("content_block_stop", index=1))
    reply = decoder.close()[-1].reply
    assert [(call.id, call.truncated) for call in reply.calls] == [
        ("toolu_0", True),
        ("toolu_1", True),
    ]


CUT = ToolCall(id="call_1", name="f", raw='{"a": "b', truncated=True)
BEGUN = ToolCall(id="call_1", name="f")
OPEN = [
    MessageStarted(Origin("openai", "openai-chat", model="m")),
    BlockStarted(0, BEGUN),
    ArgumentsAdded(0, '{"a": "b'),
    FinishReported("length"),
    StreamEnded(Reply(Message("assistant", (CUT,), finish="length"))),
]
CALLS = {
    "openai-chat": b'"finish_reason":"length"',
    "openai-responses": b'"incomplete_details":{"reason":"max_output_tokens"}',
    "anthropic": b'"stop_reason":"max_tokens"',
    "gemini": b'"finishReason":"MAX_TOKENS"',
    "bedrock": b'"stopReason":"max_tokens"',
    "cohere": b'"finish_reason":"MAX_TOKENS"',
    "ollama": b'"done_reason":"length"',
}


@pytest.mark.parametrize("format", FORMATS)
def test_a_call_that_is_open_at_the_end_is_told_as_one_that_was_cut(format):
    written = StreamEncoder(format).feed_all(OPEN)
    checker = StreamChecker(format)
    assert checker.feed(written) + checker.close() == []
    assert checker.complete
    assert CALLS[format] in written


@pytest.mark.parametrize("format", FORMATS)
def test_nobody_reads_it_as_a_call_to_run(format):
    decoder = StreamDecoder(format)
    reply = (decoder.feed(StreamEncoder(format).feed_all(OPEN)) + decoder.close())[-1].reply
    assert reply.finish == "length"
    assert all(call.truncated for call in reply.calls)


def test_responses_say_that_its_item_is_incomplete():
    written = StreamEncoder("openai-responses").feed_all(OPEN)
    frames = [json.loads(line[6:]) for line in written.decode().splitlines() if line[:5] == "data:"]
    done = next(one for one in frames if one["type"] == "response.output_item.done")
    assert (done["item"]["status"], done["item"]["arguments"]) == ("incomplete", '{"a": "b')
    assert frames[-1]["type"] == "response.incomplete"
    assert frames[-1]["response"]["output"] == [done["item"]]


@pytest.mark.parametrize("format", ["gemini", "ollama"])
def test_formats_of_whole_calls_leave_it_out(format):
    assert b'"name":"f"' not in StreamEncoder(format).feed_all(OPEN)


@pytest.mark.parametrize(("finish", "raw"), [("length", ""), ("tool_calls", "{}")])
@pytest.mark.parametrize("text", ["", "Hm."])
def test_words_behind_a_call_of_a_chat_stream_do_not_make_it_whole(text, finish, raw):
    """At the token limit it may have been cut before its first argument, wherever words stand."""
    call = ToolCall(id="call_1", name="f", raw="")
    reply = Reply(Message("assistant", (call, Text(text=text)), finish=finish))
    written = StreamEncoder("openai-chat").feed_all(events_of(reply))
    assert [one.raw for one in chat(written)[-1].reply.calls] == [raw]
