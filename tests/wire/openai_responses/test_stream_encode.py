"""Streams of responses that are made here: what clients get to see, and that nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import Media, Message, Opaque, Origin, Reply, Text, Thinking, ToolCall, Usage
from canonicall.blocks import Native, ToolResult, Unknown
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.folding import events_of, fold
from canonicall.testing.strategies import calls, media, texts, thoughts, words
from judges.responses_stream import accumulated, check_frames, reading

FORMAT = "openai-responses"
OWN = Origin("openai", FORMAT, model="gpt", response_id="resp_1")
SEAL = Opaque("openai", "item_id", "msg_1")
FOREIGN = Origin("anthropic", "anthropic", model="claude", response_id="msg_1")


def made(*events):
    encoder = StreamEncoder(FORMAT)
    return encoder.feed_all(events) + encoder.close()


def of(blocks, finish="stop", origin=OWN, **fields):
    return Reply(Message("assistant", tuple(blocks), origin=origin, finish=finish, **fields))


def again(data):
    decoder = StreamDecoder(FORMAT)
    return fold(decoder.feed(data) + decoder.close())


def kinds(data):
    return [frame["type"].removeprefix("response.") for frame in check_frames(data)]


def test_the_whole_grammar():
    blocks = (
        Thinking(text="Hm"),
        Text(text="Hi"),
        ToolCall(id="call_1", name="f", raw='{"a":1}'),
        ToolCall(id="call_2", name="sh", raw="ls", kind="custom"),
    )
    data = made(*events_of(of(blocks, "tool_calls", FOREIGN)))
    assert kinds(data) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
        "completed",
    ]
    response = accumulated(data)
    assert reading(response) == (
        [("call_1", "f", '{"a":1}'), ("call_2", "sh", "ls")],
        ["Hi"],
        ["Hm"],
    )


def test_an_event_is_written_at_once():
    encoder = StreamEncoder(FORMAT)
    encoder.feed(MessageStarted(FOREIGN))
    encoder.feed(BlockStarted(0, ToolCall(id="call_1", name="f")))
    assert b'"delta":"{\\"a"' in encoder.feed(ArgumentsAdded(0, '{"a'))
    assert encoder.keep_alive().startswith(b":")


def test_the_last_response_is_what_a_whole_one_would_be():
    reply = of((Text(text="Hi"), ToolCall(id="c", name="f", raw="{}")), "tool_calls", FOREIGN)
    reply = replace(reply, usage=Usage(input_tokens=3, output_tokens=2))
    last = check_frames(made(*events_of(reply)))[-1]["response"]
    assert last == encode_response(reply, FORMAT)


def test_words_in_a_row_share_a_message():
    data = made(*events_of(of((Text(text="a"), Text(text="b")), origin=FOREIGN)))
    (item,) = check_frames(data)[-1]["response"]["output"]
    assert [part["text"] for part in item["content"]] == ["a", "b"]
    assert kinds(data).count("output_item.added") == 1


def test_parts_of_one_message_stay_together():
    data = made(*events_of(of(Text(text=text, opaque=(SEAL,)) for text in "ab")))
    (item,) = check_frames(data)[-1]["response"]["output"]
    assert (item["id"], len(item["content"])) == ("msg_1", 2)


def test_a_call_that_was_cut_says_so():
    call = ToolCall(id="c", name="f", raw='{"a":', truncated=True)
    reply = of((call,), "length")
    last = check_frames(made(*events_of(reply)))[-1]["response"]
    assert last["output"][0]["status"] == "incomplete"
    assert last == encode_response(reply, FORMAT)


def test_parallel_calls_come_one_after_the_other():
    one, two = ToolCall(id="call_1", name="f"), ToolCall(id="call_2", name="g")
    data = made(
        MessageStarted(FOREIGN),
        BlockStarted(0, one),
        BlockStarted(1, two),
        ArgumentsAdded(1, '{"b":'),
        ArgumentsAdded(0, '{"a":1}'),
        ArgumentsAdded(1, "2}"),
        BlockEnded(1, replace(two, raw='{"b":2}')),
        BlockEnded(0, replace(one, raw='{"a":1}')),
        StreamEnded(of((one, two), "tool_calls", FOREIGN)),
    )
    assert reading(accumulated(data))[0] == [
        ("call_1", "f", '{"a":1}'),
        ("call_2", "g", '{"b":2}'),
    ]
    check_frames(data)


@pytest.mark.parametrize("call", [ToolCall(id="c", name="f", raw=""), ToolCall(id="c", name="f")])
def test_no_arguments_are_an_empty_object(call):
    data = made(*events_of(of((call,), "tool_calls")))
    assert reading(accumulated(data))[0] == [("c", "f", "{}")]
    check_frames(data)


def test_calls_without_an_id_or_with_the_same_get_their_own():
    blocks = [ToolCall(id=id, name="f", raw="{}") for id in ("", "x", "x")]
    found = reading(accumulated(made(*events_of(of(blocks, "tool_calls")))))[0]
    ids = [id for id, _, _ in found]
    assert len(set(ids)) == 3
    assert all(ids)


def test_the_id_and_the_order_of_the_stream_stay_although_the_reply_differs():
    """Some hosts change the id on the way, and a whole message has its words before its calls."""
    call, text = ToolCall(id="call_1", name="f", raw="{}"), Text(text="Hi")
    data = made(
        MessageStarted(replace(FOREIGN, response_id="one")),
        *(event for event in events_of(of((call, text))) if isinstance(event, _OF_BLOCKS)),
        StreamEnded(of((text, call), "tool_calls", replace(FOREIGN, response_id="two"))),
    )
    response = accumulated(data)
    assert response.id == "one"
    assert [item.type for item in response.output] == ["function_call", "message"]


_OF_BLOCKS = (BlockStarted, BlockEnded, TextAdded, ArgumentsAdded)


def test_usage_that_only_an_event_told():
    reply = of((Text(text="Hi"),))
    data = made(MessageStarted(OWN), UsageReported(Usage(3, 2)), StreamEnded(reply))
    assert accumulated(data).usage.total_tokens == 5


# State.


def test_own_state_goes_back():
    thought = Thinking(
        text="Hm",
        opaque=(Opaque("openai", "encrypted", "seal"), Opaque("openai", "item_id", "rs_1")),
    )
    text = Text(text="Hi", opaque=(Opaque("openai", "item_id", "msg_1"),))
    call = ToolCall(id="c", name="f", raw="{}", opaque=(Opaque("openai", "item_id", "fc_1"),))
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}
    server = ToolCall(
        id="ws_1",
        name="web_search",
        kind="server",
        opaque=(Opaque("openai", "server_block", search),),
    )
    said = ToolResult(call_id="ws_1", content=(), opaque=(Opaque("openai", "server_block", None),))
    odd = Unknown(native=Native(FORMAT, {"type": "compaction", "id": "cmp_1"}))
    reply = of((thought, server, said, odd, text, call), "tool_calls")
    output = check_frames(made(*events_of(reply)), typed="none")[-1]["response"]["output"]
    assert [item["id"] for item in output] == ["rs_1", "ws_1", "cmp_1", "msg_1", "fc_1"]
    assert output[0]["encrypted_content"] == "seal"
    assert output[1] == search


def test_foreign_state_stays_behind():
    thought = Thinking(text="Hm", opaque=(Opaque("anthropic", "signature", "seal"),))
    server = ToolCall(id="srv_1", name="web_search", kind="server")
    odd = Unknown(native=Native("anthropic", {"type": "odd"}))
    data = made(*events_of(of((thought, server, odd, Text(text="Hi")), origin=FOREIGN)))
    assert b"seal" not in data
    assert [item["type"] for item in check_frames(data)[-1]["response"]["output"]] == [
        "reasoning",
        "message",
    ]


def test_media_is_an_item_or_a_note():
    blocks = (
        Media(media_type="image/png", data="aGk="),
        Media(media_type="audio/wav", data="aGk="),
    )
    output = check_frames(made(*events_of(of(blocks))))[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["image_generation_call", "message"]
    assert output[0]["result"] == "aGk="


# Endings.


@pytest.mark.parametrize(
    ("finish", "status", "reason"),
    [
        ("stop", "completed", None),
        ("tool_calls", "completed", None),
        ("length", "incomplete", "max_output_tokens"),
        ("filter", "incomplete", "content_filter"),
        ("error", "failed", None),
    ],
)
def test_the_word_at_the_end(finish, status, reason):
    last = check_frames(made(*events_of(of((Text(text="Hi"),), finish))))[-1]
    assert last["type"] == f"response.{status}"
    assert last["response"]["status"] == status
    assert (last["response"]["incomplete_details"] or {}).get("reason") == reason


def test_a_refusal_that_only_the_end_tells():
    reply = again(made(*events_of(of((Text(text="I will not."),), "refusal", FOREIGN))))
    assert reply.finish == "refusal"
    assert reply.message.blocks[0].text == "I will not."


def test_a_refusal_in_words():
    refusal = Text(text="No.", native=Native(FORMAT, {"refusal": True}))
    data = made(*events_of(of((refusal,), "refusal")))
    assert "refusal.delta" in kinds(data)
    assert again(data).finish == "refusal"


def cut(*events, why="cut", finish="", blocks=()):
    partial = of(blocks, finish, FOREIGN, partial=True)
    return made(MessageStarted(FOREIGN), *events, StreamEnded(partial, complete=False, why=why))


def test_a_call_that_was_cut_is_never_done():
    call = ToolCall(id="call_1", name="f")
    data = cut(BlockStarted(0, call), ArgumentsAdded(0, '{"a":'))
    assert kinds(data)[-3:] == [
        "output_item.added",
        "function_call_arguments.delta",
        "incomplete",
    ]
    (item,) = check_frames(data)[-1]["response"]["output"]
    assert (item["arguments"], item["status"]) == ('{"a":', "incomplete")
    reply = again(data)
    assert reply.message.partial
    assert reply.message.calls[0].truncated


def test_parallel_calls_that_were_cut():
    one, two = ToolCall(id="call_1", name="f"), ToolCall(id="call_2", name="g")
    data = cut(
        BlockStarted(0, one),
        ArgumentsAdded(0, '{"a":'),
        BlockStarted(1, two),
        BlockEnded(1, replace(two, raw="{}")),
    )
    assert [item["status"] for item in check_frames(data)[-1]["response"]["output"]] == [
        "incomplete",
        "completed",
    ]
    assert [call.truncated for call in again(data).message.calls] == [True, True]


def test_words_and_thoughts_that_were_cut():
    data = cut(
        BlockStarted(0, Thinking()),
        ThinkingAdded(0, "Hm"),
        BlockEnded(0, Thinking(text="Hm")),
        BlockStarted(1, Text(text="")),
        TextAdded(1, "Hi"),
    )
    assert kinds(data)[-1] == "incomplete"
    assert [block.text for block in again(data).message.blocks] == ["Hm", "Hi"]


def test_an_error_fails_the_response():
    data = cut(ErrorReported("Overloaded", "overloaded_error"), why="Overloaded", finish="error")
    last = check_frames(data)[-1]["response"]
    assert (last["status"], last["error"]) == (
        "failed",
        {"code": "server_error", "message": "Overloaded"},
    )
    assert again(data).finish == "error"


def test_nothing_at_all():
    assert kinds(made()) == ["created", "in_progress", "incomplete"]
    data = made(StreamEnded(of(())))
    assert kinds(data) == ["created", "in_progress", "completed"]
    assert accumulated(data).id == "resp_1"


def test_a_call_that_the_stream_forgot_to_end():
    call = ToolCall(id="call_1", name="f")
    data = made(
        MessageStarted(FOREIGN),
        BlockStarted(0, call),
        ArgumentsAdded(0, "{}"),
        StreamEnded(of((call,), "tool_calls", FOREIGN)),
    )
    assert reading(accumulated(data))[0] == [("call_1", "f", "{}")]
    check_frames(data)


def test_the_same_events_give_the_same_bytes():
    reply = of((Thinking(text="Hm"), ToolCall(name="f", raw="{}")), "tool_calls", FOREIGN)
    assert made(*events_of(reply)) == made(*events_of(reply))


# Laws.

sealed = st.builds(lambda text: Text(text=text, opaque=(SEAL,)), words())
replies = st.builds(
    lambda blocks, finish, origin, usage: replace(
        of(map(_with_unique_id, enumerate(blocks)), finish, origin), usage=usage
    ),
    st.lists(texts() | sealed | thoughts() | calls() | calls() | media(), max_size=6),
    st.sampled_from(["", "stop", "tool_calls", "length", "filter"]),
    st.sampled_from([OWN, FOREIGN]),
    st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
)


def _with_unique_id(numbered):
    number, block = numbered
    if isinstance(block, ToolCall):
        return replace(block, id=f"call_{number}")
    if SEAL in block.opaque:
        return replace(block, opaque=(replace(SEAL, value=f"msg_{number}"),))
    return block


@given(replies)
def test_a_stream_says_what_the_whole_response_says(reply):
    data = made(*events_of(reply))
    assert again(data) == decode_response(encode_response(reply, FORMAT), FORMAT)


@given(replies)
def test_the_sdk_reads_what_is_made(reply):
    data = made(*events_of(reply))
    check_frames(data)
    response = accumulated(data)
    whole = encode_response(reply, FORMAT)
    assert [_plain(item.to_dict()) for item in response.output] == whole["output"]


def _plain(item):
    """Without what the SDK adds."""
    rest = {name: field for name, field in item.items() if not name.startswith("parsed")}
    if "content" in rest and rest["type"] == "message":
        rest["content"] = [_plain(part) for part in rest["content"]]
    return rest


@given(replies, st.data())
def test_a_stream_that_stops_anywhere_is_no_success(reply, data):
    events = list(events_of(reply))[:-1]
    length = data.draw(st.integers(0, len(events)))
    written = made(*events[:length])
    last = check_frames(written)[-1]
    assert last["type"] == "response.incomplete"
    assert again(written).message.partial
