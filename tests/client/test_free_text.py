"""Tools for free text before targets that have functions only: offered as such, read back as text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from batches import each
from canonicall.arguments import parse_arguments
from canonicall.blocks import Message, ToolCall
from canonicall.client.free_text import FreeText, with_free_text
from canonicall.codec.decode import decode_response
from canonicall.conversation import Conversation
from canonicall.events import ArgumentsAdded, BlockEnded, BlockStarted, StreamEnded
from canonicall.folding import events_of, fold
from canonicall.reply import LENGTH, TOOL_CALLS, Reply
from canonicall.request import Params, Request, Tool
from canonicall.testing.script import call, says

from client_support import PLACES, asked, client, simulator, target
from streaming import pieces_of

PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"words" \\ and more\n*** End Patch\n'
TOOL = Tool("apply_patch", "Changes files.", kind="custom")
AS_TEXT = says("So be it.", ToolCall(name="apply_patch", raw=PATCH, kind="custom"))
AS_FUNCTION = says("So be it.", call("apply_patch", input=PATCH))


def request(*, stream=True):
    conversation = Conversation()
    conversation.user("Write it down.")
    return Request(conversation, (TOOL,), params=Params(stream=stream))


@each("stream", [True, False])
@each("place", PLACES)
async def test_whoever_offers_a_tool_for_free_text_gets_calls_with_free_text(place, stream):
    goal = target(place)
    served = simulator(place, AS_TEXT if goal.custom_tools else AS_FUNCTION)
    async with client(served) as model:
        events, reply = await asked(model, request(stream=stream), goal)
    assert [one.status for one in served.seen] == [200]
    (made,) = reply.calls
    assert (made.kind, made.raw, made.args) == ("custom", PATCH, None)
    pieces = [one.text for one in events if isinstance(one, ArgumentsAdded)]
    assert "".join(pieces) == PATCH
    assert fold(events).message.blocks == reply.message.blocks


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (ToolCall(args={"input": "a"}), "a"),
        (ToolCall(raw='{"input": "a\\n\\"b\\""}'), 'a\n"b"'),
        (ToolCall(raw='{"input": "a\\nb', truncated=True), "a\nb"),
        (ToolCall(raw='{"patch": "a"}'), '{"patch": "a"}'),
        (ToolCall(args={"patch": "a", "why": "b"}), '{"patch":"a","why":"b"}'),
        (ToolCall(args={"input": 1}), '{"input":1}'),
        (ToolCall(raw="bare text"), "bare text"),
        (ToolCall(), ""),
    ],
)
def test_nothing_of_the_arguments_is_lost_on_the_way_to_text(made, text):
    assert with_free_text(made) == ToolCall(raw=text, kind="custom", truncated=made.truncated)


@pytest.mark.parametrize("raw", ['{"input": "a"}', '{"input": 1}', '{"patch": "a"}', "{}", "bare"])
def test_parsed_arguments_change_nothing_about_the_text(raw):
    bare = ToolCall(raw=raw)
    assert with_free_text(replace(bare, args=parse_arguments(raw))) == with_free_text(bare)


def test_that_free_text_is_no_object_is_not_reported():
    body = {
        "choices": [
            {
                "message": {
                    "tool_calls": [
                        {"id": str(n), "function": {"name": name, "arguments": "ls -la"}}
                        for n, name in enumerate(["other", "shell"])
                    ]
                }
            }
        ]
    }
    reply = decode_response(body, "openai-chat")
    passed_on = fold(FreeText(["shell"]).feed_all(events_of(reply)))
    assert [call.kind for call in passed_on.calls] == ["function", "custom"]
    assert [(one.code, one.where) for one in passed_on.findings] == [
        ("arguments_unreadable", "reply.blocks[0].raw")
    ]


def test_a_text_without_an_end_marks_its_call_as_cut():
    assert with_free_text(ToolCall(raw='{"input": "rm -r a')).truncated


def streamed(pieces, *, ends=True, finish=TOOL_CALLS, **fields):
    """The events of a stream with one call, whose arguments come in pieces."""
    begun = ToolCall(id="call_1", name="apply_patch")
    made = replace(begun, raw="".join(pieces), **fields)
    reply = Reply(Message("assistant", (made,), finish=finish, partial=not ends))
    added = [ArgumentsAdded(0, piece) for piece in pieces]
    ended = [BlockEnded(0, made)] if ends else []
    return [BlockStarted(0, begun), *added, *ended, StreamEnded(reply, complete=ends)]


def passed(events):
    """What becomes of events that come one by one."""
    reading = FreeText({"apply_patch"})
    return [reading.feed_all([event]) for event in events]


def test_a_piece_of_the_text_is_passed_on_when_its_piece_of_json_comes():
    events = streamed(['{"inp', 'ut": "one', " \\", "n tw", 'o"', "}"])
    pieces = [[event.text for event in made] for made in passed(events)[1:-2]]
    assert pieces == [[], ["one"], [" "], ["\n tw"], ["o"], []]


ARGUMENTS = st.sampled_from(
    [
        json.dumps({"input": PATCH}),
        json.dumps({"input": "\U0001f600 é"}),
        json.dumps({"why": [1], "input": "a", "then": {"input": "b"}}),
        '{"input": "a", "input": "b"}',
        '{"input": "say "so" twice"}',
        '{"input": "cut \\u00',
        '{"patch": "a"}',
        "bare",
        "{}",
        "",
    ]
)


@given(ARGUMENTS, st.lists(st.integers(0), max_size=8), st.booleans(), st.booleans())
def test_the_pieces_are_the_text_of_the_call_and_of_the_reply(raw, cuts, ends, is_read):
    """However the arguments are split; whether or not somebody has read them, or cut the call."""
    args = parse_arguments(raw) if is_read else None
    events = streamed(pieces_of(raw, cuts), ends=ends, args=args, truncated=not ends)
    made = [event for batch in passed(events) for event in batch]
    pieces = "".join(event.text for event in made if isinstance(event, ArgumentsAdded))
    (end,) = [event for event in made if isinstance(event, StreamEnded)]
    (call,) = end.reply.calls
    assert (call.kind, call.raw, call.args) == ("custom", pieces, None)
    assert [event.block for event in made if isinstance(event, BlockEnded)] == [call] * ends
    assert ends is False or call == with_free_text(events[-1].reply.calls[0])


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("finish", [TOOL_CALLS, LENGTH, ""])
def test_no_reply_with_half_a_text_says_that_it_is_whole(finish, ends):
    events = streamed(['{"input": "rm -r a'], ends=ends, finish=finish)
    reply = passed(events)[-1][-1].reply
    assert reply.calls[0].truncated
    assert reply.finish == (LENGTH if ends else finish)
    codes = [finding.code for finding in reply.findings]
    assert codes == ["finish_corrected"] * (ends and finish != LENGTH)


def test_what_stood_beside_the_text_is_told():
    events = streamed(['{"why": 1, "input": "a", ', '"then": 2}'])
    reply = passed(events)[-1][-1].reply
    (finding,) = reply.findings
    assert (finding.code, finding.where) == ("arguments_beside_text", "reply.blocks[0]")
    assert "`why`, `then`" in finding.why
    assert reply.calls[0].raw == "a"


def test_calls_of_one_name_keep_their_texts_apart():
    """They overlap, and have no ids."""
    begun = ToolCall(name="apply_patch")
    raws = ['{"input": "one"}', '{"input": "two"}']
    calls = [replace(begun, raw=raw) for raw in raws]
    events = [BlockStarted(at, begun) for at in (0, 1)]
    events += [ArgumentsAdded(at, raws[at][:12]) for at in (0, 1)]
    events += [ArgumentsAdded(at, raws[at][12:]) for at in (1, 0)]
    events += [BlockEnded(at, calls[at]) for at in (0, 1)]
    events.append(StreamEnded(Reply(Message("assistant", tuple(calls)))))
    made = [event for batch in passed(events) for event in batch]
    assert [call.raw for call in made[-1].reply.calls] == ["one", "two"]
    for at, text in enumerate(["one", "two"]):
        pieces = [one.text for one in made if isinstance(one, ArgumentsAdded) and one.index == at]
        assert (len(pieces), "".join(pieces)) == (2, text)
