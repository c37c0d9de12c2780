"""Events as lines of Ollama's chat API."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall.blocks import (
    Code,
    Media,
    Message,
    Native,
    Origin,
    Summary,
    Text,
    Thinking,
    ToolCall,
)
from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.folding import events_of
from canonicall.reply import Reply, Usage
from canonicall.testing.strategies import calls, media, texts, thoughts
from canonicall.wire.ollama.response import decode_response, encode_response
from canonicall.wire.ollama.stream_encode import StreamEncoding

OWN = Origin("ollama", "ollama", model="m")
TIME = "1970-01-01T00:00:00Z"


def encode(*events):
    return StreamEncoder("ollama").feed_all(events)


def lines_of(data):
    """As Ollama's client reads: a line, an object; the text is split as httpx splits it."""
    return [json.loads(line) for line in data.decode().splitlines()]


def ended(*blocks, finish="stop", **fields):
    return StreamEnded(Reply(Message("assistant", blocks, origin=OWN, finish=finish), **fields))


def test_words_go_out_as_they_come():
    encoder = StreamEncoder("ollama")
    encoder.feed(MessageStarted(OWN))
    assert encoder.feed(BlockStarted(0, Thinking())) == b""
    start = b'{"model":"m","created_at":"1970-01-01T00:00:00Z","message":{"role":"assistant",'
    thought = start + b'"content":"","thinking":"hm"},"done":false}\n'
    assert encoder.feed(ThinkingAdded(0, "hm")) == thought
    assert encoder.feed(BlockEnded(0, Thinking(text="hm"))) == b""
    encoder.feed(BlockStarted(1, Text(text="")))
    words = start + b'"content":"%s"},"done":false}\n'
    assert encoder.feed(TextAdded(1, "a")) == words % b"a"
    assert encoder.feed(TextAdded(1, "b")) == words % b"b"


def test_the_last_line():
    native = Native("ollama", {"total_duration": 9})
    data = encode(MessageStarted(OWN), UsageReported(Usage(5, 2)), ended(native=native))
    assert lines_of(data) == [
        {
            "model": "m",
            "created_at": TIME,
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 5,
            "eval_count": 2,
            "total_duration": 9,
        }
    ]


def test_calls_go_out_whole_and_numbered():
    data = encode(
        MessageStarted(OWN),
        BlockStarted(0, ToolCall(id="x", name="f")),
        BlockStarted(1, ToolCall(id="y", name="g")),
        ArgumentsAdded(0, '{"a":'),
        BlockEnded(1, ToolCall(id="y", name="g", raw="")),
        ArgumentsAdded(0, "1}"),
        BlockEnded(0, ToolCall(id="x", name="f", raw='{"a":1}')),
        ended(finish="tool_calls"),
    )
    first, second, last = lines_of(data)
    assert first["message"]["tool_calls"] == [
        {"id": "x", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}
    ]
    assert second["message"]["tool_calls"] == [
        {"id": "y", "function": {"index": 1, "name": "g", "arguments": {}}}
    ]
    assert (last["done"], last["done_reason"]) == (True, "stop")


def test_a_cut_is_an_error_and_its_call_is_never_written():
    block = ToolCall(id="x", name="f", raw='{"a": ')
    data = encode(
        MessageStarted(OWN),
        BlockStarted(0, ToolCall(id="x", name="f")),
        ArgumentsAdded(0, '{"a": '),
        BlockEnded(0, block),
        StreamEnded(Reply(Message("assistant", (block,), partial=True)), complete=False, why="cut"),
    )
    assert lines_of(data) == [{"error": "cut"}]


def test_a_stream_that_nobody_ended():
    assert "error" in lines_of(StreamEncoder("ollama").close())[0]


def test_a_reply_of_nothing_is_a_stream_all_the_same():
    (last,) = lines_of(encode(ended(finish="")))
    assert last["done"]


def test_a_sign_of_life_does_not_disturb_a_reader_of_lines():
    encoder = StreamEncoder("ollama")
    data = encoder.keep_alive()
    for event in events_of(ended(Text(text="Hi")).reply):
        data += encoder.feed(event) + encoder.keep_alive()
    data = data.rstrip(b" ")
    assert "".join(line["message"]["content"] for line in lines_of(data)) == "Hi"


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029", "\x1c", "\r"])
def test_no_character_of_the_words_ends_a_line(char):
    said = f"a{char}b"
    data = encode(*events_of(ended(Text(text=said), ToolCall(name="f", args={"x": said})).reply))
    first, second, _ = lines_of(data)
    assert first["message"]["content"] == said
    assert second["message"]["tool_calls"][0]["function"]["arguments"] == {"x": said}


others = st.sampled_from(
    [
        Code(code="1", language="python"),
        Summary(text="before"),
        Media(media_type="image/png", url="https://x.example/a.png"),
    ]
)
replies = st.builds(
    lambda blocks, finish, usage: Reply(
        Message("assistant", tuple(blocks), origin=OWN, finish=finish), usage
    ),
    st.lists(texts() | thoughts() | calls() | media() | others, max_size=6),
    st.sampled_from(["", "stop", "tool_calls", "length"]),
    st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
)


@given(replies)
def test_a_reply_is_the_same_streamed_and_whole(reply):
    encoding = StreamEncoding()
    data = b"".join(encoding.event(event) for event in events_of(reply))
    lines_of(data)
    decoder = StreamDecoder("ollama")
    last = (decoder.feed(data) + decoder.close())[-1]
    assert last.complete
    whole = decode_response(encode_response(reply))
    assert replace(last.reply, message=unmarked(last.reply.message)) == whole


def unmarked(message):
    """`message` without the mark of calls that the token limit may have cut."""
    blocks = tuple(
        replace(block, truncated=False) if isinstance(block, ToolCall) else block
        for block in message.blocks
    )
    return replace(message, blocks=blocks)
