"""How streamed responses end: with less than was told, with an error, or not at all."""

import json

import pytest

from canonicall import Text, Thinking, ToolCall
from canonicall.codec.streams import StreamDecoder
from canonicall.events import (
    BlockEnded,
    ErrorReported,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from wire.openai_responses.stream_events import (
    USAGE,
    added,
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

# The end.


def test_the_output_is_left_out_of_the_end():
    """ChatGPT's backend for Codex."""
    whole = call('{"a":1}', "completed")
    events = read(
        created(), done(0, message("Hi")), added(1, call()), done(1, whole), ended(usage=USAGE)
    )
    text, block = reply(events).message.blocks
    assert (text.text, block.raw) == ("Hi", '{"a":1}')
    assert (reply(events).finish, events[-1].complete) == ("tool_calls", True)


def test_the_output_at_the_end_has_fewer_items_than_were_told():
    whole = call('{"a":1}', "completed")
    events = read(created(), done(0, message("Hi")), done(1, whole), ended(output=[message("Hi")]))
    assert [type(block) for block in reply(events).message.blocks] == [Text, ToolCall]


def test_the_end_alone():
    events = read(ended(output=[message("Hi"), call("{}", "completed")], usage=USAGE))
    assert type(events[0]) is MessageStarted
    assert events[0].origin.response_id == "resp_1"
    assert [type(one.block) for one in of(BlockEnded, events)] == [Text, ToolCall]
    assert reply(events).finish == "tool_calls"


def test_an_end_of_an_item_that_is_left_out():
    events = read(
        created(),
        added(0, message(status="in_progress")),
        delta("output_text", 0, "Hi"),
        added(1, call()),
        delta("function_call_arguments", 1, "{}"),
        ended(),
    )
    assert [type(one.block) for one in of(BlockEnded, events)] == [Text, ToolCall]
    text, block = reply(events).message.blocks
    assert (text.text, block.raw, block.truncated) == ("Hi", "{}", False)


def test_a_call_behind_words_that_are_done():
    whole = call("{}", "completed")
    events = read(
        created(), done(0, message("Hi")), added(1, call()), done(1, whole), ended(output=[])
    )
    assert len(reply(events).message.calls) == 1


def test_no_names_comments_pings_and_done():
    events = read(
        created(),
        {"type": "ping", "cost": "0"},
        done(0, message("Hi")),
        {"type": "response.reasoning_part.added", "output_index": 0, "part": {}},
        ended(output=[message("Hi")]),
        {"type": "ping"},
        tail=b": bye\n\ndata: [DONE]\n\n",
        named=False,
    )
    assert reply(events).message.blocks[0].text == "Hi"
    assert events[-1].complete
    assert not reply(events).findings


def test_types_only_in_the_names():
    whole = done(0, message("Hi"))
    last = ended(output=[message("Hi")])
    frames = [(one.pop("type"), json.dumps(one)) for one in (created(), whole, last)]
    decoder = StreamDecoder("openai-responses")
    data = "".join(f"event: {name}\ndata: {body}\n\n" for name, body in frames).encode()
    events = decoder.feed(data) + decoder.close()
    assert [one.text for one in of(TextAdded, events)] == ["Hi"]
    assert events[-1].complete


def test_done_without_an_end_is_not_the_end():
    events = read(created(), done(0, message("Hi")), tail=b"data: [DONE]\n\n")
    assert not events[-1].complete
    assert reply(events).message.partial


def test_parts_numbered_from_one():
    """Bedrock Mantle counts the part behind the thought."""
    place = {"output_index": 0, "content_index": 1}
    events = read(
        created(),
        added(0, message(status="in_progress")),
        delta("output_text", 0, "Hi", content_index=1),
        {"type": "response.output_text.done", "text": "Hi", **place},
        done(0, message("Hi")),
        ended(output=[message("Hi")]),
    )
    assert [one.text for one in of(TextAdded, events)] == ["Hi"]
    assert len(of(BlockEnded, events)) == 1


def test_an_end_whose_status_was_left_as_it_began():
    events = read(created(), ended(output=[message("Hi")]) | {"response": created()["response"]})
    assert (reply(events).finish, events[-1].complete) == ("stop", True)


def test_a_message_whose_content_is_a_text():
    events = read(created(), done(0, message() | {"content": "Hi"}), ended())
    assert [one.text for one in of(TextAdded, events)] == ["Hi"]


def test_ends_that_leave_out_the_words():
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    events = read(
        created(),
        added(0, thought),
        delta("reasoning_text", 0, "Hm"),
        done(0, thought),
        added(1, message(status="in_progress")),
        delta("output_text", 1, "Hi", content_index=0),
        delta("output_text", 1, "you", content_index=1),
        done(1, message()),
        added(2, message(status="in_progress")),
        delta("output_text", 2, "a", content_index=0),
        delta("output_text", 2, "b", content_index=1),
        done(2, message("a")),
        ended(),
    )
    assert [block.text for block in reply(events).message.blocks] == ["Hm", "Hi", "you", "a"]
    told = [one.block.text for one in of(BlockEnded, events)]
    assert told == ["Hm", "Hi", "you", "a", "b"]


def test_a_thought_of_which_nothing_came_in_pieces():
    parts = [{"type": "summary_text", "text": "Hm"}]
    whole = {"type": "reasoning", "id": "rs_1", "summary": parts}
    events = read(created(), done(0, whole), ended(output=[whole]))
    assert [one.text for one in of(ThinkingAdded, events)] == ["Hm"]


def test_pieces_behind_the_end_of_their_item_are_not_told():
    events = read(
        created(), done(0, message("Hi")), delta("output_text", 0, "Hi"), ended(output=[])
    )
    assert [one.text for one in of(TextAdded, events)] == ["Hi"]


# Replies that did not get to their end.


def test_the_token_limit_inside_a_call():
    cut = call('{"a":', "incomplete")
    details = {"reason": "max_output_tokens"}
    events = read(
        created(),
        added(0, call()),
        delta("function_call_arguments", 0, '{"a":'),
        done(0, cut),
        ended("incomplete", [cut], incomplete_details=details),
    )
    assert events[-1].complete
    assert reply(events).finish == "length"
    assert [one.block.truncated for one in of(BlockEnded, events)] == [True]
    assert reply(events).message.calls[0].truncated


def test_a_filter_inside_a_call_that_stays_open():
    cut = call('{"a":', "incomplete")
    details = {"reason": "content_filter"}
    events = read(
        created(), added(0, call()), ended("incomplete", [cut], incomplete_details=details)
    )
    assert of(BlockEnded, events) == []
    assert reply(events).finish == "filter"
    assert reply(events).message.calls[0].truncated


def test_incomplete_without_a_reason_is_a_cut():
    events = read(created(), done(0, message("Hi")), ended("incomplete", [message("Hi")]))
    assert not events[-1].complete
    assert reply(events).message.partial


@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "code": "server_error", "message": "Sorry.", "param": None},
        {"type": "error", "error": {"code": "server_error", "message": "Sorry."}},
        {"error": {"type": "server_error", "message": "Sorry."}},
        ended("failed", error={"code": "server_error", "message": "Sorry."}),
    ],
    ids=["flat", "nested", "bare", "failed"],
)
def test_errors_inside_the_stream(error):
    events = read(created(), added(0, call()), delta("function_call_arguments", 0, '{"a":'), error)
    assert [(one.message, one.type) for one in of(ErrorReported, events)] == [
        ("Sorry.", "server_error")
    ]
    assert of(BlockEnded, events) == []
    assert (events[-1].complete, events[-1].why) == (False, "Sorry.")
    assert reply(events).finish == "error"
    (block,) = reply(events).message.calls
    assert block.truncated
    assert block.raw == '{"a":'


def test_an_error_told_twice_is_one():
    failure = {"code": "server_error", "message": "Sorry."}
    events = read(created(), {"type": "error", **failure}, ended("failed", error=failure))
    assert len(of(ErrorReported, events)) == 1


def test_an_error_and_nothing_else():
    events = read({"type": "error", "message": "Sorry."})
    assert [type(one) for one in events] == [MessageStarted, ErrorReported, StreamEnded]
    assert reply(events).message.blocks == ()


def test_nothing_at_all():
    events = read()
    assert [type(one) for one in events] == [MessageStarted, StreamEnded]
    assert not events[-1].complete


def test_a_cut_anywhere_leaves_the_last_call_open():
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    whole = call('{"a":1}', "completed")
    frames = [
        created(),
        added(0, thought),
        delta("reasoning_summary_text", 0, "Hm", summary_index=0),
        done(0, {**thought, "summary": [{"type": "summary_text", "text": "Hm"}]}),
        added(1, message(status="in_progress")),
        delta("output_text", 1, "Hi", content_index=0),
        done(1, message("Hi")),
        added(2, call()),
        delta("function_call_arguments", 2, '{"a":'),
        delta("function_call_arguments", 2, "1}"),
        {
            "type": "response.function_call_arguments.done",
            "output_index": 2,
            "arguments": '{"a":1}',
        },
        done(2, whole),
    ]
    for length in range(len(frames) + 1):
        events = read(*frames[:length])
        assert (events[-1].complete, reply(events).message.partial) == (False, True), length
        ended_blocks = [one.block for one in of(BlockEnded, events)]
        calls = reply(events).message.calls
        assert [block.truncated for block in calls] == [True] * (length > 7), length
        assert any(isinstance(block, ToolCall) for block in ended_blocks) == (length > 11), length
        assert any(isinstance(block, Thinking) for block in ended_blocks) == (length > 1), length
        assert any(isinstance(block, Text) for block in ended_blocks) == (length > 5), length


def test_the_seal_of_a_thought_that_was_cut_is_not_kept():
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "half"}
    events = read(created(), added(0, thought), delta("reasoning_summary_text", 0, "Hm"))
    (block,) = reply(events).message.blocks
    assert block.text == "Hm"
    assert [one.kind for one in block.opaque] == ["item_id"]


def test_half_a_search_is_left_out_and_said():
    events = read(created(), added(0, {"type": "web_search_call", "id": "ws_1"}))
    assert reply(events).message.blocks == ()
    assert [one.code for one in reply(events).findings] == ["item_unfinished"]
