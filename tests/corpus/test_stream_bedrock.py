"""Recorded ConverseStreams: what we read is what botocore reads; what we write, botocore reads too."""

import json
from functools import partial

import pytest
from msgspec.structs import replace

from batches import each
from canonicall.blocks import Text, Thinking
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamEncoder
from canonicall.events import ArgumentsAdded, BlockEnded, StreamEnded
from canonicall.folding import events_of, fold
from corpus.support import arguments_in, needs_corpus, responses
from judges.converse_stream import accumulated, check_grammar, sdk_events
from replies import with_calls

from streaming import events_in, named_streams, sized

pytestmark = needs_corpus
FINISHES = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


# Every sixth of chat completions: the matrix of formats has them all.
each_chat = each("data", partial(named_streams, "openai-chat", 6), least=50)
each_stream = each("data", partial(named_streams, "bedrock-converse"), least=22)


decoded = partial(events_in, "bedrock")


@each_stream
def test_a_stream_says_what_botocore_reads_in_it(data):
    said = accumulated(sdk_events(data))
    *events, ended = decoded(data)
    reply = ended.reply
    blocks = reply.message.blocks
    assert isinstance(ended, StreamEnded)
    assert ended.complete
    assert reply.findings == ()
    assert [(c.id, c.name, c.raw) for c in reply.calls if c.kind != "server"] == said["calls"]
    assert [block.text for block in blocks if isinstance(block, Text)] == said["text"]
    seals = [(b.text, "".join(str(o.value) for o in b.opaque)) for b in blocks if is_thought(b)]
    assert seals == said["thoughts"]
    hidden = [block.opaque[0].value for block in blocks if is_hidden(block)]
    assert hidden == [b"".join(pieces).decode() for pieces in said["redacted"]]
    assert reply.finish == FINISHES[said["stop"]]
    usage = said["usage"]
    assert reply.usage.input_tokens == usage["inputTokens"]
    assert reply.usage.output_tokens == usage["outputTokens"]
    assert [event.block for event in events if isinstance(event, BlockEnded)] == list(blocks)
    assert "".join(e.text for e in events if isinstance(e, ArgumentsAdded)) == "".join(
        raw for _, _, raw in said["calls"]
    )
    assert fold([*events, ended]) == reply


def is_hidden(block):
    return isinstance(block, Thinking) and any(one.kind == "redacted" for one in block.opaque)


def is_thought(block):
    return isinstance(block, Thinking) and not is_hidden(block)


@each_stream
def test_byte_by_byte_gives_the_same_events(data):
    assert decoded(*sized(data, 1)) == decoded(*sized(data, 1000)) == decoded(data)


@each_stream
def test_a_stream_written_again_says_the_same(data):
    events = decoded(data)
    wire = StreamEncoder("bedrock").feed_all(events)
    check_grammar(sdk_events(wire))
    assert accumulated(sdk_events(wire)) == accumulated(sdk_events(data))
    assert decoded(wire)[-1] == events[-1]


@each_stream
def test_a_cut_at_every_frame_is_never_taken_for_whole(data):
    """The call at the end is marked and not ended, wherever the stream breaks off."""
    frames = split_frames(data)
    stops = [number for number, frame in enumerate(frames) if b"messageStop" in frame]
    for count in range(stops[0]):
        *events, ended = decoded(b"".join(frames[:count]))
        assert not ended.complete
        assert ended.reply.message.partial
        last = ended.reply.message.blocks[-1:]
        if last and last[0] in ended.reply.calls and last[0].kind != "server":
            assert last[0].truncated
        whole = {event.index for event in events if isinstance(event, BlockEnded)}
        assert len(whole) >= len(ended.reply.message.blocks) - 1
        with pytest.raises(Exception, match="modelStreamErrorException"):
            sdk_events(StreamEncoder("bedrock").feed_all([*events, ended]))


def split_frames(data):
    frames = []
    while data:
        length = int.from_bytes(data[:4], "big")
        frames.append(data[:length])
        data = data[length:]
    return frames


@each_chat
def test_a_chat_stream_written_as_converse_says_the_same(data):
    *events, ended = events_in("openai-chat", data)
    wire = StreamEncoder("bedrock").feed_all([*events, ended])
    if not ended.complete:
        with pytest.raises(Exception, match="modelStreamErrorException"):
            sdk_events(wire)
        return
    read = sdk_events(wire)
    check_grammar(read)
    said = accumulated(read)
    calls = [call for call in ended.reply.calls if call.kind != "server"]
    assert [(name, arguments_in(raw)) for _, name, raw in said["calls"]] == [
        (call.name, arguments_in(call.raw)) for call in calls
    ]
    ids = [id for id, _, _ in said["calls"]]
    assert all(call.id in ("", id) for call, id in zip(calls, ids, strict=True))
    assert len(set(ids)) == len(ids)
    assert "".join(said["text"]) == "".join(
        b.text for b in ended.reply.message.blocks if isinstance(b, Text)
    )
    assert (said["stop"] == "tool_use") == (ended.reply.finish == "tool_calls")


@each("record", partial(responses, "bedrock-converse"), least=111)
def test_recorded_replies_as_streams(record):
    """A recorded whole response, told as a stream, is the response that it was."""
    reply = decode_response(record["response"], "bedrock")
    wire = StreamEncoder("bedrock").feed_all(events_of(reply))
    check_grammar(sdk_events(wire))
    ended = decoded(wire)[-1]
    assert as_whole(ended.reply) == decode_response(encode_response(reply, "bedrock"), "bedrock")


def as_whole(reply):
    """A streamed reply with its arguments parsed, as they are in a whole response."""
    return with_calls(
        reply,
        lambda call: replace(call, args=json.loads(call.raw), raw=None) if call.raw else call,
    )
