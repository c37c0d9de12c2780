"""Cache marks: those that have no place are reported one by one, that of the request gives way."""

import pytest
from msgspec.structs import replace

from canonicall.blocks import Media, Native, Text, ToolCall, ToolResult
from canonicall.conversation import Conversation
from canonicall.findings import Report
from canonicall.request import Request, Tool
from canonicall.transcript.cache_marks import fitted_marks
from canonicall.transcript.policy import Goal
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.anthropic import TARGET as ANTHROPIC
from canonicall.wire.openai_chat import TARGET as CHAT
from canonicall.wire.openai_responses import TARGET as RESPONSES

PICTURE = Media(media_type="image/png", url="u", cache="default")
ITEMS = replace(RESPONSES, cache_marks=4)
PARTS = replace(CHAT, cache_marks=4, cache_field="prompt_cache_breakpoint")
CALL = ToolCall(id="call_1", name="f", args={}, cache="default")
EMPTY = ToolResult(call_id="call_1", content=(), cache="default")
SAID = Text(text="a", cache="default")


def fitted(target, turns=(), tools=(), native=None):
    """The request with marks as the target takes them, and the findings."""
    goal = Goal(target)
    request = Request(Conversation(), tuple(tools), native=native)
    request, _ = fitted_marks(request, Transcript(tuple(turns), {}, {}, Report()), goal)
    return request, [(one.code, one.where) for one in goal.findings]


@pytest.mark.parametrize("role", ["user", "system", "developer"])
@pytest.mark.parametrize("block", [Text(text="a", cache="30m"), PICTURE])
def test_what_goes_in_carries_its_mark(role, block):
    assert fitted(ITEMS, [Turn(role, (block,))])[1] == []


@pytest.mark.parametrize(
    ("target", "role", "block"),
    [
        (ITEMS, "assistant", SAID),
        (ITEMS, "assistant", CALL),
        (ITEMS, "tool", EMPTY),
        (PARTS, "assistant", CALL),
        (PARTS, "tool", EMPTY),
    ],
)
def test_a_mark_without_a_place_is_reported(target, role, block):
    turns = [Turn("user", (Text(text="a"),)), Turn(role, (Text(text="b"), block))]
    assert fitted(target, turns)[1] == [("cache_mark_dropped", "turns[1].blocks[1]")]


@pytest.mark.parametrize("target", [ITEMS, PARTS])
def test_tools_cannot_carry_a_mark_for_parts(target):
    _, told = fitted(target, [], [Tool("f"), Tool("g", cache="1h")])
    assert told == [("cache_mark_dropped", "tools[1]")]


def test_parts_of_replies_and_results_carry_a_mark_in_chat():
    result = ToolResult(call_id="call_1", content=(Text(text="x"),), cache="default")
    turns = [Turn("assistant", (SAID,)), Turn("tool", (result,))]
    assert fitted(PARTS, turns)[1] == []


def test_where_marks_stand_anywhere_none_is_reported():
    turns = [Turn("assistant", (SAID, CALL)), Turn("tool", (EMPTY,))]
    assert fitted(replace(CHAT, cache_marks=4), turns, [Tool("f", cache="default")])[1] == []


def test_a_tool_that_is_loaded_later_has_no_mark():
    later = Tool("g", cache="5m", native=Native("anthropic", {"defer_loading": True}))
    request, told = fitted(ANTHROPIC, [], [Tool("f", cache="5m"), later])
    assert [tool.cache for tool in request.tools] == ["5m", None]
    assert told == [("cache_mark_dropped", "tools[1]")]
    assert fitted(ANTHROPIC, [], [later])[1] == []


@pytest.mark.parametrize(
    ("marks", "ttl", "is_kept"),
    [
        ([None], "5m", True),
        (["5m"], "5m", True),
        (["5m"], "1h", False),
        (["5m"] * 4 + [None], "5m", False),
        (["5m"] * 3 + [None], "5m", True),
    ],
)
def test_the_mark_of_the_request_takes_a_place_or_gives_way(marks, ttl, is_kept):
    native = Native("anthropic", {"cache_control": {"type": "ephemeral", "ttl": ttl}})
    turns = [Turn("user", tuple(Text(text="a", cache=mark) for mark in marks))]
    request, told = fitted(ANTHROPIC, turns, native=native)
    assert request.native is not None
    assert ("cache_control" in request.native.fields) is is_kept
    assert told == [("param_dropped", "params.cache_control")] * (not is_kept)
