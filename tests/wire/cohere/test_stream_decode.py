"""Chat streams as Cohere sends them: what each event becomes, and what happens when it is odd."""

import json

import pytest

from canonicall.blocks import Native, Text, Thinking, ToolCall, Unknown
from canonicall.codec.streams import StreamDecoder
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    MessageStarted,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.wire.cohere.messages import PLAN

USAGE = {
    "billed_units": {"input_tokens": 1, "output_tokens": 2},
    "tokens": {"input_tokens": 30, "output_tokens": 2},
}
EMPTY = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
START = {"id": "r1", "type": "message-start", "delta": {"message": EMPTY}}


def event(kind, number=None, **message):
    body = {"type": kind}
    if number is not None:
        body["index"] = number
    return body | ({"delta": {"message": message}} if message else {})


def part(number, kind, *pieces):
    yield event("content-start", number, content={"type": kind, kind: ""})
    for piece in pieces:
        yield event("content-delta", number, content={kind: piece})


def call(number, *pieces, id="f_1", name="f"):
    start = {"id": id, "type": "function", "function": {"name": name, "arguments": ""}}
    yield event("tool-call-start", number, tool_calls=start)
    for piece in pieces:
        yield event("tool-call-delta", number, tool_calls={"function": {"arguments": piece}})


def ends(reason="COMPLETE", **more):
    return {"type": "message-end", "delta": {"finish_reason": reason, "usage": USAGE, **more}}


def plan(text):
    return event("tool-plan-delta", tool_plan=text)


def wire(*bodies, named=True, done=True):
    def one(body):
        name = f"event: {body['type']}\n" if named and isinstance(body.get("type"), str) else ""
        return f"{name}data: {json.dumps(body)}\n\n"

    return ("".join(map(one, bodies)) + ("data: [DONE]\n\n" if done else "")).encode()


def decoded(*bodies, **how):
    decoder = StreamDecoder("cohere")
    return [*decoder.feed(wire(*bodies, **how)), *decoder.close()]


def reply_of(*bodies, reason="COMPLETE"):
    ended = decoded(START, *bodies, ends(reason))[-1]
    assert ended.complete
    return ended.reply


def test_thoughts_and_words():
    *events, ended = decoded(
        START,
        *part(0, "thinking", "Hm", "m"),
        event("content-end", 0),
        *part(1, "text", "So"),
        event("content-end", 1),
        ends(),
    )
    assert isinstance(events[0], MessageStarted)
    assert events[0].origin.response_id == "r1"
    assert events[1:8] == [
        BlockStarted(0, Thinking()),
        ThinkingAdded(0, "Hm"),
        ThinkingAdded(0, "m"),
        BlockEnded(0, Thinking(text="Hmm")),
        BlockStarted(1, Text(text="")),
        TextAdded(1, "So"),
        BlockEnded(1, Text(text="So")),
    ]
    assert isinstance(events[8], UsageReported)
    assert events[8].usage.input_tokens == 30
    assert events[9] == FinishReported("stop")
    assert ended.reply.message.blocks == (Thinking(text="Hmm"), Text(text="So"))
    assert ended.reply.native is None


def test_a_plan_and_a_call():
    """`tool_calls` is an object here, not a list; the plan ends where the call starts."""
    *events, ended = decoded(
        START,
        plan("I will"),
        plan(" look."),
        *call(0, '{"q', '":1}'),
        event("tool-call-end", 0),
        ends("TOOL_CALL"),
    )
    planned = Text(text="I will look.", native=PLAN)
    whole = ToolCall(id="f_1", name="f", args={"q": 1}, raw='{"q":1}')
    assert events[1:9] == [
        BlockStarted(0, Text(text="", native=PLAN)),
        TextAdded(0, "I will"),
        TextAdded(0, " look."),
        BlockEnded(0, planned),
        BlockStarted(1, ToolCall(id="f_1", name="f")),
        ArgumentsAdded(1, '{"q'),
        ArgumentsAdded(1, '":1}'),
        BlockEnded(1, whole),
    ]
    assert ended.reply.message.blocks == (planned, whole)
    assert ended.reply.finish == "tool_calls"


def test_a_call_without_arguments():
    """No delta at all: the arguments are the empty text."""
    reply = reply_of(*call(0), event("tool-call-end", 0), reason="TOOL_CALL")
    assert reply.calls == (ToolCall(id="f_1", name="f", args={}, raw=""),)


def test_arguments_in_the_start_and_as_an_object():
    start = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    other = {"id": "b", "type": "function", "function": {"name": "f", "arguments": {"b": 2}}}
    reply = reply_of(
        event("tool-call-start", 0, tool_calls=[start]),
        event("tool-call-end", 0),
        event("tool-call-start", 1, tool_calls=other),
        event("tool-call-end", 1),
    )
    assert [one.raw for one in reply.calls] == ['{"a":1}', '{"b":2}']


def test_parallel_calls_that_overlap():
    first, second = call(0, '{"a":1}', id="a"), call(1, '{"b":2}', id="b")
    mixed = [body for pair in zip(first, second, strict=True) for body in pair]
    reply = reply_of(*mixed, event("tool-call-end", 1), event("tool-call-end", 0))
    assert [(one.id, one.raw) for one in reply.calls] == [("a", '{"a":1}'), ("b", '{"b":2}')]


def test_the_same_number_again_is_another_call():
    reply = reply_of(*call(0, "{}", id="a"), *call(0, "{}", id="b"))
    assert [one.id for one in reply.calls] == ["a", "b"]


def test_citations_are_where_a_whole_response_has_them():
    citation = {"start": 0, "end": 2, "text": "So", "sources": [], "type": "TEXT_CONTENT"}
    reply = reply_of(
        *part(0, "text", "So"),
        event("citation-start", 0, citations=citation),
        event("citation-end", 0),
        event("content-end", 0),
    )
    assert reply.message.native == Native("cohere", {"citations": [citation]})


def test_logprobs_are_collected():
    reply = reply_of(
        event("content-start", 0, content={"type": "text", "text": ""}),
        event("content-delta", 0, content={"text": "a"}) | {"logprobs": {"text": "a"}},
        event("content-delta", 0, content={"text": "b"}) | {"logprobs": {"text": "b"}},
    )
    assert reply.native.fields["logprobs"] == [{"text": "a"}, {"text": "b"}]


def test_a_part_without_a_start():
    reply = reply_of(
        event("content-delta", 0, content={"thinking": "Hm"}),
        event("content-end", 0),
        event("content-delta", 1, content={"text": "a"}),
    )
    assert reply.message.blocks == (Thinking(text="Hm"), Text(text="a"))


def test_pieces_of_a_call_that_never_started():
    reply = reply_of(event("tool-call-delta", 0, tool_calls={"function": {"arguments": "{}"}}))
    assert reply.calls == (ToolCall(args={}, raw="{}"),)


def test_a_number_that_is_left_out_is_the_last_one():
    reply = reply_of(
        *part(2, "text", "a"), event("content-delta", content={"text": "b"}), event("content-end")
    )
    assert reply.message.blocks == (Text(text="ab"),)


def test_a_kind_of_part_that_is_not_known_survives():
    reply = reply_of(
        event("content-start", 0, content={"type": "hologram", "depth": 3}),
        event("content-delta", 0, content={"light": 1}),
        event("content-end", 0),
    )
    (block,) = reply.message.blocks
    assert isinstance(block, Unknown)
    assert block.native.fields == {"type": "hologram", "depth": 3, "light": 1}


def test_events_that_are_not_known_say_nothing():
    reply = reply_of({"type": "debug", "prompt": "..."}, {"type": "ping"}, *part(0, "text", "a"))
    assert reply.message.blocks == (Text(text="a"),)
    assert reply.findings == ()


@pytest.mark.parametrize("how", [{"named": False}, {"done": False}])
def test_names_and_the_last_line_may_be_left_out(how):
    bodies = [START, *part(0, "text", "a"), event("content-end", 0), ends()]
    assert decoded(*bodies, **how) == decoded(*bodies)


def test_the_type_may_be_left_out():
    decoder = StreamDecoder("cohere")
    body = json.dumps({"delta": {"message": {"tool_plan": "x"}}}).encode()
    decoder.feed(b"event: tool-plan-delta\ndata: " + body + b"\n\n")
    assert decoder.close()[-1].reply.message.text == "x"


def test_an_error_at_the_end():
    *events, ended = decoded(START, *call(0, '{"q'), ends("ERROR", error="overloaded"))
    told = next(one for one in events if isinstance(one, ErrorReported))
    assert told.message == "overloaded"
    assert (ended.complete, ended.why) == (False, "overloaded")
    assert ended.reply.finish == "error"
    assert ended.reply.calls[0].truncated
    assert not any(isinstance(one, BlockEnded) for one in events)


def test_an_error_body_instead_of_a_stream():
    *events, ended = decoded({"id": "x", "message": "invalid api token"}, done=False)
    assert [type(one) for one in events] == [MessageStarted, ErrorReported]
    assert ended.why == "invalid api token"
    assert ended.reply.message.blocks == ()


@pytest.mark.parametrize("bodies", [[event("tool-call-end", 0)], []], ids=["ended", "not ended"])
def test_a_call_at_the_token_limit_is_truncated(bodies):
    *events, ended = decoded(START, *call(0, '{"q'), *bodies, ends("MAX_TOKENS"))
    assert ended.complete
    assert ended.reply.calls[0].truncated
    assert any(isinstance(one, BlockEnded) for one in events) == bool(bodies)


def test_calls_outrank_a_plain_end():
    assert reply_of(*call(0, "{}"), event("tool-call-end", 0)).finish == "tool_calls"


def test_a_cut_leaves_the_call_open_and_ends_the_words():
    *events, ended = decoded(START, plan("So"), *call(0, '{"q'), done=False)
    assert [one.index for one in events if isinstance(one, BlockEnded)] == [0]
    assert not ended.complete
    assert ended.reply.calls == (ToolCall(id="f_1", name="f", raw='{"q', truncated=True),)


def test_nothing_at_all():
    decoder = StreamDecoder("cohere")
    started, ended = decoder.close()
    assert isinstance(started, MessageStarted)
    assert not ended.complete
    assert ended.reply.message.blocks == ()


@pytest.mark.parametrize(
    "body",
    [
        event("content-start", 0, content={"type": 5}),
        event("content-delta", 0, content={"text": 5}),
        event("content-delta", 0, content="x"),
        event("content-delta", [], content=5),
        event("tool-call-start", 0, tool_calls={"id": 5}),
        event("tool-call-start", 0, tool_calls={"function": "x"}),
        event("tool-call-start", 0, tool_calls={"function": {"arguments": 5}}),
        event("tool-call-start", 0, tool_calls=[1, 2]),
        event("tool-plan-delta", tool_plan=5),
        event("citation-start", 0, citations=5),
        {"type": "message-end", "delta": {"finish_reason": 5}},
        {"type": "message-end", "delta": {"usage": 5}},
        {"type": "message-end", "delta": "x"},
        {"type": "message-start", "id": 5},
    ],
)
def test_an_event_of_wrong_shape_is_left_out(body):
    *events, ended = decoded(body, *part(7, "text", "a"), ends())
    assert ended.complete
    assert [finding.code for finding in ended.reply.findings] == ["frame_dropped"]
    assert ended.reply.message.blocks == (Text(text="a"),)
    assert [one.index for one in events if isinstance(one, BlockStarted)] == [0]
