"""Streams of generateContent: increments, and what they would have been as a whole."""

import json

import pytest

from canonicall.blocks import Text, ToolCall
from canonicall.codec.streams import StreamDecoder
from canonicall.events import (
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    MessageStarted,
    TextAdded,
    UsageReported,
)
from wire.gemini.chunks import SEAL, blocks_of, call, chunk, decode, of, reply_of


def test_words_are_told_as_they_come_and_are_one_block():
    events = decode(
        chunk({"text": "Hel"}, modelVersion="m", responseId="r"),
        chunk({"text": "lo"}),
        chunk({"text": ""}, finish="STOP", usageMetadata={"promptTokenCount": 3}),
    )
    started, *rest, ended = events
    assert isinstance(started, MessageStarted)
    assert (started.origin.model, started.origin.response_id) == ("m", "r")
    whole = Text(text="Hello")
    assert [one for one in rest if not isinstance(one, UsageReported)] == [
        BlockStarted(0, Text(text="")),
        TextAdded(0, "Hel"),
        TextAdded(0, "lo"),
        FinishReported("stop"),
        BlockEnded(0, whole),
    ]
    assert ended.complete
    assert ended.reply.message.blocks == (whole,)
    assert ended.reply.message.origin == started.origin


def test_the_reason_is_told_again_when_calls_follow_it():
    events = decode(chunk({"text": "a"}, finish="STOP"), chunk(call(), finish="STOP"))
    assert of(FinishReported, events) == [FinishReported("stop"), FinishReported("tool_calls")]
    assert events[-1].reply.finish == "tool_calls"


def test_a_reason_on_every_chunk_does_not_part_the_words():
    blocks = blocks_of(chunk({"text": "a"}, finish="STOP"), chunk({"text": "b"}, finish="STOP"))
    assert blocks == (Text(text="ab"),)


@pytest.mark.parametrize(("word", "finish"), [("MAX_TOKENS", "length"), ("SAFETY", "filter")])
def test_other_reasons(word, finish):
    assert reply_of(chunk({"text": "a"}, finish=word)).finish == finish


def test_figures_are_totals_and_do_not_disappear():
    events = decode(
        chunk({"text": "a"}, usageMetadata={"promptTokenCount": 5, "thoughtsTokenCount": 7}),
        chunk({"text": "b"}, usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 1}),
        chunk({"text": "c"}, usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 1}),
        chunk(finish="STOP", usageMetadata={"candidatesTokenCount": 2}),
    )
    usage = events[-1].reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == (5, 9, 7)
    assert len(of(UsageReported, events)) == 3
    assert of(UsageReported, events)[-1].usage == usage


def test_fields_of_the_candidate_are_put_together():
    first = {"groundingMetadata": {"groundingChunks": [{"a": 1}], "webSearchQueries": ["q"]}}
    second = {"groundingMetadata": {"groundingChunks": [{"a": 1}, {"b": 2}]}, "avgLogprobs": -1}
    chunks = [chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")]
    chunks[0]["candidates"][0] |= first | {"logprobsResult": {"chosenCandidates": [1]}}
    chunks[1]["candidates"][0] |= second | {"logprobsResult": {"chosenCandidates": [1]}}
    assert reply_of(*chunks).native.fields == {
        "candidates": [
            {
                "groundingMetadata": {
                    "groundingChunks": [{"a": 1}, {"b": 2}],
                    "webSearchQueries": ["q"],
                },
                "logprobsResult": {"chosenCandidates": [1, 1]},
                "avgLogprobs": -1,
            }
        ]
    }


@pytest.mark.parametrize(
    "empty",
    [
        {"usageMetadata": {"promptTokenCount": 1}},
        {"candidates": []},
        {"candidates": [{}]},
        {"candidates": [{"content": {}}]},
        {"candidates": [{"content": {"role": "model"}}]},
        {"candidates": [{"content": {"parts": []}}]},
        {"candidates": [{"content": {"parts": [{}]}}]},
        {"candidates": [{"content": {"parts": [{"text": ""}]}}]},
        {"candidates": [{"finishReason": None, "content": None}]},
    ],
)
def test_chunks_without_words_say_nothing(empty):
    events = decode(empty, chunk({"text": "a"}), empty, chunk({"text": "b"}, finish="STOP"), empty)
    assert events[-1].complete
    assert events[-1].reply.message.blocks == (Text(text="ab"),)
    assert not events[-1].reply.findings


def test_the_token_limit_reached_without_any_part():
    body = {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}
    ended = decode(body)[-1]
    assert (ended.complete, ended.reply.finish, ended.reply.message.blocks) == (True, "length", ())


def test_a_blocked_prompt_is_a_complete_stream():
    events = decode({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}})
    assert of(FinishReported, events) == [FinishReported("filter")]
    assert events[-1].complete
    assert events[-1].reply.finish == "filter"
    assert not events[-1].reply.message.partial


def test_feedback_without_a_reason_blocks_nothing():
    ended = decode({"promptFeedback": {"safetyRatings": []}}, chunk({"text": "a"}, finish="STOP"))
    assert ended[-1].reply.finish == "stop"


@pytest.mark.parametrize("chunks", [[], [chunk({"text": "a"})]])
def test_an_error_inside_the_stream(chunks):
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    events = decode(*chunks, error)
    assert of(ErrorReported, events) == [ErrorReported("overloaded", "UNAVAILABLE", error)]
    ended = events[-1]
    assert (ended.complete, ended.why, ended.reply.finish) == (False, "overloaded", "error")
    assert len(ended.reply.message.blocks) == len(chunks)
    assert isinstance(events[0], MessageStarted)


def test_an_error_behind_the_reason_is_an_error_all_the_same():
    ended = decode(chunk({"text": "a"}, finish="STOP"), {"error": {"message": "late"}})[-1]
    assert (ended.complete, ended.reply.finish) == (False, "error")


def test_nothing_at_all():
    started, ended = decode()
    assert isinstance(started, MessageStarted)
    assert (ended.complete, ended.reply.message.blocks, ended.reply.finish) == (False, (), "")


def test_several_candidates_the_first_is_told():
    def of_index(index, text, **rest):
        return {"index": index, "content": {"parts": [{"text": text}]}, **rest}

    events = decode(
        {"candidates": [of_index(1, "x")]},
        {"candidates": [of_index(0, "a"), of_index(1, "y")]},
        {"candidates": [of_index(0, "b", finishReason="STOP")]},
        {"candidates": [of_index(1, "z", finishReason="STOP")]},
    )
    assert [one.text for one in of(TextAdded, events)] == ["a", "b"]
    reply = events[-1].reply
    assert reply.message.blocks == (Text(text="ab"),)
    assert reply.native.fields["candidates"][1]["content"]["parts"] == [{"text": "xyz"}]


def test_an_array_of_chunks_reads_like_events():
    chunks = [chunk({"text": "a"}), chunk(call(args={"x": "}]"}), finish="STOP")]
    decoder = StreamDecoder("gemini")
    data = json.dumps(chunks, indent=2).encode()
    events = [one for at in range(len(data)) for one in decoder.feed(data[at : at + 1])]
    assert events + decoder.close() == decode(*chunks)


def test_an_error_in_an_array():
    decoder = StreamDecoder("gemini")
    decoder.feed(b'[{"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}]')
    assert decoder.close()[-1].why == "slow"


def test_snake_case_is_read_too():
    blocks = blocks_of(
        chunk({"function_call": {"name": "f", "args": {"a_b": 1}}, "thought_signature": SEAL.value})
    )
    assert blocks == (ToolCall(name="f", args={"a_b": 1}, opaque=(SEAL,), truncated=True),)


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidates": "x"},
        {"candidates": [{"content": "x"}]},
        {"candidates": [{"content": {"parts": [{"text": 5}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": "f"}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": 1}}]}}]},
        {"modelVersion": 5},
        {"usageMetadata": []},
        {"promptFeedback": "no"},
    ],
)
def test_a_chunk_of_the_wrong_shape_is_left_out_with_a_finding(wrong):
    ended = decode(chunk({"text": "a"}), wrong, chunk({"text": "b"}, finish="STOP"))[-1]
    assert ended.reply.message.text == "ab"
    assert [one.code for one in ended.reply.findings] == ["frame_dropped"]


def test_a_cut_marks_the_last_call():
    ended = decode(chunk({"text": "a"}, call("f", {"a": 1}), call("g")))[-1]
    assert not ended.complete
    assert [one.truncated for one in ended.reply.calls] == [False, True]
