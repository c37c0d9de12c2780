"""Streamed chat responses of Ollama: lines, and what they would have been as a whole."""

import json

import pytest

from canonicall.blocks import Media, Text, Thinking, ToolCall
from canonicall.codec.streams import StreamDecoder
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    MessageStarted,
    TextAdded,
    UsageReported,
)
from canonicall.reply import Usage

TIME = "2026-08-05T08:11:04.351521Z"


def line(message=None, done=False, **fields):
    body = {"model": "m", "created_at": TIME, "done": done}
    if message is not None:
        body["message"] = {"role": "assistant", "content": "", **message}
    return body | fields


LAST = line({}, True, done_reason="stop", total_duration=9, prompt_eval_count=5, eval_count=2)
CALL = {"id": "call_1", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}


def decode(*lines, end="\n"):
    decoder = StreamDecoder("ollama")
    events = decoder.feed("".join(json.dumps(one) + end for one in lines).encode())
    return events + decoder.close()


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


def test_thinking_words_and_a_call():
    events = decode(
        line({"thinking": "h"}),
        line({"thinking": "m"}),
        line({"content": "I "}),
        line({"content": "look."}),
        line({"tool_calls": [CALL]}),
        LAST,
    )
    call = ToolCall(id="call_1", name="f", args={"a": 1})
    assert events[0] == MessageStarted(events[-1].reply.message.origin)
    assert events[0].origin.model == "m"
    assert [one.block for one in of(BlockStarted, events)] == [
        Thinking(),
        Text(text=""),
        ToolCall(id="call_1", name="f"),
    ]
    blocks = (Thinking(text="hm"), Text(text="I look."), call)
    assert tuple(one.block for one in of(BlockEnded, events)) == blocks
    assert of(ArgumentsAdded, events) == [ArgumentsAdded(2, '{"a":1}')]
    usage = Usage(5, 2, native={"prompt_eval_count": 5, "eval_count": 2})
    assert events[-3:-1] == [UsageReported(usage), FinishReported("tool_calls")]
    ended = events[-1]
    assert (ended.complete, ended.reply.finish, ended.reply.usage) == (True, "tool_calls", usage)
    assert ended.reply.message.blocks == blocks
    assert ended.reply.native.fields == {"total_duration": 9}


def test_calls_in_several_lines_and_in_the_last_one():
    old = {"function": {"name": "g", "arguments": {}}}
    ended = decode(line({"tool_calls": [CALL, old]}), LAST | line({"tool_calls": [old]}, True))[-1]
    assert [(one.id, one.name, one.args) for one in ended.reply.calls] == [
        ("call_1", "f", {"a": 1}),
        ("", "g", {}),
        ("", "g", {}),
    ]
    assert ended.reply.finish == "tool_calls"


def test_arguments_that_are_text():
    call = {"function": {"name": "f", "arguments": '{"a":'}}
    events = decode(line({"tool_calls": [call]}), LAST)
    assert of(ArgumentsAdded, events) == [ArgumentsAdded(0, '{"a":')]
    assert events[-1].reply.calls[0].raw == '{"a":'


def test_the_old_index_that_is_always_zero():
    events = decode(line({"tool_calls": [CALL]}), line({"tool_calls": [CALL | {"id": "b"}]}), LAST)
    assert [one.id for one in events[-1].reply.calls] == ["call_1", "b"]
    ended = tuple(one.block for one in of(BlockEnded, events))
    assert ended == events[-1].reply.calls


def test_thinking_that_comes_again():
    events = decode(line({"thinking": "a"}), line({"content": "b"}), line({"thinking": "c"}), LAST)
    assert [type(one.block) for one in of(BlockEnded, events)] == [Thinking, Text, Thinking]
    assert events[-1].reply.message.blocks == (Thinking(text="ac"), Text(text="b"))


def test_images_are_whole():
    events = decode(line({"images": ["iVBORw0="]}), LAST)
    assert Media(media_type="image/png", data="iVBORw0=") in events[-1].reply.message.blocks
    assert isinstance(of(BlockEnded, events)[0].block, Media)


def test_fields_only_this_format_knows_are_kept():
    reply = decode(
        line({"content": "a", "mood": "x"}, logprobs=[{"token": "a"}]),
        line({"content": "b"}, logprobs=[{"token": "b"}]),
        LAST | {"remote_model": "r"},
    )[-1].reply
    assert reply.message.native.fields == {"mood": "x"}
    assert reply.native.fields["logprobs"] == [{"token": "a"}, {"token": "b"}]
    assert reply.native.fields["remote_model"] == "r"


@pytest.mark.parametrize("before", [[], [line({"content": "a"})], [line({"tool_calls": [CALL]})]])
def test_an_error_line(before):
    events = decode(*before, {"error": "model runner has stopped"})
    told = of(ErrorReported, events)
    assert [one.message for one in told] == ["model runner has stopped"]
    ended = events[-1]
    assert isinstance(events[0], MessageStarted)
    assert (ended.complete, ended.why) == (False, "model runner has stopped")
    assert (ended.reply.finish, ended.reply.message.partial) == ("error", True)


def test_nothing_at_all():
    started, ended = decode()
    assert isinstance(started, MessageStarted)
    assert (ended.complete, ended.reply.message.blocks) == (False, ())


LINES = [line({"content": "a"}), line({"tool_calls": [CALL]}), line({"tool_calls": [CALL]}), LAST]


@pytest.mark.parametrize("cut", range(len(LINES)))
def test_a_cut_at_every_line(cut):
    ended = decode(*LINES[:cut])[-1]
    assert (ended.complete, ended.reply.message.partial) == (False, True)
    assert [one.truncated for one in ended.reply.calls] == [False] * (cut - 2) + [True] * (cut > 1)


def test_a_cut_inside_a_line():
    decoder = StreamDecoder("ollama")
    data = b"".join(json.dumps(one).encode() + b"\n" for one in LINES[:2])
    events = decoder.feed(data[:-20]) + decoder.close()
    assert events[-1].reply.calls == ()
    assert [one.code for one in events[-1].reply.findings] == ["frame_dropped"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "", "\n\n"])
def test_lines_end_in_any_way(end):
    assert decode(*LINES, end=end) == decode(*LINES)


@pytest.mark.parametrize(
    ("word", "finish"), [("stop", "stop"), ("length", "length"), ("load", ""), (None, "")]
)
def test_reasons(word, finish):
    events = decode(line({"content": "a"}), LAST | {"done_reason": word})
    assert of(FinishReported, events) == [FinishReported(finish)]
    assert events[-1].reply.finish == finish


def test_the_token_limit_marks_the_last_call():
    ended = decode(line({"tool_calls": [CALL]}), LAST | {"done_reason": "length"})[-1]
    assert ended.complete
    assert ended.reply.calls[0].truncated


@pytest.mark.parametrize(
    "wrong",
    [
        {"message": "x"},
        {"message": {"content": 5}},
        {"message": {"thinking": ["x"]}},
        line({"tool_calls": ["f"]}),
        line({"images": [1]}),
        {"model": 5},
        {"done_reason": {}},
    ],
)
def test_a_line_of_the_wrong_shape_is_left_out_with_a_finding(wrong):
    events = decode(line({"content": "a"}), wrong, line({"content": "b"}), LAST)
    assert "".join(one.text for one in of(TextAdded, events)) == "ab"
    assert events[-1].reply.message.blocks == (Text(text="ab"),)
    assert [one.code for one in events[-1].reply.findings] == ["frame_dropped"]
