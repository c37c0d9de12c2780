"""Blocks of a streamed message: thoughts, sources, what the provider ran, odd numbers."""

from base64 import b64encode

from canonicall.blocks import Media, Native, Opaque, Text, Thinking, ToolCall, ToolResult, Unknown
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    SignatureAdded,
    TextAdded,
    ThinkingAdded,
)
from wire.bedrock.stream_events import call, decoded, delta, ends, reply_of, start, stop


def test_a_thought_and_its_seal():
    *events, ended = decoded(
        delta(0, reasoningContent={"text": "Let me"}),
        delta(0, reasoningContent={"text": " see"}),
        delta(0, reasoningContent={"signature": "c2ln"}),
        stop(0),
        ends("end_turn"),
    )
    seal = Opaque("anthropic", "signature", "c2ln")
    whole = Thinking(text="Let me see", opaque=(seal,))
    assert events[1:-1] == [
        BlockStarted(0, Thinking()),
        ThinkingAdded(0, "Let me"),
        ThinkingAdded(0, " see"),
        SignatureAdded(0, seal),
        BlockEnded(0, whole),
    ]
    assert ended.reply.message.blocks == (whole,)


def test_a_seal_in_pieces_is_one_seal():
    reply = reply_of(
        delta(0, reasoningContent={"text": ""}),
        delta(0, reasoningContent={"signature": "ab"}),
        delta(0, reasoningContent={"signature": "cd"}),
        stop(0),
    )
    assert reply.message.blocks == (Thinking(opaque=(Opaque("anthropic", "signature", "abcd"),)),)


def test_hidden_reasoning_comes_whole():
    blob = b64encode(b"hidden thought").decode()
    *events, ended = decoded(
        delta(0, reasoningContent={"redactedContent": blob}), stop(0), ends("end_turn")
    )
    whole = Thinking(opaque=(Opaque("anthropic", "redacted", "hidden thought"),))
    assert events[1:3] == [BlockStarted(0, whole), BlockEnded(0, whole)]
    assert ended.reply.message.blocks == (whole,)


def test_hidden_reasoning_in_pieces_is_joined_as_bytes():
    pieces = [b64encode(part).decode() for part in (b"hid", b"den th", b"ought", b"!!")]
    deltas = [delta(0, reasoningContent={"redactedContent": piece}) for piece in pieces]
    (block,) = reply_of(*deltas, stop(0)).message.blocks
    assert block.opaque[0].value == "hidden thought!!"


def test_sources_without_words_are_a_block_of_their_own():
    """Nova's grounding: words, then a block of sources, then more words."""
    source = {"location": {"web": {"url": "https://a.example", "domain": "a.example"}}}
    reply = reply_of(
        delta(0, text="So."), stop(0), delta(1, citation=source), delta(1, citation=source), stop(1)
    )
    cited = {"citationsContent": {"citations": [source, source]}}
    assert reply.message.blocks == (Text(text="So."), Unknown(native=Native("bedrock", cited)))


def test_words_with_sources_are_words():
    *events, ended = decoded(
        delta(0, text="So."), delta(0, citation={"title": "A"}), stop(0), ends("end_turn")
    )
    cited = {"citationsContent": {"content": [{"text": "So."}], "citations": [{"title": "A"}]}}
    assert ended.reply.message.blocks == (Text(text="So.", native=Native("bedrock", cited)),)
    assert TextAdded(0, "So.") in events


def test_what_ran_on_the_side_of_the_provider_comes_whole():
    started = {"toolUseId": "t1", "name": "nova_grounding", "type": "server_tool_use"}
    result = {"toolUseId": "t1", "type": "nova_grounding_result", "status": "success"}
    events = decoded(
        start(0, toolUse=started),
        delta(0, toolUse={"input": '{"query":'}),
        delta(0, toolUse={"input": '"x"}'}),
        stop(0),
        start(1, toolResult=result),
        delta(1, toolResult=[{"text": "[HIDDEN]"}]),
        delta(1, toolResult=[{"json": {"a": 1}}]),
        stop(1),
        ends("end_turn"),
    )
    ran, answer = events[-1].reply.message.blocks
    assert isinstance(ran, ToolCall)
    assert (ran.kind, ran.args) == ("server", {"query": "x"})
    assert ran.opaque[0].value == {"toolUse": {**started, "input": {"query": "x"}}}
    assert isinstance(answer, ToolResult)
    content = [{"text": "[HIDDEN]"}, {"json": {"a": 1}}]
    assert answer.opaque[0].value == {"toolResult": {**result, "content": content}}
    assert events[-1].reply.finish == "stop"
    assert not any(isinstance(event, ArgumentsAdded) for event in events)
    assert [event.block for event in events if isinstance(event, BlockEnded)] == [ran, answer]


def test_an_image_comes_whole():
    first, second = (b64encode(part).decode() for part in (b"im", b"age"))
    reply = reply_of(
        start(0, image={"format": "png"}),
        delta(0, image={"source": {"bytes": first}}),
        delta(0, image={"source": {"bytes": second}}),
        stop(0),
    )
    image = Media(media_type="image/png", data=b64encode(b"image").decode())
    assert reply.message.blocks == (image,)


def test_a_kind_of_block_that_is_not_known_survives():
    reply = reply_of(
        delta(0, hologram={"depth": 3}), stop(0), start(1, smell={"note": "oud"}), stop(1)
    )
    assert [block.native.fields for block in reply.message.blocks] == [
        {"hologram": {"depth": 3}},
        {"smell": {"note": "oud"}},
    ]
    assert all(isinstance(block, Unknown) for block in reply.message.blocks)


def test_parallel_blocks_are_told_apart_by_their_number():
    first, second = call(0, '{"a":1}', id="t0"), call(1, '{"b":2}', id="t1")
    mixed = [frame for pair in zip(first, second, strict=True) for frame in pair]
    reply = reply_of(*mixed, stop(1), stop(0), reason="tool_use")
    assert [(one.id, one.raw) for one in reply.calls] == [("t0", '{"a":1}'), ("t1", '{"b":2}')]


def test_another_kind_in_the_place_of_an_open_block_is_another_block():
    reply = reply_of(delta(0, text="a"), delta(0, reasoningContent={"text": "b"}), stop(0))
    assert reply.message.blocks == (Text(text="a"), Thinking(text="b"))


def test_pieces_of_a_call_that_never_started():
    reply = reply_of(delta(0, toolUse={"input": "{}"}), stop(0))
    assert reply.calls == (ToolCall(args={}, raw="{}"),)


def test_a_number_that_is_left_out_is_the_last_one():
    reply = reply_of(
        delta(3, text="a"),
        ("contentBlockDelta", {"delta": {"text": "b"}}),
        ("contentBlockStop", {}),
    )
    assert reply.message.blocks == (Text(text="ab"),)


def test_an_end_of_a_block_that_never_was():
    assert reply_of(stop(0)).message.blocks == ()
