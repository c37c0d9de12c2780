"""Events as ConverseStream: the grammar that clients rely on, judged by botocore."""

import json
from base64 import b64encode
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall.arguments import parse_arguments
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
    ThinkingAdded,
)
from canonicall.folding import events_of
from canonicall.framing.eventstream import EventStream
from canonicall.reply import Reply, Usage
from canonicall.testing.strategies import assistant_messages
from canonicall.wire.bedrock.stream_encode import StreamEncoding
from judges.converse_stream import accumulated, check_grammar, sdk_events
from replies import with_calls, with_own_ids

from streaming import events_in

FORMAT = "bedrock"


def encoded(*events):
    return StreamEncoder(FORMAT).feed_all(events)


def frames_of(data):
    return [(frame.name, json.loads(frame.data)) for frame in EventStream().feed(data)]


def wire_of(*blocks, origin=None, finish="stop", native=None):
    message = Message("assistant", blocks, origin=origin, finish=finish)
    return StreamEncoder(FORMAT).feed_all(events_of(Reply(message, native=native)))


decoded = partial(events_in, FORMAT)


def deltas_in(data):
    return [body["delta"] for name, body in frames_of(data) if name == "contentBlockDelta"]


def starts_in(data):
    return [body["start"] for name, body in frames_of(data) if name == "contentBlockStart"]


def test_words_a_thought_and_a_call():
    seal = Opaque("anthropic", "signature", "c2ln")
    data = wire_of(
        Thinking(text="Hm", opaque=(seal,)),
        Text(text="So"),
        ToolCall(id="t1", name="f", raw='{"a":1}'),
        finish="tool_calls",
    )
    zero = {"latencyMs": 0}
    none = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
    assert frames_of(data) == [
        ("messageStart", {"role": "assistant"}),
        (
            "contentBlockDelta",
            {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Hm"}}},
        ),
        (
            "contentBlockDelta",
            {"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "c2ln"}}},
        ),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": "So"}}),
        ("contentBlockStop", {"contentBlockIndex": 1}),
        (
            "contentBlockStart",
            {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "t1", "name": "f"}}},
        ),
        ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolUse": {"input": '{"a":1}'}}}),
        ("contentBlockStop", {"contentBlockIndex": 2}),
        ("messageStop", {"stopReason": "tool_use"}),
        ("metadata", {"usage": none, "metrics": zero}),
    ]
    check_grammar(sdk_events(data))


def test_the_same_events_are_the_same_bytes():
    assert wire_of(Text(text="a")) == wire_of(Text(text="a"))


@pytest.mark.parametrize(
    "call", [ToolCall(id="t1", name="f", args={}), ToolCall(id="t1", name="f", raw="")]
)
def test_a_call_without_arguments_has_an_empty_object(call):
    assert json.loads("".join(d["toolUse"]["input"] for d in deltas_in(wire_of(call)))) == {}


def test_a_call_that_came_without_pieces_has_its_arguments():
    whole = ToolCall(id="t1", name="f", args={"a": 1})
    data = encoded(BlockStarted(0, ToolCall(id="t1", name="f")), BlockEnded(0, whole))
    assert deltas_in(data) == [{"toolUse": {"input": '{"a":1}'}}]


def test_freeform_input_is_the_only_field_of_an_object_while_it_comes():
    call = ToolCall(id="t1", name="sh", kind="custom")
    data = encoded(
        BlockStarted(0, call),
        ArgumentsAdded(0, 'echo "'),
        ArgumentsAdded(0, "hé\n"),
        BlockEnded(0, replace(call, raw='echo "hé\n')),
    )
    pieces = [delta["toolUse"]["input"] for delta in deltas_in(data)]
    assert len(pieces) == 3
    assert json.loads("".join(pieces)) == {"input": 'echo "hé\n'}


def test_freeform_input_of_nothing():
    data = wire_of(ToolCall(id="t1", name="sh", kind="custom", raw=""))
    assert deltas_in(data) == [{"toolUse": {"input": '{"input":""}'}}]


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
    """Clients run calls only if the reason is `tool_use`."""
    data = wire_of(ToolCall(id="t1", name="f", raw="{}"), finish="stop")
    assert accumulated(sdk_events(data))["stop"] == "tool_use"


def test_a_seal_that_bedrock_cannot_read_is_not_written():
    seal = Opaque("gemini-api", "signature", "s")
    thought, bare = Thinking(text="Hm", opaque=(seal,)), Thinking(opaque=(seal,))
    data = wire_of(thought, bare, Text(text="a"), origin=Origin("gemini", "gemini"))
    assert deltas_in(data) == [{"reasoningContent": {"text": "Hm"}}, {"text": "a"}]
    check_grammar(sdk_events(data))


def test_the_seal_of_an_empty_thought_is_written_once():
    seal = Opaque("anthropic", "signature", "s")
    data = encoded(
        BlockStarted(0, Thinking()),
        SignatureAdded(0, seal),
        BlockEnded(0, Thinking(opaque=(seal,))),
    )
    assert deltas_in(data) == [{"reasoningContent": {"signature": "s"}}]


def test_a_thought_that_came_whole():
    seal = Opaque("anthropic", "signature", "s")
    whole = Thinking(text="Hm", opaque=(seal,))
    data = encoded(BlockStarted(0, whole), BlockEnded(0, whole))
    assert deltas_in(data) == [
        {"reasoningContent": {"text": "Hm"}},
        {"reasoningContent": {"signature": "s"}},
    ]


def test_hidden_reasoning():
    blob = b64encode(b"hidden").decode()
    data = wire_of(Thinking(opaque=(Opaque("anthropic", "redacted", "hidden"),)))
    assert deltas_in(data) == [{"reasoningContent": {"redactedContent": blob}}]
    assert accumulated(sdk_events(data))["redacted"] == [[b"hidden"]]


def test_an_image():
    image = Media(media_type="image/png", data="aW1hZ2U=")
    data = wire_of(image)
    assert starts_in(data) == [{"image": {"format": "png"}}]
    assert deltas_in(data) == [{"image": {"source": {"bytes": "aW1hZ2U="}}}]
    check_grammar(sdk_events(data))
    assert decoded(data)[-1].reply.message.blocks == (image,)


def test_media_that_cannot_be_streamed_are_named():
    data = wire_of(Media(media_type="application/pdf", data="aGk="), Code(code="x", language="py"))
    assert deltas_in(data) == [
        {"text": "[application/pdf: not available]"},
        {"text": "```py\nx\n```"},
    ]
    check_grammar(sdk_events(data))


def test_sources():
    cited = {"content": [{"text": "So."}], "citations": [{"title": "A"}, {"title": "B"}]}
    words = Text(text="So.", native=Native(FORMAT, {"citationsContent": cited}))
    alone = Unknown(native=Native(FORMAT, {"citationsContent": {"citations": [{"title": "C"}]}}))
    data = wire_of(words, alone)
    assert deltas_in(data) == [
        {"text": "So."},
        {"citation": {"title": "A"}},
        {"citation": {"title": "B"}},
        {"citation": {"title": "C"}},
    ]
    check_grammar(sdk_events(data))
    assert decoded(data)[-1].reply.message.blocks == (words, alone)


def test_what_ran_on_the_side_of_the_provider_is_written_as_it_came():
    use = {
        "toolUseId": "t1",
        "name": "nova_grounding",
        "type": "server_tool_use",
        "input": {"q": 1},
    }
    result = {
        "toolUseId": "t1",
        "type": "x",
        "status": "success",
        "content": [{"text": "[HIDDEN]"}],
    }
    body = {
        "output": {
            "message": {"role": "assistant", "content": [{"toolUse": use}, {"toolResult": result}]}
        },
        "stopReason": "end_turn",
    }
    reply = decode_response(body, FORMAT)
    data = StreamEncoder(FORMAT).feed_all(events_of(reply))
    check_grammar(sdk_events(data))
    assert decoded(data)[-1].reply.message.blocks == reply.message.blocks


def test_what_another_provider_ran_has_no_form_here():
    seal = Opaque("anthropic", "server_block", {"type": "server_tool_use"})
    ran = ToolCall(id="s1", name="web_search", kind="server", opaque=(seal,))
    data = wire_of(ran, Text(text="a"), Unknown(native=Native("gemini", {"x": 1})))
    assert deltas_in(data) == [{"text": "a"}]
    check_grammar(sdk_events(data))


def test_a_result_among_the_blocks():
    data = wire_of(ToolResult(call_id="t1", content=(Text(text="ok"),), error=True))
    assert starts_in(data) == [{"toolResult": {"toolUseId": "t1", "status": "error"}}]
    assert deltas_in(data) == [{"toolResult": [{"text": "ok"}]}]


def test_fields_of_the_reply_are_where_the_stream_has_them():
    native = Native(
        FORMAT,
        {
            "additionalModelResponseFields": {"a": 1},
            "metrics": {"latencyMs": 9},
            "trace": {"promptRouter": {}},
        },
    )
    frames = frames_of(wire_of(Text(text="a"), native=native))
    assert frames[-2][1] == {"stopReason": "end_turn", "additionalModelResponseFields": {"a": 1}}
    assert frames[-1][1]["metrics"] == {"latencyMs": 9}
    assert frames[-1][1]["trace"] == {"promptRouter": {}}


def test_a_reply_of_nothing():
    data = encoded(StreamEnded(Reply(Message("assistant", finish="stop"), Usage(3, 2))))
    check_grammar(sdk_events(data))
    said = accumulated(sdk_events(data))
    assert (said["stop"], said["usage"]["totalTokens"]) == ("end_turn", 5)


@pytest.mark.parametrize(
    ("why", "told"), [("It broke", "It broke"), ("", "The stream ended before it was complete.")]
)
def test_a_cut_is_an_exception(why, told):
    """No end of the message, no end of the call: no client can take it for whole."""
    data = encoded(
        BlockStarted(0, ToolCall(id="t1", name="f")),
        ArgumentsAdded(0, '{"a'),
        StreamEnded(Reply(Message("assistant", partial=True)), complete=False, why=why),
    )
    assert [name for name, _ in frames_of(data)] == [
        "contentBlockStart",
        "contentBlockDelta",
        "messageStart",
        "modelStreamErrorException",
    ]
    eventstream = pytest.importorskip("botocore.exceptions")
    with pytest.raises(eventstream.EventStreamError, match=told):
        sdk_events(data)


def test_parallel_calls_that_were_cut_are_not_mixed():
    first, second = ToolCall(id="t0", name="f"), ToolCall(id="t1", name="g")
    data = encoded(
        MessageStarted(),
        BlockStarted(0, first),
        ArgumentsAdded(0, '{"a"'),
        BlockStarted(1, second),
        ArgumentsAdded(1, '{"b":2}'),
        BlockEnded(1, replace(second, raw='{"b":2}')),
        StreamEnded(Reply(Message("assistant", partial=True)), complete=False, why="cut"),
    )
    *_, ended = decoded(data)
    assert [(call.id, call.raw) for call in ended.reply.calls] == [
        ("t0", '{"a"'),
        ("t1", '{"b":2}'),
    ]


def test_a_call_that_the_token_limit_cut_has_its_end_in_the_grammar():
    data = encoded(
        MessageStarted(),
        BlockStarted(0, ToolCall(id="t1", name="f")),
        ArgumentsAdded(0, '{"a'),
        StreamEnded(Reply(Message("assistant", finish="length"))),
    )
    check_grammar(sdk_events(data))
    *_, ended = decoded(data)
    assert ended.reply.calls[0].truncated


def test_a_stream_that_never_ended_is_cut():
    encoder = StreamEncoder(FORMAT)
    data = encoder.feed(BlockStarted(0, Text(text=""))) + encoder.feed(TextAdded(0, "a"))
    with pytest.raises(Exception, match="modelStreamErrorException"):
        sdk_events(data + encoder.close())


def test_clients_pass_over_what_keeps_the_stream_alive():
    encoder = StreamEncoder(FORMAT)
    data = encoder.feed(MessageStarted()) + encoder.keep_alive()
    data += encoder.feed(StreamEnded(Reply(Message("assistant", finish="stop"))))
    check_grammar(sdk_events(data))
    assert decoded(data)[-1].complete


replies = st.builds(
    lambda message, finish, usage: Reply(replace(message, finish=finish, partial=False), usage),
    assistant_messages(),
    st.sampled_from(["stop", "tool_calls", "length", "", "refusal"]),
    st.none() | st.just(Usage(7, 5, cache_read_tokens=2)),
)


def with_objects(reply):
    """A reply whose arguments are objects, as the format has them: text that is none is one field."""

    def shown(call):
        args = parse_arguments(call.raw) if call.args is None else call.args
        return replace(call, raw=None, args={"_raw": call.raw} if args is None else args)

    # That the text is none is said of a stream; a whole reply has an object in its place.
    told = tuple(one for one in reply.findings if one.code != "arguments_unreadable")
    return with_calls(replace(reply, findings=told), shown)


@given(replies)
def test_a_reply_told_as_a_stream_is_the_reply_told_at_once(reply):
    reply = with_own_ids(reply)
    data = StreamEncoder(FORMAT).feed_all(events_of(reply))
    ended = decoded(data)[-1]
    assert ended.complete
    assert with_objects(ended.reply) == with_objects(
        decode_response(encode_response(reply, FORMAT), FORMAT)
    )


@settings(max_examples=40)
@given(replies)
def test_botocore_knows_all_of_a_reply(reply):
    """But for what stands in results: no provider streams results of the client."""
    told = tuple(block for block in reply.message.blocks if not isinstance(block, ToolResult))
    data = wire_of(*told, finish=reply.finish)
    check_grammar(sdk_events(data))


def test_a_piece_of_text_is_one_frame():
    encoding = StreamEncoding()
    encoding.event(BlockStarted(4, Text(text="")))
    assert frames_of(encoding.event(TextAdded(4, "é"))) == [
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "é"}})
    ]
    assert encoding.event(ThinkingAdded(5, "later")) == b""
