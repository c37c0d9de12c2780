"""verify_stream and StreamChecker: what they take, what they never do, and that all codes are told."""

import ast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall import StreamChecker, verify_stream
from canonicall.errors import UnknownName
from canonicall.findings import Action, Fault
from canonicall.framing.eventstream import write_frame
from canonicall.verify.codes import CODES
from canonicall.verify.streams.checker import GRAMMARS
from canonicall.verify.streams.codes import STREAM_CODES
from verify.stream_support import SOURCE, in_single_bytes

WORDS = st.sampled_from(
    [
        *(
            "type",
            "index",
            "delta",
            "content_block",
            "message",
            "message_start",
            "tool_use",
            "text",
        ),
        *("content_block_start", "content_block_delta", "content_block_stop", "message_delta"),
        *("choices", "tool_calls", "function", "arguments", "finish_reason", "usage", "role", "id"),
        *("response", "response.created", "response.output_item.added", "output_index", "item"),
        *("response.output_text.delta", "response.content_part.added", "part", "content_index"),
        *("candidates", "content", "parts", "functionCall", "args", "finishReason", "error"),
        *("contentBlockIndex", "start", "toolUse", "input", "done", "done_reason", "assistant"),
        *("message-start", "content-start", "tool-call-start", "message-end", "sequence_number"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=12,
)
FRAMES = st.lists(
    st.tuples(WORDS, st.dictionaries(WORDS, VALUES, max_size=6)), min_size=1, max_size=6
)


def written(format, frames):
    if format == "bedrock":
        names = ["messageStart", "contentBlockStart", "contentBlockDelta", "messageStop"]
        return b"".join(
            write_frame(names[at % 4], msgspec.json.encode(data))
            for at, (_, data) in enumerate(frames)
        )
    if format == "ollama":
        return b"".join(msgspec.json.encode(data) + b"\n" for _, data in frames)
    return b"".join(
        b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode(data) + b"\n\n"
        for name, data in frames
    )


@pytest.mark.parametrize("format", GRAMMARS)
@given(frames=FRAMES)
def test_no_frames_make_it_raise(format, frames):
    for violation in verify_stream(written(format, frames), format):
        assert violation.code in CODES | STREAM_CODES


@pytest.mark.parametrize("format", GRAMMARS)
@given(data=st.binary(max_size=40))
def test_no_bytes_make_it_raise_and_none_pass(format, data):
    report = verify_stream(data, format)
    assert report
    assert in_single_bytes(data, format) == list(report)


@each("format", GRAMMARS)
@each("payload", [b"null", b"[]", b"{", b'"a"', b"[" * 100_000])
def test_what_is_not_an_object_is_unreadable(format, payload):
    if format == "bedrock":
        data = write_frame("messageStart", payload)
    else:
        data = payload + b"\n" if format == "ollama" else b"data: " + payload + b"\n\n"
    (violation, *_) = verify_stream(data, format)
    assert (violation.code, violation.where) == ("frame_unreadable", "frames[0]")
    assert violation.fault is Fault.INPUT
    assert violation.action is Action.REFUSED


@pytest.mark.parametrize("format", ["anthropic", "cohere", "openai-chat", "openai-responses"])
def test_an_event_that_no_empty_line_ends_is_cut(format):
    """Official clients drop it, so it cannot be the end of a stream."""
    codes = verify_stream(b'data: {"type": "message_stop"}\n', format).counts
    assert list(codes) == ["frame_cut", "stream_not_ended"]


def test_an_empty_stream_is_not_sound():
    assert all("stream_not_ended" in verify_stream(b"", format) for format in GRAMMARS)


def test_an_unknown_format_is_the_callers_mistake():
    with pytest.raises(UnknownName, match="anthropic"):
        StreamChecker("antropic")


def test_nothing_is_said_once_it_is_closed():
    checker = StreamChecker("ollama")
    assert [one.code for one in checker.close()] == ["stream_not_ended"]
    assert checker.feed(b"x\n") == checker.close() == []
    assert not checker.complete


def test_violations_come_as_soon_as_their_frame_is_whole():
    checker = StreamChecker("anthropic")
    assert checker.feed(b'event: ping\ndata: {"type": "message') == []
    assert [one.code for one in checker.feed(b'_stop"}\n\n')] == [
        "event_name_differs",
        "stream_not_started",
        "finish_missing",
    ]


def test_every_code_of_streams_is_used():
    used = {
        node.value
        for path in SOURCE.glob("*.py")
        if path.name != "codes.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in STREAM_CODES
    }
    assert used == set(STREAM_CODES)


def test_a_code_stands_for_one_thing():
    assert not set(CODES) & set(STREAM_CODES)
