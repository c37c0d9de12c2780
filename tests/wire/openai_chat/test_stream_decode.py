"""Chunks of every host to events: each behaviour that was seen in the wild, in bodies of our own."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    MessageStarted,
    StreamDecoder,
    StreamEnded,
    Text,
    TextAdded,
    ToolCall,
    UsageReported,
    fold,
)
from canonicall.testing.strategies import json_values
from wire.openai_chat.chunks import FORMAT, USAGE, calls, chunk, decoded, of_type, piece, reply_of
from wire.support import places, put


def test_the_events_of_a_stream():
    events = decoded(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "One "}),
        chunk({"content": "moment."}),
        calls(piece(0, "1", "f", "")),
        calls(piece(0, arguments='{"a"')),
        calls(piece(0, arguments=": 1}")),
        calls(piece(1, "2", "g", "{}")),
        chunk(finish="tool_calls"),
        {"id": "c1", "model": "m", "choices": [], "usage": USAGE},
    )
    first = ToolCall(id="1", name="f", raw='{"a": 1}', args={"a": 1})
    second = ToolCall(id="2", name="g", raw="{}", args={})
    end = events.pop()
    assert isinstance(events[0], MessageStarted)
    assert (events[0].origin.model, events[0].origin.response_id) == ("m", "c1")
    assert events[1:] == [
        BlockStarted(0, Text(text="")),
        TextAdded(0, "One "),
        TextAdded(0, "moment."),
        BlockEnded(0, Text(text="One moment.")),
        BlockStarted(1, ToolCall(id="1", name="f")),
        ArgumentsAdded(1, '{"a"'),
        ArgumentsAdded(1, ": 1}"),
        BlockEnded(1, first),
        BlockStarted(2, ToolCall(id="2", name="g")),
        ArgumentsAdded(2, "{}"),
        BlockEnded(2, second),
        FinishReported("tool_calls"),
        UsageReported(end.reply.usage),
    ]
    assert end == StreamEnded(end.reply)
    assert end.reply.message.blocks == (Text(text="One moment."), first, second)
    assert (end.reply.finish, end.reply.usage.input_tokens) == ("tool_calls", 3)


# 9: choices and usage.


@pytest.mark.parametrize("choices", [[], None])
def test_a_chunk_without_choices_means_nothing_for_the_message(choices):
    """Azure begins with one, the usage comes in one."""
    first = {"id": "", "model": "", "choices": choices, "prompt_filter_results": []}
    reply = fold(decoded(first, chunk({"content": "Hi."}, "stop")))
    assert (reply.message.text, reply.message.origin.response_id) == ("Hi.", "c1")


USAGE_PLACES = {
    "behind the end, without choices": [chunk(finish="stop"), {"choices": [], "usage": USAGE}],
    "behind the end, with choices": [chunk(finish="stop"), chunk(usage=USAGE)],
    "at the end": [chunk(finish="stop", usage=USAGE)],
    "at the end, for Groq": [chunk(finish="stop", x_groq={"id": "r", "usage": USAGE})],
    "in the choice, for Kimi": [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}]}
    ],
    "on a second end": [chunk(finish="stop"), chunk(finish="stop", usage=USAGE)],
    "without a reply": [{"choices": [], "usage": USAGE}],
}


@pytest.mark.parametrize("where", USAGE_PLACES)
def test_usage_anywhere(where):
    events = decoded(chunk({"content": "Hi."}), *USAGE_PLACES[where])
    assert fold(events).usage.input_tokens == 3
    assert [event.usage.native for event in of_type(events, UsageReported)] == [USAGE]


def test_usage_on_every_chunk():
    """vLLM counts on; the last figures are those of the reply, also behind null ones."""
    counts = [{**USAGE, "completion_tokens": n} for n in (1, 2, 3)]
    events = decoded(
        *(chunk({"content": "x"}, usage=one) for one in counts), chunk({}, "stop", usage=None)
    )
    assert [event.usage.output_tokens for event in of_type(events, UsageReported)] == [1, 2, 3]
    assert fold(events).usage.output_tokens == 3


def test_usage_before_anything_else_comes_behind_the_start():
    events = decoded({"choices": [], "usage": USAGE}, chunk({"content": "Hi."}, "stop"))
    assert [type(event) for event in events[:2]] == [MessageStarted, UsageReported]


def test_more_than_one_choice():
    """Only the first is told; the others are kept and reported."""
    events = decoded(
        chunk({"content": "a"}),
        chunk({"content": "x"}, index=1),
        chunk({"content": "b"}),
        chunk(finish="stop"),
        chunk({"content": "y"}, index=1),
        chunk(finish="length", index=1),
    )
    reply = fold(events)
    assert "".join(event.text for event in of_type(events, TextAdded)) == "ab"
    assert (reply.message.text, reply.finish) == ("ab", "stop")
    assert [finding.code for finding in reply.findings] == ["more_choices"]
    (other,) = reply.native.fields["other_choices"]
    assert (other["message"]["content"], other["finish_reason"]) == ("xy", "length")


# Finish reasons.


@pytest.mark.parametrize("word", ["stop", "", None, "eos"])
def test_calls_count_more_than_the_word(word):
    events = decoded(calls(piece(0, "1", "f", '{"a": 1}')), chunk(finish=word))
    assert fold(events).finish == "tool_calls"
    assert events[-1].complete


def test_a_limit_counts_more_than_calls():
    """OpenRouter says tool_calls; only the model's own provider tells."""
    body = chunk(finish="tool_calls")
    body["choices"][0]["native_finish_reason"] = "length"
    events = decoded(calls(piece(0, "1", "f", '{"a": ')), body)
    (call,) = fold(events).calls
    assert (fold(events).finish, call.truncated) == ("length", True)
    assert of_type(events, FinishReported) == [FinishReported("length")]


def test_announced_calls_that_never_came():
    reply = fold(decoded(chunk({"content": "Hi."}, "tool_calls")))
    assert reply.finish == "stop"
    assert [finding.code for finding in reply.findings] == ["finish_corrected"]


def test_repeated_ends_are_one():
    """OpenRouter sends a second one with the usage."""
    events = decoded(
        chunk({"content": "Hi."}), chunk(finish="stop"), chunk({"content": ""}, "stop", usage=USAGE)
    )
    assert len(of_type(events, FinishReported)) == 1
    assert len(of_type(events, BlockEnded)) == 1


def test_words_behind_the_finish_reason_count():
    events = decoded(chunk({"content": "a"}, "stop"), chunk({"content": "b"}))
    assert fold(events).message.text == "ab"


def test_ids_of_chunks_that_change_are_no_new_message():
    bodies = [chunk({"content": text}) | {"id": text} for text in "ab"]
    events = decoded(*bodies, chunk(finish="stop"))
    assert len(of_type(events, MessageStarted)) == 1
    assert fold(events).message.text == "ab"


# 11: errors inside a 200.


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "overloaded", "type": "server_error", "code": 502}},
        {"error": "overloaded"},
        chunk({"content": ""}, "error", error={"message": "overloaded", "code": 502}),
        {"code": "ServiceUnavailable", "message": "overloaded", "request_id": "r"},
        {"id": "c", "choices": [], "x_groq": {"error": "overloaded"}},
        {"id": "c", "choices": [{"index": 0, "delta": {}, "error": {"message": "overloaded"}}]},
    ],
    ids=["openai", "text", "openrouter", "dashscope", "groq", "choice"],
)
@pytest.mark.parametrize("done", [True, False])
def test_an_error_inside_the_stream(body, done):
    """What came before stays; the stream is not complete, and its last call not to be run."""
    events = decoded(calls(piece(0, "1", "f", "")), body, done=done)
    end = events[-1]
    assert [event.message for event in of_type(events, ErrorReported)] == ["overloaded"]
    assert (end.complete, end.why, end.reply.finish) == (False, "overloaded", "error")
    assert end.reply.message.partial
    assert end.reply.calls[0].truncated


def test_an_error_is_all_that_came():
    end = decoded({"error": {"message": "overloaded"}}, done=False)[-1]
    assert (end.complete, end.reply.finish, end.reply.message.blocks) == (False, "error", ())


# 12-13: text and frames.


def test_calls_that_leak_into_text_stay_text():
    leaked = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}"
    assert reply_of(chunk({"content": leaked}), finish="stop").message.text == leaked


def test_frames_as_hosts_write_them():
    """Comments, no blank behind the colon, other line ends, names that mean nothing."""
    decoder = StreamDecoder(FORMAT)
    body = json.dumps(chunk({"content": "Hi."}, "stop")).encode()
    data = b": OPENROUTER PROCESSING\n\nevent: x\r\ndata:" + body + b"\r\n\r\ndata: [DONE]"
    events = decoder.feed(data) + decoder.close()
    assert fold(events).message.text == "Hi."
    assert events[-1].complete


# Cut streams.

STREAM = [
    chunk({"reasoning": "hm"}),
    chunk({"content": "One moment."}),
    calls(piece(0, "1", "f", "")),
    calls(piece(0, arguments='{"a"')),
    calls(piece(0, arguments=": 1}")),
    calls(piece(1, "2", "g", "")),
    calls(piece(1, arguments="{}")),
    chunk(finish="tool_calls"),
]


@pytest.mark.parametrize("count", range(len(STREAM)))
def test_a_stream_cut_behind_any_chunk(count):
    """Words end; calls end only if they cannot grow; the last call is not to be run."""
    events = decoded(*STREAM[:count], done=False)
    end = events[-1]
    assert (end.complete, end.reply.message.partial) == (False, True)
    ended = [event.block for event in of_type(events, BlockEnded)]
    assert [block.raw for block in ended if isinstance(block, ToolCall)] == (
        [[], [], [], [], [], ['{"a": 1}'], ['{"a": 1}'], ['{"a": 1}', "{}"]][count]
    )
    assert len(ended) - len(end.reply.calls) <= 2
    marks = [call.truncated for call in end.reply.calls]
    assert marks == [False] * (len(marks) - 1) + [True] * bool(marks)


def test_a_stream_without_done_is_complete_when_the_reason_came():
    assert decoded(*STREAM, done=False)[-1].complete


# Wrong shapes: a bad frame costs itself, and nothing raises.

SPOILED = [
    chunk({"role": "assistant", "content": "a", "reasoning": "h", "refusal": "r"}, usage=USAGE),
    chunk(
        {
            "content": [
                {"type": "text", "text": "a"},
                {"type": "thinking", "thinking": [{"type": "text", "text": "h"}]},
                {"type": "image_url", "image_url": {"url": "https://x.org/a"}},
            ],
            "reasoning_details": [{"type": "reasoning.text", "text": "h", "index": 0}],
            "audio": {"id": "a", "data": "aGk=", "transcript": "t"},
            "images": [{"type": "image_url", "image_url": {"url": "https://x.org/a"}}],
            "annotations": [{"type": "url_citation"}],
        }
    ),
    calls(piece(0, "1", "f", '{"a"', type="function")),
    chunk({"function_call": {"name": "f", "arguments": "{"}}),
    chunk(
        {"tool_calls": [{"index": 1, "type": "custom", "custom": {"name": "c", "input": "x"}}]},
        "tool_calls",
        error={"message": "m", "type": "t"},
        x_groq={"usage": USAGE},
    ),
]


@given(st.data())
def test_no_frame_is_so_bad_that_the_stream_is_lost(data):
    """One value of one frame is replaced by any other; the words of the last frame still come."""
    number = data.draw(st.integers(0, len(SPOILED) - 1))
    path = data.draw(st.sampled_from(list(places(SPOILED[number]))))
    bodies = [*SPOILED, chunk({"content": "the end"}, "stop")]
    bodies[number] = put(bodies[number], path, data.draw(json_values()))
    end = decoded(*bodies)[-1]
    assert isinstance(end, StreamEnded)
    assert "the end" in end.reply.message.text
