"""How calls begin, grow and are closed for every client: D12 to D22 of the field catalogue.

D20 is among the ends (`test_field_streaming_ends.py`).
"""

import json

import pytest

from batches import each
from canonicall.codec.streams import StreamDecoder, StreamEncoder
from judges.anthropic_stream import wire_events
from scenarios.finish_support import ENDED, FRONTS, WITH_CALLS
from scenarios.streaming_support import (
    READERS,
    call_deltas,
    check,
    live,
    sse_data,
    written_for,
)
from scenarios.upstreams import (
    READ,
    RUN,
    call,
    calling,
    chat,
    chunk,
    completed,
    created,
    delta,
    frames_of,
    function_call,
    message,
    pieces_of,
    response,
    spoken,
    use,
)

COMMAND, PATH = json.dumps(RUN[1]), json.dumps(READ[1])
EMPTY = ("status", {})
STREAMING = ["openai-chat", "openai-responses", "anthropic", "bedrock", "cohere"]
"""The formats in which a call comes in pieces."""


def told(written, kind):
    """The types of events that have to do with `kind`."""
    return [one["type"] for one in sse_data(written) if kind in one["type"]]


@pytest.mark.parametrize("front", FRONTS)
def test_d12_an_item_without_arguments_that_begins_and_ends_twice(front):
    """No pieces, no `done` for them, and both ends of the item come again: it is one call."""
    item = function_call("call_1", "status", "{}")
    begun = response("output_item.added", output_index=0, item=item | {"arguments": ""})
    ended = response("output_item.done", output_index=0, item=item | {"arguments": ""})
    frames = [created(), begun, begun, ended, ended, completed([item])]
    check(frames, "openai-responses", front, calls=[EMPTY], finish=WITH_CALLS[front])


def test_d12_a_responses_client_gets_one_done_for_no_arguments():
    """Some clients run a call when its arguments are done: they are, also if there are none."""
    frames = chat(calling(call("", id="call_1", name="status")))
    written = written_for(frames, "openai-chat", "openai-responses")
    assert told(written, "function_call_arguments") == [
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
    ]
    assert told(written, "output_item") == [
        "response.output_item.added",
        "response.output_item.done",
    ]


@pytest.mark.parametrize("front", FRONTS)
def test_d13_arguments_that_come_with_the_name(front):
    """The first chunk of a call has its first arguments, or all of them."""
    first, rest = pieces_of(RUN[1])
    frames = chat(
        calling(call(first, id="call_1", name="run")),
        calling(call(rest)),
        calling(call(PATH, index=1, id="call_2", name="read")),
    )
    check(frames, "openai-chat", front, calls=[RUN, READ], finish=WITH_CALLS[front])


@pytest.mark.parametrize("front", FRONTS)
def test_d14_an_empty_list_of_calls_beside_words(front):
    """vLLM writes it in every chunk: it is no call, and the words are words."""
    frames = chat(
        chunk({"content": "Hel", "tool_calls": []}),
        chunk({"content": "lo", "tool_calls": []}),
        finish="stop",
    )
    check(frames, "openai-chat", front, text="Hello", finish=ENDED[front])


def test_d14_a_claude_client_gets_words_and_no_input():
    frames = chat(chunk({"content": "Hel", "tool_calls": []}), finish="stop")
    written = written_for(frames, "openai-chat", "anthropic")
    deltas = [
        one["delta"]["type"] for one in wire_events(written) if "index" in one and "delta" in one
    ]
    assert deltas == ["text_delta"]


def test_d15_a_call_that_comes_first_is_the_first_block():
    """No empty text in front of it, and no empty piece of input for the name alone."""
    frames = chat(
        calling(call("", id="call_1", name="run")),
        *[calling(call(piece)) for piece in ("", *pieces_of(RUN[1]))],
    )
    _, *events = wire_events(written_for(frames, "openai-chat", "anthropic"))
    assert events[0]["index"] == 0
    assert events[0]["content_block"]["type"] == "tool_use"
    assert [one["delta"]["partial_json"] for one in events[1:3]] == pieces_of(RUN[1])
    assert [one["type"] for one in events[3:]] == [
        "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip


LONG = ("write", {"path": "a.txt", "text": "x" * 40})


def arguments_of(back):
    """The frames that have a piece of arguments, in a stream of one call."""
    frames = frames_of(back, calls=[LONG], reason=WITH_CALLS[back])
    marks = [piece[-3:].encode() for piece in pieces_of(LONG[1])]
    escaped = [json.dumps(mark.decode())[1:-1].encode() for mark in marks]
    return frames, [n for n, one in enumerate(frames) if any(mark in one for mark in escaped)]


@each("front", STREAMING)
@each("back", STREAMING)
def test_d16_a_piece_of_arguments_goes_out_at_once(back, front):
    """The client of a long call is sent something for every piece, so it does not give up."""
    frames, growing = arguments_of(back)
    assert len(growing) >= 2
    sent = live(frames, back, front)
    first, second = growing[:2]
    assert pieces_of(LONG[1])[0][1:].encode() in sent[first].replace(b'\\"', b'"')
    assert b"x" * 40 in sent[second]


@pytest.mark.parametrize("front", ["gemini", "ollama"])
def test_d16_signs_of_life_where_a_call_can_only_come_whole(front):
    """Their formats have no pieces of calls; a client is kept waiting, not in the dark."""
    decoder, encoder = StreamDecoder("openai-chat"), StreamEncoder(front)
    written = b""
    frames = frames_of("openai-chat", text="Go.", calls=[LONG], reason="tool_calls")
    for frame in frames:
        written += encoder.feed_all(decoder.feed(frame)) + encoder.keep_alive()
    assert encoder.keep_alive()
    written += encoder.feed_all(decoder.close())
    assert READERS[front](written)[:2] == ([LONG], "Go.")


@pytest.mark.parametrize("front", FRONTS)
def test_d17_arguments_that_are_an_object(front):
    """Not text that is JSON, but JSON itself: in a chunk, in an event, in an item."""
    frames = chat(
        calling(call(RUN[1], id="call_1", name="run")),
        calling(call({}, index=1, id="call_2", name="status")),
    )
    check(frames, "openai-chat", front, calls=[RUN, EMPTY], finish=WITH_CALLS[front])
    item = function_call("call_1", "run")
    frames = [
        created(),
        response("output_item.added", output_index=0, item=item),
        delta(RUN[1], 0),
        response("function_call_arguments.done", output_index=0, arguments=RUN[1]),
        response("output_item.done", output_index=0, item=item | {"arguments": RUN[1]}),
        completed(),
    ]
    check(frames, "openai-responses", front, calls=[RUN], finish=WITH_CALLS[front])


@pytest.mark.parametrize("front", FRONTS)
def test_d18_words_that_are_done_do_not_end_the_stream(front):
    """The message is one item of several: the calls behind it come through, and then the end."""
    said, item = spoken("Let me."), function_call("call_1", "run", COMMAND)
    frames = [
        created(),
        response("output_item.added", output_index=0, item=spoken("")),
        response("output_text.delta", output_index=0, delta="Let me."),
        response("output_text.done", output_index=0, text="Let me."),
        response("output_item.done", output_index=0, item=said),
        response("output_item.added", output_index=1, item=item | {"arguments": ""}),
        delta(COMMAND, 1),
        response("output_item.done", output_index=1, item=item),
        completed([said, item]),
    ]
    end = WITH_CALLS[front]
    check(frames, "openai-responses", front, calls=[RUN], text="Let me.", finish=end)


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("name", ["", None])
def test_d19_a_name_that_comes_late(front, name):
    """The arguments wait for it; nothing of them is lost."""
    first, rest = pieces_of(RUN[1])
    frames = chat(
        calling(call(first, id="call_1") | {"function": {"name": name, "arguments": first}}),
        calling(call(rest)),
        calling(call("", name="run")),
    )
    check(frames, "openai-chat", front, calls=[RUN], finish=WITH_CALLS[front])


@pytest.mark.parametrize("back", FRONTS)
def test_d21_claude_code_gets_the_command(back):
    """Whatever the back: `input.command` is there when the block stops, and it is right."""
    frames = frames_of(back, text="Let me.", calls=[RUN], reason=WITH_CALLS[back])
    events = wire_events(written_for(frames, back, "anthropic"))
    starts = [one["content_block"] for one in events if one["type"] == "content_block_start"]
    assert [start["input"] for start in starts if start["type"] == "tool_use"] == [{}]
    deltas = [one["delta"] for one in events if one["type"] == "content_block_delta"]
    said = "".join(one.get("partial_json", "") for one in deltas)
    assert json.loads(said)["command"] == "ls -la"
    check(frames, back, "anthropic", calls=[RUN], text="Let me.", finish="tool_use")


@pytest.mark.parametrize("front", FRONTS)
def test_d22_the_empty_input_that_a_block_starts_with(front):
    """`{}` at the start of a call is no piece of its arguments."""
    frames = message(
        use(0, "toolu_1", "run", "", *pieces_of(RUN[1])), use(1, "toolu_2", "status", "")
    )
    check(frames, "anthropic", front, calls=[RUN, EMPTY], finish=WITH_CALLS[front])


def test_d22_a_chat_client_is_sent_no_brackets_before_the_arguments():
    frames = message(use(0, "toolu_1", "run", "", *pieces_of(RUN[1])))
    pieces = call_deltas(written_for(frames, "anthropic", "openai-chat"))
    assert "".join(one["function"]["arguments"] for one in pieces) == COMMAND
