"""One rule for the arguments of a call: every format, a whole reply, a stream and a history.

`args` is None only for free text, and for text that is not a JSON object, which is a finding.
"""

import json

import pytest

from canonicall import (
    BlockEnded,
    Message,
    Reply,
    StreamDecoder,
    StreamEncoder,
    Text,
    Tool,
    ToolCall,
    ToolCallAccumulator,
    admission,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    events_of,
    fold,
    to_anthropic,
    to_generic,
    to_openai,
    validate_call,
)
from canonicall import arguments as rule
from canonicall.framing.eventstream import write_frame
from canonicall.guard import reading
from canonicall.wire.formats import FORMATS

UNREADABLE = ["arguments_unreadable"]
CASES = {
    "object": ('{"a": 1}', {"a": 1}, []),
    "nested": ('{"a": {"b": [1, {"c": null}]}}', {"a": {"b": [1, {"c": None}]}}, []),
    "long number": (
        '{"a": 123456789012345678901234567890}',
        {"a": 123456789012345678901234567890},
        [],
    ),
    "same key twice": ('{"a": 1, "a": 2}', {"a": 2}, []),
    "lone surrogate": ('{"a": "\\ud83d"}', {"a": "\ufffd"}, ["lone_surrogate"]),
    "empty": ("", {}, []),
    "whitespace": (" \n\t", {}, []),
    "null": ("null", {}, []),
    "array": ("[1,2]", None, UNREADABLE),
    "number": ("5", None, UNREADABLE),
    "true": ("true", None, UNREADABLE),
    "string": ('"x"', None, UNREADABLE),
    "broken": ('{"a": ', None, UNREADABLE),
    "words": ("sunny", None, UNREADABLE),
}
"""The text that a model wrote, the arguments that it means, and what is reported of it."""
AS_TEXT = {"openai-chat", "openai-responses", "cohere"}
"""The formats whose arguments are text. The others have a JSON value in a whole reply."""
STREAMED_AS_TEXT = AS_TEXT | {"anthropic", "bedrock"}


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def value(format, text):
    """The JSON of the arguments in a body: a text, or the value itself where there is one."""
    return text if format not in AS_TEXT and is_json(text) else json.dumps(text)


CALLS = {
    "openai-chat": '{"id":"c1","type":"function","function":{"name":"f","arguments":%s}}',
    "openai-responses": '{"type":"function_call","call_id":"c1","name":"f","arguments":%s}',
    "anthropic": '{"type":"tool_use","id":"c1","name":"f","input":%s}',
    "gemini": '{"functionCall":{"id":"c1","name":"f","args":%s}}',
    "bedrock": '{"toolUse":{"toolUseId":"c1","name":"f","input":%s}}',
    "cohere": '{"id":"c1","type":"function","function":{"name":"f","arguments":%s}}',
    "ollama": '{"id":"c1","function":{"name":"f","arguments":%s}}',
}
MESSAGES = {
    "openai-chat": '{"role":"assistant","content":null,"tool_calls":[%s]}',
    "openai-responses": "%s",
    "anthropic": '{"role":"assistant","content":[%s]}',
    "gemini": '{"role":"model","parts":[%s]}',
    "bedrock": '{"role":"assistant","content":[%s]}',
    "cohere": '{"role":"assistant","tool_calls":[%s]}',
    "ollama": '{"role":"assistant","content":"","tool_calls":[%s]}',
}
REPLIES = {
    "openai-chat": '{"choices":[{"index":0,"message":%s,"finish_reason":"tool_calls"}]}',
    "openai-responses": '{"status":"completed","output":[%s]}',
    "anthropic": '{"type":"message","stop_reason":"tool_use",%s}',
    "gemini": '{"candidates":[{"content":%s,"finishReason":"STOP"}]}',
    "bedrock": '{"output":{"message":%s},"stopReason":"tool_use"}',
    "cohere": '{"message":%s,"finish_reason":"TOOL_CALL"}',
    "ollama": '{"message":%s,"done":true,"done_reason":"stop"}',
}
HISTORIES = {
    "openai-responses": '{"input":[%s]}',
    "gemini": '{"contents":[%s]}',
}


def message(format, text):
    return MESSAGES[format] % (CALLS[format] % value(format, text))


def whole(format, text):
    said = message(format, text)
    return decode_response(
        REPLIES[format] % (said[1:-1] if format == "anthropic" else said), format
    )


def history(format, text):
    body = HISTORIES.get(format, '{"messages":[%s]}') % message(format, text)
    return decode_request(body, format)


def pieces(text):
    middle = len(text) // 2
    return [one for one in (text[:middle], text[middle:]) if one]


def chat_stream(text):
    first = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}
    calls = [first, *({"index": 0, "function": {"arguments": one}} for one in pieces(text))]
    choices = [{"index": 0, "delta": {"tool_calls": [call]}} for call in calls]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    return b"".join(b"data: %b\n\n" % json.dumps({"choices": [one]}).encode() for one in choices)


def responses_stream(text):
    item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": ""}
    place = {"output_index": 0}
    delta = {"type": "response.function_call_arguments.delta", "item_id": "fc_1"}
    done = item | {"arguments": text, "status": "completed"}
    frames = [
        {"type": "response.output_item.added", "item": item} | place,
        *(delta | place | {"delta": one} for one in pieces(text)),
        {"type": "response.output_item.done", "item": done} | place,
        {"type": "response.completed", "response": {"status": "completed", "output": [done]}},
    ]
    return b"".join(b"data: %b\n\n" % json.dumps(one).encode() for one in frames)


def anthropic_stream(text):
    block = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    deltas = [{"type": "input_json_delta", "partial_json": one} for one in pieces(text)]
    frames = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": one} for one in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    return b"".join(b"data: %b\n\n" % json.dumps(one).encode() for one in frames)


def bedrock_stream(text):
    place = {"contentBlockIndex": 0}
    frames = [
        ("messageStart", {"role": "assistant"}),
        (
            "contentBlockStart",
            place | {"start": {"toolUse": {"toolUseId": "c1", "name": "f"}}},
        ),
        *(
            ("contentBlockDelta", place | {"delta": {"toolUse": {"input": one}}})
            for one in pieces(text) or [""]
        ),
        ("contentBlockStop", place),
        ("messageStop", {"stopReason": "tool_use"}),
    ]
    return b"".join(write_frame(name, json.dumps(data).encode()) for name, data in frames)


def cohere_stream(text):
    start = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}

    def event(kind, calls):
        return {"type": kind, "index": 0, "delta": {"message": {"tool_calls": calls}}}

    frames = [
        {"type": "message-start", "id": "r", "delta": {"message": {"role": "assistant"}}},
        event("tool-call-start", start),
        *(event("tool-call-delta", {"function": {"arguments": one}}) for one in pieces(text)),
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    ]
    return b"".join(b"data: %b\n\n" % json.dumps(one).encode() for one in frames)


def gemini_stream(text):
    return b"data: %b\n\n" % (REPLIES["gemini"] % message("gemini", text)).encode()


def ollama_stream(text):
    return (REPLIES["ollama"] % message("ollama", text)).encode() + b"\n"


STREAMS = {
    "openai-chat": chat_stream,
    "openai-responses": responses_stream,
    "anthropic": anthropic_stream,
    "gemini": gemini_stream,
    "bedrock": bedrock_stream,
    "cohere": cohere_stream,
    "ollama": ollama_stream,
}


def streamed(format, text):
    decoder = StreamDecoder(format)
    return decoder.feed(STREAMS[format](text)) + decoder.close()


def codes(findings):
    """What is reported of arguments, or of text in general."""
    about = (*UNREADABLE, "lone_surrogate", "arguments_unwrapped", "arguments_disagree")
    return [one.code for one in findings if one.code in about]


def check_written(call):
    """No transformer loses what a call says."""
    given = {"_raw": call.raw} if call.args is None else call.args
    assert to_anthropic(call)["input"] == given
    assert to_generic(call)["parameters"] == given
    text = to_openai(call)["function"]["arguments"]
    if call.args is None:
        assert text == call.raw
    else:
        assert rule.parse_arguments(text) == call.args
        assert call.raw is None or not call.raw.startswith("{") or text == call.raw


every = pytest.mark.parametrize("format", FORMATS)
cases = pytest.mark.parametrize(("text", "args", "told"), CASES.values(), ids=CASES)


@every
@cases
def test_the_arguments_of_a_whole_reply(format, text, args, told):
    reply = whole(format, text)
    (call,) = reply.calls
    assert call.args == args
    assert codes(reply.findings) == told
    assert not call.truncated
    if format in AS_TEXT:
        assert call.raw == text
    assert (call.raw is None) <= (call.args is not None)
    check_written(call)


@every
@cases
def test_the_arguments_of_a_stream(format, text, args, told):
    """At the end of the call, in the reply at the end of the stream, and in the accumulator."""
    events = streamed(format, text)
    reply = events[-1].reply
    (call,) = reply.calls
    assert call.args == args
    assert codes(reply.findings) == told
    assert reply.finish == "tool_calls"
    assert not call.truncated
    if format in STREAMED_AS_TEXT and not (format == "anthropic" and args is not None):
        assert call.raw == text
    check_written(call)
    (ended,) = [event.block for event in events if isinstance(event, BlockEnded)]
    assert ended == call
    accumulator = ToolCallAccumulator(format)
    accumulator.add_chunk(STREAMS[format](text))
    accumulator.close()
    assert accumulator.get_completed() == [call]
    folded = fold(events[:-1])
    assert folded.calls[0].args == args


@every
@cases
def test_the_arguments_of_a_history(format, text, args, told):
    request = history(format, text)
    (call,) = [call for message in request.conversation.messages for call in message.calls]
    assert call.args == args
    assert codes(request.findings) == told
    check_written(call)


@every
@cases
def test_a_whole_reply_and_a_stream_say_the_same(format, text, args, told):
    """But for the text, which only some have, and the path of what is replaced in it."""
    (one,), (other,) = whole(format, text).calls, streamed(format, text)[-1].reply.calls
    assert (one.id, one.name, one.args) == (other.id, other.name, other.args)


@pytest.mark.parametrize("text", ["", "null", "[1]", "ls -la", '{"a": 1}'])
def test_free_text_is_not_parsed(text):
    """The input of a custom tool is text, whatever it looks like."""
    chat = {"id": "c1", "type": "custom", "custom": {"name": "shell", "input": text}}
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "shell", "input": text}
    frame = {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0} | chat]}}]}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    stream = b"".join(b"data: %b\n\n" % json.dumps(one).encode() for one in (frame, last))
    decoder = StreamDecoder("openai-chat")
    events = decoder.feed(stream) + decoder.close()
    body = {"choices": [{"message": {"role": "assistant", "tool_calls": [chat]}}]}
    replies = [
        decode_response(body, "openai-chat"),
        decode_response({"status": "completed", "output": [item]}, "openai-responses"),
        events[-1].reply,
    ]
    for reply in replies:
        (call,) = reply.calls
        assert (call.kind, call.args, call.raw) == ("custom", None, text)
        assert codes(reply.findings) == []
        assert to_openai(call)["custom"]["input"] == text
        assert to_anthropic(call)["input"] == {"input": text}


def test_text_inside_a_text_is_read_as_meant_and_stays_as_it_came():
    reply = whole("openai-chat", '"{\\"a\\": 1}"')
    (call,) = reply.calls
    assert (call.args, call.raw) == ({"a": 1}, '"{\\"a\\": 1}"')
    assert codes(reply.findings) == ["arguments_unwrapped"]
    assert to_openai(call)["function"]["arguments"] == '{"a":1}'


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "cohere"])
@pytest.mark.parametrize("name", ["object", "long number", "same key twice"])
def test_the_text_of_an_object_is_sent_as_it_came(format, name):
    """Numbers that lose digits and keys that occur twice are not changed."""
    text = CASES[name][0]
    written = json.dumps(text)
    conversation = history(format, text)
    sent = encode_request(conversation, {"cohere": "cohere"}.get(format, f"openai/{format}")).data
    assert written.encode() in sent
    assert written in json.dumps(encode_response(whole(format, text), format))


@pytest.mark.parametrize("format", FORMATS)
def test_arguments_that_somebody_replaced_count_before_the_text(format):
    """A value that code has changed may have another text: it is not written."""
    changed = ToolCall(id="c1", name="f", args={"a": 2}, raw='{"a": 1}')
    reply = whole(format, '{"a": 1}')
    message = type(reply.message)("assistant", (changed,), finish="tool_calls")
    made = type(reply)(message)
    assert decode_response(encode_response(made, format), format).calls[0].args == {"a": 2}
    assert to_openai(changed)["function"]["arguments"] == '{"a":2}'
    pieces_told = [event.text for event in events_of(made) if hasattr(event, "text")]
    assert pieces_told == ['{"a":2}']


@pytest.fixture
def parsed(monkeypatch):
    """The texts that are parsed as arguments from now on."""
    texts = []
    parse = rule.parse_arguments

    def counted(raw, findings=None):
        texts.append(raw)
        return parse(raw, findings)

    monkeypatch.setattr(rule, "parse_arguments", counted)
    monkeypatch.setattr(reading, "parse_arguments", counted)
    monkeypatch.setattr(admission, "parse_arguments", counted)
    return texts


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "cohere", "bedrock"])
def test_no_text_is_parsed_twice(format, parsed):
    """Not at the end of a call and at the end of the stream, not by the guard, not by a renderer."""
    text = '{"a": 1}'
    reply = streamed(format, text)[-1].reply
    assert parsed == [text]
    assert validate_call(reply.calls[0], [Tool("f")]).ok
    assert parsed == [text]
    request = history(format, text)
    once = [text, text] if format in AS_TEXT else [text]
    assert parsed == once
    for target in ("openai", "openai/openai-responses", "anthropic", "cohere", "gemini"):
        encode_request(request, target)
    assert parsed == once


def test_empty_free_text_is_not_taken_for_the_arguments_of_a_call_that_was_cut():
    """Both texts are empty: the custom call has no arguments, the other one has none yet."""
    calls = (
        ToolCall(id="t0", name="shell", raw="", kind="custom"),
        ToolCall(id="t1", name="f", raw="", truncated=True),
    )
    encoder, decoder = StreamEncoder("openai-chat"), StreamDecoder("openai-chat")
    data = encoder.feed_all(events_of(Reply(Message("assistant", calls, finish="length"))))
    reply = fold([*decoder.feed(data + encoder.close()), *decoder.close()])
    assert [call.args for call in reply.calls] == [None, {}]
    assert reply.calls[1].truncated


def test_words_beside_a_call_stay():
    reply = decode_response(
        '{"choices":[{"message":{"content":"Hm.","tool_calls":[%s]}}]}'
        % (CALLS["openai-chat"] % '"{}"'),
        "openai-chat",
    )
    assert reply.message.blocks == (
        Text(text="Hm."),
        ToolCall(id="c1", name="f", args={}, raw="{}"),
    )
