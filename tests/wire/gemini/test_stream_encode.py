"""Events as streams of generateContent, judged by Google's own client."""

import json

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
    Unknown,
)
from canonicall.codec.streams import StreamDecoder, StreamEncoder
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
from canonicall.folding import events_of
from canonicall.reply import Reply, Usage
from canonicall.testing.strategies import calls, media, texts, thoughts
from canonicall.wire.gemini.response import decode_response, encode_response
from genai_reader import genai, read_with_genai
from replies import unmarked

OWN = Origin("gemini", "gemini", model="m", response_id="r")
SEAL = Opaque("gemini-api", "signature", "c2VhbA==")


def encode(*events):
    return StreamEncoder("gemini").feed_all(events)


def chunks_of(data):
    return [json.loads(one.removeprefix(b"data: ")) for one in data.split(b"\n\n") if one.strip()]


def parts_of(data):
    return [
        part
        for chunk in chunks_of(data)
        for candidate in chunk.get("candidates", [])
        for part in candidate["content"]["parts"]
    ]


def ended(*blocks, finish="stop", origin=OWN, **fields):
    return StreamEnded(Reply(Message("assistant", blocks, origin=origin, finish=finish), **fields))


def test_words_go_out_as_they_come():
    encoder = StreamEncoder("gemini")
    encoder.feed(MessageStarted(OWN))
    assert encoder.feed(BlockStarted(0, Text(text=""))) == b""
    line = (
        b'data: {"candidates":[{"content":{"parts":[{"text":"%s"}],"role":"model"}}],'
        b'"modelVersion":"m","responseId":"r"}\n\n'
    )
    assert encoder.feed(TextAdded(0, "Hel")) == line % b"Hel"
    assert encoder.feed(TextAdded(0, "lo")) == line % b"lo"
    assert encoder.feed(BlockEnded(0, Text(text="Hello"))) == b""


def test_the_last_chunk_has_the_reason_and_the_usage():
    usage = Usage(3, 5, 1, 0, 2)
    last = chunks_of(encode(MessageStarted(OWN), ended(finish="length", usage=usage)))[-1]
    assert last == {
        "candidates": [
            {"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "MAX_TOKENS"}
        ],
        "usageMetadata": {
            "promptTokenCount": 3,
            "cachedContentTokenCount": 1,
            "candidatesTokenCount": 3,
            "thoughtsTokenCount": 2,
            "totalTokenCount": 8,
        },
        "modelVersion": "m",
        "responseId": "r",
    }


def test_usage_that_was_told_on_the_way_is_not_lost():
    data = encode(MessageStarted(OWN), UsageReported(Usage(3, 5)), ended())
    assert chunks_of(data)[-1]["usageMetadata"]["promptTokenCount"] == 3


def test_thoughts_and_their_signature():
    data = encode(
        MessageStarted(OWN),
        BlockStarted(0, Thinking()),
        ThinkingAdded(0, "hm"),
        SignatureAdded(0, SEAL),
        BlockEnded(0, Thinking(text="hm", opaque=(SEAL,))),
        ended(),
    )
    assert parts_of(data) == [
        {"text": "hm", "thought": True},
        {"text": "", "thought": True, "thoughtSignature": SEAL.value},
        {"text": ""},
    ]


def test_a_call_goes_out_whole():
    block = ToolCall(id="x", name="f", raw='{"a": 1}', opaque=(SEAL,))
    data = encode(
        MessageStarted(OWN),
        BlockStarted(0, ToolCall(id="x", name="f")),
        ArgumentsAdded(0, '{"a"'),
        ArgumentsAdded(0, ": 1}"),
        BlockEnded(0, block),
        FinishReported("tool_calls"),
    )
    call = {"functionCall": {"id": "x", "name": "f", "args": {"a": 1}}}
    assert parts_of(data) == [call | {"thoughtSignature": SEAL.value}]


@pytest.mark.parametrize("raw", [None, "", "{}"])
def test_a_call_without_arguments_has_an_empty_object(raw):
    block = ToolCall(name="f", raw=raw)
    data = encode(BlockStarted(0, ToolCall(name="f")), BlockEnded(0, block), ended(block))
    assert parts_of(data)[0] == {"functionCall": {"name": "f", "args": {}}}


def test_calls_that_overlap_come_in_the_order_they_began():
    names = [
        part["functionCall"]["name"]
        for part in parts_of(
            encode(
                BlockStarted(0, ToolCall(name="f")),
                BlockStarted(1, ToolCall(name="g")),
                ArgumentsAdded(1, "{}"),
                BlockEnded(1, ToolCall(name="g", raw="{}")),
                ArgumentsAdded(0, "{}"),
                BlockEnded(0, ToolCall(name="f", raw="{}")),
                ended(),
            )
        )
        if "functionCall" in part
    ]
    assert names == ["f", "g"]


def test_a_cut_is_an_error_and_its_call_is_never_written():
    """Decoders of formats without ends end the call that was cut; the reply knows better."""
    block = ToolCall(name="f", raw='{"a": ')
    message = Message("assistant", (replace(block, truncated=True),), partial=True)
    data = encode(
        MessageStarted(OWN),
        BlockStarted(0, ToolCall(name="f")),
        ArgumentsAdded(0, '{"a": '),
        BlockEnded(0, block),
        StreamEnded(Reply(message), complete=False, why="cut"),
    )
    assert chunks_of(data) == [{"error": {"code": 500, "message": "cut", "status": "INTERNAL"}}]
    with pytest.raises(genai.errors.ServerError, match="cut"):
        read_with_genai(data)


def test_an_error_of_the_provider_is_passed_on():
    body = {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE", "details": [{}]}}
    end = StreamEnded(Reply(Message("assistant", partial=True)), complete=False, why="busy")
    told = ErrorReported("busy", "UNAVAILABLE", body)
    assert chunks_of(encode(MessageStarted(OWN), told, end)) == [body]


def test_an_error_of_another_provider_gets_googles_word():
    end = StreamEnded(Reply(Message("assistant", partial=True)), complete=False, why="busy")
    told = ErrorReported("busy", "overloaded_error", {"type": "error"})
    origin = Origin("anthropic", "anthropic")
    assert chunks_of(encode(MessageStarted(origin), told, end)) == [
        {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}
    ]


def test_a_stream_that_nobody_ended():
    encoder = StreamEncoder("gemini")
    encoder.feed(MessageStarted(OWN))
    assert "error" in chunks_of(encoder.close())[0]
    assert encoder.close() == b""


def test_a_reply_of_nothing_is_a_stream_all_the_same():
    read = read_with_genai(encode(ended(finish="")))
    assert (read.text, read.calls, read.finish) == ("", [], "STOP")


def test_a_sign_of_life_does_not_disturb_the_client():
    encoder = StreamEncoder("gemini")
    data = encoder.keep_alive()
    for event in events_of(ended(Text(text="Hi")).reply):
        data += encoder.feed(event) + encoder.keep_alive()
    assert read_with_genai(data).text == "Hi"
    decoder = StreamDecoder("gemini")
    assert (decoder.feed(data) + decoder.close())[-1].reply.message.text == "Hi"


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029", "\x1c", "\r"])
def test_no_character_of_the_words_ends_a_line(char):
    """Google's client splits lines at all of these."""
    said = f"a{char}b"
    blocks = Text(text=said), ToolCall(name="f", args={"x": said})
    read = read_with_genai(encode(*events_of(ended(*blocks).reply)))
    assert (read.text, read.calls) == (said, [("", "f", {"x": said})])


def test_state_of_another_provider_is_not_written():
    foreign = Opaque("anthropic", "signature", "sig")
    blocks = (
        Thinking(text="hm", opaque=(foreign,)),
        Text(text="a", opaque=(foreign,)),
        ToolCall(name="f", args={}, opaque=(foreign,)),
    )
    reply = ended(*blocks, origin=Origin("anthropic", "anthropic")).reply
    data = encode(*events_of(reply))
    assert b"sig" not in data
    assert "sig" not in json.dumps(encode_response(reply))
    assert len(parts_of(data)) == 4


def test_words_with_fields_of_their_own_are_written_whole():
    block = Text(text="ab", native=Native("gemini", {"partMetadata": {"k": 1}}))
    data = encode(*events_of(ended(block).reply))
    assert parts_of(data)[0] == {"text": "ab", "partMetadata": {"k": 1}}


def test_everything_else_is_written_whole():
    blocks = (
        Code(code="1", language="python"),
        Media(media_type="image/png", data="aGk="),
        Unknown(native=Native("gemini", {"codeExecutionResult": {"output": "1"}})),
    )
    assert [next(iter(part)) for part in parts_of(encode(*events_of(ended(*blocks).reply)))] == [
        "executableCode",
        "inlineData",
        "codeExecutionResult",
        "text",
    ]


FINISHES = st.sampled_from(
    ["stop", "tool_calls", "length", "filter", "malformed_call", "paused", "error"]
)
own_seals = st.builds(lambda value: Opaque("gemini-api", "signature", value), st.text(max_size=3))
signed = st.builds(
    lambda block, seal: replace(block, opaque=(seal,)), texts() | thoughts() | calls(), own_seals
)
replies = st.builds(
    lambda blocks, finish, origin, usage: Reply(
        Message("assistant", tuple(blocks), origin=origin, finish=finish), usage
    ),
    st.lists(texts() | thoughts() | calls() | signed | media(), max_size=6),
    FINISHES,
    st.sampled_from([OWN, Origin("openai", "openai-chat", model="gpt"), None]),
    st.none() | st.builds(Usage, st.integers(0, 9), st.integers(5, 9)),
)


def joined(reply):
    """`reply` with words as a stream has them: one block for all of a kind in a row.

    Two signatures are two blocks, and words that say nothing are not there.
    """
    blocks = []
    for block in reply.message.blocks:
        last = blocks[-1] if blocks else None
        is_words = isinstance(block, (Text, Thinking))
        if is_words and not block.text and not block.opaque:
            continue
        if (
            is_words
            and type(last) is type(block)
            and (not last.opaque or not block.opaque or last.opaque == block.opaque)
        ):
            opaque = last.opaque or block.opaque
            blocks[-1] = replace(last, text=last.text + block.text, opaque=opaque)
        else:
            blocks.append(block)
    return replace(reply, message=replace(reply.message, blocks=tuple(blocks)))


@given(replies)
def test_a_reply_is_the_same_streamed_and_whole(reply):
    decoder = StreamDecoder("gemini")
    events = decoder.feed(encode(*events_of(reply))) + decoder.close()
    whole = decode_response(encode_response(reply))
    assert events[-1].complete
    marked = joined(whole)
    assert replace(unmarked(events[-1].reply), findings=()) == replace(marked, findings=())


@settings(max_examples=40)
@given(replies)
def test_the_client_reads_what_the_reply_says(reply):
    reply = replace(
        reply, message=replace(reply.message, blocks=tuple(map(real, reply.message.blocks)))
    )
    read = read_with_genai(encode(*events_of(reply)))
    blocks = reply.message.blocks
    assert read.text == "".join(one.text for one in blocks if isinstance(one, Text))
    assert read.thoughts == "".join(one.text for one in blocks if isinstance(one, Thinking))
    assert [name for _, name, _ in read.calls] == [one.name for one in reply.calls]


def real(block):
    """The client reads signatures as base64, and refuses what is none."""
    return replace(block, opaque=(SEAL,) if block.opaque else ())
