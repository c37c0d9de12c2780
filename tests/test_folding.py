"""Events and replies are two forms of the same thing, also where the events stop in the middle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    Media,
    Message,
    MessageStarted,
    Opaque,
    Origin,
    Reply,
    SignatureAdded,
    StreamEnded,
    Text,
    TextAdded,
    Thinking,
    ThinkingAdded,
    ToolCall,
    Usage,
    UsageReported,
    events_of,
    fold,
)
from canonicall.arguments import message_with_arguments, with_arguments
from canonicall.folding import Folder, raw_arguments, with_truncated_call
from canonicall.testing.strategies import replies

SEAL = Opaque("anthropic", "signature", "s")
REPLY = Reply(
    Message(
        "assistant",
        (
            Thinking(text="hm", opaque=(SEAL,)),
            Text(text="Hi."),
            ToolCall(id="1", name="f", raw='{"a": 1}', args={"a": 1}),
            ToolCall(id="2", name="g", args={}),
        ),
        origin=Origin("kimi", "openai-chat", model="k2"),
        finish="tool_calls",
    ),
    Usage(3, 4),
)


@given(replies())
def test_a_reply_comes_back_from_its_events(reply):
    assert fold(events_of(reply)) == reply


@given(replies())
def test_the_blocks_come_back_without_the_reply_at_the_end(reply):
    """The events before the end say all of it, but for what makes it a finished reply."""
    events = list(events_of(reply))[:-1]
    findings = []
    message = with_truncated_call(replace(reply.message, partial=True))
    expected = message_with_arguments(message, findings)
    assert fold(events) == Reply(expected, reply.usage, tuple(findings))


@given(replies(), st.integers(0))
def test_a_fold_that_stops_anywhere_has_what_came_so_far(reply, cut):
    """Whole blocks are as they are, the open one is a beginning, a call at the end is marked."""
    events = list(events_of(reply))
    events = events[: cut % len(events)]
    message = fold(events).message
    ended = {event.index for event in events if isinstance(event, BlockEnded)}
    started = {event.index for event in events if isinstance(event, BlockStarted)}
    assert message.partial
    assert len(message.blocks) == len(started)
    for index, (came, whole) in enumerate(zip(message.blocks, reply.message.blocks, strict=False)):
        assert type(came) is type(whole)
        if isinstance(came, (Text, Thinking)):
            assert whole.text.startswith(came.text)
        if isinstance(came, ToolCall) and came.kind != "server":
            assert (came.id, came.name) == (whole.id, whole.name)
            assert came.truncated == (index not in ended or index == len(message.blocks) - 1)
            came = replace(came, truncated=whole.truncated)  # noqa: PLW2901
        if index in ended:
            assert came == (with_arguments(whole, []) if isinstance(whole, ToolCall) else whole)


def test_the_events_of_a_reply():
    thought, words, first, second = REPLY.message.blocks
    assert list(events_of(REPLY)) == [
        MessageStarted(REPLY.message.origin),
        BlockStarted(0, Thinking()),
        ThinkingAdded(0, "hm"),
        SignatureAdded(0, SEAL),
        BlockEnded(0, thought),
        BlockStarted(1, Text(text="")),
        TextAdded(1, "Hi."),
        BlockEnded(1, words),
        BlockStarted(2, ToolCall(id="1", name="f")),
        ArgumentsAdded(2, '{"a": 1}'),
        BlockEnded(2, first),
        BlockStarted(3, ToolCall(id="2", name="g")),
        ArgumentsAdded(3, "{}"),
        BlockEnded(3, second),
        UsageReported(Usage(3, 4)),
        FinishReported("tool_calls"),
        StreamEnded(REPLY),
    ]


def test_a_reply_that_was_cut_gives_a_stream_that_was_cut():
    """Its last call has no end, and the stream says why."""
    cut = replace(REPLY, message=with_truncated_call(replace(REPLY.message, partial=True)))
    events = list(events_of(cut))
    assert [event.index for event in events if isinstance(event, BlockEnded)] == [0, 1, 2]
    end = events[-1]
    assert (end.complete, bool(end.why)) == (False, True)
    assert fold(events) == cut
    assert fold(events[:-1]).message.blocks[:3] == cut.message.blocks[:3]


def test_nothing_is_a_partial_reply_of_nothing():
    assert fold([]) == Reply(Message("assistant", partial=True))


def test_pieces_of_overlapping_calls_find_their_blocks():
    events = [
        BlockStarted(0, ToolCall(id="1", name="f")),
        ArgumentsAdded(0, '{"a"'),
        BlockStarted(1, ToolCall(id="2", name="g")),
        ArgumentsAdded(1, "{"),
        ArgumentsAdded(0, ": 1}"),
        ArgumentsAdded(1, "}"),
    ]
    first, second = fold(events).calls
    assert (first.raw, second.raw) == ('{"a": 1}', "{}")
    assert first.truncated, "it has not ended, although something follows it"
    assert second.truncated
    ended = BlockEnded(0, ToolCall(id="1", name="f", raw='{"a": 1}'))
    assert [call.truncated for call in fold([*events, ended]).calls] == [False, True]


def test_an_error_ends_the_reply():
    assert fold([ErrorReported("overloaded")]).finish == "error"


def test_later_figures_take_the_place_of_earlier_ones():
    events = [UsageReported(Usage(1, 1)), UsageReported(Usage(1, 9))]
    assert fold(events).usage == Usage(1, 9)


def test_a_folder_can_be_asked_at_any_time():
    folder = Folder()
    seen = []
    for event in events_of(REPLY):
        folder.add(event)
        seen.append(folder.reply.message.text)
    assert list(dict.fromkeys(seen)) == ["", "Hi."]
    assert folder.reply is REPLY


CALL = ToolCall(id="1", name="f", raw="{}")
SERVER = replace(CALL, kind="server")


@pytest.mark.parametrize(
    ("blocks", "finish", "partial", "marked"),
    [
        ((CALL,), "tool_calls", False, []),
        ((CALL,), "length", False, [0]),
        ((CALL,), "context_overflow", False, [0]),
        ((CALL,), "", True, [0]),
        ((CALL, CALL), "length", False, [1]),
        ((CALL, Text(text="x")), "length", False, []),
        ((SERVER,), "length", False, []),
        ((Media(media_type="image/png", data="aGk="),), "", True, []),
        ((), "length", True, []),
    ],
)
def test_only_a_call_at_the_very_end_may_have_been_cut(blocks, finish, partial, marked):
    message = Message("assistant", blocks, finish=finish, partial=partial)
    after = with_truncated_call(message)
    assert [
        index for index, block in enumerate(after.blocks) if getattr(block, "truncated", False)
    ] == marked
    assert marked or after is message
    assert with_truncated_call(after) is after


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (ToolCall(raw="{ }", args={}), "{ }"),
        (ToolCall(args={"a": "é"}), '{"a":"é"}'),
        (ToolCall(), ""),
        (ToolCall(raw="ls", kind="custom"), "ls"),
    ],
)
def test_arguments_as_text(call, text):
    assert raw_arguments(call) == text
