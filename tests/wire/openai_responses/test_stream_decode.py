"""Streamed responses as hosts write them: each test is one thing that somebody does."""

import pytest

from canonicall.events import (
    BlockEnded,
    BlockStarted,
    FinishReported,
    MessageStarted,
    SignatureAdded,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from wire.openai_responses.stream_events import (
    USAGE,
    added,
    arguments,
    call,
    created,
    delta,
    done,
    ended,
    message,
    of,
    read,
    reply,
)

# One stream of each kind.


def test_words():
    part = {"type": "output_text", "text": "", "annotations": []}
    place = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
    whole = message("Hi you")
    events = read(
        created(),
        added(0, message(status="in_progress")),
        {"type": "response.content_part.added", "part": part, **place},
        delta("output_text", 0, "Hi", content_index=0, obfuscation="xyz", logprobs=[]),
        delta("output_text", 0, " you", content_index=0),
        {"type": "response.output_text.done", "text": "Hi you", **place},
        {"type": "response.content_part.done", "part": whole["content"][0], **place},
        done(0, whole),
        ended(output=[whole], usage=USAGE),
    )
    block = reply(events).message.blocks[0]
    assert [type(one) for one in events] == [
        MessageStarted,
        BlockStarted,
        TextAdded,
        TextAdded,
        BlockEnded,
        UsageReported,
        FinishReported,
        StreamEnded,
    ]
    assert (events[0].origin.model, events[0].origin.response_id) == ("gpt", "resp_1")
    assert [one.text for one in of(TextAdded, events)] == ["Hi", " you"]
    assert of(BlockEnded, events)[0].block == block
    assert block.text == "Hi you"
    assert (reply(events).finish, reply(events).usage.output_tokens) == ("stop", 2)
    assert events[-1].complete


def test_a_thought_with_two_summaries_and_its_seal():
    begun = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "half"}
    parts = [{"type": "summary_text", "text": text} for text in ("One", "Two")]
    whole = {**begun, "summary": parts, "encrypted_content": "whole"}
    events = read(
        created(),
        added(0, begun),
        delta("reasoning_summary_text", 0, "O", summary_index=0),
        delta("reasoning_summary_text", 0, "ne", summary_index=0),
        delta("reasoning_summary_text", 0, "Two", summary_index=1),
        done(0, whole),
        ended(output=[whole]),
    )
    assert "".join(one.text for one in of(ThinkingAdded, events)) == "One\n\nTwo"
    assert [one.opaque.value for one in of(SignatureAdded, events)] == ["whole"]
    block = reply(events).message.blocks[0]
    assert block.text == "One\n\nTwo"
    assert of(BlockEnded, events)[0].block == block


def test_a_thought_in_full():
    begun = {"type": "reasoning", "id": "rs_1", "summary": []}
    whole = {**begun, "content": [{"type": "reasoning_text", "text": "Hm, so"}]}
    events = read(
        created(),
        added(0, begun),
        delta("reasoning_text", 0, "Hm,", content_index=0),
        delta("reasoning_text", 0, " so", content_index=0),
        done(0, whole),
        ended(output=[whole]),
    )
    assert [one.text for one in of(ThinkingAdded, events)] == ["Hm,", " so"]
    assert reply(events).message.blocks[0].text == "Hm, so"


def test_a_refusal():
    part = {"type": "refusal", "refusal": "No."}
    whole = {**message(), "content": [part]}
    events = read(
        created(),
        added(0, message(status="in_progress")),
        delta("refusal", 0, "No", content_index=0),
        {"type": "response.refusal.done", "output_index": 0, "content_index": 0, "refusal": "No."},
        done(0, whole),
        ended(output=[whole]),
    )
    assert [one.text for one in of(TextAdded, events)] == ["No", "."]
    assert reply(events).finish == "refusal"
    assert of(FinishReported, events)[0].finish == "refusal"


def test_a_custom_call():
    begun = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "sh"}
    whole = {**begun, "input": "ls -l", "status": "completed"}
    events = read(
        created(),
        added(0, {**begun, "input": "", "status": "in_progress"}),
        delta("custom_tool_call_input", 0, "ls "),
        delta("custom_tool_call_input", 0, "-l"),
        {"type": "response.custom_tool_call_input.done", "output_index": 0, "input": "ls -l"},
        done(0, whole),
        ended(output=[whole]),
    )
    assert arguments(events) == "ls -l"
    block = reply(events).message.blocks[0]
    assert (block.kind, block.raw, block.name) == ("custom", "ls -l", "sh")
    assert of(BlockEnded, events)[0].block == block


def test_what_the_provider_ran_is_told_whole():
    search = {"type": "web_search_call", "id": "ws_1", "status": "in_progress"}
    whole = {**search, "status": "completed", "action": {"type": "search", "query": "x"}}
    progress = {"output_index": 0, "item_id": "ws_1"}
    events = read(
        created(),
        added(0, search),
        {"type": "response.web_search_call.searching", **progress},
        {"type": "response.image_generation_call.partial_image", "partial_image_b64": "aGk="},
        done(0, whole),
        ended(output=[whole]),
    )
    call, result = reply(events).message.blocks
    assert (call.kind, call.args["query"], result.call_id) == ("server", "x", "ws_1")
    assert [one.block for one in of(BlockEnded, events)] == [call, result]


# What nobody knows, and what is wrong.


def test_unknown_items_and_parts_are_kept():
    odd = {"type": "hologram", "id": "h_1", "data": "x"}
    strange = {**message("Hi"), "content": [{"type": "output_smell", "data": "rose"}]}
    events = read(
        created(),
        added(0, odd),
        {"type": "response.hologram.delta", "output_index": 0, "delta": "x"},
        done(0, odd),
        done(1, strange),
        ended(output=[odd, strange]),
    )
    first, second = reply(events).message.blocks
    assert first.native.fields == odd
    assert second.native.fields["data"] == "rose"
    assert [one.block for one in of(BlockEnded, events)] == [first, second]


@pytest.mark.parametrize(
    "frame",
    [
        delta("output_text", 0, 5),
        delta("function_call_arguments", 0, "{}"),
        added(1, "item"),
        added(1, call(name=5)),
        done(1, {"type": 5}),
        {"type": "response.created", "response": {"id": 5}},
        ended(output=["item"]),
        ended(output=[message("Hi")], usage="much"),
    ],
)
def test_frames_of_the_wrong_shape_are_left_out_and_said(frame):
    events = read(
        created(),
        added(0, message(status="in_progress")),
        delta("output_text", 0, "Hi"),
        frame,
        ended(output=[message("Hi")]),
    )
    assert [one.code for one in reply(events).findings] == ["frame_dropped"]
    assert reply(events).message.blocks[0].text == "Hi"
    assert events[-1].complete


@pytest.mark.parametrize(
    "frame",
    [{"type": 5}, {"type": ["x"]}, added(0, None), {"type": "response.content_part.done"}],
)
def test_frames_that_say_nothing_are_skipped(frame):
    events = read(created(), frame, ended(output=[message("Hi")]))
    assert reply(events).message.blocks[0].text == "Hi"
    assert not reply(events).findings


def test_annotations_of_words_that_were_cut():
    note = {"type": "url_citation", "url": "https://example.com"}
    events = read(
        created(),
        added(0, message(status="in_progress")),
        delta("output_text", 0, "Hi"),
        {"type": "response.output_text.annotation.added", "output_index": 0, "annotation": note},
    )
    assert reply(events).message.blocks[0].native.fields["annotations"] == [note]
