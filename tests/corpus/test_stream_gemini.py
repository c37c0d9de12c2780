"""Recorded Gemini and Vertex streams, read by our decoder and by Google's own client."""

import base64
import json
import re
from itertools import pairwise

import pytest
from msgspec.structs import replace

from canonicall.blocks import Text, Thinking, ToolCall
from canonicall.events import ArgumentsAdded, BlockEnded, StreamEnded, TextAdded, ThinkingAdded
from canonicall.folding import events_of, fold, raw_arguments
from canonicall.streams import StreamDecoder, StreamEncoder
from canonicall.wire.gemini.response import decode_response, encode_response
from genai_reader import read_with_genai

from streaming import CORPUS, needs_corpus, recorded_streams

pytestmark = needs_corpus
STREAMS = list(recorded_streams("gemini-generate")) if CORPUS else []
CHATS = list(recorded_streams("openai-chat")) if CORPUS else []


def each(streams):
    return pytest.mark.parametrize(
        ("provider", "data"),
        [pytest.param(provider, data, id=id) for id, provider, data in streams],
    )


def decoded(format, provider, data):
    decoder = StreamDecoder(format, provider=provider)
    return decoder.feed(data) + decoder.close()


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


@each(STREAMS)
def test_a_recorded_stream_says_what_the_client_reads(provider, data):
    ended = decoded("gemini", provider, data)[-1]
    read = read_with_genai(as_events(data))
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


@each(STREAMS)
def test_the_events_of_a_recorded_stream_say_what_its_reply_says(provider, data):
    events = decoded("gemini", provider, data)
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


@each(STREAMS)
def test_byte_by_byte_is_the_same(provider, data):
    decoder = StreamDecoder("gemini", provider=provider)
    events = [one for at in range(len(data)) for one in decoder.feed(data[at : at + 1])]
    assert events + decoder.close() == decoded("gemini", provider, data)


@each(STREAMS)
def test_a_recorded_reply_is_the_same_streamed_and_whole(provider, data):
    events = decoded("gemini", provider, data)
    reply = unmarked(events[-1].reply)
    whole = decode_response(encode_response(reply))
    for told in (events, events_of(reply)):
        again = decoded("gemini", "", StreamEncoder("gemini").feed_all(told))[-1]
        assert again.complete
        assert unmarked(again.reply) == whole


def unmarked(reply):
    """`reply` as of this API without the marks of calls that the token limit may have cut."""
    blocks = tuple(
        replace(block, truncated=False) if isinstance(block, ToolCall) else block
        for block in reply.message.blocks
    )
    return replace(reply, message=replace(reply.message, blocks=blocks))


@each(STREAMS)
def test_a_stream_written_again_reads_the_same(provider, data):
    again = StreamEncoder("gemini").feed_all(decoded("gemini", provider, data))
    read, before = read_with_genai(again), read_with_genai(as_events(data))
    assert read.calls == calls_in(before)
    assert read[:2] == before[:2]
    assert read[3:5] == before[3:5]
    assert read.usage.total_token_count == before.usage.total_token_count


@each(CHATS)
def test_a_chat_stream_as_gemini_reads_the_same(provider, data):
    events = decoded("openai-chat", "", data)
    ended = events[-1]
    written = StreamEncoder("gemini").feed_all(events)
    if not ended.complete:
        assert b'data: {"error":' in written
        return
    read = read_with_genai(written)
    blocks = ended.reply.message.blocks
    calls = [one for one in blocks if isinstance(one, ToolCall) and one.kind != "server"]
    assert [(one.id, one.name) for one in calls] == [one[:2] for one in read.calls]
    for call, (_, _, args) in zip(calls, read.calls, strict=True):
        assert call.args is None or call.args == args
    told = [one.text for one in events if isinstance(one, TextAdded)]
    assert read.text == "".join(told)


@each(STREAMS)
def test_a_cut_behind_every_chunk_is_told(provider, data):
    chunks = [one + b"\n\n" for one in as_events(data).split(b"\n\n") if one.strip()]
    for cut in range(len(chunks)):
        events = decoded("gemini", provider, b"".join(chunks[:cut]))
        ended = events[-1]
        if ended.complete:
            continue
        assert ended.reply.message.partial
        blocks = ended.reply.message.blocks
        if blocks and isinstance(blocks[-1], ToolCall) and blocks[-1].kind != "server":
            assert blocks[-1].truncated


def test_the_corpus_was_found():
    """A wrong folder must not look like success."""
    assert (len(STREAMS), len(CHATS)) >= (130, 300)
