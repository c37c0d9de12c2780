"""Why a reply ended and what it cost: the rules that all formats share."""

import pytest

from canonicall.blocks import Message, ToolCall
from canonicall.reply import ERROR, LENGTH, STOP, STOP_SEQUENCE, TOOL_CALLS
from canonicall.wire.finishing import count_of, finish_findings, finish_of, finish_told

CALL = ToolCall(id="call_1", name="f", args={})
SERVER = ToolCall(id="srv_1", name="search", kind="server")


@pytest.mark.parametrize(
    ("meaning", "alone", "with_calls"),
    [
        (STOP, STOP, TOOL_CALLS),
        (STOP_SEQUENCE, STOP_SEQUENCE, TOOL_CALLS),
        (TOOL_CALLS, STOP, TOOL_CALLS),
        ("", "", TOOL_CALLS),
        (LENGTH, LENGTH, LENGTH),
        (ERROR, ERROR, ERROR),
    ],
)
def test_the_calls_that_are_there_decide(meaning, alone, with_calls):
    assert finish_of(meaning, calls=False) == alone
    assert finish_of(meaning, calls=True) == with_calls


def test_what_is_written_follows_the_calls_too():
    """A reply that somebody made by hand, or that only called a tool of its provider."""
    assert finish_told(Message("assistant", (CALL,), finish=STOP)) == TOOL_CALLS
    assert finish_told(Message("assistant", (SERVER,), finish=TOOL_CALLS)) == STOP


def test_a_reply_that_has_not_ended_is_not_ended_by_its_calls():
    assert finish_told(Message("assistant", (CALL,), partial=True)) == ""


@pytest.mark.parametrize(
    ("raw", "meaning", "finish", "told"),
    [
        ("stop", STOP, TOOL_CALLS, []),
        ("", "", "", []),
        ("perhaps", "", "", [("unknown_finish", "kept")]),
        ("perhaps", "", TOOL_CALLS, [("unknown_finish", "changed")]),
        ("tool_calls", TOOL_CALLS, STOP, [("finish_corrected", "changed")]),
    ],
)
def test_words_that_are_not_believed_are_reported(raw, meaning, finish, told):
    found = finish_findings(raw, meaning, finish, "$.finish_reason")
    assert [(one.code, one.action) for one in found] == told


@pytest.mark.parametrize(
    ("figure", "count"),
    [
        (7, 7),
        (7.0, 7),
        ("7", 7),
        (0, 0),
        (None, 0),
        (-7, 0),
        (True, 0),
        ("x", 0),
        ("-7", 0),
        ("9" * 5000, 0),
        (10**30, 0),
        (float("nan"), 0),
        (float("inf"), 0),
        ([7], 0),
    ],
)
def test_counts_are_read_alike_in_every_format(figure, count):
    assert count_of(figure) == count
