"""What we write as a stream is grammatical: whole replies, and replies that were cut anywhere."""

from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import (
    Message,
    Opaque,
    Origin,
    Reply,
    StreamEncoder,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from canonicall.folding import events_of
from canonicall.reply import LENGTH, STOP, TOOL_CALLS
from canonicall.testing.strategies import json_objects
from canonicall.verify import StreamChecker
from canonicall.wire.formats import FORMATS

# Every format that can be written as a stream.
WRITTEN = [
    name
    for name in FORMATS
    if find_spec(f"canonicall.wire.{name.replace('-', '_')}.stream_encode") is not None
]
STATE = (Opaque("openai", "item_id", "msg_1"),)
words = st.text(min_size=1, max_size=8)
blocks = st.one_of(
    st.builds(lambda text: Text(text=text), words),
    st.builds(lambda text: Text(text=text, opaque=STATE), words),
    st.builds(lambda text: Thinking(text=text), words),
    st.builds(
        lambda name, args: ToolCall(name=name, args=args),
        st.sampled_from(["f", "g"]),
        st.just({}) | json_objects(),
    ),
    st.builds(lambda raw: ToolCall(name="f", raw=raw), st.sampled_from(["", "null", ' {"a":1}'])),
    st.builds(lambda raw: ToolCall(name="f", raw=raw, kind="custom"), words),
    st.just(ToolCall(name="search", args={"q": "x"}, kind="server")),
)
usages = st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9))


@st.composite
def replies(draw):
    held = draw(st.lists(blocks, max_size=5))
    said = tuple(
        replace(block, id=f"call_{at}") if isinstance(block, ToolCall) else block
        for at, block in enumerate(held)
    )
    has_calls = any(isinstance(block, ToolCall) and block.kind != "server" for block in said)
    finish = draw(st.sampled_from([TOOL_CALLS if has_calls else STOP, LENGTH, ""]))
    origin = draw(st.sampled_from([Origin(), Origin("gemini", "gemini", model="m")]))
    return Reply(Message("assistant", said, origin=origin, finish=finish), draw(usages))


def judged(format, events, *, is_cut=False):
    """The violations of what is written for these events, and whether it counts as whole."""
    encoder, checker = StreamEncoder(format), StreamChecker(format)
    found = [one for event in events for one in checker.feed(encoder.feed(event))]
    found += checker.feed(encoder.close()) if is_cut else []
    return found + checker.close(), checker.complete


@pytest.mark.parametrize("format", WRITTEN)
@given(reply=replies())
def test_a_whole_reply_is_a_grammatical_stream(format, reply):
    assert judged(format, events_of(reply)) == ([], True)


@pytest.mark.parametrize("format", WRITTEN)
@given(reply=replies(), data=st.data())
def test_a_cut_reply_is_grammatical_and_does_not_look_whole(format, reply, data):
    events = list(events_of(reply))
    kept = events[: data.draw(st.integers(0, len(events) - 1))]
    assert judged(format, kept, is_cut=True) == ([], False)


@pytest.mark.parametrize("format", WRITTEN)
@given(reply=replies())
def test_signs_of_life_may_stand_between_events(format, reply):
    encoder, checker = StreamEncoder(format), StreamChecker(format)
    for event in events_of(reply):
        assert checker.feed(encoder.feed(event)) == []
        if not checker.complete:
            assert checker.feed(encoder.keep_alive()) == []
    assert checker.close() == []
