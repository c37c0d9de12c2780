"""What the streams of one format become in another, where recordings taught that it matters."""

import json

import pytest

from batches import each
from canonicall import (
    Message,
    Opaque,
    Origin,
    Reply,
    StreamDecoder,
    StreamEncoder,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.folding import events_of
from canonicall.verify import verify_stream
from canonicall.wire.formats import FORMATS


def sse(*frames):
    return b"".join(b"data: %b\n\n" % json.dumps(frame).encode() for frame in frames)


def decoded(data, format):
    decoder = StreamDecoder(format)
    return decoder.feed(data) + decoder.close()


def written(format, *blocks, finish="stop", origin=None, usage=None):
    reply = Reply(Message("assistant", blocks, origin=origin or Origin(), finish=finish), usage)
    data = StreamEncoder(format).feed_all(events_of(reply))
    assert list(verify_stream(data, format)) == []
    return data


def chunk(delta, finish=None, **fields):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "one", "model": "m", "choices": [choice], **fields}


# Ids.


def test_a_chat_stream_has_the_id_of_the_first_chunk_that_has_one():
    """Copilot's first chunk has an empty id and as many fields as the next."""
    first = {"choices": [], "created": 0, "id": "", "model": "m", "prompt_filter_results": []}
    second = chunk({"content": "Hi"}, created=0, system_fingerprint="fp")
    events = decoded(sse(first, second, chunk({}, "stop")), "openai-chat")
    assert events[0] == MessageStarted(
        Origin("openai", "openai-chat", model="m", response_id="one")
    )
    assert events[-1].reply.message.origin.response_id == "one"


def test_an_id_that_changes_within_a_stream_does_not_change_in_another_format():
    """Avian has two ids in a stream."""
    events = decoded(sse(chunk({"content": "Hi"}), chunk({}, "stop", id="two")), "openai-chat")
    assert events[-1].reply.message.origin.response_id == "one"
    assert b'"two"' not in StreamEncoder("gemini").feed_all(events)


def test_gemini_keeps_the_id_that_it_began_with():
    start = MessageStarted(Origin("openai", "openai-responses", response_id="one"))
    reply = Reply(Message("assistant", (Text(text="Hi"),), origin=Origin(response_id="two")))
    data = StreamEncoder("gemini").feed_all([start, *list(events_of(reply))[1:]])
    assert (data.count(b'"responseId":"one"'), data.count(b'"two"')) == (2, 0)


def test_an_error_before_the_first_chunk_stands_behind_the_start():
    decoder = StreamDecoder("openai-chat")
    first = decoder.feed(sse({"error": {"message": "overloaded", "code": 502}}))
    assert [type(event).__name__ for event in first] == ["MessageStarted", "ErrorReported"]
    assert [type(event).__name__ for event in decoder.close()] == ["StreamEnded"]


# The end.


@pytest.mark.parametrize("format", FORMATS)
def test_done_ends_chat_streams_and_no_others(format):
    assert decoded(b"data: [DONE]\n\n", format)[-1].complete == (format == "openai-chat")


@pytest.mark.parametrize("format", FORMATS)
def test_calls_count_where_no_reason_was_given(format):
    call = ToolCall(id="call_1", name="f", args={})
    again = decoded(written(format, call, finish=""), format)[-1]
    assert (again.complete, again.reply.finish) == (True, "tool_calls")


def test_usage_has_the_figures_that_clients_read():
    usage = {"prompt_tokens": 7, "host": 1}
    events = decoded(sse(chunk({"content": "Hi"}, "stop", usage=usage)), "openai-chat")
    data = StreamEncoder("openai-chat").feed_all(events)
    told = b'"usage":{"completion_tokens":0,"total_tokens":7,"prompt_tokens":7,"host":1}'
    assert told in data


def test_figures_of_another_format_are_not_taken_for_own_ones():
    data = written("openai-chat", Text(text="Hi"), usage=Usage(native={"input_tokens": 0}))
    assert b'"prompt_tokens":0' in data


# Blocks.


@pytest.mark.parametrize("format", FORMATS)
def test_words_are_told_whatever_state_they_have(format):
    state = (Opaque("openai", "item_id", "msg_1"), Opaque("gemini-api", "signature", "c2VhbA=="))
    text = Text(text="Hello", opaque=state)
    told = list(events_of(Reply(Message("assistant", (text,)))))
    assert TextAdded(0, "Hello") in told
    for origin in (Origin(), Origin("x", "openai-responses"), Origin("x", "gemini")):
        again = decoded(written(format, text, origin=origin), format)[-1].reply
        assert again.message.text == "Hello"


@pytest.mark.parametrize("format", FORMATS)
def test_what_another_provider_ran_is_no_call_of_the_clients(format):
    block = {"toolUse": {"toolUseId": "t", "name": "web", "type": "server_tool_use"}}
    state = (Opaque("anthropic", "server_block", block),)
    call = ToolCall(id="srv_1", name="web", args={"q": "x"}, kind="server", opaque=state)
    result = ToolResult(call_id="srv_1", content=(), opaque=state)
    origin = Origin("someone", "another")
    data = written(format, call, result, Text(text="Hi"), origin=origin)
    again = decoded(data, format)[-1].reply
    assert [one for one in again.calls if one.kind != "server"] == []
    assert (again.message.text, again.finish) == ("Hi", "stop")


@each("format", FORMATS)
@each("raw", ["null", "", " ", '"{}"'])
def test_no_arguments_are_an_empty_object(format, raw):
    call = ToolCall(id="call_1", name="f", raw=raw)
    data = written(format, call, finish="tool_calls")
    (again,) = decoded(data, format)[-1].reply.calls
    assert (again.args if again.raw is None else json.loads(again.raw)) == {}


def test_cohere_gets_freeform_input_in_an_object():
    call = ToolCall(id="call_1", name="run", raw='print("x")', kind="custom")
    (again,) = decoded(written("cohere", call, finish="tool_calls"), "cohere")[-1].reply.calls
    assert json.loads(again.raw) == {"input": 'print("x")'}


def test_converse_shows_life_only_inside_of_words():
    """botocore hands on events that it does not know as empty ones, at which clients fail."""
    encoder = StreamEncoder("bedrock")
    encoder.feed(MessageStarted())
    assert encoder.keep_alive() == b""
    encoder.feed(BlockStarted(0, Text(text="")))
    encoder.feed(TextAdded(0, "Hi"))
    assert b'{"contentBlockIndex":0,"delta":{"text":""}}' in encoder.keep_alive()
    encoder = StreamEncoder("bedrock")
    encoder.feed_all([MessageStarted(), BlockStarted(0, Thinking()), ThinkingAdded(0, "Hm")])
    assert encoder.keep_alive() == b""


# Thoughts of the Responses API.


def responses(*frames):
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (one["type"].encode(), json.dumps(one).encode())
        for one in frames
    )


def thought(kind, name, texts, **begun):
    """A stream with one thought, in parts."""
    response = {"id": "resp_1", "model": "m", "output": []}
    part = {"summary": "summary_text", "content": "reasoning_text"}[name]
    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    done = item | {name: [{"type": part, "text": text} for text in texts]}
    place = {"output_index": 0, "item_id": "rs_1"}
    deltas = [
        {"type": f"{kind}.delta", **place, f"{name}_index": index, "delta": piece}
        for index, text in enumerate(texts)
        for piece in (text[:2], text[2:])
    ]
    return responses(
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item | begun},
        *deltas,
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": response | {"output": [done]}},
    )


@pytest.mark.parametrize(
    ("kind", "name", "begun"),
    [
        ("response.reasoning_summary_text", "summary", {}),
        ("response.reasoning_text", "content", {"status": "in_progress", "content": []}),
        ("response.reasoning_text", "content", {}),
    ],
)
@pytest.mark.parametrize("texts", [["First."], ["First.", "Second."], ["A\n\nB", "\n\nC"]])
def test_the_parts_of_a_thought_end_as_they_were_told(kind, name, begun, texts):
    data = thought(kind, name, texts, **begun)
    events = decoded(data, "openai-responses")
    assert events[-1].reply.message.blocks[0].text == "\n\n".join(texts)
    for told in (events, events_of(events[-1].reply)):
        again = StreamEncoder("openai-responses").feed_all(told)
        assert list(verify_stream(again, "openai-responses")) == []
        (block,) = decoded(again, "openai-responses")[-1].reply.message.blocks
        assert block.text == "\n\n".join(texts)


def test_the_summary_of_a_thought_comes_back_in_its_parts():
    events = decoded(
        thought("response.reasoning_summary_text", "summary", ["First.", "Second."]),
        "openai-responses",
    )
    again = decoded(StreamEncoder("openai-responses").feed_all(events), "openai-responses")
    assert again[-1].reply.message.blocks == events[-1].reply.message.blocks


def test_calls_end_with_the_arguments_that_were_told():
    """Messages has arguments as an object in the end; written again, the blanks would be others."""
    call = ToolCall(id="call_1", name="f", args={"a": 1})
    reply = Reply(Message("assistant", (call,), finish="tool_calls"))
    events = [
        MessageStarted(Origin("anthropic", "anthropic")),
        BlockStarted(0, ToolCall(id="call_1", name="f")),
        ArgumentsAdded(0, '{"a":  1}'),
        BlockEnded(0, call),
        StreamEnded(reply),
    ]
    data = StreamEncoder("openai-responses").feed_all(events)
    assert list(verify_stream(data, "openai-responses")) == []
    assert data.count(b'"arguments":"{\\"a\\":  1}"') == 3


RENAMED = responses(
    {"type": "response.created", "response": {"id": "resp_1", "model": "m", "output": []}},
    {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {"type": "function_call", "id": "fc", "call_id": "call_A", "name": "f"},
    },
    {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"a": 1}'},
    {
        "type": "response.output_item.done",
        "output_index": 0,
        "item": {"type": "function_call", "id": "fc", "call_id": "call_B", "name": "f"},
    },
    {"type": "response.completed", "response": {"id": "resp_1", "model": "m", "output": []}},
)


@pytest.mark.parametrize("format", FORMATS)
def test_a_call_keeps_the_id_that_its_client_has(format):
    """The provider ends the call under another id; a client that was told the first keeps it."""
    data = StreamEncoder(format).feed_all(decoded(RENAMED, "openai-responses"))
    assert list(verify_stream(data, format)) == []
    (call,) = decoded(data, format)[-1].reply.calls
    assert call.args == {"a": 1}
    assert call.id == ("call_B" if format == "gemini" else "call_A")
    assert (b"call_A" in data) != (b"call_B" in data)
