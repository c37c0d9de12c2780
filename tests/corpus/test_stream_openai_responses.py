"""Recorded streams of the Responses API, judged by the OpenAI SDK's own accumulator.

Streams that are made here, from those recordings and from those of Chat Completions, have to be
accumulated by it as well, and each of their frames has to be of its type.
"""

import json
from functools import cache, partial

import pytest

from batches import each
from canonicall import Thinking, ToolCall
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.events import ArgumentsAdded, BlockEnded, BlockStarted, TextAdded, ThinkingAdded
from canonicall.folding import events_of, fold, raw_arguments
from corpus.support import needs_corpus
from judges.responses_stream import accumulated, check_frames, reading

from streaming import events_in, recorded_streams

pytestmark = needs_corpus

FORMAT = "openai-responses"
SDK_FAULTS = {
    "streams_through_the_responses_surface.yml#0": "parts are numbered from one (Bedrock Mantle)",
    "copilot/reasoning_roundtrip/streaming.yaml#0": "the id of the response changes (Copilot)",
}
"""Streams that the accumulator does not take."""


@cache
def streams(protocol):
    return list(recorded_streams(protocol))


decoded = partial(events_in, FORMAT)


def canonical_reading(message):
    calls = [one for one in message.calls if one.kind != "server"]
    return (
        [(one.id, one.name, raw_arguments(one)) for one in calls],
        [one.text for one in message.blocks if type(one).__name__ == "Text" and one.text],
        [one.text for one in message.blocks if isinstance(one, Thinking)],
    )


def is_taken(id):
    return not id.endswith(tuple(SDK_FAULTS))


def test_the_replies_are_those_of_the_sdk():
    for id, _, data in streams(FORMAT):
        events = decoded(data)
        reply = events[-1].reply
        assert events[-1].complete, id
        # A call that the token limit cut is no JSON object, which is said; nothing else is.
        cut = [call.name for call in reply.calls if call.truncated and call.args is None]
        assert [one.code for one in reply.findings] == ["arguments_unreadable"] * len(cut), id
        if not is_taken(id):
            continue
        response = accumulated(data)
        assert canonical_reading(reply.message) == reading(response), id
        origin = reply.message.origin
        assert (origin.response_id, origin.model) == (response.id, response.model), id
        assert reply.usage.input_tokens == response.usage.input_tokens, id
        assert reply.usage.output_tokens == response.usage.output_tokens, id
        assert (reply.finish == "length") == (response.status == "incomplete"), id


@each("id, provider, data", lambda: streams(FORMAT))
def test_the_streams_that_the_sdk_does_not_take(id, provider, data):
    if not is_taken(id):
        with pytest.raises((RuntimeError, IndexError)):
            accumulated(data)
        lines = [line[6:] for line in data.decode().splitlines() if line[:6] == "data: "]
        response = next(
            frame["response"]
            for frame in map(json.loads, lines)
            if frame["type"] == "response.completed"
        )
        words = [
            part["text"]
            for item in response["output"]
            if item["type"] == "message"
            for part in item["content"]
        ]
        assert canonical_reading(decoded(data)[-1].reply.message)[1] == words


@each("id, provider, data", lambda: streams(FORMAT))
def test_pieces_make_up_their_blocks(id, provider, data):
    said, ended = {}, {}
    for event in decoded(data):
        if isinstance(event, (TextAdded, ThinkingAdded, ArgumentsAdded)):
            assert event.index not in ended
            said[event.index] = said.get(event.index, "") + event.text
        elif isinstance(event, BlockEnded):
            ended[event.index] = event.block
    for index, block in ended.items():
        whole = getattr(block, "text", None)
        if isinstance(block, ToolCall) and block.kind != "server":
            whole = raw_arguments(block)
        assert whole is None or said.get(index, "") == whole


@each("id, provider, data", lambda: streams(FORMAT))
def test_blocks_are_told_as_the_reply_has_them(id, provider, data):
    """But for seals: those at the end of an item and of the response differ, and both are good."""
    events = decoded(data)
    blocks = [event.block for event in events if isinstance(event, BlockEnded)]
    started = [event.index for event in events if isinstance(event, BlockStarted)]
    assert len(blocks) == len(started)
    expected = list(events[-1].reply.message.blocks)
    if not id.endswith("backfills_missing_results.yaml#0"):
        assert list(map(_unsealed, blocks)) == list(map(_unsealed, expected))
    assert len(blocks) == len(expected)


def _unsealed(block):
    is_sealed = not isinstance(block, ToolCall) or block.kind != "server"
    return (type(block), getattr(block, "text", None), block.native, is_sealed or block.opaque)


@pytest.mark.deep
def test_any_split_of_the_bytes_is_the_same():
    for number, (id, _, data) in enumerate(streams(FORMAT)):
        decoder = StreamDecoder(FORMAT)
        size = 997 if len(data) > 60_000 else 1 if number % 3 == 0 else 19
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        events = [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()
        assert events == decoded(data), id


@pytest.mark.parametrize("protocol", [FORMAT, pytest.param("openai-chat", marks=pytest.mark.deep)])
@each("id, provider, data", streams)
def test_streams_made_here_are_taken_by_the_sdk(protocol, id, provider, data):
    events = events_in(protocol, data)
    reply = events[-1].reply
    made = StreamEncoder(FORMAT).feed_all(events)
    # What goes back as it was is of the form that its provider gave it, and had at the time.
    old = "items" if provider == "openai" else "none"
    check_frames(made, typed="all" if protocol != FORMAT else old)
    response = accumulated(made)
    calls, words, thoughts = reading(response)
    expected = canonical_reading(reply.message)
    # No arguments are an empty object, also where a host says null (Groq).
    nothing = ("", "null")
    written = [(id, name, "{}" if raw in nothing else raw) for id, name, raw in expected[0]]
    assert written == calls
    assert "".join(expected[1]) == "".join(words)
    assert response.status in ("completed", "incomplete", "failed")
    assert (response.status == "completed") == _ended_well(events[-1])
    if protocol == FORMAT:
        assert expected[2] == thoughts


def _ended_well(end):
    return end.complete and end.reply.finish not in ("length", "filter", "error")


def test_recorded_replies_come_back_from_a_stream():
    """The law: a stream of a reply says what its whole response says."""
    for protocol in (FORMAT, "openai-chat"):
        for id, _, data in streams(protocol):
            reply = events_in(protocol, data)[-1].reply
            if reply.message.partial or reply.finish == "error":
                continue
            made = StreamEncoder(FORMAT).feed_all(events_of(reply))
            assert fold(decoded(made)) == decode_response(encode_response(reply, FORMAT), FORMAT), (
                id
            )


def test_the_corpus_is_really_read():
    assert len(streams(FORMAT)) > 200
    assert len(streams("openai-chat")) > 300
