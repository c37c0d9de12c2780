"""ConverseStream as Bedrock sends it: what each event becomes, and what happens when it is odd."""

import json

import pytest

from canonicall.blocks import Native, Text, ToolCall
from canonicall.codec.streams import StreamDecoder
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    MessageStarted,
    StreamEnded,
    TextAdded,
    UsageReported,
)
from canonicall.framing.eventstream import write_frame
from wire.bedrock.stream_events import (
    METADATA,
    USAGE,
    call,
    decoded,
    delta,
    ends,
    reply_of,
    start,
    stop,
)


def test_words_have_no_start():
    """No `contentBlockStart` for words: their first delta is the first sign of them."""
    *events, ended = decoded(
        ("messageStart", {"role": "assistant", "p": "abc"}),
        delta(0, text="Hel"),
        delta(0, text="lo"),
        stop(0),
        ends("end_turn"),
        METADATA,
    )
    assert isinstance(events[0], MessageStarted)
    assert events[0].origin.format == "bedrock"
    assert events[1:6] == [
        BlockStarted(0, Text(text="")),
        TextAdded(0, "Hel"),
        TextAdded(0, "lo"),
        BlockEnded(0, Text(text="Hello")),
        FinishReported("stop"),
    ]
    assert isinstance(events[6], UsageReported)
    assert events[6].usage.output_tokens == 2
    assert ended.reply.message.blocks == (Text(text="Hello"),)
    assert ended.reply.native == Native("bedrock", {"metrics": {"latencyMs": 7}})


def test_a_call_is_known_by_its_start():
    *events, ended = decoded(*call(0, "", '{"q": ', '"x"}'), stop(0), ends("tool_use"))
    known = ToolCall(id="tooluse_1", name="search")
    whole = ToolCall(id="tooluse_1", name="search", args={"q": "x"}, raw='{"q": "x"}')
    assert events[1:] == [
        BlockStarted(0, known),
        ArgumentsAdded(0, '{"q": '),
        ArgumentsAdded(0, '"x"}'),
        BlockEnded(0, whole),
        FinishReported("tool_calls"),
    ]
    assert ended.reply.calls == (whole,)


def test_nova_sends_the_whole_input_in_one_delta():
    reply = reply_of(*call(0, '{"q":"x"}'), stop(0), reason="tool_use")
    assert reply.calls[0].raw == '{"q":"x"}'


def test_a_call_without_arguments():
    assert reply_of(*call(0, ""), stop(0), reason="tool_use").calls[0].raw == ""
    assert reply_of(*call(0), stop(0), reason="tool_use").calls[0].raw == ""


def test_arguments_as_an_object_are_written_out_once():
    assert reply_of(*call(0, {"q": 1}), stop(0)).calls[0].raw == '{"q":1}'


def test_an_empty_object_at_the_start_is_no_piece():
    assert reply_of(*call(0, '{"q":1}', input={}), stop(0)).calls[0].raw == '{"q":1}'


def test_calls_outrank_a_plain_end():
    assert reply_of(*call(0, "{}"), stop(0), reason="end_turn").finish == "tool_calls"


@pytest.mark.parametrize("frames", [[stop(0)], []], ids=["stopped", "not stopped"])
def test_a_call_at_the_token_limit_is_truncated(frames):
    *events, ended = decoded(*call(0, '{"q": "x'), *frames, ends("max_tokens"))
    assert ended.complete
    assert ended.reply.finish == "length"
    assert ended.reply.calls[0].truncated
    assert any(isinstance(event, BlockEnded) for event in events) == bool(frames)


def test_metadata_may_come_before_the_end_of_the_message():
    first = decoded(delta(0, text="a"), stop(0), METADATA, ends("end_turn"))[-1]
    second = decoded(delta(0, text="a"), stop(0), ends("end_turn"), METADATA)[-1]
    assert first == second
    assert first.complete
    assert first.reply.usage.input_tokens == 3


def test_figures_of_nothing_are_no_figures():
    usage = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
    events = decoded(ends("end_turn"), ("metadata", {"usage": usage}))
    assert not any(isinstance(event, UsageReported) for event in events)
    assert events[-1].reply.usage is None


def test_fields_beside_the_content_are_those_of_a_whole_response():
    *_, ended = decoded(
        ("messageStop", {"stopReason": "end_turn", "additionalModelResponseFields": {"a": 1}}),
        ("metadata", {"usage": USAGE, "trace": {"x": 1}, "serviceTier": {"type": "default"}}),
    )
    assert ended.reply.native.fields == {
        "additionalModelResponseFields": {"a": 1},
        "trace": {"x": 1},
        "serviceTier": {"type": "default"},
    }


def test_events_that_are_not_known_say_nothing():
    events = decoded(("keepAlive", {}), delta(0, text="a"), ("ping", {"x": 1}), ends("end_turn"))
    assert events[-1].reply.message.text == "a"
    assert events[-1].reply.findings == ()


def test_members_that_are_null_are_absent():
    reply = reply_of(delta(0, text="a", toolUse=None), start(1, toolUse=None), stop(0))
    assert reply.message.blocks == (Text(text="a"),)


@pytest.mark.parametrize(
    "frame",
    [
        {"message": "Too many tokens", "originalStatusCode": 500},
        {"Message": "Too many tokens"},
    ],
)
def test_an_exception_is_an_error(frame):
    decoder = StreamDecoder("bedrock")
    data = json.dumps(frame).encode()
    events = decoder.feed(
        write_frame("contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"text":"a"}}')
        + write_frame("modelStreamErrorException", data, exception=True)
    )
    assert events[-1] == ErrorReported("Too many tokens", "modelStreamErrorException", frame)
    ended = decoder.close()[-1]
    assert (ended.complete, ended.why) == (False, "Too many tokens")
    assert ended.reply.finish == "error"
    assert ended.reply.message.blocks == (Text(text="a"),)


def test_an_exception_before_anything_else():
    *events, ended = decoded(("throttlingException", {"message": "slow down"}))
    assert isinstance(events[0], MessageStarted)
    assert ended.reply.message.blocks == ()
    assert ended.reply.findings == ()
    assert ended.why == "slow down"


def test_an_error_without_a_type_of_its_own():
    *_, ended = decoded(("InternalFailure", {"__type": "InternalFailure", "message": "It broke"}))
    assert ended.why == "It broke"


def test_nothing_at_all():
    *events, ended = decoded()
    assert [type(event) for event in events] == [MessageStarted]
    assert not ended.complete
    assert ended.reply.message.blocks == ()


@pytest.mark.parametrize("wrap", [True, False], ids=["wrapped", "bare"])
def test_events_without_names(wrap):
    """As SDKs show them, each in its name, and as they are without one."""
    frames = [
        ("messageStart", {"role": "assistant"}),
        delta(0, text="a"),
        stop(0),
        *call(1, "{}"),
        stop(1),
        ends("tool_use"),
        METADATA,
    ]
    bare = [("", {name: body} if wrap else body) for name, body in frames]
    assert decoded(*bare) == decoded(*frames)


def test_a_wrapped_exception():
    *_, ended = decoded(("", {"validationException": {"message": "no"}}))
    assert ended.why == "no"


def test_a_cut_leaves_the_call_open_and_ends_the_words():
    *events, ended = decoded(delta(0, text="a"), *call(1, '{"q": '))
    assert [event.index for event in events if isinstance(event, BlockEnded)] == [0]
    assert isinstance(ended, StreamEnded)
    assert not ended.complete
    assert ended.reply.calls == (
        ToolCall(id="tooluse_1", name="search", raw='{"q": ', truncated=True),
    )


def test_a_cut_inside_a_call_of_the_provider_keeps_what_came():
    started = {"toolUseId": "t1", "name": "nova_grounding", "type": "server_tool_use"}
    *_, ended = decoded(start(0, toolUse=started), delta(0, toolUse={"input": '{"que'}))
    (ran,) = ended.reply.message.blocks
    assert (ran.kind, ran.raw) == ("server", '{"que')


@pytest.mark.parametrize(
    "frame",
    [
        delta(0, text=5),
        delta(0, text={"a": 1}),
        delta(0, reasoningContent="x"),
        delta(0, citation="x"),
        delta(0, toolUse={"input": 5}),
        delta(0, image={"source": "x"}),
        delta(0, toolResult=["x"]),
        ("contentBlockDelta", {"delta": "x"}),
        ("contentBlockDelta", {"contentBlockIndex": [], "delta": 7}),
        start(0, toolUse={"toolUseId": 5}),
        start(0, toolUse=[]),
        start(0, toolResult={"toolUseId": 5}),
        ("messageStop", {"stopReason": 5}),
        ("metadata", {"usage": "x"}),
    ],
)
def test_a_frame_of_wrong_shape_is_left_out(frame):
    *events, ended = decoded(frame, delta(9, text="a"), ends("end_turn"))
    assert ended.complete
    assert [finding.code for finding in ended.reply.findings] == ["frame_dropped"]
    assert ended.reply.message.blocks == (Text(text="a"),)
    assert [event.index for event in events if isinstance(event, BlockStarted)] == [0]


def test_the_provider_decides_who_can_read_the_seals():
    *_, ended = decoded(
        delta(0, reasoningContent={"text": "a", "signature": "s"}), provider="bedrock"
    )
    assert ended.reply.message.origin.provider == "bedrock"
    assert ended.reply.message.blocks[0].opaque[0].domain == "anthropic"
