"""Calls out of a stream: partial ones while they grow, whole ones only when they are certain."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    FinishReported,
    Message,
    Reply,
    StreamEnded,
    Text,
    ToolCall,
    ToolCallAccumulator,
    events_of,
)
from canonicall.arguments import parse_arguments
from canonicall.testing.strategies import json_objects, replies

from streaming import pieces_of


def chunk(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "choices": [choice]}).encode() + b"\n\n"


def call_piece(index, arguments, id=None, name=None):
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"tool_calls": [{"index": index, "function": function} | ({"id": id} if id else {})]}


DONE = b"data: [DONE]\n\n"
CALL = ToolCall(id="1", name="f", raw='{"a": 1}')
OTHER = ToolCall(id="2", name="g", raw="{}")


def started(index, call):
    return BlockStarted(index, ToolCall(id=call.id, name=call.name, kind=call.kind))


def grown(index, call):
    """A call up to its end."""
    return [started(index, call), ArgumentsAdded(index, call.raw), BlockEnded(index, call)]


def ended(finish, *, complete=True):
    return StreamEnded(Reply(Message("assistant", finish=finish)), complete)


def fed(*events):
    accumulator = ToolCallAccumulator()
    accumulator.add(events)
    return accumulator


def ids(calls):
    return [call.id for call in calls]


def runnable(reply):
    """What may be run of a whole reply: all calls, but the last where something may be amiss."""
    doubtful = reply.finish in ("length", "context_overflow", "filter", "error")
    last = len(reply.message.blocks) - 1
    return [
        block
        for index, block in enumerate(reply.message.blocks)
        if isinstance(block, ToolCall)
        and block.kind != "server"
        and not (doubtful and index == last)
    ]


@given(replies())
def test_the_completed_calls_are_those_that_may_be_run(reply):
    """In order, each once, server calls left out, arguments parsed where they can be."""
    accumulator = ToolCallAccumulator()
    delivered = [call for event in events_of(reply) for call in accumulator.add([event])]
    expected = runnable(reply)
    assert delivered == accumulator.completed == accumulator.get_completed()
    assert ids(delivered) == ids(expected)
    for got, call in zip(delivered, expected, strict=True):
        assert (got.name, got.raw, got.kind) == (call.name, call.raw, call.kind)
        if call.kind == "function":
            assert got.args == (parse_arguments(call.raw) if call.args is None else call.args)


@given(replies(), st.integers(0))
def test_a_cut_stream_never_completes_its_last_call(reply, cut):
    """Whatever was cut off: completed is what something followed."""
    events = list(events_of(reply))[:-3]
    events = events[: cut % (len(events) + 1)]
    accumulator = fed(*events, ended("", complete=False))
    last = max((event.index for event in events if isinstance(event, BlockStarted)), default=0)
    followed = [
        block
        for block in reply.message.blocks[:last]
        if isinstance(block, ToolCall) and block.kind != "server"
    ]
    assert ids(accumulator.completed) == ids(followed)


@given(json_objects(), st.lists(st.integers(0), max_size=8))
def test_a_partial_call_grows_to_the_whole_one(args, cuts):
    text = json.dumps(args)
    accumulator = fed(started(0, CALL))
    partial = accumulator.in_progress[0]
    assert (partial.id, partial.name, partial.raw, partial.args) == ("1", "f", "", {})
    for piece in pieces_of(text, cuts):
        accumulator.add([ArgumentsAdded(0, piece)])
        assert list(partial.args) == list(args)[: len(partial.args)]
    assert (partial.raw, partial.args) == (text, parse_arguments(text))


def test_a_call_is_shown_as_it_grows():
    """Members that are whole, and as much as is there of an open text."""
    accumulator = ToolCallAccumulator("openai-chat")
    accumulator.add_chunk(chunk(call_piece(0, "", "call_1", "write")))
    seen = []
    for piece in ('{"pa', 'th": "a.p', 'y", "n": 1', '2, "lines": ["x', '"]}'):
        assert accumulator.add_chunk(chunk(call_piece(0, piece))) == []
        seen.append(repr(accumulator.in_progress[0]))
    assert seen == [
        "<PartialCall 'write': {}>",
        "<PartialCall 'write': {'path': 'a.p'}>",
        "<PartialCall 'write': {'path': 'a.py'}>",
        "<PartialCall 'write': {'path': 'a.py', 'n': 12, 'lines': ['x']}>",
        "<PartialCall 'write': {'path': 'a.py', 'n': 12, 'lines': ['x']}>",
    ]
    (call,) = accumulator.add_chunk(chunk({}, "tool_calls"))
    assert call.args == {"path": "a.py", "n": 12, "lines": ["x"]}
    assert accumulator.in_progress == {}


def test_a_call_is_certain_when_the_next_block_starts():
    accumulator = fed(*grown(0, CALL))
    assert (accumulator.completed, list(accumulator.in_progress)) == ([], [0])
    assert ids(accumulator.add([BlockStarted(1, Text(text=""))])) == ["1"]


@pytest.mark.parametrize("finish", ["tool_calls", "stop", "paused", "stop_sequence"])
def test_a_call_is_certain_when_the_reply_has_ended_as_it_should(finish):
    assert ids(fed(*grown(0, CALL)).add([FinishReported(finish)])) == ["1"]
    assert ids(fed(*grown(0, CALL)).add([ended(finish)])) == ["1"]


@pytest.mark.parametrize(
    "finish", ["length", "context_overflow", "filter", "refusal", "malformed_call", "error"]
)
def test_the_last_call_is_not_certain_where_something_cut_the_reply(finish):
    """The calls before it are: something follows them."""
    events = (*grown(0, CALL), *grown(1, OTHER), FinishReported(finish), ended(finish))
    accumulator = fed(*events)
    assert ids(accumulator.completed) == ["1"]
    assert list(accumulator.in_progress) == [1]


def test_overlapping_calls_keep_their_order():
    """The second has ended first; it waits for the first."""
    accumulator = fed(started(0, CALL), started(1, OTHER), BlockEnded(1, OTHER))
    assert accumulator.add([BlockStarted(2, Text(text=""))]) == []
    assert ids(accumulator.add([BlockEnded(0, CALL)])) == ["1", "2"]


def test_a_call_that_never_ends_holds_nobody_up_for_ever():
    accumulator = fed(started(0, CALL), *grown(1, OTHER), BlockStarted(2, Text(text="")))
    assert accumulator.completed == []
    assert ids(accumulator.add([ended("", complete=False)])) == ["2"]
    assert list(accumulator.in_progress) == [0]


def test_calls_the_provider_runs_are_left_out():
    server = ToolCall(id="s", name="web_search", args={}, kind="server")
    accumulator = fed(BlockStarted(0, server), BlockEnded(0, server), ended("stop"))
    assert (accumulator.completed, accumulator.in_progress) == ([], {})


def test_unreadable_arguments_are_none_and_keep_their_text():
    broken = ToolCall(id="1", name="f", raw='{"a": ')
    (call,) = fed(*grown(0, broken), ended("tool_calls")).completed
    assert (call.args, call.raw) == (None, '{"a": ')


def test_freeform_input_is_text():
    custom = ToolCall(id="1", name="shell", raw="ls -l", kind="custom")
    accumulator = fed(*grown(0, custom)[:2])
    assert (accumulator.in_progress[0].raw, accumulator.in_progress[0].args) == ("ls -l", {})
    accumulator.add([BlockEnded(0, custom), ended("tool_calls")])
    assert (accumulator.completed[0].raw, accumulator.completed[0].args) == ("ls -l", None)


def test_text_is_as_good_as_bytes():
    accumulator = ToolCallAccumulator("openai-chat")
    accumulator.add_chunk(chunk(call_piece(0, '{"a": "é"}', "1", "f")).decode())
    accumulator.add_chunk((chunk({}, "tool_calls") + DONE).decode())
    (call,) = accumulator.get_completed()
    assert call.args == {"a": "é"}
    assert accumulator.close() == []


def test_a_source_of_ones_own_gets_the_pieces_as_they_come():
    class Shouting:
        """Every word in capitals is a call."""

        def __init__(self):
            self.number = -1

        def feed(self, data):
            calls = [word for word in data.split() if word.isupper()]
            return [event for name in calls for event in self.call(name.lower())]

        def call(self, name):
            self.number += 1
            return grown(self.number, ToolCall(id=str(self.number), name=name, raw="{}"))

        def close(self):
            return [ended("tool_calls")]

    accumulator = ToolCallAccumulator(Shouting())
    assert accumulator.add_chunk("please LS") == []
    assert [call.name for call in accumulator.add_chunk("and PWD")] == ["ls"]
    assert [call.name for call in accumulator.close()] == ["pwd"]
