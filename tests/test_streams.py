"""Bytes to events and events to bytes, whatever the format: what decoder and encoder promise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Message,
    MessageStarted,
    Reply,
    StreamDecoder,
    StreamEncoder,
    StreamEnded,
    Text,
    TextAdded,
    ToolCall,
    UnknownName,
    events_of,
    fold,
)
from canonicall.facts.target import FORMATS
from canonicall.testing.strategies import replies

from streaming import pieces_of

HI = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi."}}]}\n\n'
END = b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"


def decoded(*pieces, **options):
    decoder = StreamDecoder("openai-chat", **options)
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()


def findings(events):
    return [(finding.code, finding.where) for finding in events[-1].reply.findings]


def written_ids(data):
    """The ids of the calls in a chat stream."""
    chunks = [json.loads(line[6:]) for line in data.split(b"\n\n") if line.startswith(b"data: {")]
    return [
        piece["id"]
        for chunk in chunks
        for choice in chunk.get("choices", ())
        for piece in choice["delta"].get("tool_calls", ())
        if "id" in piece
    ]


def test_a_stream_is_a_start_blocks_and_an_end():
    events = decoded(HI, END, DONE)
    assert isinstance(events[0], MessageStarted)
    assert isinstance(events[-1], StreamEnded)
    assert (events[-1].complete, events[-1].why) == (True, "")
    assert fold(events) == events[-1].reply


@given(replies(), st.lists(st.integers(0), max_size=12))
def test_any_split_gives_the_same_events(reply, cuts):
    data = StreamEncoder("openai-chat").feed_all(events_of(reply))
    assert decoded(*pieces_of(data, cuts)) == decoded(data)


@given(st.binary(max_size=80), st.lists(st.integers(0), max_size=4))
def test_any_bytes_behind_data_are_read_or_reported(noise, cuts):
    """Nothing raises; the words before and behind still count."""
    noise = noise.replace(b"\n", b" ").replace(b"\r", b" ")
    data = HI + b"data: " + noise + b"\n\n" + HI + END
    reply = decoded(*pieces_of(data, cuts))[-1].reply
    assert reply.message.text == "Hi.Hi."


@pytest.mark.parametrize("frame", [b"{oops", b"[1]", b'"x"', b"7", b"\xff\xfe", b"null"])
def test_a_frame_that_is_no_object_is_left_out_and_reported(frame):
    events = decoded(HI, b"data: " + frame + b"\n\n", HI, END, DONE)
    assert events[-1].reply.message.text == "Hi.Hi."
    assert findings(events) == [("frame_dropped", "frames[1]")]


def test_a_frame_of_the_wrong_shape_is_left_out_and_reported():
    events = decoded(HI, b'data: {"choices":[7]}\n\n', END, DONE)
    assert findings(events) == [("frame_dropped", "frames[1]")]
    assert "$.choices[0]" in events[-1].reply.findings[0].why


@pytest.mark.parametrize("blank", [b"data:\n\n", b"data:   \n\n", b": alive\n\n", b"\n\n"])
def test_frames_of_nothing_mean_nothing(blank):
    assert decoded(blank, HI, blank, END, DONE) == decoded(HI, END, DONE)


@pytest.mark.parametrize("pieces", [(), (b"",), (b"\n",), (b": alive\n\n",)])
def test_an_empty_stream_is_a_reply_of_nothing_that_was_cut(pieces):
    start, end = decoded(*pieces)
    assert isinstance(start, MessageStarted)
    assert (end.complete, end.reply.message.blocks) == (False, ())
    assert end.reply.message.partial
    assert "before the provider said" in end.why


def test_done_alone_is_the_end():
    assert decoded(DONE)[-1].complete


def test_a_stream_without_its_end_was_cut():
    end = decoded(HI)[-1]
    assert (end.complete, end.reply.message.partial, end.reply.message.text) == (False, True, "Hi.")


def test_the_last_frame_may_lack_its_empty_line():
    assert decoded(HI, END.rstrip())[-1].complete


def test_closing_twice_says_nothing_more():
    decoder = StreamDecoder("openai-chat")
    decoder.feed(HI)
    assert decoder.close()
    assert decoder.close() == []


def test_done_is_known_before_the_close():
    decoder = StreamDecoder("openai-chat")
    decoder.feed(HI)
    assert not decoder.done
    decoder.feed(END)
    assert decoder.done


def test_the_provider_is_the_origin():
    events = decoded(HI, END, provider="kimi")
    origin = events[-1].reply.message.origin
    assert (origin.provider, origin.format, origin.response_id) == ("kimi", "openai-chat", "c")
    assert events[0].origin == origin


@pytest.mark.parametrize("make", [StreamDecoder, StreamEncoder])
def test_an_unknown_format_is_refused(make):
    with pytest.raises(UnknownName, match="nobody"):
        make("nobody")


# The encoder.


def test_an_encoder_that_is_closed_without_an_end_tells_that_the_stream_was_cut():
    encoder = StreamEncoder("openai-chat")
    data = encoder.feed_all([MessageStarted(), BlockStarted(0, Text(text="")), TextAdded(0, "Hi.")])
    data += encoder.close()
    end = decoded(data)[-1]
    assert (end.complete, end.reply.message.text) == (False, "Hi.")
    assert "before the provider said" in end.why
    assert encoder.close() == b""


def test_closing_behind_the_end_adds_nothing():
    encoder = StreamEncoder("openai-chat")
    encoder.feed_all(events_of(Reply(Message("assistant", (Text(text="Hi."),), finish="stop"))))
    assert encoder.close() == b""


def test_closing_an_encoder_that_wrote_nothing_is_an_error_too():
    end = decoded(StreamEncoder("openai-chat").close())[-1]
    assert (end.complete, end.reply.finish) == (False, "error")


@given(replies())
def test_keep_alives_anywhere_change_nothing(reply):
    encoder = StreamEncoder("openai-chat")
    data = encoder.keep_alive()
    for event in events_of(reply):
        data += encoder.feed(event) + encoder.keep_alive()
    assert decoded(data) == decoded(StreamEncoder("openai-chat").feed_all(events_of(reply)))


def test_an_error_on_the_way_is_told_at_the_end():
    encoder = StreamEncoder("openai-chat")
    reply = Reply(Message("assistant", finish="error", partial=True))
    events = [
        MessageStarted(),
        ErrorReported("overloaded"),
        StreamEnded(reply, False, "overloaded"),
    ]
    assert decoded(encoder.feed_all(events))[-1].why == "overloaded"


def calls_reply(*calls):
    return Reply(Message("assistant", calls, finish="tool_calls"))


NAMELESS = ToolCall(name="f", args={})
SAME = ToolCall(id="call_0", name="f", args={})


def test_calls_without_an_id_get_one():
    """The same in every run, another for each call."""
    reply = calls_reply(NAMELESS, NAMELESS, ToolCall(name="g", args={}))
    ids = written_ids(StreamEncoder("openai-chat").feed_all(events_of(reply)))
    assert ids == written_ids(StreamEncoder("openai-chat").feed_all(events_of(reply)))
    assert len(set(ids)) == 3
    assert all(id.startswith("call_") and len(id) == 29 for id in ids)


def test_a_seed_makes_them_different_from_those_of_other_streams():
    """A client keeps the calls of many turns; their ids must not meet."""
    events = list(events_of(calls_reply(NAMELESS)))
    one, other = (StreamEncoder("openai-chat", seed=seed).feed_all(events) for seed in "ab")
    assert written_ids(one) != written_ids(other)


def test_the_second_call_with_an_id_gets_another():
    ids = written_ids(StreamEncoder("openai-chat").feed_all(events_of(calls_reply(SAME, SAME))))
    assert ids[0] == "call_0"
    assert ids[1] != "call_0"


class Recording:
    """An encoding that keeps the events it is given."""

    def __init__(self):
        self.events = []

    def event(self, event):
        self.events.append(event)
        return b""


def events_written(events):
    """The events as an encoding gets to see them."""
    encoder = StreamEncoder("openai-chat")
    recording = Recording()
    encoder._write = recording.event
    encoder.feed_all(events)
    return recording.events


@given(replies())
def test_an_id_is_the_same_from_the_start_of_a_call_to_the_reply(reply):
    events = events_written(events_of(reply))
    client = [
        event
        for event in events
        if isinstance(event, (BlockStarted, BlockEnded))
        and isinstance(event.block, ToolCall)
        and event.block.kind != "server"
    ]
    started = [event.block.id for event in client if isinstance(event, BlockStarted)]
    ended = [event.block.id for event in client if isinstance(event, BlockEnded)]
    in_reply = [call.id for call in events[-1].reply.calls if call.kind != "server"]
    assert started == ended == in_reply
    assert all(started)
    assert len(set(started)) == len(started)


def test_an_id_that_came_late_is_not_used_half_way():
    """The client has been told another one by then."""
    started = ToolCall(name="f")
    ended = ToolCall(id="call_1", name="f", raw="{}")
    events = events_written(
        [
            BlockStarted(0, started),
            ArgumentsAdded(0, "{}"),
            BlockEnded(0, ended),
            StreamEnded(calls_reply(ended)),
        ]
    )
    made = events[0].block.id
    assert made not in ("", "call_1")
    assert events[2].block.id == made
    assert events[3].reply.calls[0].id == made


def test_calls_that_the_provider_ran_keep_their_ids():
    server = ToolCall(id="s", name="web_search", args={}, kind="server")
    events = events_written(events_of(calls_reply(server, server)))
    assert [call.id for call in events[-1].reply.calls] == ["s", "s"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "value", [[TextAdded(0, "Hi.")], (), "Hi.", None, Reply(Message("assistant"))]
)
def test_an_encoder_takes_one_event_and_says_so(format, value):
    """A list of events was once written as nothing."""
    with pytest.raises(TypeError, match=r"takes one event, not \w+. feed_all takes several"):
        StreamEncoder(format).feed(value)
