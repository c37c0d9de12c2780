"""Blocks of a streamed message: calls, words, thoughts, what the provider ran."""

import pytest

from canonicall import Opaque, Text, Thinking, ToolCall, Unknown
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    SignatureAdded,
    TextAdded,
    ThinkingAdded,
)
from wire.anthropic.stream_events import (
    CALL,
    START,
    STOP,
    arguments,
    block_of,
    delta,
    ending,
    events_of_stream,
    picked,
    reply_of,
    start,
    stop,
    text,
)

# Calls.


def test_the_empty_input_of_a_start_is_no_argument():
    events = events_of_stream(
        START, start(0, **CALL), arguments(0, ""), arguments(0, '{"a":1}'), stop(0), STOP
    )
    assert picked(events, ArgumentsAdded) == [ArgumentsAdded(0, '{"a":1}')]
    assert picked(events, BlockStarted) == [BlockStarted(0, ToolCall(id="toolu_1", name="f"))]
    assert picked(events, BlockEnded)[0].block.args == {"a": 1}


@pytest.mark.parametrize("pieces", [[], [""], ["", " "], ["null"], ["{}"]])
def test_a_call_without_arguments_has_an_empty_object(pieces):
    call = block_of(start(0, **CALL), *[arguments(0, piece) for piece in pieces], stop(0))
    assert (call.args, call.raw) == ({}, None)


def test_input_that_stands_in_the_start_counts_where_no_delta_comes():
    events = events_of_stream(START, start(0, **CALL | {"input": {"a": 1}}), stop(0), STOP)
    assert picked(events, ArgumentsAdded) == [ArgumentsAdded(0, '{"a":1}')]
    assert events[-1].reply.calls[0].args == {"a": 1}


def test_deltas_count_more_than_the_input_of_the_start():
    call = block_of(start(0, **CALL | {"input": {"a": 1}}), arguments(0, '{"a":2}'), stop(0))
    assert call.args == {"a": 2}


def test_input_that_breaks_off_at_the_token_limit_is_kept_as_text_and_marked():
    reply = reply_of(
        START, start(0, **CALL), arguments(0, '{"a": "b'), stop(0), ending("max_tokens"), STOP
    )
    [call] = reply.calls
    assert (call.raw, call.args, call.truncated) == ('{"a": "b', None, True)
    assert reply.finish == "length"
    assert [one.code for one in reply.findings] == ["arguments_unreadable"]


def test_parallel_calls_are_told_apart():
    reply = reply_of(
        START,
        start(0, **CALL),
        start(1, **CALL | {"id": "toolu_2"}),
        arguments(1, '{"b"'),
        arguments(0, '{"a":1}'),
        arguments(1, ":2}"),
        stop(1),
        stop(0),
        ending("end_turn"),
        STOP,
    )
    assert [(call.id, call.args) for call in reply.calls] == [
        ("toolu_1", {"a": 1}),
        ("toolu_2", {"b": 2}),
    ]
    assert reply.finish == "tool_calls"


# Words and thoughts.


def test_words_and_thoughts_that_stand_in_the_start_are_not_lost():
    events = events_of_stream(
        START,
        start(0, type="thinking", thinking="H", signature="early"),
        delta(0, "thinking_delta", thinking="m."),
        stop(0),
        start(1, type="text", text="He"),
        text(1, "llo"),
        stop(1),
        STOP,
    )
    assert picked(events, ThinkingAdded) == [ThinkingAdded(0, "H"), ThinkingAdded(0, "m.")]
    assert picked(events, TextAdded) == [TextAdded(1, "He"), TextAdded(1, "llo")]
    thought, words = events[-1].reply.message.blocks
    assert (thought.text, thought.opaque[0].value) == ("Hm.", "early")
    assert words == Text(text="Hello")


def test_a_signature_is_set_not_continued():
    events = events_of_stream(
        START,
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "signature_delta", signature="one"),
        delta(0, "signature_delta", signature="two"),
        stop(0),
        STOP,
    )
    seal = Opaque("anthropic", "signature", "two")
    assert picked(events, SignatureAdded) == [SignatureAdded(0, seal)]
    assert events[-1].reply.message.blocks == (Thinking(opaque=(seal,)),)


def test_citations_are_collected():
    cited = [{"type": "char_location", "cited_text": word} for word in ("a", "b")]
    block = block_of(
        start(0, type="text", text="", citations=[]),
        text(0, "As said."),
        *[delta(0, "citations_delta", citation=one) for one in cited],
        stop(0),
    )
    assert block.text == "As said."
    assert block.native.fields["citations"] == cited


def test_hidden_thoughts_come_whole():
    events = events_of_stream(START, start(0, type="redacted_thinking", data="x"), stop(0), STOP)
    block = Thinking(opaque=(Opaque("anthropic", "redacted", "x"),))
    assert picked(events, BlockStarted, BlockEnded) == [
        BlockStarted(0, block),
        BlockEnded(0, block),
    ]


# What the provider ran.


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use"])
def test_calls_of_the_provider_come_whole_or_in_pieces(kind):
    held = {"type": kind, "id": "srvtoolu_1", "name": "web_search"}
    whole = block_of(start(0, **held, input={"query": "x"}), stop(0))
    pieces = [arguments(0, ""), arguments(0, '{"query"'), arguments(0, ':"x"}')]
    events = events_of_stream(START, start(0, **held, input={}), *pieces, stop(0), STOP)
    assert events[-1].reply.message.blocks == (whole,)
    assert (whole.kind, whole.args) == ("server", {"query": "x"})
    assert picked(events, ArgumentsAdded) == []
    assert picked(events, BlockStarted, BlockEnded) == [
        BlockStarted(0, whole),
        BlockEnded(0, whole),
    ]


def test_results_of_the_provider_come_whole():
    held = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"a": 1}]}
    block = block_of(start(0, **held), stop(0))
    assert (block.call_id, block.opaque[0].value) == ("srvtoolu_1", held)


def test_a_compaction_comes_as_one_delta():
    block = block_of(
        start(0, type="compaction", content=None),
        delta(0, "compaction_delta", content="In short.", encrypted_content="x"),
        stop(0),
    )
    held = {"type": "compaction", "content": "In short.", "encrypted_content": "x"}
    assert isinstance(block, Unknown)
    assert block.native.fields == held


def test_a_block_nobody_knows_is_kept_with_what_is_added_to_it():
    block = block_of(start(0, type="poem", text="Ro"), text(0, "ses"), stop(0))
    assert isinstance(block, Unknown)
    assert block.native.fields == {"type": "poem", "text": "Roses"}
