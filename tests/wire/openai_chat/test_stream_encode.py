"""Events as the chunks of a chat completion: the exact bytes, and what comes back from them."""

import json
from functools import partial

import msgspec
import pytest
from hypothesis import given
from msgspec.structs import replace

from batches import each
from canonicall import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    Media,
    Message,
    MessageStarted,
    Native,
    Opaque,
    Origin,
    Reply,
    StreamEncoder,
    StreamEnded,
    Text,
    Thinking,
    ToolCall,
    Usage,
    events_of,
    fold,
)
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.testing.strategies import replies
from corpus.support import needs_corpus, responses
from replies import with_calls, with_own_ids

from streaming import events_in

FORMAT = "openai-chat"


def encoded(reply, *, seed=""):
    return StreamEncoder(FORMAT, seed=seed).feed_all(events_of(reply))


decoded = partial(events_in, FORMAT)


def said(*blocks, finish="stop", usage=None, native=None, **origin):
    return Reply(
        Message("assistant", blocks, origin=Origin(**origin), finish=finish), usage, native=native
    )


def deltas(data):
    """The delta of every chunk that has one, but for the role at the start."""
    chunks = [
        json.loads(line.removeprefix(b"data: "))
        for line in data.split(b"\n\n")
        if line.startswith(b"data: {")
    ]
    found = [chunk["choices"][0]["delta"] for chunk in chunks if chunk.get("choices")]
    assert found[0] == {"role": "assistant", "content": ""}
    return [delta for delta in found[1:] if delta]


def calls_in(data):
    return [piece for delta in deltas(data) for piece in delta.get("tool_calls", ())]


GOLDEN = b"""\
data: {"id":"r1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"r1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":null}]}

data: {"id":"r1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"content":"Hi \\"you\\"\xc3\xa9"},"finish_reason":null}]}

data: {"id":"r1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":null}]}

data: {"id":"r1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a\\":1}"}}]},"finish_reason":null}]}

data: {"id":"r1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"r1","object":"chat.completion.chunk","created":0,"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}

data: [DONE]

"""


def test_the_bytes_of_a_small_stream():
    reply = said(
        Thinking(text="hm"),
        Text(text='Hi "you"é'),
        ToolCall(id="call_1", name="f", args={"a": 1}),
        finish="tool_calls",
        usage=Usage(3, 4),
        model="m",
        response_id="r1",
    )
    assert encoded(reply) == GOLDEN


def test_a_reply_of_nothing_is_a_stream_as_well():
    data = StreamEncoder(FORMAT).feed(StreamEnded(Reply(Message("assistant"))))
    assert data.endswith(b'"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    assert decoded(data)[-1].complete


def test_calls_are_numbered_as_they_start_and_may_overlap():
    encoder = StreamEncoder(FORMAT)
    first, second = ToolCall(id="1", name="f"), ToolCall(id="2", name="g")
    data = encoder.feed_all(
        [
            MessageStarted(),
            BlockStarted(3, first),
            BlockStarted(4, second),
            ArgumentsAdded(4, "{"),
            ArgumentsAdded(3, "{}"),
            ArgumentsAdded(4, "}"),
            BlockEnded(3, replace(first, raw="{}")),
            BlockEnded(4, replace(second, raw="{}")),
        ]
    )
    pieces = [(one["index"], one["function"]["arguments"]) for one in calls_in(data)]
    assert pieces == [(0, ""), (1, ""), (1, "{"), (0, "{}"), (1, "}")]


@pytest.mark.parametrize("raw", [None, ""])
def test_a_call_without_arguments_gets_some(raw):
    data = encoded(said(ToolCall(id="1", name="f", raw=raw), finish="tool_calls"))
    assert "".join(one["function"]["arguments"] for one in calls_in(data)) == "{}"


@pytest.mark.parametrize("finish", ["length", "context_overflow"])
def test_a_call_that_a_limit_cut_before_its_arguments_gets_none(finish):
    """An empty object would be taken for what the model meant."""
    calls = (ToolCall(id="1", name="f", raw=""), ToolCall(id="2", name="g", raw=""))
    pieces = calls_in(encoded(said(*calls, finish=finish)))
    assert [(one["index"], one["function"]["arguments"]) for one in pieces] == [
        (0, ""),
        (0, "{}"),
        (1, ""),
    ]


def test_a_custom_call_has_its_input():
    data = encoded(said(ToolCall(id="1", name="sh", raw="ls", kind="custom"), finish="tool_calls"))
    assert calls_in(data) == [
        {"index": 0, "id": "1", "type": "custom", "custom": {"name": "sh", "input": ""}},
        {"index": 0, "custom": {"input": "ls"}},
    ]


def test_a_custom_call_without_input_has_none():
    data = encoded(said(ToolCall(id="1", name="sh", raw="", kind="custom"), finish="tool_calls"))
    assert calls_in(data)[-1] == {"index": 0, "custom": {"input": ""}}


def test_fields_of_the_host_stay_with_their_call():
    """Google's thought signatures come beside a call; without them its next turn is refused."""
    google = {"extra_content": {"google": {"thought_signature": "s"}}}
    call = ToolCall(id="1", name="f", raw="{}", args={}, native=Native(FORMAT, google))
    data = encoded(said(call, finish="tool_calls"))
    assert calls_in(data)[-1] == {"index": 0, "type": "function", **google}
    assert fold(decoded(data)).calls == (call,)


def test_a_refusal_has_its_own_field():
    refusal = Text(text="No.", native=Native(FORMAT, {"refusal": True}))
    data = encoded(said(refusal, finish="refusal"))
    assert deltas(data) == [{"refusal": "No."}]
    assert fold(decoded(data)).finish == "refusal"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_goes_back_where_it_came_from(field):
    thought = Thinking(text="hm", native=Native(FORMAT, {"field": field}))
    assert deltas(encoded(said(thought))) == [{field: "hm"}]


def test_reasoning_in_the_content_goes_back_there():
    thought = Thinking(text="hm", native=Native(FORMAT, {"field": "content"}))
    data = encoded(said(thought, Text(text="Hi.")))
    chunk = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    assert deltas(data) == [{"content": [chunk]}, {"content": "Hi."}]


def test_reasoning_details_are_written_and_foreign_seals_are_not():
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    thought = Thinking(
        text="hm",
        opaque=(Opaque("openrouter", "details", details), Opaque("anthropic", "signature", "s")),
    )
    only_state = Thinking(opaque=thought.opaque[:1])
    expected = [{"reasoning_content": "hm"}, {"reasoning_details": details}]
    assert deltas(encoded(said(thought))) == expected
    assert deltas(encoded(said(only_state))) == expected[1:]


def test_blocks_of_another_format_begin_on_a_line_of_their_own():
    """As in a whole response, where one field holds them all."""
    texts = (Text(text="a"), Text(text="b"))
    data = encoded(said(*texts))
    assert deltas(data) == [{"content": "a"}, {"content": "\n"}, {"content": "b"}]
    thoughts = encoded(said(Thinking(text="a"), Thinking(text="b")))
    assert deltas(thoughts) == [{"reasoning_content": "a"}, {"reasoning_content": "\nb"}]


def test_the_blocks_of_a_chat_stream_are_pieces_of_one_text():
    """Reasoning came in between; that is no line end."""
    data = encoded(said(Text(text="a"), Thinking(text="x"), Text(text="b"), format=FORMAT))
    assert fold(decoded(data)).message.text == "ab"


def test_words_that_came_whole_are_written():
    """Gemini seals words as well: such a block has no pieces."""
    sealed = Text(text="Hi.", opaque=(Opaque("gemini-api", "signature", "s"),))
    assert deltas(encoded(said(sealed))) == [{"content": "Hi."}]


def test_what_is_no_text_is_written_whole():
    image = Media(media_type="image/png", data="aGk=")
    (delta,) = deltas(encoded(said(image)))
    assert delta["images"][0]["image_url"]["url"] == "data:image/png;base64,aGk="


def test_sound_is_written_with_its_words():
    transcript = Text(text="Hello", native=Native(FORMAT, {"field": "audio"}))
    sound = Media(media_type="audio/*", data="aGk=", opaque=(Opaque("openai", "item_id", "a1"),))
    data = encoded(said(transcript, sound))
    assert deltas(data) == [{"audio": {"transcript": "Hello", "id": "a1", "data": "aGk="}}]
    assert fold(decoded(data)).message.blocks == (transcript, sound)
    lone = encoded(said(transcript))
    assert deltas(lone) == [{"content": "Hello"}]


def test_calls_that_the_provider_runs_are_not_the_clients():
    server = ToolCall(id="s", name="web_search", args={}, kind="server")
    data = encoded(said(server, Text(text="Hi.")))
    assert deltas(data) == [{"content": "Hi."}]


def test_a_stream_that_was_cut_ends_in_an_error():
    """No finish reason, no end of the call: nobody takes it for whole."""
    call = ToolCall(id="1", name="f", raw='{"a": ', truncated=True)
    reply = Reply(Message("assistant", (call,), partial=True))
    data = encoded(reply)
    assert data.endswith(b'"type":"server_error","param":null,"code":null}}\n\ndata: [DONE]\n\n')
    end = decoded(data)[-1]
    assert (end.complete, end.reply.finish) == (False, "error")
    assert "before the provider said" in end.why
    assert end.reply.calls[0].truncated
    assert not any(isinstance(event, BlockEnded) for event in decoded(data))


def test_a_call_that_was_cut_before_its_first_argument_gets_none():
    call = ToolCall(id="1", name="f", truncated=True)
    data = encoded(Reply(Message("assistant", (call,), partial=True)))
    assert [one["function"]["arguments"] for one in calls_in(data)] == [""]


def test_the_fields_of_a_host_are_in_the_last_chunk():
    native = Native(
        FORMAT,
        {
            "body": {"system_fingerprint": "fp"},
            "choice": {"logprobs": {"content": []}},
            "message": {"mood": "good"},
            "other_choices": [
                {
                    "index": 1,
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": "x",
                                "type": "function",
                                "function": {"name": "g", "arguments": "{}"},
                            }
                        ],
                    },
                    "finish_reason": "tool_calls",
                }
            ],
        },
    )
    reply = said(Text(text="Hi."), native=native, format=FORMAT, provider="openai", response_id="r")
    after = fold(decoded(encoded(reply)))
    assert after.native == native
    assert after.message.text == "Hi."


def expected_of(reply):
    """The reply that a whole response of this format would have given."""
    body = msgspec.json.decode(msgspec.json.encode(encode_response(reply, FORMAT)))
    if not reply.finish:
        body["choices"][0]["finish_reason"] = "stop"  # a stream has to end with a word
    return with_arguments(decode_response(body, FORMAT))


def with_arguments(reply):
    """Calls without arguments get some in a stream, but for one that a limit cut off."""

    def told(call):
        is_bare = call.kind == "function" and call.raw == "" and not call.truncated
        return replace(call, raw="{}") if is_bare else call

    return with_calls(reply, told)


def without_nulls(reply):
    """Other choices are kept as they came; what is null in them has no place in a stream."""

    def clean(value):
        if isinstance(value, dict):
            return {key: clean(inner) for key, inner in value.items() if inner is not None}
        return list(map(clean, value)) if isinstance(value, list) else value

    native = reply.native
    return replace(reply, native=native and Native(native.format, clean(native.fields)))


@given(replies().map(with_own_ids))
def test_a_stream_says_what_the_whole_response_says(reply):
    assert fold(decoded(encoded(reply))) == expected_of(reply)


def replies():
    """The recorded replies that are no errors."""
    for record in responses(FORMAT):
        reply = decode_response(record["response"], FORMAT)
        if reply.finish != "error":
            yield pytest.param(reply, id=record["id"])


@needs_corpus
@each("reply", replies, least=1001)
def test_every_recorded_reply_streams_as_what_it_is(reply):
    assert without_nulls(fold(decoded(encoded(reply)))) == without_nulls(expected_of(reply))
