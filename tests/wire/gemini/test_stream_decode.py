"""Streams of generateContent: increments, and what they would have been as a whole."""

import json

import pytest

from canonicall.blocks import Code, Media, Opaque, Text, Thinking, ToolCall, Unknown
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    MessageStarted,
    SignatureAdded,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.streams import StreamDecoder

SEAL = Opaque("gemini-api", "signature", "c2VhbA==")


def chunk(*parts, **fields):
    candidate = {"content": {"role": "model", "parts": list(parts)}}
    if "finish" in fields:
        candidate["finishReason"] = fields.pop("finish")
    return {"candidates": [candidate], **fields}


def call(name="f", args=None, **fields):
    return {"functionCall": {"name": name, "args": args or {}}, **fields}


def piece(*values, more=True, **fields):
    held = {"partialArgs": list(values)} if values else {}
    return {"functionCall": {**fields, **held, **({"willContinue": True} if more else {})}}


def decode(*chunks, provider=""):
    decoder = StreamDecoder("gemini", provider=provider)
    events = decoder.feed(b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in chunks))
    return events + decoder.close()


def reply_of(*chunks):
    return decode(*chunks)[-1].reply


def blocks_of(*chunks):
    return reply_of(*chunks).message.blocks


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


def test_words_are_told_as_they_come_and_are_one_block():
    events = decode(
        chunk({"text": "Hel"}, modelVersion="m", responseId="r"),
        chunk({"text": "lo"}),
        chunk({"text": ""}, finish="STOP", usageMetadata={"promptTokenCount": 3}),
    )
    started, *rest, ended = events
    assert isinstance(started, MessageStarted)
    assert (started.origin.model, started.origin.response_id) == ("m", "r")
    whole = Text(text="Hello")
    assert [one for one in rest if not isinstance(one, UsageReported)] == [
        BlockStarted(0, Text(text="")),
        TextAdded(0, "Hel"),
        TextAdded(0, "lo"),
        FinishReported("stop"),
        BlockEnded(0, whole),
    ]
    assert ended.complete
    assert ended.reply.message.blocks == (whole,)
    assert ended.reply.message.origin == started.origin


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


def test_the_reason_is_told_again_when_calls_follow_it():
    events = decode(chunk({"text": "a"}, finish="STOP"), chunk(call(), finish="STOP"))
    assert of(FinishReported, events) == [FinishReported("stop"), FinishReported("tool_calls")]
    assert events[-1].reply.finish == "tool_calls"


def test_a_reason_on_every_chunk_does_not_part_the_words():
    blocks = blocks_of(chunk({"text": "a"}, finish="STOP"), chunk({"text": "b"}, finish="STOP"))
    assert blocks == (Text(text="ab"),)


@pytest.mark.parametrize(("word", "finish"), [("MAX_TOKENS", "length"), ("SAFETY", "filter")])
def test_other_reasons(word, finish):
    assert reply_of(chunk({"text": "a"}, finish=word)).finish == finish


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


def test_figures_are_totals_and_do_not_disappear():
    events = decode(
        chunk({"text": "a"}, usageMetadata={"promptTokenCount": 5, "thoughtsTokenCount": 7}),
        chunk({"text": "b"}, usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 1}),
        chunk({"text": "c"}, usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 1}),
        chunk(finish="STOP", usageMetadata={"candidatesTokenCount": 2}),
    )
    usage = events[-1].reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == (5, 9, 7)
    assert len(of(UsageReported, events)) == 3
    assert of(UsageReported, events)[-1].usage == usage


def test_fields_of_the_candidate_are_put_together():
    first = {"groundingMetadata": {"groundingChunks": [{"a": 1}], "webSearchQueries": ["q"]}}
    second = {"groundingMetadata": {"groundingChunks": [{"a": 1}, {"b": 2}]}, "avgLogprobs": -1}
    chunks = [chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")]
    chunks[0]["candidates"][0] |= first | {"logprobsResult": {"chosenCandidates": [1]}}
    chunks[1]["candidates"][0] |= second | {"logprobsResult": {"chosenCandidates": [1]}}
    assert reply_of(*chunks).native.fields == {
        "candidates": [
            {
                "groundingMetadata": {
                    "groundingChunks": [{"a": 1}, {"b": 2}],
                    "webSearchQueries": ["q"],
                },
                "logprobsResult": {"chosenCandidates": [1, 1]},
                "avgLogprobs": -1,
            }
        ]
    }


@pytest.mark.parametrize(
    "empty",
    [
        {"usageMetadata": {"promptTokenCount": 1}},
        {"candidates": []},
        {"candidates": [{}]},
        {"candidates": [{"content": {}}]},
        {"candidates": [{"content": {"role": "model"}}]},
        {"candidates": [{"content": {"parts": []}}]},
        {"candidates": [{"content": {"parts": [{}]}}]},
        {"candidates": [{"content": {"parts": [{"text": ""}]}}]},
        {"candidates": [{"finishReason": None, "content": None}]},
    ],
)
def test_chunks_without_words_say_nothing(empty):
    events = decode(empty, chunk({"text": "a"}), empty, chunk({"text": "b"}, finish="STOP"), empty)
    assert events[-1].complete
    assert events[-1].reply.message.blocks == (Text(text="ab"),)
    assert not events[-1].reply.findings


def test_the_token_limit_reached_without_any_part():
    body = {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}
    ended = decode(body)[-1]
    assert (ended.complete, ended.reply.finish, ended.reply.message.blocks) == (True, "length", ())


def test_a_blocked_prompt_is_a_complete_stream():
    events = decode({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}})
    assert of(FinishReported, events) == [FinishReported("filter")]
    assert events[-1].complete
    assert events[-1].reply.finish == "filter"
    assert not events[-1].reply.message.partial


def test_feedback_without_a_reason_blocks_nothing():
    ended = decode({"promptFeedback": {"safetyRatings": []}}, chunk({"text": "a"}, finish="STOP"))
    assert ended[-1].reply.finish == "stop"


@pytest.mark.parametrize("chunks", [[], [chunk({"text": "a"})]])
def test_an_error_inside_the_stream(chunks):
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    events = decode(*chunks, error)
    assert of(ErrorReported, events) == [ErrorReported("overloaded", "UNAVAILABLE", error)]
    ended = events[-1]
    assert (ended.complete, ended.why, ended.reply.finish) == (False, "overloaded", "error")
    assert len(ended.reply.message.blocks) == len(chunks)
    assert isinstance(events[0], MessageStarted)


def test_an_error_behind_the_reason_is_an_error_all_the_same():
    ended = decode(chunk({"text": "a"}, finish="STOP"), {"error": {"message": "late"}})[-1]
    assert (ended.complete, ended.reply.finish) == (False, "error")


def test_nothing_at_all():
    started, ended = decode()
    assert isinstance(started, MessageStarted)
    assert (ended.complete, ended.reply.message.blocks, ended.reply.finish) == (False, (), "")


def test_several_candidates_the_first_is_told():
    def of_index(index, text, **rest):
        return {"index": index, "content": {"parts": [{"text": text}]}, **rest}

    events = decode(
        {"candidates": [of_index(1, "x")]},
        {"candidates": [of_index(0, "a"), of_index(1, "y")]},
        {"candidates": [of_index(0, "b", finishReason="STOP")]},
        {"candidates": [of_index(1, "z", finishReason="STOP")]},
    )
    assert [one.text for one in of(TextAdded, events)] == ["a", "b"]
    reply = events[-1].reply
    assert reply.message.blocks == (Text(text="ab"),)
    assert reply.native.fields["candidates"][1]["content"]["parts"] == [{"text": "xyz"}]


def test_an_array_of_chunks_reads_like_events():
    chunks = [chunk({"text": "a"}), chunk(call(args={"x": "}]"}), finish="STOP")]
    decoder = StreamDecoder("gemini")
    data = json.dumps(chunks, indent=2).encode()
    events = [one for at in range(len(data)) for one in decoder.feed(data[at : at + 1])]
    assert events + decoder.close() == decode(*chunks)


def test_an_error_in_an_array():
    decoder = StreamDecoder("gemini")
    decoder.feed(b'[{"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}]')
    assert decoder.close()[-1].why == "slow"


def test_snake_case_is_read_too():
    blocks = blocks_of(
        chunk({"function_call": {"name": "f", "args": {"a_b": 1}}, "thought_signature": SEAL.value})
    )
    assert blocks == (ToolCall(name="f", args={"a_b": 1}, opaque=(SEAL,), truncated=True),)


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidates": "x"},
        {"candidates": [{"content": "x"}]},
        {"candidates": [{"content": {"parts": [{"text": 5}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": "f"}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": 1}}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"args": []}}]}}]},
        {"modelVersion": 5},
        {"usageMetadata": []},
        {"promptFeedback": "no"},
    ],
)
def test_a_chunk_of_the_wrong_shape_is_left_out_with_a_finding(wrong):
    ended = decode(chunk({"text": "a"}), wrong, chunk({"text": "b"}, finish="STOP"))[-1]
    assert ended.reply.message.text == "ab"
    assert [one.code for one in ended.reply.findings] == ["frame_dropped"]


def test_a_cut_marks_the_last_call():
    ended = decode(chunk({"text": "a"}, call("f", {"a": 1}), call("g")))[-1]
    assert not ended.complete
    assert [one.truncated for one in ended.reply.calls] == [False, True]


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
    assert [one.code for one in ended.reply.findings] == ["frame_dropped"]


def test_words_between_the_pieces_of_a_call():
    blocks = blocks_of(
        chunk(piece(name="f")),
        chunk({"text": "so"}),
        chunk(piece({"jsonPath": "$.a", "numberValue": 1}, more=False), finish="STOP"),
    )
    assert blocks == (ToolCall(name="f", args={"a": 1}), Text(text="so"))
