"""Tools for free text before targets that have functions only: offered as such, read back as text."""

import pytest

from canonicall.blocks import ToolCall
from canonicall.client.free_text import with_free_text
from canonicall.conversation import Conversation
from canonicall.events import ArgumentsAdded
from canonicall.folding import fold
from canonicall.request import Params, Request, Tool
from canonicall.testing.script import call, says

from client_support import PLACES, asked, client, simulator, target

PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"words" \\ and more\n*** End Patch\n'
TOOL = Tool("apply_patch", "Changes files.", kind="custom")
AS_TEXT = says("So be it.", ToolCall(name="apply_patch", raw=PATCH, kind="custom"))
AS_FUNCTION = says("So be it.", call("apply_patch", input=PATCH))


def request(*, stream=True):
    conversation = Conversation()
    conversation.user("Write it down.")
    return Request(conversation, (TOOL,), params=Params(stream=stream))


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("place", PLACES)
async def test_whoever_offers_a_tool_for_free_text_gets_calls_with_free_text(place, stream):
    goal = target(place)
    served = simulator(place, AS_TEXT if goal.custom_tools else AS_FUNCTION)
    async with client(served) as model:
        events, reply = await asked(model, request(stream=stream), goal)
    assert [one.status for one in served.seen] == [200]
    (made,) = reply.calls
    assert (made.kind, made.raw, made.args) == ("custom", PATCH, None)
    pieces = [one.text for one in events if isinstance(one, ArgumentsAdded)]
    assert "".join(pieces) in ("", PATCH)
    assert fold(events).message.blocks == reply.message.blocks


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (ToolCall(args={"input": "a"}), "a"),
        (ToolCall(raw='{"input": "a\\n\\"b\\""}'), 'a\n"b"'),
        (ToolCall(raw='{"input": "a\\nb', truncated=True), "a\nb"),
        (ToolCall(raw='{"patch": "a"}'), '{"patch": "a"}'),
        (ToolCall(args={"input": "a", "why": "b"}), '{"input":"a","why":"b"}'),
        (ToolCall(args={"input": 1}), '{"input":1}'),
        (ToolCall(raw="bare text"), "bare text"),
        (ToolCall(), ""),
    ],
)
def test_nothing_of_the_arguments_is_lost_on_the_way_to_text(made, text):
    assert with_free_text(made) == ToolCall(raw=text, kind="custom", truncated=made.truncated)
