"""The events of ConverseStream: what passes, and one broken stream for each rule."""

import pytest

from batches import each
from canonicall import verify_stream
from canonicall.framing.eventstream import write_frame
from verify.stream_support import aws, codes_in, found, is_complete

FORMAT = "bedrock"
START = {"messageStart": {"role": "assistant"}}
USAGE = {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}
METADATA = {"metadata": {"usage": USAGE, "metrics": {"latencyMs": 1}}}


def begin(index, **start):
    return {"contentBlockStart": {"contentBlockIndex": index, "start": start}}


def delta(index, **delta):
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}


def stop(index):
    return {"contentBlockStop": {"contentBlockIndex": index}}


def ending(reason):
    return {"messageStop": {"stopReason": reason}}


def text(index):
    return [delta(index, text="Hi"), stop(index)]


def call(index, pieces=('{"a":', "1}"), **fields):
    start = {"toolUseId": "tooluse_1", "name": "f", **fields}
    said = [delta(index, toolUse={"input": piece}) for piece in pieces]
    return [begin(index, toolUse=start), *said, stop(index)]


TEXT = [START, *text(0), ending("end_turn"), METADATA]
GOOD = {
    "text": TEXT,
    "nothing": [START, ending("end_turn"), METADATA],
    "all kinds": [
        START,
        delta(0, reasoningContent={"text": "Hm."}),
        delta(0, reasoningContent={"signature": "s"}),
        stop(0),
        delta(1, text="Hi"),
        delta(1, citation={"title": "t"}),
        stop(1),
        *call(2),
        *call(3, toolUseId="tooluse_2"),
        ending("tool_use"),
        METADATA,
    ],
    "server tool": [
        START,
        *call(0, ("",), type="server_tool_use"),
        begin(1, toolResult={"toolUseId": "tooluse_1"}),
        delta(1, toolResult=[{"text": "x"}]),
        stop(1),
        ending("end_turn"),
        METADATA,
    ],
    "cut by a limit": [START, *call(0, ("{",)), ending("max_tokens"), METADATA],
}

BROKEN = {
    "frame_unreadable": aws(TEXT)[:30] + b"x" + aws(TEXT)[31:],
    "frame_cut": aws(TEXT)[:-1],
    "event_after_end": aws([*TEXT, ending("end_turn")]),
    "unknown_event": aws([START, {"contentBlock": {}}, ending("end_turn"), METADATA]),
    "stream_not_started": aws(TEXT[1:]),
    "stream_started_twice": aws([START, *TEXT]),
    "stream_not_ended": aws(TEXT[:-2]),
    "usage_missing": aws(TEXT[:-1]),
    "event_out_of_order": aws([*TEXT[:-2], METADATA]),
    "frame_field_missing": aws([{"messageStart": {}}, *TEXT[1:]]),
    "frame_malformed": aws([START, delta(0, text=1), stop(0), *TEXT[-2:]]),
    "block_left_open": aws([START, *text(0)[:1], *text(1), *TEXT[-2:]]),
    "index_out_of_order": aws([START, *text(1), *TEXT[-2:]]),
    "delta_does_not_fit": aws([START, delta(0, text="a"), *call(0)[1:], *TEXT[-2:]]),
    "block_not_open": aws([START, *call(0)[1:], *TEXT[-2:]]),
    "call_incomplete": aws([START, *call(0, name=""), ending("tool_use"), METADATA]),
    "duplicate_call_id": aws([START, *call(0), *call(1), ending("tool_use"), METADATA]),
    "arguments_not_json": aws([START, *call(0, ("",)), ending("tool_use"), METADATA]),
    "finish_missing": aws([START, *text(0), {"messageStop": {}}, METADATA]),
    "finish_unknown": aws([START, *text(0), ending("stop"), METADATA]),
    "finish_hides_calls": aws([START, *call(0), ending("end_turn"), METADATA]),
    "finish_without_calls": aws([START, *text(0), ending("tool_use"), METADATA]),
}

ALSO = {
    "text that is begun": ("event_out_of_order", [begin(0, text={}), *text(0)]),
    "a delta of two things": ("delta_does_not_fit", [delta(0, text="a", toolUse={}), stop(0)]),
    "a thought of two things": (
        "delta_does_not_fit",
        [delta(0, reasoningContent={"text": "a", "signature": "s"}), stop(0)],
    ),
    "stopped twice": ("block_not_open", [*text(0), stop(0)]),
    "open at the end": ("block_left_open", text(0)[:1]),
    "content behind the reason": ("event_out_of_order", [ending("end_turn"), *text(0)]),
    "half of a call": ("frame_field_missing", call(0, toolUseId=None)),
}


@pytest.mark.parametrize("events", GOOD.values(), ids=GOOD)
def test_a_stream_as_documented_passes(events):
    assert found(aws(events), FORMAT) == set()
    assert is_complete(aws(events), FORMAT)


@each("code", BROKEN)
def test_each_rule_is_broken_by_one_stream(code):
    assert code in found(BROKEN[code], FORMAT)


@pytest.mark.parametrize(("code", "events"), ALSO.values(), ids=ALSO)
def test_other_ways_to_break_a_rule(code, events):
    assert code in found(aws([START, *events, *TEXT[-2:]]), FORMAT)


def test_every_code_of_the_grammar_is_told():
    assert codes_in("bedrock") <= set(BROKEN)


@pytest.mark.parametrize("before", [[], [START, *call(0)[:2]]])
def test_an_exception_ends_a_stream_anywhere(before):
    data = aws([*before, {"modelStreamErrorException": {"message": "cut"}}])
    assert found(data, FORMAT) == set()
    assert not is_complete(data, FORMAT)


def test_an_exception_that_calls_itself_an_event_is_not_one():
    """Clients raise by the header of the frame, not by its name."""
    data = aws([START]) + write_frame("throttlingException", b'{"message": "slow"}')
    assert found(data, FORMAT) == {"unknown_event", "stream_not_ended"}


def test_frames_before_a_damaged_one_are_judged():
    """Every byte that is changed is noticed; nothing behind it can be read."""
    whole = aws([START, START, *TEXT[1:]])
    at = len(aws([START, START])) + 5
    damaged = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
    report = verify_stream(damaged, FORMAT)
    assert [one.code for one in report] == ["stream_started_twice", "frame_unreadable"]
    assert report.findings[1].where == "frames[2]"
    assert report.findings[1].error.startswith("Checksum mismatch: expected 0x")


@each("at", range(0, len(aws(TEXT)), 7))
def test_no_changed_byte_goes_unnoticed(at):
    whole = aws(TEXT)
    assert verify_stream(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :], FORMAT)
