"""Streams of Messages, as the API and the hosts that imitate it send them."""

import json
from base64 import b64encode

import pytest

from canonicall import Text, ToolCall
from canonicall.codec.decode import decode_response
from canonicall.codec.streams import StreamDecoder
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    MessageStarted,
    TextAdded,
    UsageReported,
)
from canonicall.framing.eventstream import write_frame
from wire.anthropic.stream_events import (
    CALL,
    START,
    STOP,
    USAGE,
    arguments,
    body,
    delta,
    ending,
    events_of_stream,
    picked,
    reply_of,
    start,
    stop,
    text,
)


def test_a_stream_is_told_as_it_comes():
    events = events_of_stream(
        START,
        {"type": "ping"},
        start(0, type="text", text=""),
        text(0, "Hel"),
        text(0, "lo"),
        stop(0),
        ending(),
        STOP,
    )
    words = Text(text="Hello")
    assert [type(event) for event in events[:2]] == [MessageStarted, UsageReported]
    assert events[0].origin.model == "claude"
    assert events[0].origin.response_id == "msg_1"
    assert events[2:6] == [
        BlockStarted(0, Text(text="")),
        TextAdded(0, "Hel"),
        TextAdded(0, "lo"),
        BlockEnded(0, words),
    ]
    assert picked(events, FinishReported) == [FinishReported("stop")]
    assert events[-1].complete
    assert events[-1].reply.message.blocks == (words,)


def test_the_reply_is_that_of_the_same_message_without_streaming():
    streamed = reply_of(
        START,
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Hm."),
        delta(0, "signature_delta", signature="sig"),
        stop(0),
        start(1, **CALL, caller={"type": "direct"}),
        arguments(1, ""),
        arguments(1, '{"a"'),
        arguments(1, ": 1}"),
        stop(1),
        ending("tool_use"),
        STOP,
    )
    whole = START["message"] | {
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
            CALL | {"input": {"a": 1}, "caller": {"type": "direct"}},
        ],
        "stop_reason": "tool_use",
        "usage": USAGE | {"output_tokens": 7},
    }
    assert streamed == decode_response(whole, "anthropic")


def test_the_model_that_took_over_is_the_one_that_answers():
    reply = reply_of(START, start(0, type="fallback", to={"model": "other"}), stop(0), STOP)
    assert reply.message.origin.model == "other"


# The message.


def test_figures_are_totals_and_absent_ones_stay():
    events = events_of_stream(START, ending(input_tokens=12, server_tool_use=None), STOP)
    first, last = (event.usage for event in picked(events, UsageReported))
    assert (first.input_tokens, first.output_tokens) == (15, 1)
    assert (last.input_tokens, last.output_tokens, last.cache_read_tokens) == (17, 7, 5)
    assert events[-1].reply.usage == last


def test_what_is_said_of_the_message_at_its_end_is_kept():
    change = ending()
    change["delta"]["container"] = {"id": "c"}
    change["context_management"] = {"applied_edits": []}
    native = reply_of(START, change, STOP).native.fields
    assert native == {"container": {"id": "c"}, "context_management": {"applied_edits": []}}


def test_content_that_stands_in_the_start_of_the_message_is_read():
    message = START["message"] | {"content": [CALL | {"input": {"a": 1}}]}
    events = events_of_stream({"type": "message_start", "message": message}, STOP)
    assert events[-1].reply.calls[0].args == {"a": 1}
    assert picked(events, ArgumentsAdded) == [ArgumentsAdded(0, '{"a":1}')]


def test_a_host_that_does_not_stream_is_read_as_well():
    message = START["message"] | {
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
    }
    decoder = StreamDecoder("anthropic")
    end = (decoder.feed(json.dumps(message).encode()) + decoder.close())[-1]
    assert end.complete
    assert end.reply == decode_response(message, "anthropic")


# Hosts.


def test_names_of_events_are_not_needed():
    frames = [START, start(0, type="text", text=""), text(0, "Hi"), stop(0), ending(), STOP]
    assert events_of_stream(*frames, named=False) == events_of_stream(*frames)


def test_types_are_not_needed_where_events_have_names():
    data = b'event: content_block_delta\ndata: {"index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n'
    decoder = StreamDecoder("anthropic")
    assert decoder.feed(data)[-1] == TextAdded(0, "Hi")


def test_padding_means_nothing():
    frame = b'event: message_stop\ndata: {"type":"message_stop"              }\n\n'
    decoder = StreamDecoder("anthropic")
    decoder.feed(frame)
    assert decoder.done


def test_a_reason_to_stop_is_an_end_without_message_stop():
    events = events_of_stream(START, start(0, **CALL), arguments(0, "{}"), ending("tool_use"))
    assert events[-1].complete
    told = [UsageReported, BlockEnded, FinishReported]
    assert [type(event) for event in events[-4:-1]] == told


def test_blocks_that_share_a_number_follow_one_another():
    reply = reply_of(
        START,
        start(0, **CALL),
        arguments(0, '{"a":1}'),
        start(0, **CALL | {"id": "toolu_2"}),
        arguments(0, '{"b":2}'),
        stop(0),
        ending("tool_use"),
    )
    assert [(call.id, call.args) for call in reply.calls] == [
        ("toolu_1", {"a": 1}),
        ("toolu_2", {"b": 2}),
    ]


def test_words_without_a_start_are_kept():
    reply = reply_of(START, text(0, "Hel"), text(0, "lo"), stop(0), ending(), STOP)
    assert reply.message.blocks == (Text(text="Hello"),)
    assert reply.findings == ()


def test_words_that_name_the_block_of_a_call_become_a_block_of_their_own():
    reply = reply_of(START, start(0, **CALL), arguments(0, "{}"), text(0, "Hi"), ending(), STOP)
    assert [type(block) for block in reply.message.blocks] == [ToolCall, Text]


def test_a_stream_over_bedrock_is_read_with_and_without_its_envelope():
    frames = [START, start(0, type="text", text=""), text(0, "Hi"), stop(0), ending(), STOP]
    payloads = [json.dumps(frame).encode() for frame in frames]
    wrapped = [
        json.dumps({"bytes": b64encode(one).decode(), "p": "ab"}).encode() for one in payloads
    ]
    for chunks in (payloads, wrapped):
        decoder = StreamDecoder("anthropic")
        data = b"".join(write_frame("chunk", one) for one in chunks)
        assert decoder.feed(data) + decoder.close() == events_of_stream(*frames)


# What goes wrong.


def test_an_error_inside_the_stream_is_told_and_ends_it():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    events = events_of_stream(START, start(0, type="text", text=""), text(0, "Hi"), error)
    told = ErrorReported("Overloaded", "overloaded_error", error)
    assert picked(events, ErrorReported) == [told]
    end = events[-1]
    assert (end.complete, end.why, end.reply.finish) == (False, "Overloaded", "error")
    assert end.reply.message.blocks == (Text(text="Hi"),)


@pytest.mark.parametrize(
    "data",
    [
        b'event: error\ndata: {"error": {"message": "No"}}\n\n',
        b'data: {"error": "No"}\n\n',
        write_frame("throttlingException", b'{"message": "No"}', exception=True),
    ],
)
def test_errors_without_the_usual_envelope_are_understood(data):
    decoder = StreamDecoder("anthropic")
    events = decoder.feed(data) + decoder.close()
    assert isinstance(events[0], MessageStarted)
    assert events[-1].why == "No"
    assert events[-1].reply.message.blocks == ()


def test_nothing_at_all_is_a_reply_of_nothing():
    [started, end] = StreamDecoder("anthropic").close()
    assert isinstance(started, MessageStarted)
    assert (end.complete, end.reply.message.blocks) == (False, ())


FRAMES = [
    START,
    start(0, type="text", text=""),
    text(0, "I look."),
    stop(0),
    start(1, **CALL),
    arguments(1, ""),
    arguments(1, '{"a"'),
    arguments(1, ":1}"),
    stop(1),
    start(2, **CALL | {"id": "toolu_2"}),
    arguments(2, '{"b":2}'),
    stop(2),
]


@pytest.mark.parametrize("length", range(len(FRAMES) + 1))
def test_a_cut_leaves_no_call_that_looks_whole(length):
    events = events_of_stream(*FRAMES[:length])
    end = events[-1]
    stopped = [frame["index"] for frame in FRAMES[:length] if frame["type"] == "content_block_stop"]
    ended = [event.index for event in picked(events, BlockEnded)]
    assert not end.complete
    assert end.reply.message.partial
    assert [index for index in ended if index > 0] == [index for index in stopped if index > 0]
    if end.reply.message.blocks and isinstance(end.reply.message.blocks[-1], ToolCall):
        assert [call.truncated for call in end.reply.calls][-1]
        assert not any(call.truncated for call in end.reply.calls[:-1])


def test_a_call_of_the_provider_that_was_cut_keeps_what_came():
    held = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    events = events_of_stream(START, start(0, **held), arguments(0, '{"que'))
    assert events[-1].reply.calls[0].args == {"_raw": '{"que'}
    assert picked(events, BlockEnded) == []


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "message_start", "message": []},
        {"type": "message_start", "message": {"model": 5}},
        start(0, type="text", text=5),
        {"type": "content_block_start", "index": 0},
        {"type": "content_block_delta", "index": 0},
        delta(0, "text_delta", text=5),
        delta(0, "signature_delta", signature="x"),
        delta(0, "strange_delta", strange="x"),
        arguments([], "{}"),
        {"type": "message_delta", "delta": {"stop_reason": 5}},
        {"type": "message_delta", "delta": {}, "usage": 5},
        {"bytes": "no base64"},
    ],
    ids=lambda frame: json.dumps(frame)[:60],
)
def test_a_frame_that_cannot_be_read_is_left_out_and_reported(frame):
    decoder = StreamDecoder("anthropic")
    sound = body(START, start(1, type="text", text=""), text(1, "Hi"), stop(1), ending(), STOP)
    events = decoder.feed(f"data: {json.dumps(frame)}\n\n".encode()) + decoder.feed(sound)
    reply = decoder.close()[-1].reply
    assert [finding.code for finding in reply.findings] == ["frame_dropped"]
    assert picked(events, TextAdded) == [TextAdded(0, "Hi")]
    assert reply.message.text == "Hi"


def test_a_kind_of_delta_nobody_knows_is_reported_once():
    strange = delta(0, "strange_delta", strange="x")
    reply = reply_of(START, start(0, type="text", text=""), strange, strange, stop(0), STOP)
    assert len(reply.findings) == 1
    assert "strange_delta" in reply.findings[0].why


def test_events_nobody_knows_mean_nothing():
    events = events_of_stream({"type": "weather"}, {"type": 5}, START, ending(), STOP)
    assert events[-1].complete
    assert events[-1].reply.findings == ()
