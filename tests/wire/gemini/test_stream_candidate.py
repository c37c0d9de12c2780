"""The parts of a streamed candidate: words, thoughts, signatures, calls in pieces."""

import pytest

from canonicall.blocks import Code, Media, Text, Thinking, ToolCall, Unknown
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    FinishReported,
    SignatureAdded,
    StreamEnded,
    ThinkingAdded,
)
from wire.gemini.chunks import SEAL, blocks_of, call, chunk, decode, of, piece, reply_of


def test_thoughts_and_words_are_told_apart():
    events = decode(
        chunk({"text": "hm", "thought": True}),
        chunk({"text": " hm", "thought": True}, {"text": "Yes"}),
        chunk({"text": "!"}, finish="STOP"),
    )
    assert [one.text for one in of(ThinkingAdded, events)] == ["hm", " hm"]
    assert events[-1].reply.message.blocks == (Thinking(text="hm hm"), Text(text="Yes!"))


def test_a_signature_on_an_empty_part_at_the_end_belongs_to_the_words():
    events = decode(
        chunk({"text": "Hi"}),
        chunk({"text": "", "thoughtSignature": SEAL.value}, finish="STOP"),
    )
    assert of(SignatureAdded, events) == [SignatureAdded(0, SEAL)]
    assert events[-1].reply.message.blocks == (Text(text="Hi", opaque=(SEAL,)),)


def test_a_signature_on_the_first_words_does_not_part_a_sentence():
    blocks = blocks_of(
        chunk({"text": "I am", "thoughtSignature": SEAL.value}),
        chunk({"text": " sorry."}, finish="STOP"),
    )
    assert blocks == (Text(text="I am sorry.", opaque=(SEAL,)),)


def test_two_signatures_are_two_parts():
    blocks = blocks_of(
        chunk({"text": "a", "thoughtSignature": "MQ=="}),
        chunk({"text": "b", "thoughtSignature": "Mg=="}, finish="STOP"),
    )
    assert [(one.text, one.opaque[0].value) for one in blocks] == [("a", "MQ=="), ("b", "Mg==")]


def test_a_signature_of_a_thought_stays_with_the_thought():
    blocks = blocks_of(
        chunk({"text": "hm", "thought": True}),
        chunk({"text": "", "thought": True, "thoughtSignature": SEAL.value}, {"text": "Hi"}),
    )
    assert blocks == (Thinking(text="hm", opaque=(SEAL,)), Text(text="Hi"))


def test_a_signature_behind_calls_keeps_a_part_of_its_own():
    blocks = blocks_of(
        chunk(call()), chunk({"text": "", "thoughtSignature": SEAL.value}, finish="STOP")
    )
    assert blocks == (ToolCall(name="f", args={}), Text(text="", opaque=(SEAL,)))


def test_a_signature_without_words_is_kept():
    assert blocks_of(chunk({"thoughtSignature": SEAL.value})) == (Text(text="", opaque=(SEAL,)),)


def test_vertex_signs_in_a_domain_of_its_own():
    events = decode(chunk({"text": "a", "thoughtSignature": "MQ=="}), provider="vertex")
    assert of(SignatureAdded, events)[0].opaque.domain == "vertex"
    assert events[-1].reply.message.blocks[0].opaque[0].domain == "vertex"


def test_a_call_is_whole_in_one_part():
    events = decode(chunk(call(args={"a": [1]}, thoughtSignature=SEAL.value), finish="STOP"))
    assert events[1:5] == [
        BlockStarted(0, ToolCall(name="f", opaque=(SEAL,))),
        ArgumentsAdded(0, '{"a":[1]}'),
        BlockEnded(0, ToolCall(name="f", args={"a": [1]}, opaque=(SEAL,))),
        FinishReported("tool_calls"),
    ]


def test_calls_spread_over_chunks_beside_words():
    reply = reply_of(
        chunk({"text": "I look."}, call("f", {"a": 1})),
        chunk(call("g")),
        chunk({"functionCall": {"id": "x1", "name": "f"}}),
        chunk({"text": ""}, finish="STOP"),
    )
    assert reply.message.blocks == (
        Text(text="I look."),
        ToolCall(name="f", args={"a": 1}),
        ToolCall(name="g", args={}),
        ToolCall(id="x1", name="f", args={}),
    )
    assert reply.finish == "tool_calls"


def test_code_its_output_and_media_are_whole():
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    output = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    image = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    events = decode(chunk(code), chunk(output, {"text": "so"}), chunk(image, finish="STOP"))
    blocks = events[-1].reply.message.blocks
    assert [type(one) for one in blocks] == [Code, Unknown, Text, Media]
    assert [one.block for one in of(BlockEnded, events)] == list(blocks)


def test_a_part_nobody_knows_survives():
    blocks = blocks_of(chunk({"hologram": {"x": 1}}, finish="STOP"))
    assert blocks[0].native.fields == {"hologram": {"x": 1}}


def test_words_with_fields_of_their_own_are_a_part_of_their_own():
    blocks = blocks_of(chunk({"text": "a"}, {"text": "b", "partMetadata": {"k": 1}}, {"text": "c"}))
    assert [one.text for one in blocks] == ["a", "b", "c"]
    assert blocks[1].native.fields == {"partMetadata": {"k": 1}}


STREAMED = [
    chunk(piece(name="f") | {"thoughtSignature": SEAL.value}),
    chunk(piece({"jsonPath": "$.city", "stringValue": "Bos", "willContinue": True})),
    chunk(piece()),
    chunk(piece({"jsonPath": "$.city", "stringValue": "ton"})),
    chunk(piece({"jsonPath": "$.days[0]", "numberValue": 1})),
    chunk({"functionCall": {}}),
    chunk(piece(name="g")),
    chunk({"functionCall": {}}, finish="STOP"),
]


def test_streamed_arguments_are_told_as_growing_text():
    events = decode(*STREAMED)
    assert [one.text for one in of(ArgumentsAdded, events) if one.index == 0] == [
        "{",
        '"city":"Bos',
        'ton"',
        ',"days":[1',
        "]}",
    ]
    calls = (
        ToolCall(name="f", args={"city": "Boston", "days": [1]}, opaque=(SEAL,)),
        ToolCall(name="g", args={}),
    )
    assert events[-1].reply.message.blocks == calls
    assert [one.block for one in of(BlockEnded, events)] == list(calls)
    assert of(BlockStarted, events)[0].block == ToolCall(name="f", opaque=(SEAL,))
    assert events[-1].reply.finish == "tool_calls"


@pytest.mark.parametrize("cut", range(1, len(STREAMED)))
def test_a_cut_in_streamed_arguments_never_ends_the_call(cut):
    events = decode(*STREAMED[:cut])
    ended = events[-1]
    assert isinstance(ended, StreamEnded)
    last = ended.reply.calls[-1]
    assert last.truncated
    is_open = cut not in (6, 8)
    told = "".join(
        one.text for one in of(ArgumentsAdded, events) if one.index == len(ended.reply.calls) - 1
    )
    if is_open:
        assert last.args is None
        assert last.raw == told
        assert len(of(BlockEnded, events)) == len(ended.reply.calls) - 1


def test_a_call_that_never_ends_is_not_one_to_run():
    (block,) = blocks_of(*STREAMED[:3], chunk({"text": ""}, finish="STOP"))
    assert (block.args, block.raw) == (None, '{"city":"Bos')


def test_another_name_opens_another_call():
    blocks = blocks_of(
        chunk(piece({"jsonPath": "$.a", "numberValue": 1}, name="f")),
        chunk(piece({"jsonPath": "$.b", "numberValue": 2}, name="g", more=False), finish="STOP"),
    )
    assert [(one.name, one.args) for one in blocks] == [("f", None), ("g", {"b": 2})]


def test_a_repeated_name_goes_on_with_the_call():
    (block,) = blocks_of(
        chunk(piece({"jsonPath": "$.a", "numberValue": 1}, name="f", id="x")),
        chunk(piece({"jsonPath": "$.b", "numberValue": 2}, name="f", id="x", more=False)),
        chunk(finish="STOP"),
    )
    assert (block.id, block.args) == ("x", {"a": 1, "b": 2})


def test_an_argument_that_cannot_be_placed_spoils_the_call():
    ended = decode(
        chunk(piece({"jsonPath": "$.a", "numberValue": 1}, name="f")),
        chunk(piece({"jsonPath": "$.a.b", "numberValue": 2})),
        chunk({"functionCall": {}}, finish="STOP"),
    )[-1]
    (block,) = ended.reply.message.blocks
    assert (block.args, block.raw) == (None, '{"a":1')
    codes = [one.code for one in ended.reply.findings]
    assert codes == ["frame_dropped", "arguments_unreadable"]


def test_words_between_the_pieces_of_a_call():
    blocks = blocks_of(
        chunk(piece(name="f")),
        chunk({"text": "so"}),
        chunk(piece({"jsonPath": "$.a", "numberValue": 1}, more=False), finish="STOP"),
    )
    assert blocks == (ToolCall(name="f", args={"a": 1}), Text(text="so"))
