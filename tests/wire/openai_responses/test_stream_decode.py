"""Streamed responses as hosts write them: each test is one thing that somebody does."""

import json

import pytest

from canonicall import Text, Thinking, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    MessageStarted,
    SignatureAdded,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.streams import StreamDecoder

USAGE = {
    "input_tokens": 3,
    "input_tokens_details": {"cached_tokens": 1},
    "output_tokens": 2,
    "output_tokens_details": {"reasoning_tokens": 1},
    "total_tokens": 5,
}


def sse(*events, named=True):
    frames = []
    for event in events:
        name = f"event: {event['type']}\n" if named and "type" in event else ""
        frames.append(f"{name}data: {json.dumps(event)}\n\n")
    return "".join(frames).encode()


def read(*events, tail=b"", named=True):
    decoder = StreamDecoder("openai-responses")
    return decoder.feed(sse(*events, named=named) + tail) + decoder.close()


def created(**fields):
    response = {"id": "resp_1", "model": "gpt", "status": "in_progress", "output": [], **fields}
    return {"type": "response.created", "response": response}


def ended(word="completed", output=(), **fields):
    response = {"id": "resp_1", "model": "gpt", "status": word, "output": list(output), **fields}
    return {"type": f"response.{word}", "response": response}


def added(index, item):
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index, item):
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(kind, index, text, **fields):
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text, **fields}


def call(arguments="", status="in_progress", number=1, **fields):
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": "f",
        "arguments": arguments,
        "status": status,
        **fields,
    }


def message(*texts, status="completed"):
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    fields = {"role": "assistant", "content": content, "status": status}
    return {"type": "message", "id": "msg_1", **fields}


def arguments(events, index=0):
    return "".join(one.text for one in of(ArgumentsAdded, events) if one.index == index)


def of(kind, events):
    return [one for one in events if type(one) is kind]


def reply(events):
    assert type(events[-1]) is StreamEnded
    return events[-1].reply


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


# Calls.


def test_a_call_is_told_as_soon_as_it_begins():
    decoder = StreamDecoder("openai-responses")
    events = decoder.feed(sse(created(), added(0, call())))
    assert of(BlockStarted, events)[0].block.name == "f"
    events = decoder.feed(sse(delta("function_call_arguments", 0, '{"a":')))
    assert events == [ArgumentsAdded(0, '{"a":')]


@pytest.mark.parametrize(
    "told",
    [
        [delta("function_call_arguments", 0, '{"a":'), delta("function_call_arguments", 0, "1}")],
        [],
        [delta("function_call_arguments", 0, '{"a":')],
        [delta("function_call_arguments", 0, {"a": 1})],
    ],
    ids=["in pieces", "only at the end", "pieces missing", "as an object"],
)
@pytest.mark.parametrize("repeated", [True, False], ids=["repeated", "not repeated"])
def test_arguments_come_once_however_they_are_told(told, repeated):
    whole = call('{"a":1}', "completed")
    last = {"type": "response.function_call_arguments.done", "arguments": '{"a":1}'}
    events = read(
        created(),
        added(0, call()),
        *told,
        *([{**last, "output_index": 0}] if repeated else []),
        done(0, whole),
        ended(output=[whole]),
    )
    assert arguments(events) == '{"a":1}'
    (block,) = reply(events).message.calls
    assert block.raw == '{"a":1}'
    assert of(BlockEnded, events)[0].block == block
    assert reply(events).finish == "tool_calls"


def test_no_arguments_at_all():
    whole = call("", "completed")
    events = read(created(), added(0, call()), done(0, whole), ended(output=[whole]))
    assert of(ArgumentsAdded, events) == []
    assert len(of(BlockEnded, events)) == 1
    assert reply(events).message.calls[0].raw == ""


def test_arguments_as_an_object_in_the_item():
    whole = call(status="completed") | {"arguments": {"a": 1}}
    events = read(created(), added(0, call()), done(0, whole), ended(output=[whole]))
    assert arguments(events) == '{"a":1}'
    assert reply(events).message.calls[0].args == {"a": 1}


def test_a_name_that_comes_late():
    whole = call('{"a":1}', "completed")
    events = read(
        created(),
        added(0, call(name="", call_id=None)),
        delta("function_call_arguments", 0, '{"a":1}'),
        done(0, whole),
        ended(output=[whole]),
    )
    assert [one.block.name for one in of(BlockStarted, events)] == ["f"]
    assert arguments(events) == '{"a":1}'


def test_an_end_that_leaves_out_what_was_told():
    bare = {"type": "function_call", "status": "completed", "arguments": ""}
    events = read(
        created(),
        added(0, call()),
        delta("function_call_arguments", 0, '{"a":1}'),
        done(0, bare),
        ended(),
    )
    (block,) = reply(events).message.calls
    assert (block.id, block.name, block.raw) == ("call_1", "f", '{"a":1}')


def test_item_ids_that_change_or_are_missing():
    one, two = call('{"a":1}', "completed"), call('{"b":2}', "completed", number=2)
    events = read(
        created(),
        added(0, call()),
        added(1, call(number=2, id=None)),
        delta("function_call_arguments", 1, '{"b":', item_id="other"),
        delta("function_call_arguments", 0, '{"a":', item_id=None),
        delta("function_call_arguments", 0, "1}", item_id="fc_2"),
        delta("function_call_arguments", 1, "2}"),
        done(1, {**two, "id": "fc_new"}),
        done(0, {**one, "id": "fc_newer"}),
        ended(output=[one, two]),
    )
    assert (arguments(events, 0), arguments(events, 1)) == ('{"a":1}', '{"b":2}')
    assert len(of(BlockStarted, events)) == len(of(BlockEnded, events)) == 2


def test_every_item_has_the_same_place():
    one, two = call('{"a":1}', "completed"), call('{"b":2}', "completed", number=2)
    events = read(
        created(),
        added(0, call()),
        delta("function_call_arguments", 0, '{"a":1}'),
        done(0, one),
        added(0, call(number=2)),
        delta("function_call_arguments", 0, '{"b":2}'),
        done(0, two),
        ended(output=[one, two]),
    )
    assert (arguments(events, 0), arguments(events, 1)) == ('{"a":1}', '{"b":2}')
    assert [block.id for block in reply(events).message.calls] == ["call_1", "call_2"]
    assert len(of(BlockStarted, events)) == 2


def test_places_left_out():
    def without(event):
        return {name: field for name, field in event.items() if name != "output_index"}

    one, two = call('{"a":1}', "completed"), call('{"b":2}', "completed", number=2)
    events = read(
        created(),
        without(added(0, call())),
        without(delta("function_call_arguments", 0, '{"a":1}', item_id="fc_1")),
        without(added(1, call(number=2))),
        without(delta("function_call_arguments", 0, '{"b":2}')),
        without(done(0, one)),
        without(done(1, two)),
        ended(),
    )
    assert [block.raw for block in reply(events).message.calls] == ['{"a":1}', '{"b":2}']
    assert (arguments(events, 0), arguments(events, 1)) == ('{"a":1}', '{"b":2}')


def test_beginnings_and_ends_told_twice():
    whole = call('{"a":1}', "completed")
    events = read(
        created(),
        added(0, call()),
        delta("function_call_arguments", 0, '{"a":'),
        added(0, call()),
        delta("function_call_arguments", 0, "1}"),
        done(0, whole),
        done(0, whole),
        added(0, call()),
        ended(output=[whole]),
        ended(output=[whole]),
    )
    assert arguments(events) == '{"a":1}'
    assert len(of(BlockStarted, events)) == len(of(BlockEnded, events)) == 1
    assert len(of(FinishReported, events)) == 1


def test_an_item_without_a_beginning():
    whole = call('{"a":1}', "completed")
    events = read(created(), done(0, whole), ended(output=[whole]))
    assert arguments(events) == '{"a":1}'
    assert len(of(BlockEnded, events)) == 1


def test_pieces_without_a_beginning():
    whole = message("Hi")
    events = read(created(), delta("output_text", 0, "Hi"), done(0, whole), ended())
    assert [one.text for one in of(TextAdded, events)] == ["Hi"]
    assert [block.text for block in reply(events).message.blocks] == ["Hi"]


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
