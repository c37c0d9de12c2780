"""Recorded Gemini and Vertex streams, read by our decoder and by Google's own client."""

import base64
import json
import re
from functools import cache
from itertools import pairwise

import pytest

from batches import each
from canonicall.blocks import Text, Thinking, ToolCall
from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.events import ArgumentsAdded, BlockEnded, StreamEnded, TextAdded, ThinkingAdded
from canonicall.folding import events_of, fold, raw_arguments
from canonicall.wire.gemini.response import decode_response, encode_response
from corpus.support import needs_corpus
from genai_reader import read_with_genai
from replies import unmarked

from streaming import events_in, recorded_streams

pytestmark = needs_corpus


@cache
def streams(protocol="gemini-generate"):
    return list(recorded_streams(protocol))


@cache
def read_streams():
    """Every recorded stream: its id, its provider, its events, and what the client reads in it."""
    return [
        (
            id,
            provider,
            events_in("gemini", data, provider=provider),
            read_with_genai(as_events(data)),
        )
        for id, provider, data in streams()
    ]


def as_events(data):
    """The same chunks as server-sent events: Google's client does not read arrays."""
    if data[:1] != b"[":
        return data
    return b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in json.loads(data))


def calls_in(read):
    """The calls as the client has them; pieces of streamed arguments are put to their call."""
    calls = []
    for chunk in read.chunks:
        for part in chunk.candidates[0].content.parts or [] if chunk.candidates else []:
            call = part.function_call
            if call is None:
                continue
            if call.name:
                calls.append((call.id or "", call.name, dict(call.args or {})))
            for piece in call.partial_args or []:
                put(calls[-1][2], re.findall(r"\w+", piece.json_path), piece.string_value)
    return calls


def put(node, path, text):
    """Good enough for what was recorded: names, numbers and strings that grow."""
    steps = [int(step) if step.isdigit() else step for step in path]
    last = steps[-1]
    for key, following in pairwise(steps):
        fresh = [] if isinstance(following, int) else {}
        if isinstance(node, list) and key == len(node):
            node.append(fresh)
        node = node[key] if isinstance(node, list) else node.setdefault(key, fresh)
    if isinstance(node, list) and last == len(node):
        node.append("")
    before = node[last] if isinstance(node, list) else node.get(last, "")
    node[last] = before + text


@each("id, provider, events, read", read_streams)
def test_a_recorded_stream_says_what_the_client_reads(id, provider, events, read):
    assert_said(events[-1], read)


def assert_said(ended, read):
    reply, blocks = ended.reply, ended.reply.message.blocks
    assert ended.complete
    assert reply.findings == ()
    assert [(one.id, one.name, one.args) for one in reply.calls] == calls_in(read)
    assert "".join(one.text for one in blocks if isinstance(one, Text)) == read.text
    assert "".join(one.text for one in blocks if isinstance(one, Thinking)) == read.thoughts
    seals = [one.value for block in blocks for one in block.opaque if one.kind == "signature"]
    assert [base64.urlsafe_b64decode(pad(one)) for one in seals] == read.seals
    expected = {"STOP": "tool_calls" if reply.calls else "stop", "MAX_TOKENS": "length"}
    assert reply.finish == expected[read.finish]
    assert reply.usage.input_tokens == (read.usage.prompt_token_count or 0) + (
        read.usage.tool_use_prompt_token_count or 0
    )
    assert not any(call.truncated for call in reply.calls)


def pad(text):
    return text.replace("+", "-").replace("/", "_") + "=" * (-len(text) % 4)


@each("id, provider, events, read", read_streams)
def test_the_events_of_a_recorded_stream_say_what_its_reply_says(id, provider, events, read):
    assert_same_events(events)


def assert_same_events(events):
    ends = [event.block for event in events if isinstance(event, BlockEnded)]
    assert tuple(ends) == events[-1].reply.message.blocks
    for index, block in enumerate(ends):
        pieces = (TextAdded, ThinkingAdded, ArgumentsAdded)
        told = "".join(one.text for one in events if isinstance(one, pieces) and one.index == index)
        if isinstance(block, ToolCall):
            assert json.loads(told) == json.loads(raw_arguments(block))
        elif isinstance(block, (Text, Thinking)):
            assert told == block.text
    partial = fold(event for event in events if not isinstance(event, StreamEnded))
    assert partial.message.blocks[:-1] == events[-1].reply.message.blocks[:-1]


@pytest.mark.deep
def test_byte_by_byte_is_the_same():
    """Every third stream; all of them in larger pieces."""
    for number, (id, provider, data) in enumerate(streams()):
        size = 1 if number % 3 == 0 else 97
        decoder = StreamDecoder("gemini", provider=provider)
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        events = [event for piece in pieces for event in decoder.feed(piece)]
        assert events + decoder.close() == events_in("gemini", data, provider=provider), id


@each("id, provider, events, read", read_streams)
def test_a_recorded_reply_is_the_same_streamed_and_whole(id, provider, events, read):
    reply = unmarked(events[-1].reply)
    whole = decode_response(encode_response(reply))
    for told in (events, events_of(reply)):
        again = events_in("gemini", StreamEncoder("gemini").feed_all(told))[-1]
        assert again.complete
        assert unmarked(again.reply) == whole


@each("id, provider, events, before", read_streams)
def test_a_stream_written_again_reads_the_same(id, provider, events, before):
    read = read_with_genai(StreamEncoder("gemini").feed_all(events))
    assert read.calls == calls_in(before)
    assert read[:2] == before[:2]
    assert read[3:5] == before[3:5]
    assert read.usage.total_token_count == before.usage.total_token_count


@pytest.mark.deep
@each("id, provider, data", lambda: streams("openai-chat"))
def test_a_chat_stream_as_gemini_reads_the_same(id, provider, data):
    assert_same_in_gemini(events_in("openai-chat", data))


def assert_same_in_gemini(events):
    ended = events[-1]
    written = StreamEncoder("gemini").feed_all(events)
    if not ended.complete:
        assert b'data: {"error":' in written
        return
    read = read_with_genai(written)
    blocks = ended.reply.message.blocks
    # A call that the token limit cut never ends, and the format has whole calls only.
    ends = [event.block.id for event in events if is_end_of_call(event)]
    calls = [one for one in blocks if isinstance(one, ToolCall) and one.kind != "server"]
    assert [one for one in calls if one.id not in ends] == [
        one for one in calls[-1:] if one.truncated and one.id not in ends
    ]
    calls = [one for one in calls if one.id in ends]
    assert [(one.id, one.name) for one in calls] == [one[:2] for one in read.calls]
    for call, (_, _, args) in zip(calls, read.calls, strict=True):
        assert call.args is None or call.args == args
    told = [one.text for one in events if isinstance(one, TextAdded)]
    assert read.text == "".join(told)


def is_end_of_call(event):
    return isinstance(event, BlockEnded) and isinstance(event.block, ToolCall)


@each("id, provider, data", streams)
def test_a_cut_behind_every_chunk_is_told(id, provider, data):
    chunks = [one + b"\n\n" for one in as_events(data).split(b"\n\n") if one.strip()]
    for cut in range(len(chunks)):
        ended = events_in("gemini", b"".join(chunks[:cut]), provider=provider)[-1]
        if ended.complete:
            continue
        assert ended.reply.message.partial
        for block in ended.reply.message.blocks[-1:]:
            is_clients = isinstance(block, ToolCall) and block.kind != "server"
            assert block.truncated if is_clients else True


def test_the_corpus_was_found():
    """A wrong folder must not look like success."""
    assert len(streams()) >= 130
    assert len(streams("openai-chat")) >= 300
