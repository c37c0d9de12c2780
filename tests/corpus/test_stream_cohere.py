"""Recorded Cohere streams: what we read is what the SDK reads; what we write, the SDK reads too."""

from functools import partial

from msgspec.structs import replace

from batches import each
from canonicall.blocks import Text, Thinking
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamEncoder
from canonicall.events import ArgumentsAdded, BlockEnded
from canonicall.folding import events_of, fold
from canonicall.wire.cohere.messages import PLAN
from corpus.support import arguments_in, needs_corpus, responses
from judges.cohere_stream import accumulated, check_grammar, sdk_events
from replies import with_calls

from streaming import events_in, named_streams, sized

pytestmark = needs_corpus
FINISHES = {"COMPLETE": "stop", "TOOL_CALL": "tool_calls"}


# Every sixth of chat completions: the matrix of formats has them all.
each_chat = each("data", partial(named_streams, "openai-chat", 6), least=50)
each_stream = each("data", partial(named_streams, "cohere-v2"), least=13)


decoded = partial(events_in, "cohere")


@each_stream
def test_a_stream_says_what_the_sdk_reads_in_it(data):
    said = accumulated(sdk_events(data))
    *events, ended = decoded(data)
    reply = ended.reply
    blocks = reply.message.blocks
    assert ended.complete
    assert reply.findings == ()
    assert [(call.id, call.name, call.raw) for call in reply.calls] == said["calls"]
    texts = [block for block in blocks if isinstance(block, Text)]
    assert "".join(block.text for block in texts if block.native == PLAN) == said["plan"]
    assert [block.text for block in texts if block.native != PLAN] == said["text"]
    assert [block.text for block in blocks if isinstance(block, Thinking)] == said["thoughts"]
    cited = reply.message.native.fields["citations"] if reply.message.native else []
    assert [one["text"] for one in cited] == said["citations"]
    assert reply.finish == FINISHES[said["finish"]]
    assert reply.usage.input_tokens == said["usage"].input_tokens
    assert reply.usage.output_tokens == said["usage"].output_tokens
    assert reply.message.origin == events[0].origin
    assert events[0].origin.response_id == said["id"]
    assert [event.block for event in events if isinstance(event, BlockEnded)] == list(blocks)
    assert "".join(e.text for e in events if isinstance(e, ArgumentsAdded)) == "".join(
        raw for _, _, raw in said["calls"]
    )
    assert fold([*events, ended]) == reply


@each_stream
def test_byte_by_byte_gives_the_same_events(data):
    assert decoded(*sized(data, 1)) == decoded(*sized(data, 1000)) == decoded(data)


@each_stream
def test_a_stream_written_again_says_the_same(data):
    events = decoded(data)
    wire = StreamEncoder("cohere").feed_all(events)
    read, known = accumulated(sdk_events(wire)), accumulated(sdk_events(data))
    check_grammar(sdk_events(wire))
    # Cohere sends nothing for no arguments; an empty object is what every client can parse.
    known["calls"] = [(id, name, raw or "{}") for id, name, raw in known["calls"]]
    assert read == known
    assert fold(decoded(wire)) == with_objects(events[-1].reply)


def with_objects(reply):
    return with_calls(reply, lambda call: replace(call, raw=call.raw or "{}"))


@each_stream
def test_a_cut_at_every_event_is_never_taken_for_whole(data):
    """The call at the end is marked and not ended, wherever the stream breaks off."""
    frames = data.split(b"\n\n")
    last = next(n for n, frame in enumerate(frames) if b"event: message-end" in frame)
    for count in range(1, last):
        *events, ended = decoded(b"\n\n".join(frames[:count]) + b"\n\n")
        assert not ended.complete
        assert ended.reply.message.partial
        for call in ended.reply.calls[-1:]:
            assert call.truncated
        wire = StreamEncoder("cohere").feed_all([*events, ended])
        assert wire.count(b'"finish_reason"') == wire.count(b'"finish_reason":"ERROR"') == 1
    assert accumulated(sdk_events(wire))["error"] == ended.why


@each_chat
def test_a_chat_stream_written_as_cohere_says_the_same(data):
    *events, ended = events_in("openai-chat", data)
    read = sdk_events(StreamEncoder("cohere").feed_all([*events, ended]))
    said = accumulated(read)
    if not ended.complete:
        assert said["finish"] == "ERROR"
        return
    check_grammar(read)
    calls = ended.reply.calls
    assert [(name, arguments_in(raw)) for _, name, raw in said["calls"]] == [
        (call.name, arguments_in(call.raw)) for call in calls
    ]
    ids = [id for id, _, _ in said["calls"]]
    assert all(call.id in ("", id) for call, id in zip(calls, ids, strict=True))
    assert len(set(ids)) == len(ids)
    words = [block.text for block in ended.reply.message.blocks if isinstance(block, Text)]
    assert "".join(said["text"]) == "".join(words)
    assert (said["finish"] == "TOOL_CALL") == (ended.reply.finish == "tool_calls")


@each("record", partial(responses, "cohere-v2"), least=25)
def test_recorded_replies_as_streams(record):
    """A recorded whole response, told as a stream, is the response that it was."""
    reply = decode_response(record["response"], "cohere")
    wire = StreamEncoder("cohere").feed_all(events_of(reply))
    check_grammar(sdk_events(wire))
    assert decoded(wire)[-1].reply == decode_response(encode_response(reply, "cohere"), "cohere")
