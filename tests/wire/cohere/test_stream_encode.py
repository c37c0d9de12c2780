"""Events as a Cohere chat stream: the grammar that clients rely on, judged by the SDK."""

import json
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall.blocks import (
    Code,
    Media,
    Message,
    Native,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamEncoder
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    MessageStarted,
    SignatureAdded,
    StreamEnded,
    TextAdded,
)
from canonicall.folding import events_of
from canonicall.framing.sse import ServerSentEvents
from canonicall.reply import Reply, Usage
from canonicall.testing.strategies import assistant_messages
from canonicall.wire.cohere.messages import PLAN
from judges.cohere_stream import accumulated, check_grammar, sdk_events
from replies import with_own_ids

from streaming import events_in

FORMAT = "cohere"


def encoded(*events):
    return StreamEncoder(FORMAT).feed_all(events)


def wire_of(*blocks, finish="stop", native=None, **more):
    message = Message("assistant", blocks, finish=finish, native=native)
    return StreamEncoder(FORMAT).feed_all(events_of(Reply(message, **more)))


def bodies_in(data):
    frames = ServerSentEvents().feed(data)
    return [json.loads(frame.data) for frame in frames if frame.data != b"[DONE]"]


decoded = partial(events_in, FORMAT)


def test_a_thought_words_and_a_call():
    data = wire_of(
        Thinking(text="Hm"),
        Text(text="So"),
        ToolCall(id="t1", name="f", raw='{"a":1}'),
        finish="tool_calls",
        usage=Usage(3, 2),
    )
    counted = {"input_tokens": 3, "output_tokens": 2}
    start = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": ""}}
    assert bodies_in(data)[1:] == [
        {
            "type": "content-start",
            "index": 0,
            "delta": {"message": {"content": {"type": "thinking", "thinking": ""}}},
        },
        {
            "type": "content-delta",
            "index": 0,
            "delta": {"message": {"content": {"thinking": "Hm"}}},
        },
        {"type": "content-end", "index": 0},
        {
            "type": "content-start",
            "index": 1,
            "delta": {"message": {"content": {"type": "text", "text": ""}}},
        },
        {"type": "content-delta", "index": 1, "delta": {"message": {"content": {"text": "So"}}}},
        {"type": "content-end", "index": 1},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": start}}},
        {
            "type": "tool-call-delta",
            "index": 0,
            "delta": {"message": {"tool_calls": {"function": {"arguments": '{"a":1}'}}}},
        },
        {"type": "tool-call-end", "index": 0},
        {
            "type": "message-end",
            "delta": {
                "finish_reason": "TOOL_CALL",
                "usage": {"billed_units": counted, "tokens": counted},
            },
        },
    ]
    assert data.startswith(b"event: message-start\ndata: {")
    assert data.endswith(b"data: [DONE]\n\n")
    check_grammar(sdk_events(data))


def test_the_start_names_the_response():
    data = encoded(MessageStarted(Origin(response_id="r1")))
    (start,) = bodies_in(data)
    assert start["id"] == "r1"
    assert start["delta"]["message"]["role"] == "assistant"


def test_a_plan_is_written_as_a_plan():
    data = wire_of(
        Text(text="First", native=PLAN),
        Text(text="second", native=PLAN),
        ToolCall(id="t1", name="f", raw="{}"),
        finish="tool_calls",
    )
    said = accumulated(sdk_events(data))
    assert (said["plan"], said["text"]) == ("First\nsecond", [])
    check_grammar(sdk_events(data))


@pytest.mark.parametrize(
    "call", [ToolCall(id="t1", name="f", args={}), ToolCall(id="t1", name="f", raw="")]
)
def test_a_call_without_arguments_has_an_empty_object(call):
    assert accumulated(sdk_events(wire_of(call)))["calls"] == [("t1", "f", "{}")]


def test_a_call_that_came_without_pieces_has_its_arguments():
    call = ToolCall(id="t1", name="f")
    whole = replace(call, args={"a": 1})
    data = encoded(MessageStarted(), BlockStarted(0, call), BlockEnded(0, whole))
    assert accumulated(sdk_events(data))["calls"] == [("t1", "f", '{"a":1}')]


def test_parallel_calls_come_one_after_the_other():
    first, second = ToolCall(id="t0", name="f"), ToolCall(id="t1", name="g")
    data = encoded(
        MessageStarted(),
        BlockStarted(0, first),
        ArgumentsAdded(0, '{"a"'),
        BlockStarted(1, second),
        ArgumentsAdded(1, '{"b":2}'),
        ArgumentsAdded(0, ":1}"),
        BlockEnded(1, replace(second, raw='{"b":2}')),
        BlockEnded(0, replace(first, raw='{"a":1}')),
        StreamEnded(Reply(Message("assistant", finish="tool_calls"))),
    )
    check_grammar(sdk_events(data))
    assert accumulated(sdk_events(data))["calls"] == [
        ("t0", "f", '{"a":1}'),
        ("t1", "g", '{"b":2}'),
    ]


def test_calls_are_never_said_to_be_a_plain_end():
    data = wire_of(ToolCall(id="t1", name="f", raw="{}"), finish="stop")
    assert accumulated(sdk_events(data))["finish"] == "TOOL_CALL"


def test_seals_have_no_form_here():
    seal = Opaque("anthropic", "signature", "s")
    data = encoded(
        MessageStarted(),
        BlockStarted(0, Thinking()),
        SignatureAdded(0, seal),
        BlockEnded(0, Thinking(opaque=(seal,))),
    )
    assert b'"s"' not in data


def test_words_that_came_whole():
    """A text with a seal of another provider has no pieces."""
    data = wire_of(Text(text="So", opaque=(Opaque("gemini-api", "signature", "s"),)))
    assert accumulated(sdk_events(data))["text"] == ["So"]
    check_grammar(sdk_events(data))


def test_parts_that_came_whole():
    unknown = {"type": "hologram", "depth": 3}
    image = Media(media_type="image/png", data="aGk=")
    data = wire_of(Unknown(native=Native(FORMAT, unknown)), image, Code(code="x", language="py"))
    assert decoded(data)[-1].reply.message.blocks == (
        Unknown(native=Native(FORMAT, unknown)),
        image,
        Text(text="```py\nx\n```"),
    )
    check_grammar(sdk_events(data))


def test_what_only_another_provider_knows_has_no_form_here():
    blocks = (
        ToolCall(id="s1", name="web_search", kind="server"),
        ToolResult(call_id="s1", content=()),
        Unknown(native=Native("gemini", {"x": 1})),
        Text(text="a"),
    )
    data = wire_of(*blocks)
    assert decoded(data)[-1].reply.message.blocks == (Text(text="a"),)
    whole = encode_response(Reply(Message("assistant", blocks, finish="stop")), FORMAT)
    assert whole["message"]["content"] == [{"type": "text", "text": "a"}]
    check_grammar(sdk_events(data))


def test_citations_come_before_the_end():
    citation = {"start": 0, "end": 2, "text": "So", "sources": [], "type": "TEXT_CONTENT"}
    data = wire_of(Text(text="So"), native=Native(FORMAT, {"citations": [citation]}))
    check_grammar(sdk_events(data))
    assert accumulated(sdk_events(data))["citations"] == ["So"]
    assert decoded(data)[-1].reply.message.native.fields == {"citations": [citation]}


def test_fields_of_parts_and_calls_and_of_the_reply_are_kept():
    blocks = (
        Text(text="a", native=Native(FORMAT, {"mark": 1})),
        ToolCall(id="t1", name="f", args={}, raw="{}", native=Native(FORMAT, {"mark": 2})),
    )
    data = StreamEncoder(FORMAT).feed_all(
        events_of(
            Reply(
                Message("assistant", blocks, finish="tool_calls"),
                native=Native(FORMAT, {"logprobs": [{"text": "a"}]}),
            )
        )
    )
    reply = decoded(data)[-1].reply
    assert reply.message.blocks == blocks
    assert reply.native.fields == {"logprobs": [{"text": "a"}]}


def test_a_reply_of_nothing():
    data = encoded(StreamEnded(Reply(Message("assistant", finish="stop"), Usage(3, 2))))
    check_grammar(sdk_events(data))
    said = accumulated(sdk_events(data))
    assert (said["finish"], said["usage"].output_tokens) == ("COMPLETE", 2)


@pytest.mark.parametrize(
    ("why", "told"), [("It broke", "It broke"), ("", "The stream ended before it was complete.")]
)
def test_a_cut_ends_with_an_error(why, told):
    """The call is not ended, and the reason is `ERROR`: no client can take it for whole."""
    data = encoded(
        MessageStarted(),
        BlockStarted(0, ToolCall(id="t1", name="f")),
        ArgumentsAdded(0, '{"a'),
        StreamEnded(Reply(Message("assistant", partial=True)), complete=False, why=why),
    )
    said = accumulated(sdk_events(data))
    assert (said["finish"], said["error"]) == ("ERROR", told)
    assert "tool-call-end" not in [body["type"] for body in bodies_in(data)]
    ended = decoded(data)[-1]
    assert not ended.complete
    assert ended.reply.calls[0].truncated


def test_a_call_that_the_token_limit_cut_has_its_end_in_the_grammar():
    data = encoded(
        MessageStarted(),
        BlockStarted(0, ToolCall(id="t1", name="f")),
        ArgumentsAdded(0, '{"a'),
        StreamEnded(Reply(Message("assistant", finish="length"))),
    )
    check_grammar(sdk_events(data))
    assert decoded(data)[-1].reply.calls[0].truncated


def test_a_stream_that_never_ended_is_cut():
    encoder = StreamEncoder(FORMAT)
    data = encoder.feed(MessageStarted()) + encoder.feed(BlockStarted(0, Text(text="")))
    data += encoder.feed(TextAdded(0, "a")) + encoder.close()
    assert accumulated(sdk_events(data))["finish"] == "ERROR"


def test_clients_pass_over_what_keeps_the_stream_alive():
    encoder = StreamEncoder(FORMAT)
    data = encoder.feed(MessageStarted()) + encoder.keep_alive()
    data += encoder.feed(StreamEnded(Reply(Message("assistant", finish="stop"))))
    check_grammar(sdk_events(data))
    assert decoded(data)[-1].complete


replies = st.builds(
    lambda message, finish, usage: Reply(replace(message, finish=finish, partial=False), usage),
    assistant_messages(),
    st.sampled_from(["stop", "tool_calls", "length", "", "filter"]),
    st.none() | st.just(Usage(7, 5, cache_read_tokens=2)),
)


def essence(reply):
    """A reply and its words beside calls, wherever those stand: in the content or in the plan."""
    if not reply.calls:
        return reply, ""
    blocks, words = [], []
    for block in reply.message.blocks:
        if isinstance(block, Text):
            words += [block.text] if block.text else []
        elif isinstance(block, ToolCall):
            blocks.append(replace(block, raw=block.raw.strip() or "{}"))
        else:
            blocks.append(block)
    message = replace(reply.message, blocks=tuple(blocks))
    # Where a call stands among the blocks depends on the words as well.
    told = tuple(replace(one, where="") for one in reply.findings)
    return replace(reply, message=message, findings=told), "\n".join(words)


@given(replies)
def test_a_reply_told_as_a_stream_is_the_reply_told_at_once(reply):
    """But for words beside calls: nobody knows that they are a plan while they come."""
    reply = with_own_ids(reply)
    ended = decoded(StreamEncoder(FORMAT).feed_all(events_of(reply)))[-1]
    assert ended.complete
    whole = decode_response(encode_response(reply, FORMAT), FORMAT)
    assert essence(ended.reply) == essence(whole)


@settings(max_examples=40)
@given(replies)
def test_the_sdk_knows_all_of_a_reply(reply):
    check_grammar(sdk_events(StreamEncoder(FORMAT).feed_all(events_of(reply))))
