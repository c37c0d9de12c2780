"""Recorded streams of Messages: what is read is what the official SDK accumulates.

The SDK's final message is a body like any other, so both readings are compared as whole replies.
"""

import json
from functools import cache, partial
from typing import Any

import pytest
from msgspec.structs import replace

from batches import each
from canonicall import Text, ToolCall
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.folding import events_of, fold, with_truncated_call
from corpus.support import needs_corpus
from corpus.test_anthropic_corpus import responses
from judges.anthropic_stream import accumulated, follows_grammar

from streaming import events_in, recorded_streams, sized

pytestmark = needs_corpus

FORMAT = "anthropic"


decoded = partial(events_in, FORMAT)


def encoded(events):
    return StreamEncoder(FORMAT).feed_all(events)


@cache
def streams() -> list[tuple[str, bytes]]:
    return [(id, data) for id, _, data in recorded_streams("anthropic-messages")]


@cache
def invoked_streams() -> list[tuple[str, bytes]]:
    """Claude over Bedrock's InvokeModel; other models speak other formats there."""
    found = recorded_streams("bedrock-invoke")
    return [(id, data) for id, _, data in found if b'"message_start"' in data]


@cache
def chat_streams() -> list[tuple[str, bytes]]:
    return [(id, data) for id, _, data in recorded_streams("openai-chat")]


def bare_message(message: dict[str, Any]) -> dict[str, Any]:
    """A message of the SDK without the fields that only the SDK has."""
    blocks = [
        {name: value for name, value in block.items() if name != "parsed_output"}
        for block in message["content"]
    ]
    return message | {"content": blocks}


def sdk_reply(data):
    return decode_response(bare_message(accumulated(data)), FORMAT)


def calls_of(reply):
    """Client calls as a program would run them; one that was cut has a name but no arguments."""
    return [
        (call.id, call.name, None if call.truncated else arguments(call))
        for call in reply.calls
        if call.kind != "server"
    ]


def arguments(call):
    return call.args if call.raw is None else json.loads(call.raw or "{}") or {}


def words_of(reply):
    """All words in a row: between two thoughts they may be a block of their own or not."""
    return "".join(block.text for block in reply.message.blocks if isinstance(block, Text))


def unequal(pairs):
    return [id for id, one, other in pairs if one != other]


def test_the_streams_are_there():
    assert len(streams()) >= 180
    assert len(invoked_streams()) >= 14
    assert len(chat_streams()) > 300


def test_every_stream_is_read_as_the_sdk_reads_it():
    pairs = ((id, fold(decoded(data)), sdk_reply(data)) for id, data in streams())
    assert unequal(pairs) == []


def test_every_stream_is_complete_and_has_no_finding():
    ends = {id: decoded(data)[-1] for id, data in streams() + invoked_streams()}
    assert [id for id, end in ends.items() if not end.complete or end.reply.findings] == []


@pytest.mark.deep
def test_every_stream_is_the_same_byte_by_byte():
    """Every third one; the others in pieces of a few bytes."""
    pairs = (
        (id, decoded(data), decoded(*sized(data, 17 if number % 3 else 1)))
        for number, (id, data) in enumerate(streams())
    )
    assert unequal(pairs) == []


def test_streams_over_bedrock_are_read_as_the_sdk_reads_their_payloads():
    """The SDK's own Bedrock client names each event by its type, and so does this test."""

    def named(data):
        frames = StreamDecoder(FORMAT)._framing.feed(data)
        payloads = [frame.data.decode() for frame in frames]
        return "".join(f"event: {json.loads(one)['type']}\ndata: {one}\n\n" for one in payloads)

    pairs = [
        (id, fold(decoded(data)), sdk_reply(named(data).encode())) for id, data in invoked_streams()
    ]
    assert unequal(pairs) == []
    assert (
        unequal((id, decoded(data), decoded(*sized(data, 1))) for id, data in invoked_streams())
        == []
    )


@each("id, data", streams)
def test_the_blocks_that_ended_are_those_of_the_reply(id, data):
    events = decoded(data)
    started = [event.index for event in events if isinstance(event, BlockStarted)]
    ended = {event.index: event.block for event in events if isinstance(event, BlockEnded)}
    blocks = events[-1].reply.message.blocks
    assert (id, sorted(ended), [ended[n] for n in started]) == (
        id,
        started,
        [replace(one, truncated=False) if isinstance(one, ToolCall) else one for one in blocks],
    )


@each("id, data", streams)
def test_the_pieces_are_what_the_blocks_say(id, data):
    events = decoded(data)
    said: dict[int, str] = {}
    for event in events:
        if isinstance(event, (TextAdded, ThinkingAdded, ArgumentsAdded)):
            said[event.index] = said.get(event.index, "") + event.text
    for index, block in enumerate(events[-1].reply.message.blocks):
        if isinstance(block, ToolCall):
            if block.kind == "function" and block.raw is None:
                assert (id, json.loads(said.get(index) or "{}")) == (id, block.args)
        elif index in said:
            assert (id, said[index]) == (id, block.text)


def test_every_stream_written_again_is_the_same_to_the_sdk():
    pairs = []
    for id, data in streams() + invoked_streams():
        events = decoded(data)
        again = encoded(events)
        assert follows_grammar(again)
        pairs.append((id, fold(decoded(again)), fold(events)))
        pairs.append((id, sdk_reply(again), fold(events)))
    assert unequal(pairs) == []


def test_every_recorded_reply_as_a_stream_is_what_it_is_whole():
    pairs = []
    for record in responses():
        reply = decode_response(record["response"], FORMAT)
        whole = decode_response(encode_response(reply, FORMAT), FORMAT)
        pairs.append((record["id"], fold(decoded(encoded(events_of(reply)))), whole))
    assert len(pairs) > 400
    assert unequal(pairs) == []


@pytest.mark.deep
def test_every_stream_of_chat_completions_reaches_users_of_the_sdk():
    """The same words, thoughts and calls; a stream that was cut is an error to them."""
    pairs = []
    for id, data in chat_streams():
        events = events_in("openai-chat", data)
        end = events[-1]
        assert isinstance(end, StreamEnded)
        stream = encoded(events)
        if not end.complete:
            assert b"event: error" in stream
            assert b"message_stop" not in stream
            continue
        assert follows_grammar(stream)
        reply = sdk_reply(stream)
        reply = replace(reply, message=with_truncated_call(reply.message))
        pairs.append((id, calls_of(reply), calls_of(end.reply)))
        pairs.append((id, words_of(reply), words_of(end.reply)))
        pairs.append((id, reply.finish, end.reply.finish or "stop"))
    assert len(pairs) > 900
    assert unequal(pairs) == []
