"""A reply on its way to the client: an id that was written once is the id of its call for good."""

import pytest

from canonicall.blocks import Message, Origin, ToolCall
from canonicall.events import BlockEnded, BlockStarted, MessageStarted, StreamEnded
from canonicall.gateway.fronts import FRONTS
from canonicall.gateway.outbound import Outbound
from canonicall.reply import Reply

ENDED = ToolCall(id="call_B", name="f", args={})


@pytest.mark.parametrize("started", [ENDED, ToolCall(id="call_A", name="f"), ToolCall(name="f")])
@pytest.mark.parametrize("front", FRONTS)
def test_an_id_that_the_provider_changes_stays_what_the_client_was_told(front, started):
    """Ids come late, or end as others than they began: the client has one, and gives that back."""
    outbound = Outbound(front, request_id="r", model="m")
    events = outbound.events(
        [
            MessageStarted(Origin("openai", "openai-responses")),
            BlockStarted(0, started),
            BlockEnded(0, ENDED),
            StreamEnded(Reply(Message("assistant", (ENDED,), finish="tool_calls"))),
        ]
    )
    told, whole, end = events[1].block.id, events[2].block.id, events[3].reply.calls[0].id
    assert told == whole == end


def test_calls_of_one_id_and_one_name_keep_theirs_whichever_ends_first():
    outbound = Outbound(next(iter(FRONTS)), request_id="r", model="m")
    call = ToolCall(id="0", name="f", args={})
    events = outbound.events(
        [
            MessageStarted(Origin("openai", "openai-chat")),
            BlockStarted(0, call),
            BlockStarted(1, call),
            BlockEnded(1, call),
            BlockEnded(0, call),
            StreamEnded(Reply(Message("assistant", (call, call), finish="tool_calls"))),
        ]
    )
    told = [event.block.id for event in events if isinstance(event, BlockStarted)]
    assert len(set(told)) == 2
    assert [made.id for made in events[-1].reply.calls] == told
