"""Cache marks that have no place in a request are reported, one by one."""

import pytest

from canonicall.blocks import Media, Text, ToolCall, ToolResult
from canonicall.request import Tool
from canonicall.transcript.turns import Turn
from canonicall.wire.openai_responses.marks import lost_marks

PICTURE = Media(media_type="image/png", url="u", cache="default")


@pytest.mark.parametrize("role", ["user", "system", "developer"])
@pytest.mark.parametrize("block", [Text(text="a", cache="30m"), PICTURE])
def test_what_goes_in_carries_its_mark(role, block):
    assert lost_marks([Turn(role, (block,))], []) == []


@pytest.mark.parametrize(
    ("role", "block"),
    [
        ("assistant", Text(text="a", cache="default")),
        ("assistant", ToolCall(id="call_1", name="f", args={}, cache="default")),
        ("tool", ToolResult(call_id="call_1", content=(), cache="default")),
    ],
)
def test_a_mark_without_a_place_is_reported(role, block):
    turns = [Turn("user", (Text(text="a"),)), Turn(role, (Text(text="b"), block))]
    (finding,) = lost_marks(turns, [])
    assert (finding.code, finding.where) == ("cache_mark_dropped", "turns[1].blocks[1]")


def test_tools_cannot_carry_a_mark():
    (finding,) = lost_marks([], [Tool("f"), Tool("g", cache="1h")])
    assert (finding.code, finding.where) == ("cache_mark_dropped", "tools[1]")
