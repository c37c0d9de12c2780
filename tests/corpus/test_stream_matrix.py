"""Every recorded stream as a stream of every format: grammatical, and the same calls to its client.

The grammars judge all of them. The official clients of four formats accumulate those with calls:
names, arguments, order and ids are what was read.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from batches import each
from canonicall import Event, StreamEncoder, StreamEnded, ToolCall
from canonicall.arguments import parse_arguments
from canonicall.events import BlockEnded
from canonicall.verify import verify_stream
from corpus.support import PROTOCOLS, needs_corpus
from genai_reader import read_with_genai
from judges import anthropic_stream, chat_stream, responses_stream

from streaming import events_in, recorded_streams

pytestmark = needs_corpus

AT_LEAST = {
    "openai-chat": 400,
    "openai-responses": 210,
    "anthropic": 180,
    "gemini": 130,
    "bedrock": 22,
    "cohere": 13,
    "ollama": 7,
}
WHOLE_CALLS_ONLY = ("gemini", "ollama")
"""Formats that cannot say that a call was cut: such a call is not written at all."""

_THINKING_CHUNKS = (
    (
        "Mistral's thoughts are parts of the content, and go back as they came: who speaks "
        "Mistral's dialect of chat completions expects them there"
    ),
    {"frame_malformed"},
)
EXCEPTIONS = {
    (
        "openai-chat",
        "openai-chat",
        "prism-php/prism:tests/Fixtures/mistral/stream-reasoning-model-1-1.sse#0",
    ): _THINKING_CHUNKS,
    (
        "openai-chat",
        "openai-chat",
        (
            "pydantic/pydantic-ai:tests/models/cassettes/test_mistral/"
            "test_mistral_model_thinking_part_iter.yaml#0"
        ),
    ): _THINKING_CHUNKS,
}
"""Streams that break the grammar of the target on purpose: why, and in what."""

Call = tuple[str, str, Any]


@cache
def decoded(source: str) -> list[tuple[str, list[Event]]]:
    """The events of every recorded stream of a format."""
    streams = recorded_streams(PROTOCOLS[source])
    return [(id, events_in(source, data)) for id, _, data in streams]


@cache
def with_calls(source: str) -> list[tuple[str, list[Event]]]:
    """The whole streams with calls that the client has to run."""
    return [
        (id, events)
        for id, events in decoded(source)
        if ended(events).complete and any(map(is_clients, ended(events).reply.calls))
    ]


def ended(events: list[Event]) -> StreamEnded:
    assert isinstance(events[-1], StreamEnded)
    return events[-1]


def is_clients(call: ToolCall) -> bool:
    return call.kind != "server"


def arguments(call: ToolCall) -> Any:
    """What a client has to get: an object, freeform input in one, or what nobody can read."""
    if call.args is not None:
        return call.args
    if call.kind == "custom":
        return {"input": call.raw}
    parsed = parse_arguments(call.raw)
    return call.raw if parsed is None else parsed


def said(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


# What the official clients read.


def chat_calls(data: bytes) -> list[Call]:
    message = chat_stream.accumulated(data)["choices"][0]["message"]
    return [
        (call["id"], call["custom"]["name"], {"input": call["custom"]["input"]})
        if call["type"] == "custom"
        else (call["id"], call["function"]["name"], said(call["function"]["arguments"]))
        for call in message.get("tool_calls") or []
    ]


def responses_calls(data: bytes) -> list[Call]:
    calls: list[Call] = []
    for item in responses_stream.accumulated(data).output:
        if item.type == "function_call":
            calls.append((item.call_id, item.name, said(item.arguments)))
        elif item.type == "custom_tool_call":
            calls.append((item.call_id, item.name, {"input": item.input}))
        elif item.type == "tool_search_call" and item.execution == "client":
            calls.append((item.call_id or "", "tool_search", item.arguments))
    return calls


def anthropic_calls(data: bytes) -> list[Call]:
    blocks = anthropic_stream.accumulated(data)["content"]
    return [(one["id"], one["name"], one["input"]) for one in blocks if one["type"] == "tool_use"]


CLIENTS: dict[str, Callable[[bytes], list[Call]]] = {
    "openai-chat": chat_calls,
    "openai-responses": responses_calls,
    "anthropic": anthropic_calls,
    "gemini": lambda data: read_with_genai(data).calls,
}


@pytest.mark.parametrize("source", PROTOCOLS)
@each("target", PROTOCOLS)
@each("id, events", decoded)
def test_every_stream_is_grammatical_in_every_format(
    source: str, target: str, id: str, events: list[Event]
) -> None:
    codes = set(verify_stream(StreamEncoder(target).feed_all(events), target).counts)
    assert codes == EXCEPTIONS.get((source, target, id), ("", set()))[1]


@pytest.mark.deep
@pytest.mark.parametrize("target", CLIENTS)
@pytest.mark.parametrize("source", PROTOCOLS)
@each("id, events", with_calls)
def test_the_official_client_gets_the_calls(source, target, id, events):
    calls = list(filter(is_clients, ended(events).reply.calls))
    if target in WHOLE_CALLS_ONLY:
        calls = [call for call in calls if has_ended(call, events)]
    read = CLIENTS[target](StreamEncoder(target).feed_all(events))
    assert [name for _, name, _ in read] == [call.name for call in calls]
    for (given, _, got), call in zip(read, calls, strict=True):
        assert call.truncated or got == arguments(call)
        # An id is made where the provider gave none; Gemini's calls need none.
        assert given == call.id or not call.id


def has_ended(call: ToolCall, events: list[Event]) -> bool:
    """Whether a call is whole as far as anybody can tell: the token limit did not cut it open."""
    whole = [event.block for event in events if isinstance(event, BlockEnded)]
    ended_ids = {block.id for block in whole if isinstance(block, ToolCall)}
    return not call.truncated or call.id in ended_ids


@pytest.mark.parametrize("source", PROTOCOLS)
def test_the_corpus_is_really_read(source: str) -> None:
    assert len(decoded(source)) >= AT_LEAST[source]


def test_every_exception_is_recorded() -> None:
    assert EXCEPTIONS.keys() <= {
        (source, target, id)
        for source in PROTOCOLS
        for target in PROTOCOLS
        for id, _ in decoded(source)
    }
