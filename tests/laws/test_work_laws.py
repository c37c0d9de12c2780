"""The growth law where work can be counted: four times as much takes at most five times the work.

The work counted is the lines that are run, the blocks that are copied, the ids that are compared
and the length of what is said. The must-rows of
`benchmarks/growth.py` measure the same in CPU time, at larger sizes.
"""

import sys
from pathlib import Path

import pytest
from msgspec.json import encode

import canonicall
from batches import each
from benchmarks.sized_bodies import CASES, FORMATS, JUDGED_FOR, sized_body
from benchmarks.sized_streams import STREAMS
from canonicall import (
    Conversation,
    Message,
    Native,
    Opaque,
    Reply,
    StreamDecoder,
    StreamEncoder,
    Text,
    Tool,
    ToolCall,
    ToolCallAccumulator,
    ToolResult,
    Turn,
    Unknown,
    decode_request,
    encode_request,
    render,
    verify,
)
from canonicall.guard.replies import checked_reply
from canonicall.transcript import placing
from canonicall.transcript.policy import Policy

from bodies import DISTINCT, PARTICULAR

FEW, MANY, AT_MOST = 60, 240, 5
SOURCE = "openai-chat"
A_SENTENCE = 200
"""Characters: only the larger of two bodies may be over a limit."""
ID_FIELDS = {"id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"}
OURS = str(Path(canonicall.__file__).parent)
SOME = ("anthropic/anthropic", "gemini/gemini", "kimi/openai-chat", "anthropic:claude-opus-5")
TARGETS = {name: target for name, target in (DISTINCT | PARTICULAR).items() if name in SOME}
OTHERS = {name: target for name, target in (DISTINCT | PARTICULAR).items() if name not in SOME}


def steps_of(*blocks):
    """A conversation with these blocks for each of so many numbers, in messages of one block."""
    return lambda size: [
        Message("assistant", (ToolCall(id="call", name="read", args={}),)),
        *(Message(role, (make(n),)) for n in range(size) for role, make in blocks),
    ]


def opening(_):
    state = Opaque(domain="anthropic", kind="opening", value="x")
    return Unknown(native=Native("anthropic", {"type": "compaction"}), opaque=(state,))


SINGLE = {
    "pending results of one call": steps_of(
        (
            "tool",
            lambda n: ToolResult(call_id="call", content=(Text(text=f"{n}"),), is_complete=False),
        )
    ),
    "made-up results of one call": steps_of(
        ("tool", lambda _: ToolResult(call_id="call", content=(), synthetic=True))
    ),
    "openings": lambda size: [Message("assistant", tuple(map(opening, range(size))))],
}
"""Entries for each size."""


def append_each(entries):
    conversation = Conversation()
    for entry in entries:
        conversation.append(entry)


def lines_run(work, *given):
    """How many lines of the library are run, those of loops each time."""
    count = 0

    def line(frame, event, arg):
        nonlocal count
        count += event == "line"
        return line

    def call(frame, event, arg):
        return line if frame.f_code.co_filename.startswith(OURS) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work(*given)
    finally:
        sys.settrace(before)
    return count


def grows(work, make):
    """How many times the lines it takes for four times as much. Fixed costs are not counted."""
    work(make(1))
    fixed, few, many = (lines_run(work, make(size)) for size in (1, FEW, MANY))
    return (many - fixed) / max(few - fixed, 1)


def request(case):
    return lambda size: decode_request(sized_body(case, size, SOURCE, mark=size), SOURCE)


def reading(format):
    return lambda body: decode_request(body, format)


def writing(target):
    return lambda given: encode_request(given, target)


@each("format", FORMATS)
@each("case", CASES)
def test_reading_a_request(case, format):
    assert grows(reading(format), lambda size: sized_body(case, size, format)) <= AT_MOST


@each("target", TARGETS.values(), ids=TARGETS)
@each("case", CASES)
def test_writing_a_request(case, target):
    assert grows(writing(target), request(case)) <= AT_MOST


@each("format", FORMATS)
@each("case", CASES)
def test_judging_a_request_as_it_came(case, format):
    """Its calls and results are not put in order first."""
    target = JUDGED_FOR[format]

    def body(size):
        return sized_body(case, size, format, mark=size)

    def said(size):
        return sum(len(one.error) + len(one.why) for one in verify(body(size), target))

    assert grows(lambda given: verify(given, target), body) <= AT_MOST
    assert said(MANY) <= AT_MOST * max(said(FEW), A_SENTENCE)
    assert compared(target, body(MANY)) <= AT_MOST * compared(target, body(FEW))


def compared(target, body):
    """How many times an id of the body is compared with another while it is judged."""
    count = 0

    class Id(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal count
            count += isinstance(other, Id)
            return str.__eq__(self, other)

    def marked(value, key=""):
        if isinstance(value, dict):
            return {name: marked(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [marked(one) for one in value]
        return Id(value) if key in ID_FIELDS else value

    verify(marked(body), target)
    return count


@pytest.mark.deep
@each("target", OTHERS.values(), ids=OTHERS)
@each("case", CASES)
def test_writing_a_request_for_every_other_target(case, target):
    assert grows(writing(target), request(case)) <= AT_MOST


@pytest.mark.deep
@each("target", (TARGETS | OTHERS).values(), ids=TARGETS | OTHERS)
@each("case", CASES)
def test_judging_a_request(case, target):
    def body(size):
        return encode_request(request(case)(size), target).body

    assert grows(lambda made: verify(made, target), body) <= AT_MOST


@each("case", CASES)
def test_appending_one_by_one(case):
    def entries(size):
        return request(case)(size).conversation.entries

    assert grows(append_each, entries) <= AT_MOST


@each("entries", SINGLE.values(), ids=SINGLE)
def test_appending_and_rendering_what_bodies_rarely_hold(entries):
    def work(given):
        append_each(given)
        render(Conversation.of(given), "anthropic")

    assert grows(work, entries) <= AT_MOST


@each("format", FORMATS)
@each("case", STREAMS)
def test_writing_reading_and_accumulating_a_stream(case, format):
    def chunks(size):
        encoder = StreamEncoder(format)
        return [*map(encoder.feed, STREAMS[case](size)), encoder.close()]

    def read(given):
        accumulator = ToolCallAccumulator(format)
        for chunk in given:
            accumulator.add_chunk(chunk)
        accumulator.close()

    assert grows(chunks, int) <= AT_MOST
    assert grows(read, chunks) <= AT_MOST


def test_reading_a_stream_whose_calls_share_an_id():
    """Each piece is a whole call, and might be more of every call before it."""
    call = {"id": "call_0", "type": "function", "function": {"name": "read", "arguments": "{}"}}

    def read(size):
        decoder = StreamDecoder("openai-chat")
        for index in range(size):
            delta = {"tool_calls": [{"index": index, **call}]}
            decoder.feed(b"data: %b\n\n" % encode({"choices": [{"index": 0, "delta": delta}]}))
        decoder.close()

    assert grows(read, int) <= AT_MOST


def test_checking_the_calls_of_a_reply():
    def reply_and_tools(size):
        names = [f"read_{number}" for number in range(size)]
        calls = tuple(ToolCall(id=name, name=name, args={}) for name in names)
        return Reply(Message("assistant", calls)), [Tool(name) for name in names]

    assert grows(lambda given: checked_reply(*given, mode="repair"), reply_and_tools) <= AT_MOST


@each("target", TARGETS.values(), ids=TARGETS)
@each("role", ["system", "developer", "user", "assistant"])
def test_blocks_copied_for_messages_of_one_role(role, target):
    """A target may want them as one message: each is put to those before it without a copy."""

    def copied(size):
        messages = [Message(role, (Text(text=f"Message {n}."),)) for n in range(size)]
        conversation = Conversation.of(messages)
        count = 0

        def counted(make):
            def made(*args, **fields):
                nonlocal count
                turn = make(*args, **fields)
                count += len(turn.blocks) if isinstance(turn, Turn) else 0
                return turn

            return made

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(placing, "Turn", counted(placing.Turn))
            patched.setattr(placing, "replace", counted(placing.replace))
            render(conversation, target)
        return count

    assert copied(MANY) <= AT_MOST * copied(FEW)


def test_results_of_calls_that_the_provider_keeps():
    """Each is sent if no other has its id."""

    def work(conversation):
        render(conversation, "openai/openai-responses", policy=Policy(continues=True))

    def results(size):
        return Conversation.of(
            Message("tool", (ToolResult(call_id=f"call_{n}", content=(Text(text="1"),)),))
            for n in range(size)
        )

    assert grows(work, results) <= AT_MOST
