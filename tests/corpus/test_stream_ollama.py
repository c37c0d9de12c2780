"""Recorded Ollama streams, read by our decoder and by a few lines that know nothing of it."""

import json
from functools import cache

import pytest
from msgspec.structs import replace

from batches import each
from canonicall.blocks import Text, Thinking, ToolCall
from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.events import BlockEnded
from canonicall.folding import events_of
from canonicall.wire.ollama.response import decode_response, encode_response
from corpus.support import needs_corpus
from replies import with_calls

from streaming import events_in, recorded_streams

pytestmark = needs_corpus


@cache
def streams(protocol="ollama-chat"):
    return [(id, data) for id, _, data in recorded_streams(protocol)]


def read(data):
    """Words, thoughts, calls and the last line, as a client would put them together."""
    lines = [json.loads(line) for line in data.decode().splitlines()]
    messages = [line["message"] for line in lines]
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    return (
        "".join(message["content"] for message in messages),
        "".join(message.get("thinking", "") for message in messages),
        [(c.get("id", ""), c["function"]["name"], c["function"]["arguments"]) for c in calls],
        lines[-1],
    )


@each("id, data", streams)
def test_a_recorded_stream_says_what_its_lines_say(id, data):
    assert_said(data)


def assert_said(data):
    ended = events_in("ollama", data)[-1]
    text, thoughts, calls, last = read(data)
    reply, blocks = ended.reply, ended.reply.message.blocks
    assert ended.complete
    assert reply.findings == ()
    assert "".join(one.text for one in blocks if isinstance(one, Text)) == text
    assert "".join(one.text for one in blocks if isinstance(one, Thinking)) == thoughts
    assert [(one.id, one.name, one.args) for one in reply.calls] == calls
    assert reply.finish == ("tool_calls" if calls else last["done_reason"])
    assert reply.usage.input_tokens == last["prompt_eval_count"]
    assert reply.usage.output_tokens == last["eval_count"]
    assert reply.native.fields["total_duration"] == last["total_duration"]


@pytest.mark.deep
@each("id, data", streams)
def test_byte_by_byte_is_the_same(id, data):
    decoder = StreamDecoder("ollama")
    events = [one for at in range(len(data)) for one in decoder.feed(data[at : at + 1])]
    assert events + decoder.close() == events_in("ollama", data)


@each("id, data", streams)
def test_a_recorded_reply_is_the_same_streamed_and_whole(id, data):
    events = events_in("ollama", data)
    reply = events[-1].reply
    whole = decode_response(encode_response(reply))
    for told in (events, events_of(reply)):
        # An id is made for a call that came without one.
        again = events_in("ollama", StreamEncoder("ollama").feed_all(told))[-1]
        assert again.complete
        assert without_ids(again.reply) == without_ids(whole)


def without_ids(reply):
    return with_calls(reply, lambda call: replace(call, id=""))


@each("id, data", streams)
def test_a_stream_written_again_reads_the_same(id, data):
    again = read(StreamEncoder("ollama").feed_all(events_in("ollama", data)))
    before = read(data)
    assert again[:2] == before[:2]
    assert [call[1:] for call in again[2]] == [call[1:] for call in before[2]]
    times = {"created_at": ""}
    assert again[3] | times == before[3] | times


@pytest.mark.parametrize(
    ("format", "protocol"), [("openai-chat", "openai-chat"), ("gemini", "gemini-generate")]
)
@each("id, data", streams)
def test_another_stream_as_ollama_reads_the_same(format, protocol, id, data):
    assert_same_in_ollama(events_in(format, data))


def assert_same_in_ollama(events):
    ended = events[-1]
    written = StreamEncoder("ollama").feed_all(events)
    if not ended.complete:
        assert b'{"error":' in written.splitlines()[-1]
        return
    _, _, calls, last = read(written)
    # A call that the token limit cut never ends, and the format has whole calls only.
    ends = [event.block.id for event in events if is_end_of_call(event)]
    clients = [one for one in ended.reply.calls if one.kind != "server"]
    told = [one for one in clients if one.id in ends]
    assert all(one.truncated for one in clients if one.id not in ends)
    assert [one.name for one in told] == [name for _, name, _ in calls]
    assert all(id for id, _, _ in calls)
    assert len({id for id, _, _ in calls}) == len(calls)
    for call, (_, _, args) in zip(told, calls, strict=True):
        assert call.args is None or call.args == args
    assert last["done_reason"] == ("length" if ended.reply.finish == "length" else "stop")


def is_end_of_call(event):
    return isinstance(event, BlockEnded) and isinstance(event.block, ToolCall)


def test_the_corpus_was_found():
    """A wrong folder must not look like success."""
    assert len(streams()) >= 7
