"""Bytes that were damaged on their way: told as an error, never as a reply that is whole."""

import json

import pytest

from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.events import ErrorReported, StreamEnded, TextAdded
from canonicall.folding import fold
from canonicall.framing.eventstream import write_frame


def chunk(**choice):
    return write_frame("", json.dumps({"id": "1", "choices": [{"index": 0, **choice}]}).encode())


GOOD = chunk(delta={"content": "Hel"})
END = chunk(delta={}, finish_reason="stop")


def decoded(data, size):
    decoder = StreamDecoder("openai-chat")
    events = []
    for start in range(0, len(data), size):
        events += decoder.feed(data[start : start + size])
    return events + decoder.close()


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_damage_in_the_middle_breaks_the_stream(size):
    """What came before stays, what comes behind is not looked at."""
    bad = bytearray(chunk(delta={"content": "lo"}))
    bad[-10] ^= 1
    *_, ended = events = decoded(GOOD + bytes(bad) + GOOD + END, size)
    assert [event.text for event in events if isinstance(event, TextAdded)] == ["Hel"]
    assert sum(isinstance(event, ErrorReported) for event in events) == 1
    assert isinstance(ended, StreamEnded)
    assert not ended.complete
    assert ended.why == "a frame of the AWS event stream was damaged on its way."
    assert (ended.reply.finish, ended.reply.message.text) == ("error", "Hel")
    assert ended.reply.message.partial


def test_the_error_has_a_type():
    (error,) = StreamDecoder("openai-chat").feed(b"\0" * 20)
    assert error == ErrorReported(
        "the bytes are not frames of an AWS event stream.", "damaged_stream"
    )


def test_nothing_comes_behind_damage():
    decoder = StreamDecoder("openai-chat")
    decoder.feed(b"\0" * 20)
    assert decoder.feed(GOOD + END) == []
    assert not decoder.done


def test_damage_behind_the_end_is_no_success():
    ended = decoded(GOOD + END + b"\0" * 20, 10_000)[-1]
    assert not ended.complete
    assert ended.reply.message.text == "Hel"


def test_a_frame_nested_too_deeply_is_left_out():
    deep = b'{"choices":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    ended = decoded(GOOD + write_frame("", deep) + END, 10_000)[-1]
    assert ended.complete
    assert [finding.code for finding in ended.reply.findings] == ["frame_dropped"]


def test_an_error_is_not_made_good_by_the_last_frame():
    """Hosts write `[DONE]` behind an error too: the call before it may have been cut all the same."""
    call = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"a":'}}
    error = write_frame("", b'{"error":{"message":"overloaded"}}')
    data = chunk(delta={"tool_calls": [call]}) + error + write_frame("", b"[DONE]")
    ended = decoded(data, 10_000)[-1]
    assert not ended.complete
    assert ended.reply.message.partial
    assert ended.reply.calls[0].truncated


def test_half_a_character_costs_no_frame():
    """Hosts that cut text between the halves of an emoji lose the emoji, not the words."""
    pieces = [rb"Hi \ud83d", rb"\ude00 there."]
    frames = [
        b'data: {"choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n' % one for one in pieces
    ]
    decoder = StreamDecoder("openai-chat")
    events = decoder.feed(b"".join(frames) + b"data: [DONE]\n\n") + decoder.close()
    reply = fold(events)
    assert reply.message.text == "Hi \ufffd\ufffd there."
    assert [(one.code, one.where) for one in reply.findings] == [
        ("lone_surrogate", "frames[0].choices[0].delta.content"),
        ("lone_surrogate", "frames[1].choices[0].delta.content"),
    ]
    assert StreamEncoder("anthropic").feed_all(events)
